// An attacker who can write to the inner store can destroy, but not forge: what was tampered with is corrupt, and all
// else is read.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import {
  MARK,
  append,
  context,
  create,
  data,
  instead,
  key,
  overMemory,
  plain,
  recording,
  ofApp,
  update,
} from './support.mjs';
import { damaged, filled, isCorrupt, keys, places, query, ways } from './tampered.mjs';

for (const [way, options] of ways) {
  describe(way, () => {
    /** The name under which the inner store has what was written as `a` (the first) or `b` (the second). */
    const stored = (values, index) => Object.keys(values)[index];

    test('a value that is damaged anywhere is corrupt, and so is one that is not encrypted', async () => {
      let value;
      const forge = {
        scope: (loaded) => ({ ...loaded, state: { ...loaded.state, [stored(loaded.state, 0)]: value } }),
      };
      const { inner, store } = await filled(options, forge);
      const { state } = await inner.loadScope({ app: 'app' }, context);
      const original = state[stored(state, 0)];
      value = original;
      assert.deepEqual(plain((await store.loadScope({ app: 'app' }, context)).state).b, 'canary2');
      for (value of [...damaged(original), null, true, 1, [], {}, [original], { a: original }, { text: 'canary1' }]) {
        await isCorrupt(store.loadScope({ app: 'app' }, context), JSON.stringify(value));
      }
    });

    test('an event that is damaged anywhere is corrupt, and so is one that is not encrypted', async () => {
      let text;
      const forge = { load: (loaded) => ((loaded.events[0].data = text), loaded), duplicate: () => text };
      const { inner, store } = await filled(options, forge);
      const { data: original } = (await inner.load(key, {}, context)).events[0];
      text = original;
      assert.equal((await store.load(key, {}, context)).events[0].data, data('e1', 'canary0'));
      for (text of damaged(original)) {
        await isCorrupt(store.load(key, {}, context), text);
      }
      for (text of [original.slice(1), 'plain text', (await inner.load(key, {}, context)).events[1].data]) {
        await isCorrupt(store.commit(append('e1'), context), text);
      }
    });

    test('an event under another id than its own is corrupt, and so is one that another one has given its id', async () => {
      let change;
      const { store } = await filled(options, { load: (loaded) => (change(loaded), loaded) });
      change = () => undefined;
      assert.deepEqual(
        (await store.load(key, {}, context)).events.map(({ id }) => id),
        ['e1', 'e2'],
      );
      for (change of [
        ({ events }) => (events[0].id = 'e0'),
        ({ events }) => (events[1].id = 'e1'),
        ({ events: [first, second] }) => ([first.id, second.id] = [second.id, first.id]),
        ({ events }) => (events[1].id = ''),
      ]) {
        await isCorrupt(store.load(key, {}, context), String(change));
      }
    });

    test('values that have changed places are corrupt: of names, scopes, users, apps and sessions', async () => {
      let take;
      const { inner, store } = await filled(options, {
        load: (loaded, place) => {
          if (JSON.stringify(place) === JSON.stringify(key)) {
            take(loaded);
          }
          return loaded;
        },
      });
      const loads = await Promise.all(places.map((place) => inner.load(place, {}, context)));
      const scopes = ['app', 'user', 'session'];
      let count = 0;
      for (const to of scopes) {
        for (const from of scopes) {
          for (const { state } of loads) {
            for (const [place, name] of Object.keys(state[from]).entries()) {
              for (const other of [0, 1]) {
                const own = stored(loads[0].state[to], other);
                if (state[from][name] !== loads[0].state[to][own]) {
                  take = (loaded) => (loaded.state[to][own] = state[from][name]);
                  await isCorrupt(store.load(key, {}, context), `${from} ${place} for ${to} ${other}`);
                  count++;
                }
              }
            }
          }
        }
      }
      assert.ok(count > 100);
      // A row that is carried over whole, under a name that is free or with its own.
      for (const { state } of loads.slice(1)) {
        take = (loaded) => (loaded.state.session = state.session);
        await isCorrupt(store.load(key, {}, context), 'all values of another session');
      }
      take = (loaded) => (loaded.state.session.new = loaded.state.session[stored(loaded.state.session, 0)]);
      await isCorrupt(store.load(key, {}, context), 'a value under one more name');
      take = () => {};
      assert.equal((await store.load(key, {}, context)).state.session.b, 'canary0');
    });

    test('events that have changed places are corrupt: of revisions and of sessions', async () => {
      let change;
      const { inner, store } = await filled(options, { load: (loaded) => change(loaded) });
      const strange = await Promise.all(places.slice(1).map((place) => inner.load(place, {}, context)));
      const changes = {
        swapped: (loaded) => ({
          ...loaded,
          events: [
            { rev: 1, data: loaded.events[1].data },
            { rev: 2, data: loaded.events[0].data },
          ],
        }),
        'the first one again': (loaded) => ({
          ...loaded,
          events: [loaded.events[0], { rev: 2, data: loaded.events[0].data }],
        }),
        'in another order': (loaded) => ({ ...loaded, events: [...loaded.events].reverse() }),
        'the first one missing': (loaded) => ({ ...loaded, events: loaded.events.slice(1) }),
        'the last one missing': (loaded) => ({ ...loaded, events: loaded.events.slice(0, 1) }),
        'one behind the last': (loaded) => ({
          ...loaded,
          events: [...loaded.events, { rev: 3, data: loaded.events[0].data }],
        }),
        'the first one cut out': (loaded) => ({
          ...loaded,
          rev: 1,
          events: [{ rev: 1, data: loaded.events[1].data }],
        }),
        'another creation': (loaded) => ({ ...loaded, created: 'c1' }),
      };
      for (const [index, { events }] of strange.entries()) {
        changes[`those of session ${index + 1}`] = (loaded) => ({ ...loaded, events });
      }
      for (const [what, one] of Object.entries(changes)) {
        change = one;
        await isCorrupt(store.load(key, {}, context), what);
      }
      // Whoever asks for a part is told as well.
      change = changes['swapped'];
      await isCorrupt(store.load(key, { events: { since: 0 } }, context), 'swapped, by time');
      change = changes['in another order'];
      await isCorrupt(store.load(key, { events: { since: 0 } }, context), 'in another order, by time');
      change = (loaded) => ({ ...loaded, events: [loaded.events[0], loaded.events[0]] });
      await isCorrupt(store.load(key, { events: { since: 0 } }, context), 'one twice, by time');
      change = (loaded) => loaded;
      assert.equal((await store.load(key, { events: { since: 0, from: 2, last: 1 } }, context)).events.length, 1);
      change = (loaded) => ({ ...loaded, events: [] });
      for (const events of [{ from: 2 }, { to: 1 }, { last: 1 }, { from: 1, to: 1 }]) {
        await isCorrupt(store.load(key, { events }, context), JSON.stringify(events));
      }
      for (const events of [{ last: 0 }, { from: 3 }, { to: 0 }, { since: 99 }]) {
        assert.deepEqual((await store.load(key, { events }, context)).events, []);
      }
    });

    test('what a session began with is corrupt when it is that of another one, or another event', async () => {
      let first;
      const { inner, store } = await filled(options, {
        load: (loaded) => ({ ...loaded, events: [first, ...loaded.events.slice(1)] }),
      });
      const events = { from: 0 };
      const [own, second] = (await inner.load(key, { events }, context)).events;
      const [strange] = (await inner.load(places[1], { events }, context)).events;
      first = own;
      assert.equal((await store.load(key, { events }, context)).events[0].data, data('c0', 'canary0'));
      for (const { data: text } of [second, strange, { data: data('c0', 'canary0') }]) {
        first = { rev: 0, data: text };
        await isCorrupt(store.load(key, { events }, context), text);
      }
      first = { rev: 1, data: own.data };
      await isCorrupt(store.load(key, {}, context), 'as the first event');
    });

    test('an event under the id of another one is no duplicate of it', async () => {
      const { inner, store } = await filled(options, { duplicate: (text) => text });
      assert.equal((await store.commit(append('e2'), context)).data, data('e2', 'canary0'));
      const second = (await inner.load(key, {}, context)).events[1].data;
      const { store: forged } = await filled(options, { load: (loaded) => loaded, duplicate: () => second });
      await isCorrupt(forged.commit(append('e1'), context), 'the second for the first');
    });

    test('what a session had before it was created anew is corrupt in it', async () => {
      let earlier;
      const forged = instead(memoryStore(), {
        load: async (method, ...args) => ({ ...(await method(...args)), ...earlier }),
      });
      const { store } = overMemory(options, forged);
      const delta = { session: { set: { a: 1 } } };
      await store.commit(create('c1', delta), context);
      await store.commit(append('e1'), context);
      const { state, events } = await forged.load(key, {}, context);
      await store.remove(key, context);
      await store.commit(create('c2', delta), context);
      await store.commit(append('e1'), context);
      assert.equal((await store.load(key, {}, context)).state.session.a, 1);
      for (earlier of [{ state }, { events }]) {
        await isCorrupt(store.load(key, {}, context), Object.keys(earlier)[0]);
      }
    });

    test('a list goes on with what can be read', async () => {
      const spoil = (values) => (values[stored(values, 1)] = `${MARK}key-1:AAAA:key-1`);
      let change;
      const { store } = await filled(options, { list: (page) => (change(page), page) });
      const listed = async () => {
        const { rows, corrupt, total, users } = await store.list(query, context);
        assert.equal(total, 3);
        assert.deepEqual(new Set(users.keys()), new Set(rows.map(({ key }) => key.userId)));
        return { rows: rows.map(({ key, state }) => [key.userId, key.sessionId, state.b]), corrupt };
      };
      change = () => {};
      assert.deepEqual(await listed(), {
        rows: [
          ['ana', 's1', 'canary0'],
          ['bob', 's1', 'canary2'],
          ['ana', 's2', 'canary1'],
        ],
        corrupt: undefined,
      });
      change = ({ rows }) => spoil(rows[0].state);
      assert.deepEqual(await listed(), {
        rows: [
          ['bob', 's1', 'canary2'],
          ['ana', 's2', 'canary1'],
        ],
        corrupt: [places[0]],
      });
      change = ({ rows }) => ([rows[0].state, rows[2].state] = [rows[2].state, rows[0].state]);
      assert.deepEqual(await listed(), { rows: [['bob', 's1', 'canary2']], corrupt: [places[0], places[1]] });
      change = ({ users }) => spoil(users.get('ana'));
      assert.deepEqual(await listed(), { rows: [['bob', 's1', 'canary2']], corrupt: [places[0], places[1]] });
      change = (page) => {
        page.corrupt = [page.rows.pop().key];
        spoil(page.rows[1].state);
      };
      assert.deepEqual(await listed(), { rows: [['ana', 's1', 'canary0']], corrupt: [places[1], places[2]] });
      change = ({ app }) => spoil(app);
      await isCorrupt(store.list(query, context), 'the app');
    });

    test('a corrupt value is not overwritten by a guard that cannot be read, and ends when it is written or deleted', async () => {
      const inner = memoryStore();
      const { store } = overMemory(options, inner);
      const set = { a: 1, b: 2, c: 3 };
      await store.commit(create('c', { app: { set } }), context);
      const names = Object.keys((await inner.loadScope({ app: 'app' }, context)).state);
      const spoiled = { set: Object.fromEntries(names.slice(0, 2).map((name) => [name, 'spoiled'])) };
      await inner.commit(update('p', { app: spoiled }, ofApp), context);
      const change = (id, app, guard = {}) => update(id, { app }, { ...ofApp, guard });
      await isCorrupt(
        store.commit(change('q', { set: { a: 2 } }, { keys: { app: { set: { a: 1 } } } }), context),
        'a guard',
      );
      await store.commit(change('r', { set: { c: 4 } }, { keys: { app: { set: { c: 3 } } } }), context);
      await store.commit(change('s', { set: { a: 5 } }), context);
      await isCorrupt(store.loadScope({ app: 'app' }, context), 'the other one');
      await store.commit(change('t', { unset: ['b'] }), context);
      assert.deepEqual(plain((await store.loadScope({ app: 'app' }, context)).state), { a: 5, c: 4 });
    });
  });
}

