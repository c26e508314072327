// The secondary module of browsers, when its script cannot be loaded at first.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Loads the core as browsers do; the first request for the secondary script fails. */
const hook = `
  let requests = 0;
  export function resolve(specifier, context, next) {
    if (specifier.endsWith('statepad_secondary.js') && ++requests === 1) throw new Error('the network is down');
    return next(specifier === '#load' ? './load.browser.js' : specifier, context);
  }
`;

const program = `
  import { register } from 'node:module';
  register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});
  const { SessionService } = await import('statepad');

  const service = new SessionService();
  const session = await service.createSession({ appName: 'a', userId: 'u', sessionId: 's', state: { n: 1 } });
  const failed = await service.listSessions({ appName: 'a' }).catch(({ code, reason, message }) => [code, reason, message]);
  await service.appendEvent({ session, event: { author: 'u', actions: { stateDelta: { n: 2 } } } });
  const { sessions } = await service.listSessions({ appName: 'a' });
  const state = await service.stateAt(session, 0);
  console.log(JSON.stringify({ failed, listed: sessions.map(({ id }) => id), state }));
`;

describe('the secondary module', () => {
  it('is loaded again after a failure, and nothing else fails meanwhile', async () => {
    const folder = new URL('..', import.meta.url);
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder });
    const { failed, listed, state } = JSON.parse(stdout);
    assert.deepEqual(failed.slice(0, 2), ['CORE_FAILED', 'host']);
    assert.match(failed[2], /could not load the module: the network is down/);
    assert.deepEqual(listed, ['s']);
    assert.deepEqual(state, { n: 1 });
  });
});
