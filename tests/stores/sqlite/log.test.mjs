// The log of app and user values in SQLite: writers that keep none, trimming, what is long, what is corrupt.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logTests } from '../support/run.mjs';
import { creation, event, failure, key, libraries, newFile, plain, rows, update } from './libraries.mjs';

const context = { signal: new AbortController().signal };
const app = { app: 'a' };
const by = (eventId, sessionId = 's') => ({ userId: 'u', sessionId, eventId });

/** A test with two open stores on a new file: one that keeps a log, and one that keeps none. */
function testBoth(title, use) {
  for (const name of Object.keys(libraries)) {
    test(`${name}: ${title}`, async () => {
      const file = newFile(name);
      try {
        const [logged, unlogged] = [plain(file.store()), plain(file.store({ log: false }))];
        await logged.open({ migrate: 'create' });
        await unlogged.open({ migrate: 'check' });
        await use(logged, unlogged, file);
      } finally {
        file[Symbol.dispose]();
      }
    });
  }
}

const places = ({ pos, base, entries }) => [pos, base, entries.map((entry) => entry.pos)];

for (const name of Object.keys(libraries)) {
  logTests(name, async () => {
    const file = newFile(name);
    const [logged, unlogged] = [file.store(), file.store({ log: false })];
    await logged.open({ migrate: 'create' }, context);
    await unlogged.open({ migrate: 'check' }, context);
    const database = file.connect();
    return {
      ...{ logged, unlogged },
      stored: () => rows(database, 'SELECT count(*) AS n FROM statepad_log')[0].n,
      spoil: (position) => database.exec(`UPDATE statepad_log SET value = '{' WHERE pos = ${position}`),
      dispose: () => file[Symbol.dispose](),
    };
  });
}

testBoth('what is trimmed up to between two positions is trimmed up to the first of them', async (logged) => {
  for (const n of [1, 2, 3]) await logged.commit(update(`u${n}`, { app: { set: { n } } }));
  assert.equal(await logged.trimLog(app, 2.9), 2);
  assert.deepEqual(places(await logged.readLog(app, {})), [3, 2, [3]]);
});

testBoth('long values and many names are logged as they are, and who wrote them', async (logged, _, file) => {
  await logged.commit(creation('s'));
  const long = (letter) => letter.repeat(200_000);
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`name ${index}`, index]));
  await logged.commit(event('e1', { app: { set: { ...many, long: long('a') } } }));
  await logged.commit(event('e2', { app: { set: { long: long('b'), 'name 3': null }, unset: ['name 5', 'gone'] } }));
  await logged.commit(event('e3', { app: { set: { long: 1 }, unset: ['long', 'name 7'] } }));
  await logged.commit(event('e4', { app: { unset: ['gone'] } }));
  const entry = (pos, writes) => ({ pos, time: 2, by: by(`e${pos}`), writes });
  const { entries } = await logged.readLog(app, {});
  assert.deepEqual(entries, [
    entry(1, [...Object.entries(many).map(([name, to]) => ({ name, to })), { name: 'long', to: long('a') }]),
    entry(2, [
      { name: 'name 5', from: 5 },
      { name: 'long', from: long('a'), to: long('b') },
      { name: 'name 3', from: 3, to: null },
    ]),
    entry(3, [
      { name: 'name 7', from: 7 },
      { name: 'long', from: long('b'), to: 1 },
    ]),
    entry(4, []),
  ]);
  // No row has two of them.
  const [{ most }] = rows(
    file.connect(),
    'SELECT max(coalesce(length(before), 0) + coalesce(length(value), 0)) AS most FROM statepad_log',
  );
  assert.ok(most < 300_000, `${most} characters`);
  for (const query of [{}, { after: 1 }, { to: 2 }, { limit: 1 }, { after: 1, limit: 1 }, { limit: 0 }]) {
    const { after = 0, to = 4, limit = 4 } = query;
    const within = entries.filter(({ pos }) => pos > after && pos <= to);
    assert.deepEqual((await logged.readLog(app, query)).entries, within.slice(0, limit), JSON.stringify(query));
    for (const name of ['long', 'name 7', 'name 3', 'gone']) {
      const named = within
        .map((each) => ({ ...each, writes: each.writes.filter((write) => write.name === name) }))
        .filter(({ writes }) => writes.length > 0);
      const found = await logged.readLog(app, { ...query, name });
      assert.deepEqual(found.entries, named.slice(0, limit), `${name} ${JSON.stringify(query)}`);
    }
  }
});

