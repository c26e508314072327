// Bodies and parameters that are not what they should be: a clear refusal with the place, and nothing is written.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openServer, readableState } from './server.mjs';

const A = '/v1/apps/tutor';
const U = `${A}/users/ana`;
const S = `${U}/sessions/monday`;

describe('a body', () => {
  const deep = (depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const valued = (json) => `{"event":{"author":"a","actions":{"stateDelta":{"n":${json}}}}}`;
  for (const [what, body, path, code = 'INVALID_ARGUMENT', status = 400] of [
    ['that is empty', '', 'event'],
    ['that is no JSON', '{', 'body'],
    ['that is two values', '{}{}', 'body'],
    ['that is a list', '[]', 'body'],
    ['that is a text', '"event"', 'body'],
    ['that is null', 'null', 'body'],
    ['that is not UTF-8', new Uint8Array([0x7b, 0xff, 0x7d]), 'body'],
    ['that is nested deeply', `{"event":${deep(200)}}`, 'body'],
    ['that is nested a million times', deep(1_000_000), 'body'],
    ['with a value that is nested deeply', valued(deep(110)), undefined, 'VALUE_NOT_JSON'],
    ['without an event', '{}', 'event'],
    ['with a misspelt member', '{"evnt":{}}', 'evnt'],
    ['with a further member', '{"event":{},"admin":true}', 'admin'],
    ['with a prototype', '{"event":{},"__proto__":{"since":1}}', '__proto__'],
    ['with an event that is a list', '{"event":[]}', 'event'],
    ['with an id that is a number', '{"event":{"id":1}}', 'event.id'],
    ['with a time that is a text', '{"event":{"timestamp":"now"}}', 'event.timestamp'],
    ['with a time without end', '{"event":{"timestamp":1e999}}', 'event.timestamp'],
    ['with a number without end', valued('1e999'), 'event.actions.stateDelta["n"]', 'VALUE_NOT_JSON'],
    ['with a misspelt member of an event', '{"event":{"stateDelta":{}}}', 'stateDelta'],
    ['with a misspelt action', '{"event":{"actions":{"stateDetla":{}}}}', 'actions.stateDetla'],
    ['with a delta that is a list', '{"event":{"actions":{"stateDelta":[]}}}', 'event.actions.stateDelta'],
    ['with an id that has a lone surrogate', String.raw`{"event":{"id":"\ud800"}}`, 'event.id'],
    [
      'with a value that has a lone surrogate',
      valued(String.raw`"\udc00"`),
      'actions.stateDelta["n"]',
      'VALUE_NOT_JSON',
    ],
    [
      'with a key that has a lone surrogate',
      String.raw`{"event":{"actions":{"stateDelta":{"\ud800":1}}}}`,
      undefined,
      'VALUE_NOT_JSON',
    ],
    ['with a revision that is negative', '{"event":{},"expectedRevision":-1}', 'expectedRevision'],
    ['with a revision that is a fraction', '{"event":{},"expectedRevision":0.5}', 'expectedRevision'],
    ['with a revision beyond all', '{"event":{},"since":9007199254740993}', 'since'],
  ]) {
    it(`${what} is refused`, async () => {
      for (const where of ['in memory', 'over a store']) {
        const server = await openServer(where);
        const before = await readableState(server);
        const answer = await server.ask('POST', `${S}/events`, { body });
        const { error } = answer.body;
        assert.deepEqual([answer.status, error.code], [status, code], JSON.stringify(error));
        if (path !== undefined)
          assert.ok(error.path === path || `event.${error.path}` === path, `${error.path}: ${error.message}`);
        assert.deepEqual(await readableState(server), before);
        assert.deepEqual(server.errors, []);
        await server.service.close();
      }
    });
  }

  for (const [what, body, path, hint] of [
    [
      'an operator with two members',
      { operators: { n: { increment: 1, setOnce: 1 } } },
      'operators["n"]',
      'exactly 1 member',
    ],
    ['an operator without a member', { operators: { n: {} } }, 'operators["n"]', 'exactly 1 member'],
    [
      'a misspelt operator',
      { operators: { n: { incremant: 1 } } },
      'operators["n"].incremant',
      'did you mean operators["n"].increment?',
    ],
    [
      'an unknown operator',
      { operators: { n: { multiply: 1 } } },
      'operators["n"].multiply',
      'which has increment, append',
    ],
    [
      'an operator with a text',
      { operators: { n: { increment: '1' } } },
      'operators["n"].increment',
      'must be a number',
    ],
    [
      'a comparison without a value',
      { operators: { n: { compareAndSet: {} } } },
      'operators["n"].compareAndSet.value',
      'missing',
    ],
    ['deletions that are no list', { deleted: 'n' }, 'deleted', 'must be a list'],
    ['a deletion that is no text', { deleted: ['n', 1] }, 'deleted[1]', 'must be a string'],
    ['a misspelt condition', { expected: { unsett: [] } }, 'expected.unsett', 'did you mean expected.unset?'],
    ['conditions that are a list', { expected: [] }, 'expected', 'must be an object'],
    ['an author that is a number', { author: 1 }, 'author', 'must be a string'],
    ['a key of another scope', { delta: { 'user:n': 1 } }, 'delta', 'the target has no user'],
  ]) {
    it(`of an update with ${what} is refused, with the place and a hint`, async () => {
      const server = await openServer();
      const target = path === 'delta' ? A : S;
      const { status, body: answer } = await server.ask('POST', `${target}/state:update`, { body });
      assert.deepEqual([status, answer.error.code, answer.error.path], [400, 'INVALID_ARGUMENT', path]);
      assert.ok(answer.error.message.includes(hint), answer.error.message);
      await server.service.close();
    });
  }

  it('keeps keys like __proto__ and constructor as keys', async () => {
    const { ask, service } = await openServer();
    const body = '{"delta":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}}';
    const { state } = (await ask('POST', `${S}/state:update`, { body })).body;
    assert.deepEqual(Object.keys(state).slice(1, 4), ['__proto__', 'constructor', 'toString']);
    assert.equal({}.polluted, undefined);
    await service.close();
  });

  it('of another type is refused, so that no form of another site writes', async () => {
    const { ask, service } = await openServer();
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
      const { status } = await ask('POST', `${S}/events`, { body: '{"event":{}}', headers: { 'content-type': type } });
      assert.equal(status, 415, type);
    }
    for (const type of ['application/json; charset=utf-8', 'application/problem+json']) {
      const { status } = await ask('POST', `${S}/events`, { body: '{"event":{}}', headers: { 'content-type': type } });
      assert.equal(status, 200, type);
    }
    await service.close();
  });

  it('that is too long is refused, whether it says so or not', async () => {
    const server = await openServer('in memory', { limits: { body: 1_000 } });
    const long = JSON.stringify({ event: { author: 'a'.repeat(2_000) } });
    for (const headers of [{}, { 'content-length': '2000000' }, { 'content-length': '10' }]) {
      const { status, body } = await server.ask('POST', `${S}/events`, { body: long, headers });
      assert.deepEqual([status, body.error.code], [413, 'TOO_LARGE']);
    }
    await server.service.close();
  });

  it('that breaks off is refused: no fault of the server, and nothing is written', async () => {
    const server = await openServer();
    const before = await readableState(server);
    // As Deno and workerd break it off: by an error of the read, with a signal that is not aborted.
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"event":')),
      pull: (controller) => controller.error(new Error('connection lost')),
    });
    const { status, body: answer } = await server.ask('POST', `${S}/events`, { body });
    assert.deepEqual([status, answer.error.message], [400, 'the body did not arrive whole']);
    assert.deepEqual(await readableState(server), before);
    assert.deepEqual(server.errors, []);
    await server.service.close();
  });

  it('of a client that may not write is not read', async () => {
    const { ask, service } = await openServer();
    let isRead = false;
    const body = new ReadableStream({ pull: () => void (isRead = true) }, { highWaterMark: 0 });
    assert.equal((await ask('POST', `${S}/events`, { client: 'reader', body })).status, 403);
    assert.equal(isRead, false);
    await service.close();
  });
});

