// The costs of operations, in requests; windows and pages of long logs; revisions that are provisional.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { append, appendForeign, APP, call, context, ENGINE, keyOf, opened, requestsOf, storeOver } from './words.mjs';

const KEY = keyOf('s1');
const HOUR = 3_600_000;
/** The numbers of logs of which all is known are below. */
const PROVISIONAL = 2 ** 40;

/** A fake whose clock is an hour behind, with a session of so many events, one a second. */
async function long(count, start = Date.now() - 48 * HOUR) {
  const vertex = fakeVertexAi({ now: () => Date.now() - HOUR });
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: 'ana', sessionState: { n: 0 } });
  for (let n = 1; n <= count; n++) {
    await call(vertex, 'POST', `${ENGINE}/sessions/s1:appendEvent`, {
      author: 'agent',
      invocationId: 'i',
      timestamp: new Date(start + n * 1_000).toISOString(),
      actions: n % 100 === 0 ? { stateDelta: { n } } : {},
      rawEvent: { id: `e${n}`, invocationId: 'i', author: 'agent', timestamp: start + n * 1_000 },
    });
  }
  const reader = () => new SessionService({ store: storeOver(vertex) });
  return { vertex, start, reader };
}

const idsOf = ({ events }) => events.map(({ id }) => id);
const numbered = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => `e${from + index}`);

test('the requests of a session that one service has for itself', async () => {
  const { vertex, service } = opened({}, { now: () => Date.now() - HOUR });
  const [creating, session] = await requestsOf(vertex, () => service.createSession(KEY));
  assert.deepEqual(creating, ['createSession', 'getSession']);
  const add = async () => (await requestsOf(vertex, () => service.appendEvent({ session, event: {} })))[0];
  assert.deepEqual(await add(), ['getSession', 'appendEvent']);
  assert.deepEqual(await add(), ['getSession', 'listEvents', 'appendEvent']);
  const get = async () => (await requestsOf(vertex, () => service.getSession(KEY)))[0];
  assert.deepEqual(await get(), ['getSession', 'listEvents']);
  assert.deepEqual(await get(), ['getSession']);
  assert.deepEqual(await get(), ['getSession']);
  await appendForeign(vertex, 's1');
  assert.deepEqual(await get(), ['getSession', 'listEvents', 'getSession']);
  assert.deepEqual(await get(), ['getSession']);
  const list = async () =>
    await requestsOf(vertex, () => service.listSessions({ appName: APP, limit: 5, order: 'desc' }));
  assert.deepEqual((await list())[0], ['listSessions']);
  const state = await requestsOf(vertex, () => service.getUserState({ appName: APP, userId: 'ana' }));
  assert.deepEqual(state[0], ['listSessions']);
  assert.deepEqual((await requestsOf(vertex, () => service.deleteSession(KEY)))[0], ['getSession', 'deleteSession']);
  assert.deepEqual(await get(), ['listEvents']);
});

test('a session that is created costs the other sessions of its app and its user nothing', async () => {
  const { vertex, service } = opened();
  const session = await service.createSession({ ...KEY, state: { 'app:x': 1, 'user:y': 2 } });
  await service.appendEvent({ session, event: {} });
  await service.createSession(keyOf('s2'));
  const [asked] = await requestsOf(vertex, () => service.appendEvent({ session, event: {} }));
  assert.deepEqual(asked, ['getSession', 'listEvents', 'appendEvent']);
  const written = await service.createSession({ ...keyOf('s3'), state: { 'app:x': 3 } });
  assert.deepEqual(written.state, { 'app:x': 3, 'user:y': 2 });
  await service.appendEvent({ session, event: {} });
  assert.deepEqual(session.state, { 'app:x': 3, 'user:y': 2 });
});