testBoth(
  'a scope whose values cannot be read is removed, and its log is read again once it is trimmed',
  async (logged, _, file) => {
    await logged.commit(update('u1', { app: { set: { good: 1, bad: 2 } } }));
    file.connect().exec(`UPDATE statepad_values SET value = '{' WHERE name = 'bad'`);
    assert.equal(await failure(logged.loadScope(app)), 'corrupt');
    await logged.removeScope(app);
    assert.deepEqual({ ...(await logged.loadScope(app)).state }, {});
    assert.equal(await failure(logged.readLog(app, {})), 'corrupt');
    await logged.commit(update('u2', { app: { set: { good: 3 } } }));
    assert.deepEqual(places(await logged.readLog(app, { name: 'good', after: 2 })), [3, 0, [3]]);
    await logged.trimLog(app, 2);
    assert.deepEqual(places(await logged.readLog(app, {})), [3, 2, [3]]);
  },
);

testBoth('an operator finds a value that cannot be read: nothing is written', async (logged, _, file) => {
  await logged.commit(creation('s', { app: { set: { n: 1 } } }));
  file.connect().exec(`UPDATE statepad_values SET value = '{' WHERE name = 'n'`);
  const change = { ...event('e1', { session: { set: { x: 1 } } }), operators: { app: { n: { increment: 1 } } } };
  assert.equal(await failure(logged.commit(change)), 'corrupt');
  const outcomes = await logged.commitMany([change, update('u2', { userId: 'u', user: { set: { x: 1 } } })]);
  assert.deepEqual(
    outcomes.map(({ code, pos }) => code ?? pos.user),
    ['corrupt', 1],
  );
  assert.equal((await logged.load(key(), { known: { pos: { app: 1 } } })).rev, 0);
});

testBoth('what is beside an event, or kept of a lease, is corrupt when it cannot be read', async (store, _, file) => {
  const database = file.connect();
  await store.commit(creation('s'));
  const change = { ...event('e1'), operators: { session: { n: { increment: 1 } } } };
  const { results } = await store.commit(change);
  assert.deepEqual({ ...results.session }, { n: 1 });
  await store.lease(key(), { holder: 'one', ttl: 1_000 });
  await store.commit(event('e2'));
  database.exec(`UPDATE statepad_events SET results = '{' WHERE id = 'e1'`);
  assert.equal(await failure(store.load(key(), {})), 'corrupt');
  assert.equal((await store.load(key(), { events: { last: 1 } })).rev, 2);
  assert.equal(await failure(store.commit(change)), 'corrupt');
  database.exec(`UPDATE statepad_events SET results = NULL, app_pos = 'here' WHERE id = 'e1'`);
  assert.equal(await failure(store.load(key(), {})), 'corrupt');
  database.exec(`UPDATE statepad_events SET app_pos = 0 WHERE id = 'e1'`);
  assert.deepEqual((await store.load(key(), {})).events[0], {
    rev: 1,
    data: '{"id":"e1"}',
    id: 'e1',
    pos: { app: 0, user: 0 },
  });
  database.exec(`UPDATE statepad_sessions SET held_until = 'soon'`);
  assert.equal(await failure(store.lease(key(), { holder: 'two', ttl: 1 })), 'corrupt');
  assert.equal(await failure(store.commit(event('e3', { guard: { fence: 1 } }))), 'corrupt');
  assert.equal((await store.commit(event('e3'))).rev, 3);
});
