// Sweeps in the background: the time of their claim, and a host that cannot load them.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mock, test } from 'node:test';
import { promisify } from 'node:util';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

const run = promisify(execFile);
const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** The time for which a service claims the sweeping of its store. */
async function claimedWith(sweepEvery) {
  const store = memoryStore();
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    let claimed;
    const isClaimed = new Promise((resolve) => (claimed = resolve));
    const claim = async (name, request, context) => {
      claimed(request.ttl);
      return await store.claim(name, request, context);
    };
    const service = new SessionService({ store: { ...store, claim }, sweepEvery });
    await service.getSession({ appName: 'app', userId: 'ana', sessionId: 's' });
    mock.timers.tick(Math.ceil(1.2 * sweepEvery));
    const ttl = await isClaimed;
    await service.close();
    return ttl;
  } finally {
    mock.timers.reset();
  }
}

test('the claim of a sweep lasts twice the interval, from ten seconds to an hour', async () => {
  assert.equal(await claimedWith(SECOND), 10 * SECOND);
  assert.equal(await claimedWith(60 * SECOND), 120 * SECOND);
  assert.equal(await claimedWith(500 * HOUR), HOUR);
});

const hook = `
  export async function load(url, context, next) {
    if (url.endsWith('sweeper.js')) throw new Error('the network is down');
    return await next(url, context);
  }
`;

const program = `
  import { register } from 'node:module';
  register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});
  const { SessionService } = await import('statepad');
  const warned = new Promise((resolve) => process.once('warning', resolve));
  const service = new SessionService({ sweepEvery: 5 });
  const { id } = await service.createSession({ appName: 'a', userId: 'u', sessionId: 's' });
  const { code, message } = await warned;
  await service.close();
  console.log(JSON.stringify({ id, code, message }));
`;

test('a service whose sweeps cannot be loaded works, and says so once', async () => {
  const folder = new URL('..', import.meta.url);
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder });
  assert.deepEqual(JSON.parse(stdout), {
    id: 's',
    code: 'STATEPAD_SWEEP_FAILED',
    message: 'this service does not sweep in the background: the network is down',
  });
});
