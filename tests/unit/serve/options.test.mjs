// The options of a server: nothing is served by mistake.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { serve } from 'statepad/serve';

describe('a server', () => {
  it('refuses what it cannot serve, and options that it does not know', () => {
    assert.throws(() => serve({}, { insecure: true }), { code: 'INVALID_ARGUMENT', path: 'service.getSession' });
    const service = new SessionService();
    assert.throws(() => serve(service), { code: 'INVALID_ARGUMENT', path: 'options' });
    const authorize = () => undefined;
    for (const [options, path] of [
      [{}, 'authorize'],
      [{ authorize: 1 }, 'authorize'],
      [{ insecure: 'yes' }, 'insecure'],
      [{ insecure: true, authorize }, 'insecure'],
      [{ authorize, basePath: 'agents' }, 'basePath'],
      [{ authorize, basePath: '/agents/' }, 'basePath'],
      [{ authorize, hosts: 'localhost' }, 'hosts'],
      [{ authorize, hosts: ['http://localhost'] }, 'hosts'],
      [{ authorize, heartbeat: 0 }, 'heartbeat'],
      [{ authorize, retry: 99 }, 'retry'],
      [{ authorize, onError: 1 }, 'onError'],
      [{ authorize, onRequest: 1 }, 'onRequest'],
      [{ authorize, limit: 5 }, 'limit'],
      [{ authorize, limits: 5 }, 'limits'],
      [{ authorize, limits: { streams: 0 } }, 'limits.streams'],
      [{ authorize, limits: { body: 1.5 } }, 'limits.body'],
      [{ authorize, limits: { timeout: '1 s' } }, 'limits.timeout'],
      [{ authorize, cors: { origins: '*' } }, 'cors.origins'],
      [{ authorize, cors: { origins: ['https://a.example/'] } }, 'cors.origins'],
      [{ authorize, cors: { origins: [], credentials: 1 } }, 'cors.credentials'],
    ]) {
      assert.throws(() => serve(service, options), { code: 'INVALID_ARGUMENT', path }, JSON.stringify(options));
    }
  });
});
