// The binding of values of an app or a user, and of the beginning of a session: a log with forged writers, times or
// places, and a session whose beginning was taken away, are corrupt. Undetected forgeries are pinned here, too.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { MARK, append, context, create, data, home, instead, key, ofApp, overMemory, update } from './support.mjs';
import { isCorrupt, ways } from './tampered.mjs';

const other = { ...key, userId: 'bob', sessionId: 's2' };
const a = (value) => ({ app: { set: { a: value } } });

/** An app that two sessions and updates have written, and what `forge` makes of the entries of its log. */
async function forged(options) {
  const tampered = { forge: (entries) => entries };
  const inner = memoryStore();
  const store = encryptedStore(
    instead(inner, {
      readLog: async (method, ...args) => {
        const log = structuredClone(await method(...args));
        return { ...log, entries: tampered.forge(log.entries) };
      },
    }),
    options,
  );
  await store.commit(create('c', a('one')), context);
  await store.commit(append('e1', a('two')), context);
  await store.commit(append('e2', a('three')), context);
  await store.commit(create('d', { app: { set: { b: 1 } } }, { key: other }), context);
  await store.commit(append('f1', { app: { set: { b: 2 } } }, { key: other }), context);
  await store.commit(update('u1', { app: { set: { c: 1 }, unset: ['b'] } }, ofApp), context);
  const guard = { keys: { app: { set: { c: 1 } } } };
  await store.commit(update('u2', { app: { set: { c: 2 } } }, { ...ofApp, guard }), context);
  await store.commit(
    update('u3', { app: { set: { x: 1 } } }, { ...ofApp, guard: { keys: { app: { unset: ['x'] } } } }),
    context,
  );
  await store.commit(update('u4', { app: { unset: ['a'] } }, ofApp), context);
  return { store, tampered };
}

/** Changes one entry of a log: the one at a position. */
const at = (pos, change) => (entries) => entries.map((entry) => (entry.pos === pos ? change(entry) : entry));

/** Entries that have changed places, whole: each gets the position of the other one. */
const swapped = (one, two) => (entries) => {
  const [first, second] = [entries[one - 1], entries[two - 1]];
  const all = entries.with(one - 1, { ...second, pos: one }).with(two - 1, { ...first, pos: two });
  return chained(all);
};

