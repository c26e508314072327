// What version 1 of the encrypted store has written into SQLite and into a journal: refused, brought up to date, read,
// and written to. Its own code has made the fixtures, and has read what they say that it read.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { encryptedStore } from 'statepad/stores/encrypted';
import { journalStore } from 'statepad/stores/journal';
import { sqliteStore } from 'statepad/stores/sqlite';
import { append, bytes, context, create, outcome, plain, update } from './support.mjs';
import { opened, textMedium } from '../journal/support.mjs';
import { dump } from '../sqlite/libraries.mjs';

const fixture = (name) => readFileSync(new URL(`../../fixtures/encrypted-v1${name}`, import.meta.url), 'utf8');
/** What was sent, and what version 1 answered to each question below. */
const version1 = JSON.parse(fixture('.json'));
/** The second key came later: what was written before is under the first one. */
const keys = [
  { id: 'k1', key: bytes(1) },
  { id: 'k2', key: bytes(2) },
];
const key = (sessionId, userId = 'ada') => ({ appName: 'notes', userId, sessionId });
const fox = "o'brien \0 🦊";
const first = key('first');
const refusal = /has version 1, older than 2: open it once with new SessionService\({ store, migrate: 'upgrade' }\)$/;

const webKey = (number) => crypto.subtle.importKey('raw', bytes(number), 'AES-GCM', false, ['encrypt', 'decrypt']);
const webKeys = [
  { id: 'k1', key: await webKey(1) },
  { id: 'k2', key: await webKey(2) },
];

const ways = {
  visible: { keys, current: 'k2' },
  encrypted: { keys, current: 'k2', names: 'encrypted', nameKey: bytes(9) },
};

/** Inner stores on what version 1 has kept: `make()` makes one, `content()` is all that is there. */
const media = {
  SQLite: (name) => {
    const database = new Database(':memory:');
    database.exec(fixture(`-${name}.sql`));
    return { make: () => sqliteStore(database), content: () => JSON.stringify(dump(database)) };
  },
  'a journal': (name) => {
    const medium = textMedium(fixture(`-${name}.log`));
    return { make: () => journalStore(medium), content: () => medium.text };
  },
};

const entries = (values) => Object.entries(values);

/** Everything that version 1 tells, and no more; values in their order. */
async function told(store) {
  const [sessions, pages, scopes] = [[], [], []];
  for (const place of [first, key('second'), key('', fox), key('gone')]) {
    for (const events of [{ from: 0 }, { since: 1_700_000_001_500 }]) {
      const session = await store.load(place, { events }, context);
      if (session === null) {
        sessions.push(null);
      } else {
        const { created, rev, time, pos, state, events: stored } = session;
        const values = entries(state).map(([scope, record]) => [scope, entries(record)]);
        sessions.push({
          created,
          rev,
          time,
          pos,
          state: values,
          events: stored.map((event) => ({ rev: event.rev, data: event.data })),
        });
      }
    }
  }
  for (const descending of [false, true]) {
    const { rows, app, users, total, corrupt } = await store.list({ app: 'notes', descending }, context);
    const named = [...users].map(([user, values]) => [user, entries(values)]).sort();
    pages.push({
      rows: rows.map((row) => ({ ...row, state: entries(row.state) })),
      app: entries(app),
      users: named,
      total,
      corrupt,
    });
  }
  for (const user of [undefined, 'ada', fox]) {
    const { pos, state } = await store.loadScope({ app: 'notes', ...(user !== undefined && { user }) }, context);
    scopes.push({ pos, state: entries(state) });
  }
  return JSON.parse(JSON.stringify({ sessions, pages, scopes }));
}

