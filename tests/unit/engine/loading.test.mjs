// Hosts that cannot load the WebAssembly module: the package is imported all the same, and what needs the module says
// what the host lacks.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The outcomes of every kind of call in a program with the package, on a host that `prepare` has made. */
async function toldBy(prepare) {
  const program = `
    ${prepare}
    const { SessionService, Template, createEvent, injectSessionState, isStatepadError, ready } = await import('statepad');
    const { memoryStore } = await import('statepad/stores/memory');
    const told = ({ code, reason, message, cause }) => ({ code, reason, message, cause: cause?.name });
    const now = (call) => { try { call(); } catch (error) { return isStatepadError(error) && told(error); } };
    const later = (promise) => promise.then(() => undefined, (error) => isStatepadError(error) && told(error));
    const names = { appName: 'tutor', userId: 'ana' };
    const calls = [
      now(() => new Template('x')),
      now(() => Template.escape('x')),
      await later(ready()),
      await later(new SessionService().createSession(names)),
      await later(new SessionService({ store: memoryStore() }).createSession(names)),
      await later(new SessionService().getAppState({ appName: 'tutor' })),
      await later(injectSessionState('x', { state: {} })),
    ];
    const works = [typeof createEvent({ author: 'ana' }).id];
    console.log(JSON.stringify({ calls, works }));
  `;
  const root = new URL('../../..', import.meta.url);
  const { stdout } = await execute(process.execPath, ['--input-type=module', '-e', program], { cwd: root });
  return JSON.parse(stdout);
}

/** Asserts that every call has the same outcome. */
function checkCalls({ calls, works }, message, cause) {
  assert.equal(calls.length, 7);
  for (const told of calls) assert.deepEqual(told, { code: 'CORE_FAILED', reason: 'host', message, cause });
  assert.deepEqual(works, ['string']);
}

test('a host without WebAssembly', async () => {
  checkCalls(
    await toldBy('delete globalThis.WebAssembly;'),
    'statepad needs WebAssembly, and this host has none: run it on a host with a global WebAssembly',
    'ReferenceError',
  );
});

for (const name of ['TextDecoder', 'TextEncoder']) {
  test(`a host without ${name}`, async () => {
    checkCalls(
      await toldBy(`delete globalThis.${name};`),
      `statepad needs ${name}, and this host has none: run it on a host with a global ${name}`,
      'ReferenceError',
    );
  });
}

test('a host that has nothing of it, as Hermes', async () => {
  checkCalls(
    await toldBy('for (const name of ["WebAssembly", "TextDecoder", "TextEncoder"]) delete globalThis[name];'),
    'statepad needs WebAssembly, and this host has none: run it on a host with a global WebAssembly',
    'ReferenceError',
  );
});

test('a host that refuses to compile WebAssembly', async () => {
  checkCalls(
    await toldBy(
      `WebAssembly.Module = class Module { constructor() { throw new WebAssembly.CompileError('not here'); } };`,
    ),
    "statepad needs WebAssembly, and this host refuses to compile it: a content security policy has to allow 'wasm-unsafe-eval' in its script-src (the host says: not here)",
    'CompileError',
  );
});

test('a host that has no memory for the module', async () => {
  checkCalls(
    await toldBy(
      `WebAssembly.Instance = class Instance { constructor() { throw new RangeError('out of memory'); } };`,
    ),
    'statepad needs WebAssembly, and this host could not load the module: out of memory',
    'RangeError',
  );
});
