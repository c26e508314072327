// Memory of the module that comes back, and places in a log of which only the end is in memory.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import test from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, USER } from '../support/fixtures.mjs';

/** Runs a program with a module that tells its size, and answers with the numbers that it prints. */
function sizes(program) {
  const support = new URL('small-module.mjs', import.meta.url).href;
  const source = `import { size } from ${JSON.stringify(support)}; const { SessionService } = await import('statepad'); ${program}`;
  return new Promise((resolve, reject) => {
    const options = {
      env: { ...process.env, STATEPAD_TEST_MEMORY: String(256 << 20) },
      cwd: new URL('../..', import.meta.url),
      stdio: ['ignore', 'pipe', 'inherit'],
    };
    const child = spawn(process.execPath, ['--expose-gc', '--input-type=module', '-e', source], options);
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('close', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`exit code ${code}`))));
  });
}

test('users without sessions and state leave no memory behind', async () => {
  const [before, after] = await sizes(`
    const service = new SessionService();
    const visit = async (n) => {
      const key = { appName: 'app', userId: 'user-' + n, sessionId: 's' };
      const session = await service.createSession({ ...key, state: { x: 1 } });
      await service.appendEvent({ session, event: { author: 'a', actions: { stateDelta: { x: 2 } } } });
      await service.deleteSession(key);
    };
    await service.createSession({ appName: 'app', userId: 'stays', sessionId: 's' });
    for (let n = 0; n < 1000; n++) await visit(n);
    const before = size();
    for (let n = 1000; n < 30000; n++) await visit(n);
    console.log(JSON.stringify([before, size()]));
  `);
  assert.equal(after, before);
});

test('the past of a session that is deleted is given back before the event loop turns', async () => {
  const [before, after] = await sizes(`
    const service = new SessionService();
    const key = { appName: 'app', userId: 'u', sessionId: 's' };
    const live = async () => {
      const session = await service.createSession({ ...key, state: { x: 0 } });
      for (let n = 1; n <= 50; n++) {
        await service.appendEvent({ session, event: { author: 'a', actions: { stateDelta: { x: 'x'.repeat(10000) + n } } } });
      }
      await service.history(session, 'x');
      await service.deleteSession(key);
    };
    await live();
    await live();
    const before = size();
    for (let n = 0; n < 60; n++) await live();
    console.log(JSON.stringify([before, size()]));
  `);
  assert.equal(after, before);
});

test('keys that are invented with each event and deleted are released, here and in the module', async () => {
  const [before, after, heap] = await sizes(`
    const service = new SessionService();
    const { DELETED } = await import('statepad');
    const session = await service.createSession({ appName: 'app', userId: 'u', sessionId: 's', state: { stays: 1 } });
    const name = (n) => 'x'.repeat(1000) + n;
    const invent = async (n) => {
      const event = { id: 'r' + n, actions: { stateDelta: { ['r' + name(n)]: 1 } } };
      await service.appendEvent({ session, event, expectedRevision: 1e9 }).catch(() => undefined);
      const target = { appName: 'app', userId: 'u' };
      await service.updateState(target, () => ({ ['app:' + name(n)]: 1 }));
      await service.updateState(target, () => ({ ['app:' + name(n)]: DELETED }));
    };
    const used = () => (globalThis.gc(), process.memoryUsage().heapUsed);
    for (let n = 0; n < 8000; n++) await invent(n);
    const before = size();
    const heap = used();
    for (let n = 8000; n < 20000; n++) await invent(n);
    console.log(JSON.stringify([before, size(), used() - heap]));
  `);
  assert.equal(after, before);
  assert.ok(heap < 4e6, `the heap has grown by ${heap} bytes`);
});

test('handles keep showing the state of a user that was left without sessions, whoever gets its place', async () => {
  const service = new SessionService();
  const session = await service.createSession(KEY);
  await service.deleteSession(KEY);
  await service.createSession({ ...KEY, userId: 'bob', state: { 'user:x': 1, 'app:y': 2, z: 3 } });
  assert.deepEqual({ ...session.state }, {});
  assert.deepEqual({ ...(await service.getUserState(USER)) }, {});
});

test('an event that is sent again is found behind those that were not loaded', async () => {
  const store = memoryStore();
  const first = new SessionService({ store });
  const session = await first.createSession(KEY);
  for (let n = 0; n < 5; n++) await first.appendEvent({ session, event: { id: `e${n}`, author: 'a' } });

  const second = new SessionService({ store });
  const part = await second.getSession({ ...KEY, config: { numRecentEvents: 2 } });
  assert.deepEqual(
    part.events.map(({ id }) => id),
    ['e3', 'e4'],
  );
  const event = { id: 'e5', author: 'a', timestamp: 7, actions: { stateDelta: { x: 1 } } };
  const stored = await second.appendEvent({ session: part, event });
  await second.appendEvent({ session: part, event: { id: 'e6', author: 'a' } });
  assert.deepEqual(await second.appendEvent({ session: part, event }), stored);
  await assert.rejects(second.appendEvent({ session: part, event: { ...event, author: 'b' } }), {
    code: 'EVENT_ID_CONFLICT',
  });
  assert.equal(part.revision, 7);
});