test('what is known is not read: it may be corrupt', async () => {
  const { inner, store } = overMemory({ keys });
  await store.commit(create('c', { app: { set: { a: 1 } }, session: { set: { s: 1 } } }), context);
  await inner.commit(update('p', { app: { set: { a: 'plain' } } }, ofApp), context);
  const { state } = await store.load(key, { known: { pos: { app: 2 } } }, context);
  assert.deepEqual([state.app, plain(state.session)], [undefined, { s: 1 }]);
});

test('what is not found out: a deleted value, and an earlier value under the same name', async () => {
  const { inner, store } = overMemory({ keys });
  const home = { app: 'app' };
  const set = (id, value) => store.commit(update(id, { app: { set: { a: value, b: value } } }, ofApp), context);
  await set('p', 1);
  const { state } = await inner.loadScope(home, context);
  await set('q', 2);
  await inner.commit(update('r', { app: { set: { a: state.a }, unset: ['b'] } }, ofApp), context);
  assert.deepEqual(plain((await store.loadScope(home, context)).state), { a: 1 });
});

test('the plain text of other users never comes out, whatever the inner store answers', async () => {
  const { asked, store: inner } = recording(memoryStore());
  const { store } = overMemory(
    { keys },
    instead(inner, { load: (method, place, ...rest) => method({ ...place, userId: 'ana' }, ...rest) }),
  );
  await store.commit(create('c', { session: { set: { secret: 1 } } }), context);
  await store.commit(create('c', { session: { set: { secret: 2 } } }, { key: { ...key, userId: 'bob' } }), context);
  await isCorrupt(store.load({ ...key, userId: 'bob' }, {}, context), 'the session of ana');
  assert.ok(asked.length > 0);
});
