// What a store is for.

import {
  append,
  appended,
  appHas,
  commit,
  create,
  eventsOf,
  HOME,
  KEY,
  list,
  load,
  loaded,
  made,
  row,
  set,
  storeCase,
  update,
  userHas,
} from '../build.js';
import type { StoreCase } from '../case.js';

export const basicCases: readonly StoreCase[] = [
  storeCase('an empty store has nothing', load(null), list([]), appHas(0, {}), userHas(0, {}), { remove: KEY }),
  storeCase(
    'a session is created, appended to, listed and removed',
    commit(create('c', { session: set('a', 1) }), made()),
    load(loaded({ state: { session: { a: 1 } } })),
    commit(append('e1', { session: { set: { b: [2], a: 3 } } }, { time: 2_000 }), appended(1)),
    load(loaded({ time: 2_000, state: { session: { a: 3, b: [2] } }, events: eventsOf('e1') })),
    list([row({ rev: 1, time: 2_000, state: { a: 3, b: [2] } })]),
    { remove: KEY },
    load(null),
    list([]),
  ),
  storeCase(
    'a session reads the values of its app and its user',
    commit(create('c', { app: set('a', 1), user: set('u', 2), session: set('s', 3) }), made(1, 1)),
    commit(append('e1', { app: set('a', 4) }), appended(1, 2, 1)),
    commit(update('p', { user: set('u', 5) }), made(2, 2)),
    commit(update('q', { app: set('b', 6) }, { key: { appName: HOME.appName } }), made(3, 0)),
    load(
      loaded({
        pos: { app: 3, user: 2 },
        state: { app: { a: 4, b: 6 }, user: { u: 5 }, session: { s: 3 } },
        events: eventsOf('e1'),
      }),
    ),
    list([row({ rev: 1, state: { s: 3 } })], {}, { app: { a: 4, b: 6 }, users: { user: { u: 5 } } }),
    appHas(3, { a: 4, b: 6 }),
    userHas(2, { u: 5 }),
  ),
];
