// Paths as an attacker writes them: whatever their spelling, they reach nothing of others.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { source } from '../../support/source.mjs';
import { openServer } from './server.mjs';

const { writeId } = await source('http/paths.ts');

const encoded = (text) => Buffer.from(text).toString('base64url');

const A = '/v1/apps/tutor';
const U = `${A}/users/ana`;
const S = `${U}/sessions/monday`;

describe('a smuggled path', () => {
  /** As Ana sends it; what it would reach is Ben's, or nothing. */
  for (const [path, statuses] of [
    // A URL takes these for a step up, whoever writes them: the target is the one that is left.
    [`${U}/sessions/../../ben/sessions/secret`, [403]],
    [`${U}/sessions/%2e%2e/%2E%2E/ben/sessions/secret`, [403]],
    [`${U}/sessions/.%2e/%2e./ben/sessions/secret`, [403]],
    // These are ids, in a spelling that ids do not have.
    [`${U}/sessions/..%2f..%2fben%2fsessions%2fsecret`, [400]],
    [`${U}/sessions/..%5c..%5cben`, [400]],
    [`${A}/users/ana%2f..%2fben/sessions/secret`, [400]],
    [`${A}/users/ben%2fsessions/sessions/secret`, [400]],
    [`${A}/users//sessions/secret`, [400]],
    [`/v1/apps//users/ben/sessions/secret`, [400]],
    // These are ids that nobody has: one step is undone, and no second one.
    [`${U}/sessions/%252e%252e`, [404]],
    [`${U}/sessions/%252e%252e%252f..`, [403, 404]],
    [`${A}/users/%2562en/sessions/secret`, [403]],
    // Other spellings of ~ and base64url.
    [`${A}/users/~${encoded('ben')}/sessions/secret`, [400]],
    [`${A}/users/%7E${encoded('ben')}/sessions/secret`, [400]],
    [`${A}/users/~${encoded('../ben')}/sessions/secret`, [403]],
    [`${A}/users/~${encoded('a/b')}=/sessions/secret`, [400]],
    [`${A}/users/~YS9iY/sessions/secret`, [400]],
    [`${A}/users/~~/sessions/secret`, [400]],
    [`${A}/users/%ff/sessions/secret`, [400]],
    [`${A}/users/%zz/sessions/secret`, [400]],
    [`${A}/users/%/sessions/secret`, [400]],
    [`${A}/users/ben%00/sessions/secret`, [403]],
    [`${A}/users/BEN/sessions/secret`, [403]],
    [`${A}/users/%62en/sessions/secret`, [403]],
    // Verbs are after a raw colon, at the end.
    [`${S}%3Arewind`, [404]],
    [`${S}:`, [404]],
    [`${S}:rewind:fork`, [404]],
    [`${A}/users/ana:x/sessions/monday`, [404]],
    // Not the paths of routes.
    [`/v1/apps/tutor/`, [404]],
    [`/V1/apps`, [404]],
    [`/v1//apps`, [404]],
    [`//host/v1/apps`, [404]],
    [`/v1/apps/tutor/users/ana/sessions/monday/events/e1`, [404]],
  ]) {
    it(`is refused: ${path}`, async () => {
      const server = await openServer();
      const response = await server.handler(server.requestOf('GET', path, { client: 'ana' }));
      const text = await response.text();
      assert.ok(statuses.includes(response.status), `${response.status} ${text}`);
      assert.doesNotMatch(text, /Ben|topic/);
      assert.deepEqual(server.errors, []);
      await server.service.close();
    });
  }

  it('never reaches a session of others, whatever the segments', async () => {
    const { handler, requestOf, service } = await openServer();
    const segment = fc.oneof(
      fc.constantFrom(
        'ben',
        'secret',
        '..',
        '.',
        '%2e%2e',
        '%2E.',
        '..%2f',
        '%5c',
        '~',
        `~${encoded('ben')}`,
        '%62en',
        ':',
        '',
      ),
      fc.string({ unit: fc.constantFrom(...'./\\%2eEfF5cC~:ben') }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 6 }), async (segments) => {
        const response = await handler(requestOf('GET', `${U}/sessions/${segments.join('/')}`, { client: 'ana' }));
        const text = await response.text();
        assert.doesNotMatch(text, /"Ben"|"userId":"ben"/);
        assert.ok([200, 400, 403, 404, 405].includes(response.status), `${response.status} ${text}`);
      }),
      { numRuns: 500 },
    );
    await service.close();
  });

  it('cannot be needed: every id can be created, read, listed and deleted', async () => {
    const { ask, service } = await openServer();
    for (const id of [
      '.',
      '..',
      '~',
      '~x',
      '/',
      '\\',
      'a/b',
      '%2e%2e',
      'a:b',
      '?',
      '#',
      ' x',
      '\0',
      'é😀',
      '__proto__',
      'sessions',
    ]) {
      const path = `/v1/apps/${writeId(id, 'a')}/users/${writeId(id, 'u')}/sessions`;
      const made = await ask('POST', path, { body: { sessionId: id } });
      assert.deepEqual([made.status, made.body.appName, made.body.userId, made.body.id], [200, id, id, id]);
      assert.deepEqual((await ask('GET', `${path}/${writeId(id, 's')}`)).body, made.body);
      assert.equal((await ask('GET', path)).body.totalItems, 1);
      assert.ok((await ask('GET', '/v1/apps')).body.apps.includes(id));
      assert.equal((await ask('DELETE', `${path}/${writeId(id, 's')}`)).status, 204);
      assert.equal((await ask('GET', `${path}/${writeId(id, 's')}`)).status, 404);
    }
    // An empty id of a user or an app is one; an empty id of a session is a generated one.
    assert.equal((await ask('POST', '/v1/apps/~/users/~/sessions', { body: { sessionId: '' } })).status, 200);
    assert.equal((await ask('GET', '/v1/apps/~/users')).body.users[0], '');
    await service.close();
  });
});
