// The fake beside what the service does: what it tells of requests, and what goes wrong on purpose.

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { addressOf, append, asker, makeSession } from '../ask.mjs';

let vertex;
let ask;
beforeEach(async () => {
  vertex = fakeVertexAi();
  ask = asker(vertex);
  await makeSession(ask, 's1');
});

const statusOf = async (promise) => (await promise).status;

/** The number of events of a session. */
async function countOf(id) {
  const { body } = await ask(`GET /sessions/${id}/events`);
  return body.sessionEvents?.length ?? 0;
}

describe('the requests', () => {
  test('are told with all that they had, but not with what they prove themselves with', async () => {
    const headers = { Authorization: 'Bearer any', 'X-Goog-Api-Key': 'k', 'X-Other': 'a' };
    await ask('GET /sessions?pageSize=2&filter=user_id%3D%22a%22', undefined, { headers });
    await append(ask, 's1', { author: 'bot' });
    await ask('GET /nothing');
    const [, list, event, nothing] = vertex.requests;
    assert.deepEqual(list, {
      call: 'listSessions',
      method: 'GET',
      path: new URL(addressOf('/sessions')).pathname,
      query: { pageSize: '2', filter: 'user_id="a"' },
      headers: { 'x-other': 'a' },
      body: undefined,
    });
    assert.equal(event.call, 'appendEvent');
    assert.equal(event.body.author, 'bot');
    assert.equal(nothing.call, undefined);
  });

  test('may be a Request, a URL or a text, and fetch needs no this', async () => {
    const { fetch } = vertex;
    const address = addressOf('/sessions/s1');
    const headers = { authorization: 'Bearer any' };
    for (const input of [new Request(address, { headers }), new Request(address), new URL(address), address]) {
      const response = await fetch(input, ...(input.headers?.has('authorization') ? [] : [{ headers }]));
      assert.equal((await response.json()).userId, 'ann');
    }
  });

  test('that are aborted before they are sent are not told', async () => {
    const reason = new Error('enough');
    await assert.rejects(append(ask, 's1', {}, { signal: AbortSignal.abort(reason) }), reason);
    assert.deepEqual(
      vertex.requests.map(({ call }) => call),
      ['createSession'],
    );
    assert.equal(await countOf('s1'), 0);
  });

  test('of one fake are nothing to another', async () => {
    const other = fakeVertexAi();
    assert.equal(await statusOf(asker(other)('GET /sessions/s1')), 404);
    assert.equal(other.requests.length, 1);
    assert.equal(vertex.requests.length, 1);
  });
});

