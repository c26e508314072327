// Tokens of pages and leases, and ETags, that the server has not given: refused, and nothing is written.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openServer, readableState } from './server.mjs';

const encoded = (text) => Buffer.from(text).toString('base64url');

const A = '/v1/apps/tutor';
const U = `${A}/users/ana`;
const S = `${U}/sessions/monday`;

describe('a forged token', () => {
  const place = (value) => encoded(JSON.stringify(value));
  for (const token of [
    ...[
      '',
      'x',
      '%00',
      '~',
      encoded('null'),
      encoded('[]'),
      encoded('{}'),
      encoded('["a"]'),
      place(['x', 1]),
      'a'.repeat(5_000),
    ],
    ...[place([null, [0, 'a', 'b']]), place(['x', [0, 'a', 'b']]), `${place(['x', 1])}=`],
  ]) {
    for (const path of ['/v1/apps', `${A}/users`, `${A}/sessions`, `${U}/sessions`, `${S}/events`]) {
      it(`of a page is refused: ${token.slice(0, 20)} at ${path}`, async () => {
        for (const client of ['admin', 'monday']) {
          const { ask, service } = await openServer();
          const { status, body } = await ask('GET', `${path}?pageToken=${encodeURIComponent(token)}`, { client });
          assert.deepEqual([status, body.error.path], [400, 'pageToken']);
          await service.close();
        }
      });
    }
  }

  it('of a page, from another list, order or kind of client, is refused', async () => {
    const { ask, service } = await openServer();
    const tokenOf = async (path, client) => (await ask('GET', `${path}pageSize=1`, { client })).body.nextPageToken;
    const lists = [
      ['/v1/apps?', 'admin'],
      [`${A}/users?`, 'admin'],
      [`${A}/sessions?`, 'admin'],
      [`${U}/sessions?`, 'admin'],
      [`${U}/sessions?order=desc&`, 'admin'],
    ];
    const tokens = await Promise.all(lists.map(([path, client]) => tokenOf(path, client)));
    for (const [index, [path, client]] of lists.entries()) {
      for (const [other, token] of tokens.entries()) {
        const { status } = await ask('GET', `${path}pageToken=${token}`, { client });
        assert.equal(status, index === other ? 200 : 400, `${path} with a token of ${lists[other][0]}`);
      }
    }
    await service.close();
  });

  it('of a place in a store is refused, too', async () => {
    // Of the right list, with a cursor that the store has not made.
    const { ask, service } = await openServer('over a store');
    const { body } = await ask('GET', `${U}/sessions?pageSize=1`);
    const [list] = JSON.parse(Buffer.from(body.nextPageToken, 'base64url').toString());
    for (const cursor of ['', 'x', '[]', '[1,2,3,4]', '{"time":1}', '[null,"a","b",1]']) {
      const { status } = await ask('GET', `${U}/sessions?pageToken=${place([list, cursor])}`);
      assert.equal(status, 400, cursor);
    }
    await service.close();
  });

  for (const lease of [
    ...['', 'x', '=', encoded('null'), encoded('[]'), encoded('{}'), encoded('{"token":1}')],
    ...[
      { token: 0, holder: 'a', created: 'b' },
      { token: 1.5, holder: 'a', created: 'b' },
    ].map((each) => encoded(JSON.stringify(each))),
    ...[
      { token: '1', holder: 'a', created: 'b' },
      { token: 1, holder: 1, created: 'b' },
    ].map((each) => encoded(JSON.stringify(each))),
    encoded(JSON.stringify({ token: 1, holder: 'a', created: 'b', more: 1 })),
  ]) {
    it(`of a lease is refused: ${lease.slice(0, 30)}`, async () => {
      const server = await openServer();
      const before = await readableState(server);
      const headers = { 'statepad-lease': lease };
      for (const [method, path, body] of [
        ['POST', `${S}/events`, { event: { author: 'a' } }],
        ['POST', `${S}/state:update`, { delta: { n: 1 } }],
        ['POST', `${S}:rewind`, { before: 'i1' }],
        ['POST', `${S}:redo`, undefined],
        ['POST', `${S}/lease:renew`, {}],
        ['DELETE', `${S}/lease`, undefined],
        ['DELETE', S, undefined],
      ]) {
        const { status, body: answer } = await server.ask(method, path, { body, headers });
        assert.deepEqual([status, answer.error.path], [400, 'Statepad-Lease'], `${method} ${path}`);
      }
      assert.deepEqual(await readableState(server), before);
      await server.service.close();
    });
  }

  it('of a lease that was given, changed in each member, writes nothing', async () => {
    for (const where of ['in memory', 'over a store']) {
      const server = await openServer(where);
      const taken = (await server.ask('POST', `${S}/lease`, { body: { holder: 'one' } })).body.lease;
      const proof = JSON.parse(Buffer.from(taken, 'base64url').toString());
      const before = await readableState(server);
      for (const changed of [{ token: proof.token + 1 }, { created: 'other' }]) {
        const headers = { 'statepad-lease': encoded(JSON.stringify({ ...proof, ...changed })) };
        for (const [path, body] of [
          [`${S}/events`, { event: { author: 'a' } }],
          [`${S}/state:update`, { delta: { n: 1 } }],
          [`${S}/lease:renew`, {}],
        ]) {
          const { status, body: answer } = await server.ask('POST', path, { body, headers });
          assert.deepEqual([status, answer.error.code], [409, 'LEASE_LOST'], `${path} ${JSON.stringify(changed)}`);
        }
        assert.notEqual((await server.ask('DELETE', S, { headers })).status, 200);
        assert.equal((await server.ask('GET', S)).status, 200);
      }
      const headers = { 'statepad-lease': encoded(JSON.stringify({ ...proof, holder: 'two' })) };
      assert.equal(
        (await server.ask('POST', `${S}/lease:renew`, { body: {}, headers })).body.error.code,
        'LEASE_LOST',
      );
      assert.deepEqual(await readableState(server), before);
      await server.service.close();
    }
  });

  for (const etag of ['x', '""x', 'W/"a"', '"a", "b"', '"%zz"', '"']) {
    it(`of a session is refused: ${etag}`, async () => {
      const server = await openServer();
      const { status, body } = await server.ask('DELETE', S, { headers: { 'if-match': etag } });
      assert.deepEqual([status, body.error.path], [400, 'If-Match']);
      assert.equal((await server.ask('GET', S)).status, 200);
      await server.service.close();
    });
  }
});
