// Server-sent events as they are written and read: https://html.spec.whatwg.org/multipage/server-sent-events.html

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { DELETED } from 'statepad';
import { connect } from 'statepad/client';
import { fetchOf, handlerOf } from '../../support/client.mjs';

const KEY = { appName: 'app', userId: 'user', sessionId: 'one' };

/** A client whose bodies are the given pieces, one body a connection; the last one stays open. */
function clientOf(...bodies) {
  const asked = [];
  const fetch = async (address, { headers, signal }) => {
    asked.push({ url: new URL(address), headers: Object.fromEntries(headers) });
    const pieces = bodies[asked.length - 1] ?? [];
    const isLast = asked.length >= bodies.length;
    const body = new ReadableStream({
      start(controller) {
        for (const piece of pieces)
          controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece);
        if (!isLast) controller.close();
        signal.addEventListener('abort', () => isLast && controller.error(signal.reason));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  return { client: connect({ url: 'http://host/path?x=1', fetch }), asked };
}

async function first(count, changes) {
  const seen = [];
  for await (const change of changes) {
    seen.push(change);
    if (seen.length === count) return seen;
  }
  return seen;
}

const event = (revision, id = `e${revision}`) => ({ type: 'event', revision, event: { id } });
const text = ({ type, ...rest }, id) => `event: ${type}\nid: 0/${id}\ndata: ${JSON.stringify(rest)}\n\n`;

describe('a stream of server-sent events', () => {
  it('is read whatever its line ends and wherever it is cut into pieces', async () => {
    const whole = [event(1, 'ä€𝄞'), event(2), { type: 'reload', revision: 7 }];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 20 }),
        async (end, cuts) => {
          const stream = whole.map((change, index) => text(change, index + 1)).join(': beat\n\n');
          const bytes = new TextEncoder().encode(`\uFEFF${stream.replaceAll('\n', end)}`);
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length];
          const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
          const { client } = clientOf(pieces);
          assert.deepEqual(await first(3, client.watch(KEY)), whole);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('knows data of several lines, fields of other names, and events of other names', async () => {
    const { client } = clientOf([
      'data: {"a":1}\n\n',
      'event: other\nid: 0/1\ndata: {}\n\n',
      'id: 1/1\nevent: reload\ndata: {"revision": 9}\n\n',
      'unknown: x\nevent: reload\ndata: {\ndata: "revision": 3}\nid: 0/\n\n',
    ]);
    assert.deepEqual(await first(1, client.watch(KEY)), [{ type: 'reload', revision: 3 }]);
  });

  it('goes on behind the last whole event, and not behind half of one', async () => {
    const { client, asked } = clientOf(
      ['retry: 1\n\nid: 0/4:e4\n\n'],
      [text(event(5), '5:e5'), 'event: event\nid: 0/6:e6\ndata: {"rev'],
      [text(event(6), '6:e6')],
    );
    assert.deepEqual(await first(2, client.watch(KEY)), [event(5), event(6)]);
    const targets = asked.map(({ url }) => JSON.parse(url.searchParams.get('targets')));
    assert.deepEqual(
      targets.map(([{ since }]) => since),
      [undefined, '4:e4', '5:e5'],
    );
    assert.deepEqual(targets[0], [{ ...KEY, initial: false }]);
    assert.equal(asked[0].url.pathname + asked[0].url.search.slice(0, 4), '/path/v1/watch?x=1');
    assert.equal(asked[0].headers.accept, 'text/event-stream');
  });

  it('is given up when nothing comes for too long', async () => {
    let connections = 0;
    const fetch = async (_, { signal }) => {
      connections += 1;
      const body = new ReadableStream({
        start(controller) {
          const answer = connections < 3 ? 'retry: 1\n\n' : text(event(1), '1:e1');
          controller.enqueue(new TextEncoder().encode(answer));
          signal.addEventListener('abort', () => controller.error(signal.reason));
        },
      });
      return new Response(body);
    };
    const client = connect({ url: '/x', fetch, silence: 20 });
    assert.deepEqual(await first(1, client.watch(KEY)), [event(1)]);
    assert.equal(connections, 3);
  });

  it('tells deleted keys, whatever they are called', async () => {
    const delta = JSON.parse('{"user:a":1,"user:__proto__":{"x":1}}');
    const told = { type: 'values', position: 3, from: 2, delta: { ...delta, 'user:gone': DELETED } };
    const service = {
      getSession: async () => undefined,
      serving: async () => ({}),
      async *watch(_, { signal }) {
        yield told;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      },
    };
    const client = connect({ url: 'http://host/', fetch: fetchOf(handlerOf(service)) });
    assert.deepEqual(await first(1, client.watch({ appName: 'app', userId: 'user' }, { initial: true })), [told]);
  });
});

describe('a client', () => {
  const refusing = (status, body) =>
    connect({
      url: '/x',
      retry: { attempts: 1 },
      fetch: async () => (body === undefined ? new Response(null, { status }) : Response.json(body, { status })),
    });
  const next = (client) => client.watch(KEY)[Symbol.asyncIterator]().next();

  it('throws what the server says, and STORE_UNAVAILABLE for what no server says', async () => {
    const error = { code: 'SESSION_NOT_FOUND', message: 'session "one" was not found' };
    await assert.rejects(next(refusing(404, { error })), error);
    await assert.rejects(next(refusing(401)), { code: 'STORE_UNAVAILABLE', status: 401 });
    await assert.rejects(next(refusing(404, { error: 'no' })), { code: 'STORE_UNAVAILABLE', status: 404 });
    assert.equal(await refusing(404, { error }).getSession(KEY), undefined);
    await assert.rejects(refusing(503).getSession(KEY), { code: 'STORE_UNAVAILABLE', status: 503 });
    const cause = new TypeError('fetch failed');
    const unreachable = connect({ url: '/x', fetch: () => Promise.reject(cause) });
    await assert.rejects(next(unreachable), { code: 'STORE_UNAVAILABLE', cause });
  });

  it('goes on trying once it was connected, and ends when the session is gone', async () => {
    const answers = [
      () => new Response(`retry: 1\n\n${text(event(1), '1:e1')}`),
      () => Promise.reject(new TypeError('fetch failed')),
      () => new Response(null, { status: 503 }),
      () => new Response(null, { status: 429 }),
      () => new Response(text(event(2), '2:e2')),
      () => new Response('event: error\nid: 0/\ndata: {"code":"STORE_UNAVAILABLE","message":"no","status":503}\n\n'),
      () => new Response('event: error\nid: 0/\ndata: {"code":"SESSION_NOT_FOUND","message":"gone","status":404}\n\n'),
    ];
    const client = connect({ url: '/x', fetch: async () => answers.shift()() });
    assert.deepEqual(await first(9, client.watch(KEY)), [event(1), event(2), { type: 'deleted' }]);
  });

  it('ends by its signal, with the reason, also while it waits to connect again', async () => {
    for (const body of ['retry: 60000\n\n', `retry: 60000\n\n${text(event(1), '1:e1')}`]) {
      const end = new AbortController();
      const client = connect({ url: '/x', fetch: async () => new Response(body) });
      const changes = client.watch(KEY, { signal: end.signal })[Symbol.asyncIterator]();
      if (body.includes('event')) await changes.next();
      const waiting = changes.next();
      setTimeout(() => end.abort(new Error('enough')), 5);
      await assert.rejects(waiting, /enough/);
    }
  });

  it('refuses what it does not know', () => {
    assert.throws(() => connect({ url: '/x', fetch() {} }).watch(KEY, { sinse: 1 }), /did you mean since/);
  });
});
