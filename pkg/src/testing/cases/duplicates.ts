// The same change sent again.

import {
  again,
  append,
  appended,
  appendedBefore,
  appHas,
  APP,
  begin,
  beginningOf,
  commit,
  create,
  dataOf,
  eventsOf,
  keyOf,
  KEY,
  list,
  load,
  loaded,
  made,
  row,
  set,
  storeCase,
  update,
  updatedBefore,
  userHas,
} from '../build.js';
import type { Guard } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

const ofApp = { key: { appName: APP } };
/** What no session is at any more. */
const stale: Guard = {
  rev: 77,
  pos: { app: 77, user: 77 },
  keys: { app: set('a', 'other'), user: set('u', 'other'), session: set('s', 'other') },
};

export const duplicateCases: readonly StoreCase[] = [
  storeCase(
    'a creation that is sent again is a duplicate as long as the session lives, and writes nothing',
    commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), made(1, 1)),
    commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), again(0, 1, 1)),
    commit(append('e1', { app: set('a', 2), session: { unset: ['s'] } }, { time: 2_000 }), appended(1, 2, 1)),
    commit(append('e2', { user: set('u', 2) }, { time: 3_000 }), appended(2, 2, 2)),
    commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), again(2, 2, 2)),
    load(
      loaded({
        time: 3_000,
        pos: { app: 2, user: 2 },
        state: { app: { a: 2 }, user: { u: 2 } },
        events: eventsOf('e1', 'e2'),
      }),
    ),
    list([row({ rev: 2, time: 3_000 })], {}, { app: { a: 2 }, users: { user: { u: 2 } } }),
    { remove: KEY },
    commit(create('d', { app: set('a', 3) }), made(3, 2)),
    load(loaded({ created: 'd', pos: { app: 3, user: 2 }, state: { app: { a: 3 }, user: { u: 2 } } })),
  ),
  storeCase(
    'what a session began with stays as it is, whatever its creation says when it is sent again',
    commit(begin('c', { session: set('s', 1) }), made()),
    commit(begin('c', { session: set('s', 1) }), again(0)),
    commit(begin('d', { session: set('s', 2) }), { throws: 'exists' }),
    commit(append('e1'), appended(1)),
    commit(begin('c', {}, { event: { id: 'c', time: 9_000, data: '"other"' } }), again(1)),
    commit(create('c'), again(1)),
    load(loaded({ state: { session: { s: 1 } }, events: [beginningOf(), ...eventsOf('e1')] }), {
      events: { from: 0 },
    }),
    commit(create('d', {}, { key: keyOf('two') }), made()),
    commit(begin('d', {}, { key: keyOf('two') }), again(0)),
    load(loaded({ created: 'd' }), { events: { from: 0 } }, keyOf('two')),
  ),
  storeCase(
    'an event may have the id of the creation, and is not the one that the session began with',
    commit(begin('c'), made()),
    commit(append('c'), appended(1)),
    commit(append('c'), appendedBefore('c', 1)),
    commit(begin('c'), again(1)),
    load(loaded({ events: [beginningOf(), ...eventsOf('c')] }), { events: { from: 0 } }),
  ),
  storeCase(
    'an event that is sent again is a duplicate, is answered with the stored one and the revision of now, and writes nothing',
    commit(create('c', { session: set('n', 0) }), made()),
    commit(append('e1', { app: set('a', 1), user: set('u', 1), session: set('n', 1) }), appended(1, 1, 1)),
    commit(append('e1', { app: set('a', 1), user: set('u', 1), session: set('n', 1) }), appendedBefore('e1', 1, 1, 1)),
    commit(append('e2', { app: set('a', 2), session: set('n', 2) }, { time: 2_000 }), appended(2, 2, 1)),
    commit(append('e3', { user: { unset: ['u'] } }, { time: 3_000 }), appended(3, 2, 2)),
    commit(append('e1', { app: set('a', 1), user: set('u', 1), session: set('n', 1) }), appendedBefore('e1', 3, 2, 2)),
    commit(append('e2', { app: set('a', 2), session: set('n', 2) }, { time: 2_000 }), appendedBefore('e2', 3, 2, 2)),
    load(
      loaded({
        time: 3_000,
        pos: { app: 2, user: 2 },
        state: { app: { a: 2 }, session: { n: 2 } },
        events: eventsOf('e1', 'e2', 'e3'),
      }),
    ),
    list([row({ rev: 3, time: 3_000, state: { n: 2 } })], {}, { app: { a: 2 } }),
  ),
  storeCase(
    'another event under an id that is there is answered with the one that is there',
    commit(create(), made()),
    commit(append('e1', { session: set('x', 1) }), appended(1)),
    commit(
      append('e1', { session: set('x', 2) }, { time: 9_000, event: { id: 'e1', time: 9_000, data: '"other"' } }),
      appendedBefore('e1', 1),
    ),
    load(loaded({ state: { session: { x: 1 } }, events: eventsOf('e1') })),
  ),
  storeCase(
    'an update that is sent again is a duplicate and writes nothing',
    commit(update('p1', { app: set('a', 1), user: set('u', 1) }), made(1, 1)),
    commit(update('p2', { app: set('b', 1) }, ofApp), made(2, 0)),
    commit(update('p1', { app: set('a', 1), user: set('u', 1) }), updatedBefore(2, 1)),
    commit(update('p3', { app: { set: { a: 3 }, unset: ['b'] }, user: { unset: ['u'] } }), made(3, 2)),
    commit(update('p1', { app: set('a', 1), user: set('u', 1) }), updatedBefore(3, 2)),
    commit(update('p2', { app: set('b', 1) }, ofApp), updatedBefore(3, 0)),
    commit(update('p3', { app: { set: { a: 3 }, unset: ['b'] }, user: { unset: ['u'] } }), updatedBefore(3, 2)),
    appHas(3, { a: 3 }),
    userHas(2, {}),
  ),
  storeCase(
    'an update with nothing in it is remembered, too',
    commit(update('p', { user: {} }), made()),
    commit(update('p', { user: {} }), updatedBefore()),
    commit(update('q', { app: {} }, ofApp), made()),
    commit(update('q', { app: {} }, ofApp), updatedBefore()),
  ),
  storeCase(
    'a duplicate is a duplicate even when its guard does not hold any more',
    commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), made(1, 1)),
    commit(append('e1'), appended(1, 1, 1)),
    commit(update('p', { user: set('v', 1) }), made(1, 2)),
    commit(update('q', { app: set('b', 1) }, ofApp), made(2, 0)),
    commit(create('c', {}, { guard: { pos: stale.pos ?? {}, keys: stale.keys ?? {} } }), again(1, 2, 2)),
    commit(append('e1', {}, { guard: stale }), appendedBefore('e1', 1, 2, 2)),
    commit(append('e1', {}, { guard: { ...stale, created: 'c' } }), appendedBefore('e1', 1, 2, 2)),
    commit(
      update('p', { user: set('v', 2) }, { guard: { pos: { user: 1 }, keys: { user: { unset: ['v'] } } } }),
      updatedBefore(2, 2),
    ),
    commit(
      update('q', { app: set('b', 2) }, { ...ofApp, guard: { pos: { app: 1 }, keys: { app: { unset: ['b'] } } } }),
      updatedBefore(2, 0),
    ),
    load(
      loaded({
        pos: { app: 2, user: 2 },
        state: { app: { a: 1, b: 1 }, user: { u: 1, v: 1 }, session: { s: 1 } },
        events: eventsOf('e1'),
      }),
    ),
  ),
  storeCase(
    'a duplicate for another session under the same key is not found',
    commit(create('c'), made()),
    commit(append('e1'), appended(1)),
    commit(append('e1', {}, { guard: { created: 'earlier' } }), { throws: 'not-found' }),
    { remove: KEY },
    commit(append('e1'), { throws: 'not-found' }),
    commit(create('d'), made()),
    commit(append('e1', {}, { guard: { created: 'c' } }), { throws: 'not-found' }),
    commit(append('e1', {}, { guard: { created: 'd' } }), appended(1)),
    load(loaded({ created: 'd', events: eventsOf('e1') })),
  ),
  storeCase(
    'one event id may be in several sessions, of this user, of others and of other apps',
    ...[KEY, keyOf('two'), keyOf('session', 'other'), keyOf('session', 'user', 'elsewhere')].flatMap((key, index) => [
      commit(create(`c${index}`, {}, { key }), made()),
      commit(
        append('e1', { session: set('x', index) }, { key, event: { id: 'e1', time: 1_000, data: `${index}` } }),
        appended(1),
      ),
    ]),
    ...[KEY, keyOf('two'), keyOf('session', 'other'), keyOf('session', 'user', 'elsewhere')].flatMap((key, index) => [
      commit(append('e1', {}, { key }), { ...again(1), data: `${index}` }),
      load(
        loaded({ created: `c${index}`, state: { session: { x: index } }, events: [{ rev: 1, data: `${index}` }] }),
        {},
        key,
      ),
    ]),
  ),
  storeCase(
    'what was refused is not remembered: it is written when it can be',
    commit(append('e1', { app: set('a', 1) }), { throws: 'not-found' }),
    commit(create('c'), made()),
    commit(append('e1', { app: set('a', 1) }, { guard: { rev: 1 } }), { throws: 'conflict', actual: 0 }),
    commit(append('e1', { app: set('a', 1) }, { guard: { keys: { app: set('b', 1) } } }), { throws: 'conflict' }),
    commit(append('e1', { app: set('a', 1) }), appended(1, 1, 0)),
    commit(update('p', { user: set('u', 1) }, { guard: { pos: { user: 1 } } }), { throws: 'conflict' }),
    commit(update('p', { user: set('u', 1) }), made(1, 1)),
    commit(create('d'), { throws: 'exists' }),
    { remove: KEY },
    commit(create('d'), made(1, 1)),
    load(loaded({ created: 'd', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 } } })),
  ),
  storeCase(
    'the hundredth event before the last is still known',
    commit(create(), made()),
    ...Array.from({ length: 120 }, (_, index) =>
      commit(append(`e${index}`, { session: set('n', index) }), appended(index + 1)),
    ),
    commit(append('e0'), appendedBefore('e0', 120)),
    commit(append('e19'), { ...again(120), data: dataOf('e19') }),
    commit(append('e119'), appendedBefore('e119', 120)),
    load(loaded({ rev: 120, state: { session: { n: 119 } }, events: [{ rev: 120, data: dataOf('e119') }] }), {
      events: { last: 1 },
    }),
  ),
];