/** Entries whose values before are those that the writes in front of them have left. */
function chained(entries) {
  const now = new Map();
  return entries.map((entry) => ({
    ...entry,
    writes: entry.writes.map(({ name, to }) => {
      const from = now.get(name);
      now.set(name, to);
      return { name, ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
    }),
  }));
}

for (const [way, options] of ways) {
  describe(way, () => {
    const forgeries = {
      'another user': at(2, (entry) => ({ ...entry, by: { ...entry.by, userId: 'bob' } })),
      'another session': at(2, (entry) => ({ ...entry, by: { ...entry.by, sessionId: 's2' } })),
      'another event': at(2, (entry) => ({ ...entry, by: { ...entry.by, eventId: 'e2' } })),
      'a creation in the place of an event': at(2, (entry) => ({ ...entry, by: { ...key, eventId: undefined } })),
      'an event in the place of a creation': at(1, (entry) => ({ ...entry, by: { ...entry.by, eventId: 'e1' } })),
      'no writer': at(2, (entry) => ({ ...entry, by: undefined })),
      'a writer of an update': at(6, (entry) => ({ ...entry, by: { userId: 'ana', sessionId: 's1', eventId: 'e1' } })),
      'another time': at(5, (entry) => ({ ...entry, time: entry.time + 1 })),
      'another time of an update': at(6, (entry) => ({ ...entry, time: entry.time + 1 })),
    };
    for (const [what, forge] of Object.entries(forgeries)) {
      test(`an entry of a log with ${what} is corrupt`, async () => {
        const { store, tampered } = await forged(options);
        assert.equal((await store.readLog(home, {}, context)).entries.length, 9);
        tampered.forge = forge;
        await isCorrupt(store.readLog(home, {}, context), what);
      });
    }

    const moves = {
      'a value in the place of a later one': (entries) =>
        at(3, ({ writes: [write], ...entry }) => ({ ...entry, writes: [{ ...write, to: entries[1].writes[0].to }] }))(
          entries,
        ),
      'a value in the place of an earlier one': (entries) =>
        chained(
          at(2, ({ writes: [write], ...entry }) => ({
            ...entry,
            writes: [{ ...write, to: entries[2].writes[0].to }],
          }))(entries),
        ),
      'two values that have changed places': (entries) => {
        const [two, three] = [entries[1].writes, entries[2].writes];
        return chained(entries.with(1, { ...entries[1], writes: three }).with(2, { ...entries[2], writes: two }));
      },
      'two entries of one session that have changed places': swapped(2, 3),
      'an event before the creation of its session': swapped(4, 5),
      'a guarded update in the place of another change': swapped(5, 7),
      'two guarded updates that have changed places': swapped(7, 8),
      'an entry that is there twice': (entries) => entries.toSpliced(2, 0, entries[1]),
      'entries in another order': (entries) => entries.toReversed(),
      'a change that is missing in front of another one of its name': (entries) => entries.toSpliced(1, 1),
      'another value before': at(3, ({ writes: [write], ...entry }) => ({
        ...entry,
        writes: [{ name: write.name, to: write.to }],
      })),
      'a value before that was deleted': (entries) =>
        at(6, (entry) => ({
          ...entry,
          writes: [...entry.writes, { name: entries[0].writes[0].name, from: entries[2].writes[0].to }],
        }))(entries),
    };
    for (const [what, forge] of Object.entries(moves)) {
      test(`a log with ${what} is corrupt`, async () => {
        const { store, tampered } = await forged(options);
        tampered.forge = forge;
        await isCorrupt(store.readLog(home, {}, context), what);
      });
    }

    test('a part of a log, and the writes of one name, are read and compared alike', async () => {
      const { store, tampered } = await forged(options);
      const read = async (query) => (await store.readLog(home, query, context)).entries.map(({ pos }) => pos);
      assert.deepEqual(await read({ after: 1, to: 3 }), [2, 3]);
      assert.deepEqual(await read({ name: 'a' }), [1, 2, 3, 9]);
      assert.deepEqual(await read({ name: 'c', limit: 1 }), [6]);
      tampered.forge = at(3, (entry) => ({ ...entry, by: { ...entry.by, userId: 'bob' } }));
      await isCorrupt(store.readLog(home, { name: 'a' }, context), 'of one name');
      await isCorrupt(store.readLog(home, { after: 2 }, context), 'of the end');
      assert.deepEqual(await read({ to: 2 }), [1, 2]);
    });

    const unseen = {
      'entries of two sessions that have changed places': swapped(3, 4),
      'the newest entry missing': (entries) => entries.slice(0, -1),
      'an entry missing whose names nobody wrote again': (entries) => entries.toSpliced(7, 1),
      'another writer and time of a deletion': at(9, (entry) => ({
        ...entry,
        time: 99,
        by: { ...key, eventId: 'e9' },
      })),
    };
    for (const [what, forge] of Object.entries(unseen)) {
      test(`not found out in a log: ${what}`, async () => {
        const { store, tampered } = await forged(options);
        tampered.forge = forge;
        assert.ok((await store.readLog(home, {}, context)).entries.length >= 8);
      });
    }

    test('the history of a service says that it is corrupt, and the session is read', async () => {
      const tampered = { by: undefined };
      const inner = memoryStore();
      const store = encryptedStore(
        instead(inner, {
          readLog: async (method, ...args) => {
            const log = structuredClone(await method(...args));
            return {
              ...log,
              entries: log.entries.map((entry) => ({ ...entry, by: { ...entry.by, ...tampered.by } })),
            };
          },
        }),
        options,
      );
      const service = new SessionService({ store });
      const session = await service.createSession({ ...key, state: { 'app:a': 1 } });
      await service.appendEvent({ session, event: { id: 'e1', actions: { stateDelta: { 'app:a': 2 } } } });
      const reading = new SessionService({ store });
      assert.equal((await reading.history({ appName: 'app', key: 'app:a' })).steps.length, 2);
      tampered.by = { userId: 'mallory' };
      await assert.rejects(new SessionService({ store }).history({ appName: 'app', key: 'app:a' }), {
        code: 'STORE_CORRUPT',
      });
      assert.equal((await new SessionService({ store }).getSession(key)).state['app:a'], 2);
    });

    test('a session whose beginning was taken away is corrupt for whoever asks for it', async () => {
      const inner = memoryStore();
      let isGone = false;
      const without = instead(inner, {
        load: async (method, ...args) => {
          const loaded = await method(...args);
          return isGone ? { ...loaded, events: loaded.events.filter(({ rev }) => rev > 0) } : loaded;
        },
      });
      const { store } = overMemory(options, without);
      const event = { id: 'c', time: 1, data: data('c', 'what it began with') };
      await store.commit(create('c', { session: { set: { own: 1 } } }, { event }), context);
      await store.commit(create('d', {}, { key: other }), context);
      const queries = [{ from: 0 }, { from: 0, to: 0 }, { from: 0, last: 9 }];
      for (const [events, place, count] of queries.flatMap((query) => [
        [query, key, 1],
        [query, other, 0],
      ])) {
        for (const known of [undefined, { created: place === key ? 'c' : 'd', rev: 0 }]) {
          isGone = false;
          const query = { events, ...(known && { known }) };
          assert.equal((await store.load(place, query, context)).events.length, count);
          isGone = true;
          await isCorrupt(store.load(place, query, context), JSON.stringify(query));
        }
      }
      await store.commit(append('e1', { session: { set: { own: 2 } } }), context);
      await isCorrupt(store.load(key, { events: { from: 0, to: 0 } }, context), 'with an event behind it');
      // A query without the beginning gets the session. By time the beginning may be left out.
      assert.deepEqual(
        (await store.load(key, {}, context)).events.map(({ rev }) => rev),
        [1],
      );
      assert.deepEqual(
        (await store.load(key, { events: { from: 0, since: 2 } }, context)).events.map(({ rev }) => rev),
        [1],
      );
      const service = new SessionService({ store });
      const session = await service.getSession(key);
      await assert.rejects(service.stateAt(session, 0), { code: 'STORE_CORRUPT' });
      isGone = false;
      await isCorrupt(
        overMemory(
          options,
          instead(inner, {
            load: async (method, ...args) => {
              const loaded = await method(...args);
              return {
                ...loaded,
                events: loaded.events
                  .map((stored) => ({ ...stored, data: stored.data.replace(MARK, 'sealed1:') }))
                  .filter(({ rev }) => rev > 0),
              };
            },
          }),
        ).store.load(key, { events: { from: 0 } }, context),
        'an event that says that another build has sealed it',
      );
    });
  });
}
