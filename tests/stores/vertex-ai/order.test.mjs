// The order of events: that of their times, and of one time that in which the API gives them, read from either end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { appendForeign, call, ENGINE, keyOf, requestsOf, storeOver } from './words.mjs';

const KEY = keyOf('s1');
const TIME = Date.parse('2026-03-01T12:00:00.250Z');

/**
 * An API that gives the last events first as it likes: those of one time in the order in which they came in, in that
 * turned round, or mixed.
 */
const ORDERS = {
  'as they came in': (events) => events,
  'turned round': (events) => [...events].reverse(),
  mixed: (events) => [...events].sort((a, b) => (a.name < b.name ? -1 : 1)),
};

function giving(vertex, order) {
  const fetch = async (url, init) => {
    const response = await vertex.fetch(url, init);
    if (!new URL(url).searchParams.get('orderBy')?.includes('desc') || !response.ok) {
      return response;
    }
    const { sessionEvents = [], ...rest } = await response.json();
    const times = [...new Set(sessionEvents.map(({ timestamp }) => timestamp))];
    const given = times.flatMap((time) => order(sessionEvents.filter(({ timestamp }) => timestamp === time)));
    return Response.json({ ...rest, sessionEvents: given });
  };
  return { fetch };
}

/** A session with these events of another writer: texts, and their times in milliseconds behind `TIME`. */
async function written(events) {
  const vertex = fakeVertexAi();
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: 'ana' });
  for (const [text, later = 0] of events) {
    const content = { role: 'user', parts: [{ text }] };
    await appendForeign(vertex, 's1', {}, { content, timestamp: new Date(TIME + later).toISOString() });
  }
  return vertex;
}

const textsOf = ({ events }) => events.map(({ content }) => content.parts[0].text);
const serviceOver = (vertex) => new SessionService({ store: storeOver(vertex) });
const letters = (count) => Array.from({ length: count }, (_, index) => `event ${index}`);

test('events of one time are in the order in which they came in', async () => {
  const texts = ['call', 'response', 'text', ...letters(20)];
  const vertex = await written(texts.map((text) => [text]));
  assert.deepEqual(textsOf(await serviceOver(vertex).getSession(KEY)), texts);
});

for (const [name, order] of Object.entries(ORDERS)) {
  test(`the last ones of them are the last ones, with the last given first ${name}`, async () => {
    const texts = letters(12);
    const vertex = await written(texts.map((text, index) => [text, Math.floor(index / 4)]));
    for (let last = 1; last <= 12; last++) {
      const session = await serviceOver(giving(vertex, order)).getSession({
        ...KEY,
        config: { numRecentEvents: last },
      });
      assert.deepEqual(textsOf(session), texts.slice(-last));
    }
  });

  test(`and the last ones of a long log, with the last given first ${name}`, async () => {
    const texts = letters(230);
    // A page of a hundred events ends among those of one time.
    const vertex = await written(texts.map((text, index) => [text, Math.floor(index / 7)]));
    for (const last of [1, 2, 7, 60, 95, 100, 101, 150, 229, 230]) {
      const session = await serviceOver(giving(vertex, order)).getSession({
        ...KEY,
        config: { numRecentEvents: last },
      });
      assert.deepEqual(textsOf(session), texts.slice(-last), String(last));
    }
  });
}

test('what comes in is behind those of its time that are there, in every service', async () => {
  const vertex = await written([['call'], ['response']]);
  const service = serviceOver(vertex);
  const session = await service.getSession(KEY);
  const texts = ['call', 'response'];
  for (const text of ['one', 'two', 'three']) {
    await service.appendEvent({ session, event: { timestamp: TIME, content: { role: 'user', parts: [{ text }] } } });
    texts.push(text);
    assert.deepEqual(textsOf(session), texts);
    for (const other of [service, serviceOver(vertex)]) {
      assert.deepEqual(textsOf(await other.getSession(KEY)), texts);
    }
  }
});

test('the last events are asked for once more only where two have one time', async () => {
  const config = { numRecentEvents: 2 };
  for (const [events, calls] of [
    [
      [['a'], ['b', 1]],
      ['listEvents', 'getSession'],
    ],
    [
      [['a'], ['b']],
      ['listEvents', 'listEvents', 'getSession'],
    ],
  ]) {
    const vertex = await written(events);
    const [asked] = await requestsOf(vertex, async () => await serviceOver(vertex).getSession({ ...KEY, config }));
    assert.deepEqual(asked.slice(0, calls.length), calls);
  }
});

test('of a millisecond without a microsecond that is free, too, and none leaves its millisecond', async () => {
  for (const micros of ['999', '999000', '998600']) {
    // Long ago a double holds times more finely than a microsecond, now it does not.
    for (const at of [1_001, TIME]) {
      const time = new Date(at).toISOString().slice(0, -1);
      const vertex = await written([]);
      for (const [text, fraction] of [
        ['first', '000'],
        ['last', micros],
      ]) {
        const content = { role: 'user', parts: [{ text }] };
        await appendForeign(vertex, 's1', {}, { content, timestamp: `${time}${fraction}Z` });
      }
      const service = serviceOver(vertex);
      const session = await service.getSession(KEY);
      for (const text of ['one', 'two']) {
        await service.appendEvent({ session, event: { timestamp: at, content: { role: 'user', parts: [{ text }] } } });
      }
      assert.deepEqual(textsOf(await serviceOver(vertex).getSession(KEY)), ['first', 'last', 'one', 'two'], time);
      const { sessionEvents } = await call(vertex, 'GET', `${ENGINE}/sessions/s1/events`);
      const stored = sessionEvents.map(({ timestamp }) => timestamp.slice(0, time.length));
      assert.deepEqual(stored, [time, time, time, time]);
    }
  }
});