test('the last events of a long log cost two requests, and all of them a page for each hundred', async () => {
  const { vertex, reader } = await long(1_050);
  const service = reader();
  const config = { numRecentEvents: 3 };
  const [recent, session] = await requestsOf(vertex, () => service.getSession({ ...KEY, config }));
  assert.deepEqual(recent, ['listEvents', 'getSession']);
  assert.deepEqual(idsOf(session), numbered(1_048, 1_050));
  assert.deepEqual(session.state, { n: 1_000 });
  assert.ok(session.revision > PROVISIONAL);
  assert.deepEqual((await requestsOf(vertex, () => service.getSession({ ...KEY, config })))[0], ['getSession']);

  const wider = await requestsOf(vertex, () => service.getSession({ ...KEY, config: { numRecentEvents: 250 } }));
  assert.deepEqual(idsOf(wider[1]), numbered(801, 1_050));
  assert.deepEqual(wider[0], ['getSession', 'listEvents', 'listEvents', 'listEvents']);
  assert.equal(wider[1].revision, session.revision);

  const [all, whole] = await requestsOf(vertex, () => service.getSession(KEY));
  assert.deepEqual(idsOf(whole), numbered(1, 1_050));
  assert.equal(whole.revision, 1_050);
  assert.deepEqual(all, ['getSession', ...Array(11).fill('listEvents'), 'getSession']);
  assert.deepEqual(idsOf(session), numbered(1_048, 1_050), 'a handle goes on showing what it showed');
  assert.deepEqual((await requestsOf(vertex, () => service.getSession(KEY)))[0], ['getSession']);
  const again = await service.getSession({ ...KEY, config });
  assert.deepEqual([idsOf(again), again.revision], [numbered(1_048, 1_050), 1_050]);
});

test('a window by time reads what is in it', async () => {
  const { vertex, start, reader } = await long(350);
  const service = reader();
  for (const [from, last, expected] of [
    [300, undefined, numbered(300, 350)],
    [120, undefined, numbered(120, 350)],
    [120, 2, numbered(349, 350)],
    [351, undefined, []],
    [0, undefined, numbered(1, 350)],
  ]) {
    const config = { afterTimestamp: start + from * 1_000, ...(last && { numRecentEvents: last }) };
    const [asked, session] = await requestsOf(vertex, () => service.getSession({ ...KEY, config }));
    assert.deepEqual(idsOf(session), expected, JSON.stringify([from, last, asked]));
    assert.ok(asked.length <= 7, asked.join());
  }
});

test('what is appended to the end of a long log is there, whatever of it was read', async () => {
  const { vertex, reader } = await long(230);
  const service = reader();
  const session = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
  const [appending] = await requestsOf(vertex, () =>
    service.appendEvent({ session, event: { actions: { stateDelta: { mine: 1 } } } }),
  );
  assert.deepEqual(appending, ['getSession', 'appendEvent']);
  assert.equal(session.events.length, 3);
  await appendForeign(vertex, 's1', { theirs: 1 });
  await service.appendEvent({ session, event: { actions: { stateDelta: { mine: 2 } } } });
  assert.deepEqual(session.state, { n: 200, mine: 2, theirs: 1 });
  assert.equal(session.events.length, 5);
  const whole = await service.getSession(KEY);
  assert.deepEqual([whole.revision, whole.events.length], [233, 233]);
  assert.deepEqual(idsOf(whole).slice(0, 230), numbered(1, 230));
  await service.appendEvent({ session: whole, event: { actions: { stateDelta: { mine: 3 } } } });
  assert.deepEqual([whole.revision, whole.state.mine], [234, 3]);
  const fresh = await reader().getSession(KEY);
  assert.deepEqual(idsOf(fresh), idsOf(whole));
});

test('an id that the author chose is looked for in all of a long log', async () => {
  const { vertex, reader } = await long(230);
  for (const config of [undefined, { numRecentEvents: 2 }]) {
    const service = reader();
    const session = await service.getSession({ ...KEY, config });
    const before = (await service.getSession(KEY)).revision;
    const event = { id: 'e7', invocationId: 'i', author: 'agent' };
    await service.appendEvent({ session, event }).catch((error) => assert.equal(error.code, 'EVENT_ID_CONFLICT'));
    assert.equal((await service.getSession(KEY)).revision, before);
  }
  const store = storeOver(vertex);
  await store.load(KEY, { events: { last: 2 } }, context);
  const { duplicate, rev, data } = await store.commit({ ...append('e7', KEY), call: 'x' }, context);
  assert.deepEqual([duplicate, rev, JSON.parse(data).id], [true, 230, 'e7']);
});

