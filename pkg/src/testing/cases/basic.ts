// The basic work of a store: sessions and their values.

import { HOME, KEY, answer, change, eventsOf, set, step, storeCase } from '../build/index.js';
import type { StoreCase } from '../case.js';

export const basicCases: readonly StoreCase[] = [
  storeCase('an empty store has nothing', step.load(null), step.list([]), step.appHas(0, {}), step.userHas(0, {}), {
    remove: KEY,
  }),
  storeCase(
    'a session is created, appended to, listed and removed',
    step.commit(change.create('c', { session: set('a', 1) }), answer.made()),
    step.sessionHas({ state: { session: { a: 1 } } }),
    step.commit(change.append('e1', { session: { set: { b: [2], a: 3 } } }, { time: 2_000 }), answer.appended(1)),
    step.sessionHas({ time: 2_000, state: { session: { a: 3, b: [2] } }, events: eventsOf('e1') }),
    step.list([answer.row({ rev: 1, time: 2_000, state: { a: 3, b: [2] } })]),
    { remove: KEY },
    step.load(null),
    step.list([]),
  ),
  storeCase(
    'a session reads the values of its app and its user',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 2), session: set('s', 3) }), answer.made(1, 1)),
    step.commit(change.append('e1', { app: set('a', 4) }), answer.appended(1, 2, 1)),
    step.commit(change.update('p', { user: set('u', 5) }), answer.made(2, 2)),
    step.commit(change.update('q', { app: set('b', 6) }, { key: { appName: HOME.appName } }), answer.made(3, 0)),
    step.sessionHas({
      pos: { app: 3, user: 2 },
      state: { app: { a: 4, b: 6 }, user: { u: 5 }, session: { s: 3 } },
      events: eventsOf('e1'),
    }),
    step.list([answer.row({ rev: 1, state: { s: 3 } })], {}, { app: { a: 4, b: 6 }, users: { user: { u: 5 } } }),
    step.appHas(3, { a: 4, b: 6 }),
    step.userHas(2, { u: 5 }),
  ),
];
