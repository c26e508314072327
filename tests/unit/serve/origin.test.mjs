// The hosts under which a server answers, and the origins that may write.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { serve } from 'statepad/serve';

const statusOf = async (handler, headers, { url = 'http://localhost:3000', method = 'GET' } = {}) =>
  (await handler(new Request(`${url}/v1/apps`, { method, headers }))).status;

describe('the host and the origin of a request', () => {
  it('the Host that a client sends counts, not the name that its server puts into the URL', async () => {
    const handler = serve(new SessionService(), { insecure: true });
    const post = { method: 'POST' };
    assert.equal(await statusOf(handler, { host: 'a.example', origin: 'https://a.example' }, post), 405);
    assert.equal(await statusOf(handler, { host: 'a.example', origin: 'http://localhost:3000' }, post), 403);
    assert.equal(await statusOf(handler, { origin: 'http://localhost:3000' }, post), 405);
    assert.equal(await statusOf(handler, { origin: 'http://localhost:4000' }, post), 403);
  });

  it('a server of some names answers to no other, whatever its URL says', async () => {
    const handler = serve(new SessionService(), { insecure: true, hosts: ['localhost'] });
    assert.equal(await statusOf(handler, { host: 'localhost:3000' }), 200);
    assert.equal(await statusOf(handler, {}), 200);
    assert.equal(await statusOf(handler, { host: 'evil.example' }), 403);
    assert.equal(await statusOf(handler, { host: 'evil.example@localhost' }), 403);
    assert.equal(await statusOf(handler, { host: 'localhost', origin: 'https://evil.example' }), 403);
  });
});