describe('a parameter', () => {
  for (const [query, path] of [
    ['?numRecentEvents=-1', 'numRecentEvents'],
    ['?numRecentEvents=1.5', 'numRecentEvents'],
    ['?numRecentEvents=all', 'numRecentEvents'],
    ['?numRecentEvents=', 'numRecentEvents'],
    ['?numRecentEvents=1&numRecentEvents=2', 'numRecentEvents'],
    ['?numRecentEvents=0x10', 'numRecentEvents'],
    ['?afterTimestamp=now', 'afterTimestamp'],
    ['?afterTimestamp=1e999', 'afterTimestamp'],
    ['?afterTimestamp=Infinity', 'afterTimestamp'],
    ['?numRecentEvent=1', 'numRecentEvent'],
    ['?num_recent_events=1', 'num_recent_events'],
    ['/events?pageSize=0', 'pageSize'],
    ['/events?pageSize=1001', 'pageSize'],
    ['/events?after=1&pageToken=x', 'after'],
    ['/history?key=%ff', undefined],
    ['/history', 'key'],
  ]) {
    it(`that is wrong is refused: ${query}`, async () => {
      const { ask, service } = await openServer();
      const { status, body } = await ask('GET', `${S}${query}`);
      if (path === undefined) assert.ok(status < 500);
      else assert.deepEqual([status, body.error.path], [400, path]);
      await service.close();
    });
  }

  it('of a proxy is ignored', async () => {
    const { ask, service } = await openServer();
    assert.equal((await ask('GET', `${S}?utm_source=x&numRecentEvents=0`)).status, 200);
    await service.close();
  });
});
