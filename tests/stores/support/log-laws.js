// The laws of the log of every store that shares its storage with others: its beginning, trimming, damage. They run in
// pages, too: nothing of Node.

import { append, create, keyOf, update } from '../../support/changes.js';

const APP = { app: 'app' };
const USER = { app: 'app', user: 'user' };
const KEY = keyOf('s');
const OTHER = keyOf('t');
const set = (n) => ({ app: { set: { n } } });

/**
 * Every law by its title: a function that throws where it does not hold. It gets fresh storage with two open stores,
 * `logged` and `unlogged`, where
 *
 * - `stored()` counts what is kept of the app's log, in whatever unit;
 * - `spoil(position)` makes a value of the entry at this position of the app's log unreadable.
 */
export const logLaws = {
  'what one writes without a log ends what can be told, and the next one begins anew': async (storage) => {
    const { logged, unlogged } = bound(storage);
    same([logged.keeps.includes('log'), unlogged.keeps.includes('log'), unlogged.readLog], [true, false, undefined]);
    await logged.commit(create('c', KEY, { ...set(0), user: { set: { n: 0 } } }));
    await logged.commit(append('e1', KEY, set(1)));
    await logged.commit(create('d', OTHER));
    same(places(await logged.readLog(APP, {})), [2, 0, [1, 2]]);
    const writes = {
      'an event': (id) => unlogged.commit(append(id, KEY, set(id))),
      'an event that deletes': (id) => unlogged.commit(append(id, KEY, { app: { set: { n: id }, unset: ['b'] } })),
      'an event that is sent again': (id) => unlogged.commit(append(id, KEY, set(id), { attempt: 2 })),
      'events of several sessions': (id) => unlogged.commitMany([append(id, KEY, set(id)), append(id, OTHER)]),
      'several that write': (id) =>
        unlogged.commitMany([append(id, KEY, set(0)), append(id, OTHER, { app: { set: { n: id }, unset: ['b'] } })]),
      'a creation': (id) => unlogged.commit(create(id, keyOf(id), set(id))),
      'an update': (id) => unlogged.commit(update(id, { appName: 'app' }, set(id))),
    };
    for (const [what, write] of Object.entries(writes)) {
      await write(`without: ${what}`);
      const { pos, base, entries } = await logged.readLog(APP, {});
      same([base, entries], [pos, []], what);
      await logged.commitMany([append(`after ${what}`, KEY, set(1), { time: 7 })]);
      const by = { userId: 'user', sessionId: 's', eventId: `after ${what}` };
      const changed = { name: 'n', from: `without: ${what}`, to: 1 };
      const expected = { pos: pos + 1, base: pos, entries: [{ pos: pos + 1, time: 7, by, writes: [changed] }] };
      same(await logged.readLog(APP, {}), expected, what);
    }
    // The log of the user goes on.
    await logged.commit(append('e2', KEY, { user: { set: { n: 1 } } }));
    same(places(await logged.readLog(USER, {})), [2, 0, [1, 2]]);
    const { pos } = await logged.loadScope(APP);
    await unlogged.removeScope(APP);
    same(places(await logged.readLog(APP, {})), [pos + 1, pos + 1, []]);
    await logged.commit(append('e3', KEY, set(3)));
    await logged.removeScope(APP);
    same(places(await logged.readLog(APP, {})), [pos + 3, pos + 1, [pos + 2, pos + 3]]);
    const { events } = await logged.load(KEY, {});
    for (const event of events) same('pos' in event, !event.id.startsWith('without'), event.id);
  },

  'what is trimmed is deleted, also beside a writer, and by one who keeps none': async (storage) => {
    const { logged, unlogged, stored } = bound(storage);
    const write = (store, id) => store.commit(update(id, { appName: 'app' }, { app: { set: { a: id, b: id } } }));
    for (let number = 1; number <= 5; number++) await write(logged, `u${number}`);
    same(await logged.trimLog(APP, 2), 2);
    same(places(await logged.readLog(APP, {})), [5, 2, [3, 4, 5]]);
    same(await logged.trimLog(APP, 1), 0);
    const [trimmed] = await Promise.all([logged.trimLog(APP, 4), write(logged, 'u6')]);
    same([trimmed, places(await logged.readLog(APP, {}))], [2, [6, 4, [5, 6]]]);
    await write(unlogged, 'u7');
    await (unlogged.trimLog ?? logged.trimLog)(APP, Infinity);
    same(await stored(), 0);
    await write(logged, 'u8');
    same(places(await logged.readLog(APP, {})), [8, 7, [8]]);
    same(await (unlogged.trimLog ?? logged.trimLog)(APP, Infinity), 1);
    same([await stored(), places(await logged.readLog(APP, {}))], [0, [8, 8, []]]);
    same(await logged.trimLog({ app: 'other' }, 3), 0);
    same(await logged.readLog({ app: 'other' }, {}), { pos: 0, base: 0, entries: [] });
  },

  'an entry that cannot be read is corrupt where it is asked for, and keeps nothing from being written': async (
    storage,
  ) => {
    const { logged, spoil } = bound(storage);
    for (const n of [1, 2, 3]) await logged.commit(update(`u${n}`, { appName: 'app' }, set(n)));
    await spoil(2);
    same(await codeOf(logged.readLog(APP, {})), 'corrupt');
    same(places(await logged.readLog(APP, { after: 2 })), [3, 0, [3]]);
    await logged.commit(update('u4', { appName: 'app' }, set(4)));
    same((await logged.loadScope(APP)).state.n, 4);
    await logged.trimLog(APP, 2);
    same(places(await logged.readLog(APP, {})), [4, 2, [3, 4]]);
  },
};

/** The stores without the context that each of their methods gets. */
function bound({ logged, unlogged, ...storage }) {
  // Workers can make a signal in a request only.
  const context = { signal: new AbortController().signal };
  const plain = (store) =>
    Object.fromEntries(
      Object.entries(store).map(([name, member]) => [
        name,
        typeof member === 'function' ? (...args) => member.call(store, ...args, context) : member,
      ]),
    );
  return { ...storage, logged: plain(logged), unlogged: plain(unlogged) };
}

const places = ({ pos, base, entries }) => [pos, base, entries.map((entry) => entry.pos)];

async function codeOf(promise) {
  return await promise.then(
    () => 'none',
    ({ code }) => code,
  );
}

function same(actual, expected, what = 'it') {
  const [left, right] = [actual, expected].map((value) => JSON.stringify(value, inOrder));
  if (left !== right) throw new Error(`${what}: ${left} is not ${right}`);
}

/** Members in the order of their names. */
function inOrder(_, value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