describe('a trouble', () => {
  const ERRORS = [
    [403, 'PERMISSION_DENIED'],
    [429, 'RESOURCE_EXHAUSTED'],
    [500, 'INTERNAL'],
    [503, 'UNAVAILABLE'],
    [504, 'DEADLINE_EXCEEDED'],
  ];
  for (const [status, name] of ERRORS) {
    test(`answers ${status} instead of doing anything, as often as it should`, async () => {
      vertex.disturb({ kind: 'error', status, times: 2 });
      const first = await append(ask, 's1');
      assert.equal(first.status, status);
      assert.deepEqual([first.body.error.code, first.body.error.status], [status, name]);
      assert.equal(first.headers.get('retry-after'), null);
      assert.equal(await statusOf(append(ask, 's1')), status);
      assert.equal(await countOf('s1'), 0);
      assert.equal(await statusOf(append(ask, 's1')), 200);
      assert.equal(await countOf('s1'), 1);
    });
  }

  test('says when to try again', async () => {
    vertex.disturb({ kind: 'error', status: 429, retryAfter: 2 });
    assert.equal((await ask('GET /sessions')).headers.get('retry-after'), '2');
    vertex.disturb({ kind: 'error', status: 503, retryAfter: 'Thu, 01 Jan 2026 00:00:02 GMT' });
    assert.equal((await ask('GET /sessions')).headers.get('retry-after'), 'Thu, 01 Jan 2026 00:00:02 GMT');
  });

  test('meets the requests that it is meant for', async () => {
    vertex.disturb({ kind: 'error', status: 503, when: 'appendEvent' });
    vertex.disturb({ kind: 'error', status: 429, when: ({ query }) => query.pageSize === '7' });
    assert.equal(await statusOf(ask('GET /sessions?pageSize=8')), 200);
    assert.equal(await statusOf(ask('GET /sessions?pageSize=7')), 429);
    assert.equal(await statusOf(append(ask, 's1')), 503);
    assert.equal(await statusOf(append(ask, 's1')), 200);
  });

  test('comes after those that were made before it', async () => {
    vertex.disturb({ kind: 'error', status: 429 });
    vertex.disturb({ kind: 'error', status: 503 });
    assert.deepEqual(
      [
        await statusOf(ask('GET /sessions')),
        await statusOf(ask('GET /sessions')),
        await statusOf(ask('GET /sessions')),
      ],
      [429, 503, 200],
    );
  });

  test('loses a request before anything is written', async () => {
    vertex.disturb({ kind: 'request-lost', when: 'appendEvent' });
    await assert.rejects(append(ask, 's1'), TypeError);
    assert.equal(await countOf('s1'), 0);
  });

  test('loses an answer after all is written', async () => {
    vertex.disturb({ kind: 'answer-lost', when: 'appendEvent' });
    await assert.rejects(append(ask, 's1'), TypeError);
    assert.equal(await countOf('s1'), 1);
  });

  test('makes an answer late: a caller that gives up does not know that all is written', async () => {
    vertex.disturb({ kind: 'slow', delay: 60_000, when: 'appendEvent' });
    const controller = new AbortController();
    const late = append(ask, 's1', {}, { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    await assert.rejects(late, { name: 'AbortError' });
    assert.equal(await countOf('s1'), 1);
  });

  test('makes an answer as late as it says', async () => {
    vertex.disturb({ kind: 'slow', delay: 30 });
    const begun = performance.now();
    assert.equal(await statusOf(ask('GET /sessions')), 200);
    assert.ok(performance.now() - begun >= 29);
  });
});

describe('a token', () => {
  const REALM = 'Bearer realm="https://accounts.google.com/"';

  test('is needed from the first request on that has one', async () => {
    const fresh = fakeVertexAi();
    const without = asker(fresh, { token: '' });
    assert.equal(await statusOf(without('GET /sessions')), 200);
    assert.equal(await statusOf(asker(fresh)('GET /sessions')), 200);
    const { status, body, headers } = await without('GET /sessions');
    assert.equal(status, 401);
    assert.equal(body.error.status, 'UNAUTHENTICATED');
    assert.equal(body.error.details[0].reason, 'CREDENTIALS_MISSING');
    assert.equal(body.error.details[0].metadata.method, 'google.cloud.aiplatform.v1beta1.SessionService.ListSessions');
    assert.equal(headers.get('www-authenticate'), REALM);
    assert.equal(await statusOf(without('GET /sessions', undefined, { headers: { 'x-goog-api-key': 'k' } })), 200);
    assert.equal(await statusOf(without('GET /sessions?key=k')), 200);
  });

  test('may be needed always, or never', async () => {
    assert.equal(await statusOf(asker(fakeVertexAi({ token: 'required' }), { token: '' })('GET /sessions')), 401);
    const open = fakeVertexAi({ token: 'optional' });
    assert.equal(await statusOf(asker(open)('GET /sessions')), 200);
    assert.equal(await statusOf(asker(open, { token: '' })('GET /sessions')), 200);
  });

  test('that expires is refused until another comes', async () => {
    vertex.expireTokens();
    for (const line of ['GET /sessions/s1', 'DELETE /sessions/s1']) {
      const { status, body } = await ask(line);
      assert.equal(status, 401);
      assert.equal(body.error.details[0].reason, 'ACCESS_TOKEN_EXPIRED');
    }
    assert.equal(await statusOf(asker(vertex, { token: 'next' })('GET /sessions/s1')), 200);
    assert.equal(await statusOf(ask('GET /sessions/s1')), 401);
  });
});

describe('a fake', () => {
  test('refuses options and troubles that it does not know', () => {
    const refused = (message) => ({ code: 'INVALID_ARGUMENT', message });
    const options = 'now, random, projects, engines, creationDelay, token';
    assert.throws(
      () => fakeVertexAi({ tokens: 'required' }),
      refused(`tokens is not known in the options, which are ${options}: did you mean token?`),
    );
    assert.throws(() => fakeVertexAi({ now: 0 }), refused('now must be a function, not 0'));
    assert.throws(() => fakeVertexAi({ token: true }), refused('token must be one of required, optional, not true'));
    const kinds = 'error, request-lost, answer-lost, slow, pending';
    for (const [trouble, message] of [
      [{ kind: 'lost' }, `kind must be one of ${kinds}, not "lost"`],
      [{ kind: 'error', status: 404 }, 'status must be one of 403, 429, 500, 503, 504, not 404'],
      [{ kind: 'slow' }, 'delay is missing'],
      [{ kind: 'pending', polls: -1 }, 'polls must be a whole number that is not negative, not -1'],
      [{ kind: 'request-lost', times: 0.5 }, 'times must be a whole number that is not negative, not 0.5'],
      [{ kind: 'request-lost', when: 'append' }, /^when must be one of createSession, .*, not "append"$/],
      [{ kind: 'slow', delay: 1, dealy: 2 }, /^trouble[.]dealy is not known/],
    ]) {
      assert.throws(() => vertex.disturb(trouble), refused(message));
    }
  });

  test('knows the engines that it is told, and no others', async () => {
    const few = asker(fakeVertexAi({ engines: ['77'] }));
    assert.equal(await statusOf(few('GET /sessions')), 200);
    const { status, body } = await few('GET projects/shop/locations/us-central1/reasoningEngines/78/sessions');
    assert.equal(status, 404);
    assert.equal(body.error.message, 'The ReasoningEngine does not exist.');
  });

  test('takes as long to make a session as it is told, by its clock', async () => {
    let now = 0;
    const slow = asker(fakeVertexAi({ now: () => now, creationDelay: 2_800 }));
    const { body: operation } = await slow('POST /sessions?sessionId=s1', { userId: 'ann', sessionState: { n: 1 } });
    assert.equal(operation.done, undefined);
    const [, path] = /reasoningEngines\/[^/]+(.*)$/.exec(operation.name);
    for (const time of [0, 2_799]) {
      now = time;
      assert.equal(await statusOf(slow('GET /sessions/s1')), 404);
      assert.equal((await slow('GET /sessions')).body.sessions, undefined);
      assert.equal((await slow(`GET ${path}`)).body.done, undefined);
      const again = await slow('POST /sessions?sessionId=s1', { userId: 'ann' });
      assert.deepEqual([again.status, /already exists/.test(again.body.error.message)], [400, true]);
    }
    now = 2_800;
    const { body } = await slow('GET /sessions/s1');
    assert.deepEqual([body.userId, body.sessionState], ['ann', { n: 1 }]);
    assert.equal((await slow(`GET ${path}`)).body.done, true);
    assert.throws(() => fakeVertexAi({ creationDelay: -1 }), /creationDelay must be a whole number/);
  });

  test('knows express mode: without a project there has to be a key, which has a project of its own', async () => {
    const express = asker(vertex, { token: '' });
    const made = (path, key) =>
      express(`POST reasoningEngines/1/sessions${path}`, { userId: 'ann' }, { headers: { 'x-goog-api-key': key } });
    const { body } = await made('?sessionId=s1', 'key');
    assert.match(body.name, /^projects\/\d+\/locations\/us-central1\/reasoningEngines\/1\/sessions\/s1\/operations\//);
    assert.equal((await made('?sessionId=s1', 'key')).status, 400);
    assert.equal((await made('?sessionId=s1', 'other')).status, 200);
    assert.equal(await statusOf(express('GET reasoningEngines/1/sessions/s1?key=key')), 200);
    assert.equal(await statusOf(express('GET reasoningEngines/1/sessions/s1')), 401);
    assert.equal(await statusOf(ask('GET reasoningEngines/1/sessions/s1')), 401);
  });

  test('gives a project a number that follows from its id', async () => {
    const numbers = [fakeVertexAi(), fakeVertexAi()].map(async (one) => {
      const { body } = await asker(one)('POST /sessions', { userId: 'ann' });
      return /^projects\/(\d+)\//.exec(body.name)[1];
    });
    const [first, second] = await Promise.all(numbers);
    assert.equal(first, second);
  });

  test('gives the same ids and times for the same clock and random numbers', async () => {
    const made = [1, 2].map(async () => {
      const one = fakeVertexAi({ now: () => 0, random: () => 0.5 });
      const bodies = [];
      for (let count = 0; count < 3; count += 1) {
        bodies.push((await asker(one)('POST /sessions', { userId: 'ann' })).body);
      }
      return bodies;
    });
    const [first, second] = await Promise.all(made);
    assert.deepEqual(first, second);
    assert.equal(new Set(first.flatMap(({ name, response }) => [name, response.name])).size, 6);
  });

  test('answers as a server does, in JSON that people can read', async () => {
    const { headers, text } = await ask('GET /sessions/s1');
    assert.equal(headers.get('content-type'), 'application/json; charset=UTF-8');
    assert.match(text, /^\{\n {2}"name": "projects\/\d+\/[^"]*",\n/);
  });
});