for (const [medium, fill] of Object.entries(media)) {
  for (const [name, options] of Object.entries(ways)) {
    const what = `${medium} of version 1 with ${name} names`;

    test(`${what} is refused with the line that upgrades it, and stays as it is`, async () => {
      const { make, content } = fill(name);
      const before = content();
      for (const migrate of ['create', 'check']) {
        const refused = opened(encryptedStore(make(), options), migrate);
        await assert.rejects(refused, (error) => error.code === 'rejected' && refusal.test(error.message));
      }
      await assert.rejects(encryptedStore(make(), options).commit(version1.changes[0], context));
      assert.equal(content(), before);
    });

    test(`${what} is read after the upgrade as version 1 read it, and knows what was sent to that`, async () => {
      const { make } = fill(name);
      const store = await opened(encryptedStore(make(), options), 'upgrade');
      assert.deepEqual(await told(store), version1.told);
      // By WebCrypto as well as by Node.
      assert.deepEqual(await told(await opened(encryptedStore(make(), { ...options, keys: webKeys }))), version1.told);
      const sent = version1.changes.filter(({ key: { sessionId } }) => sessionId !== 'gone');
      assert.equal(sent.length, 8);
      for (const open of [store, await opened(encryptedStore(make(), options))]) {
        for (const change of sent) {
          // As the next try of a call whose answer was lost, and as a new call.
          for (const more of [{}, { attempt: 2 }]) {
            const { duplicate, data } = await open.commit({ ...change, ...more }, context);
            assert.deepEqual(
              [duplicate, data],
              [true, change.kind === 'append' ? change.event.data : undefined],
              change.id,
            );
          }
        }
        assert.deepEqual(await told(open), version1.told);
      }
      const many = await store.commitMany(sent, context);
      assert.ok(many.every(({ duplicate }) => duplicate === true));
      assert.deepEqual(await told(store), version1.told);
    });

    test(`${what} takes new changes after the upgrade, and tells what it keeps now`, async () => {
      const { make } = fill(name);
      const store = await opened(encryptedStore(make(), options), 'upgrade');
      const { last, events } = await store.load(first, {}, context);
      assert.deepEqual([last, events.map(({ id }) => id)], ['e3', ['e1', 'e2', 'e3']]);
      const delta = { session: { set: { zeta: 3, fresh: 1 } }, app: { set: { motd: 'new' }, unset: ['count'] } };
      const written = await store.commit(
        append('e4', delta, { key: first, guard: { rev: 3, created: 'c1' } }),
        context,
      );
      assert.deepEqual(
        [written.rev, written.prev, written.pos, written.before.session],
        [4, 3, { app: 6, user: 4 }, 'e3'],
      );
      await assert.rejects(store.commit(append('e5', {}, { key: first, guard: { rev: 3 } }), context), {
        code: 'conflict',
        actual: 4,
      });
      const values = { keys: { user: { set: { theme: 'light' } }, app: { unset: ['count'] } } };
      const moved = await store.commit(
        update(
          'u2',
          { user: { set: { theme: 'dusk' } } },
          { key: { appName: 'notes', userId: 'ada' }, guard: values },
        ),
        context,
      );
      assert.deepEqual(outcome(moved), { rev: 0, prev: null, pos: { app: 6, user: 5 } });
      assert.equal((await store.commit(create('c5', {}, { key: key('later') }), context)).rev, 0);
      await store.remove(key('second'), context);
      for (const open of [store, await opened(encryptedStore(make(), options))]) {
        const loaded = await open.load(first, { events: { from: 0 } }, context);
        assert.deepEqual(
          loaded.events.map(({ rev, id }) => [rev, id]),
          [
            [0, undefined],
            [1, 'e1'],
            [2, 'e2'],
            [3, 'e3'],
            [4, 'e4'],
          ],
        );
        assert.deepEqual(entries(loaded.state.session), [
          ['zeta', 3],
          ['mid', true],
          ['late', 2],
          ['alpha', 'again'],
          ['fresh', 1],
        ]);
        assert.deepEqual(plain(loaded.state.app), {
          ...Object.fromEntries(version1.told.scopes[0].state.filter(([each]) => each !== 'count')),
          motd: 'new',
        });
        assert.equal(loaded.state.user.theme, 'dusk');
        assert.deepEqual([loaded.last, loaded.marks], ['e4', { app: 'e4', user: 'u2' }]);
        assert.equal(await open.load(key('second'), {}, context), null);
        const again = await open.commit(
          version1.changes.find(({ id }) => id === 'c2'),
          context,
        );
        assert.equal(again.duplicate, true, 'what was removed does not come back');
        const { rows } = await open.list({ app: 'notes', descending: false }, context);
        assert.deepEqual(
          rows.map(({ key: { sessionId } }) => sessionId),
          ['', 'later', 'first'],
        );
      }
    });
  }
}