test('an append to a session that was not read costs one page at most, when its id was made up', async () => {
  const { vertex, reader } = await long(230);
  const service = reader();
  const [asked] = await requestsOf(vertex, () =>
    service.appendEvent({ session: { appName: APP, userId: 'ana', id: 's1' }, event: {} }),
  );
  assert.deepEqual(asked, ['listEvents', 'getSession', 'getSession', 'appendEvent']);
});

test('events of one time that fill more than a page come all of them', async () => {
  const vertex = fakeVertexAi({ now: () => Date.now() - HOUR });
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: 'ana' });
  for (let n = 0; n < 260; n++) {
    const timestamp = n < 5 ? '2026-01-01T00:00:00Z' : n < 240 ? '2026-01-01T00:00:01Z' : '2026-01-01T00:00:02Z';
    await appendForeign(vertex, 's1', {}, { timestamp });
  }
  for (const [last, expected] of [
    [3, 3],
    [20, 20],
    [150, 150],
    [255, 255],
    [300, 260],
  ]) {
    const store = storeOver(vertex);
    const { events } = await store.load(KEY, { events: { last } }, context);
    assert.equal(new Set(events.map(({ id }) => id)).size, expected);
    const { events: all } = await store.load(KEY, {}, context);
    assert.deepEqual(
      all.slice(-events.length).map(({ id }) => id),
      events.map(({ id }) => id),
    );
  }
});

test('the last of many events of one time is given with all of them known', async () => {
  const vertex = fakeVertexAi({ now: () => Date.now() - HOUR });
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: 'ana' });
  for (let n = 0; n < 250; n++) {
    await appendForeign(vertex, 's1', {}, { timestamp: n < 50 ? '2026-01-01T00:00:00Z' : '2026-01-01T00:00:01Z' });
  }
  const store = storeOver(vertex);
  const { events, rev } = await store.load(KEY, { events: { last: 1 } }, context);
  const { events: all } = await store.load(KEY, {}, context);
  assert.deepEqual([events.length, rev, all.length], [1, 250, 250]);
  assert.equal(events[0].id, all.at(-1).id);
});

test('a long log that takes longer than a try may is read on by the next one', async () => {
  const { vertex } = await long(1_000);
  const fetch = async (url, init) => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    init.signal.throwIfAborted();
    return await vertex.fetch(url, init);
  };
  const service = new SessionService({ store: storeOver({ fetch }), timeout: 120, retry: { attempts: 10, pause: 1 } });
  assert.deepEqual(idsOf(await service.getSession(KEY)), numbered(1, 1_000));
  const pages = vertex.requests.filter((request) => request.call === 'listEvents').length;
  assert.ok(pages <= 20, `${pages} pages`);
});

test('all sessions are listed, page by page, newest or oldest first', async () => {
  const { vertex, service } = opened({}, { now: () => Date.now() - HOUR });
  for (let n = 0; n < 230; n++) {
    const user = n % 2 === 0 ? 'ana' : 'bob';
    await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s${n}`, { userId: user, sessionState: { n } });
  }
  const [asked, all] = await requestsOf(vertex, () => service.listSessions({ appName: APP }));
  assert.deepEqual(asked, Array(3).fill('listSessions'));
  assert.equal(all.totalItems, 230);
  const seen = [];
  for (let cursor; ;) {
    const page = await service.listSessions({ appName: APP, userId: 'bob', order: 'desc', limit: 50, cursor });
    seen.push(...page.sessions.map(({ state }) => state.n));
    cursor = page.cursor;
    if (cursor === undefined) break;
  }
  assert.equal(seen.length, 115);
  assert.deepEqual(new Set(seen).size, 115);
  assert.ok(seen.every((n) => n % 2 === 1));
});

test('a log that was forgotten is numbered anew, and its readers find out', async () => {
  const { vertex, reader } = await long(230);
  const service = reader();
  const session = await service.getSession({ ...KEY, config: { numRecentEvents: 2 } });
  // The same service over another store: what that knows is forgotten.
  const other = storeOver(vertex);
  const known = { created: (await other.load(KEY, { events: { last: 0 } }, context)).created, rev: session.revision };
  const { diverged, state } = await other.load(KEY, { events: { from: session.revision + 1 }, known }, context);
  assert.equal(diverged, true);
  assert.deepEqual({ ...state.session }, { n: 200 });
});
