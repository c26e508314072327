// Storage may have several stores at once.

import {
  again,
  append,
  appended,
  appendedBefore,
  appHas,
  APP,
  commit,
  create,
  dataOf,
  eventsOf,
  HOME,
  keyOf,
  KEY,
  list,
  load,
  loaded,
  made,
  row,
  set,
  storeCase,
  times,
  update,
  updatedBefore,
  userHas,
} from '../build.js';
import type { OneStoreStep, StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };

/** The other store does it. */
function other<Step extends OneStoreStep>(step: Step): Step {
  return { ...step, by: 'another' };
}

const togetherCases: readonly StoreCase[] = [
  storeCase(
    'two stores on the same storage see what the other has written',
    commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), made(1, 1)),
    other(load(loaded({ pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 }, session: { s: 1 } } }))),
    other(commit(append('e1', { app: set('b', 2), session: set('s', 2) }, { time: 2_000 }), appended(1, 2, 1))),
    load(
      loaded({
        time: 2_000,
        pos: { app: 2, user: 1 },
        state: { app: { a: 1, b: 2 }, user: { u: 1 }, session: { s: 2 } },
        events: eventsOf('e1'),
      }),
    ),
    list([row({ rev: 1, time: 2_000, state: { s: 2 } })], {}, { app: { a: 1, b: 2 }, users: { user: { u: 1 } } }),
    commit(append('e2', { user: { unset: ['u'] } }), appended(2, 2, 2)),
    other(userHas(2, {})),
    other(commit(update('p', { app: { unset: ['a'] } }, ofApp), made(3))),
    appHas(3, { b: 2 }),
    other(list([row({ rev: 2, state: { s: 2 } })], {}, { app: { b: 2 } })),
    commit(append('e3'), appended(3, 3, 2)),
    other(
      load(
        loaded({
          pos: { app: 3, user: 2 },
          state: { app: { b: 2 }, session: { s: 2 } },
          events: eventsOf('e1', 'e2', 'e3'),
        }),
      ),
    ),
    other({ remove: KEY }),
    load(null),
    list([], {}, { app: { b: 2 } }),
    commit(append('e4'), { throws: 'not-found' }),
  ),
  storeCase(
    'two stores on the same storage never overwrite what the other has merged',
    commit(create('c'), made()),
    ...times(10, (index) => [
      commit(
        append(`a${index}`, {
          app: set(`a${index}`, 1),
          user: set('last', `a${index}`),
          session: set(`a${index}`, 1),
        }),
        appended(2 * index + 1, 2 * index + 1, 2 * index + 1),
      ),
      other(
        commit(
          append(`b${index}`, {
            app: set(`b${index}`, 2),
            user: set('last', `b${index}`),
            session: set(`b${index}`, 2),
          }),
          appended(2 * index + 2, 2 * index + 2, 2 * index + 2),
        ),
      ),
    ]).flat(),
    ...times(2, (index) => {
      const all = Object.fromEntries(
        times(
          10,
          (n) =>
            [
              [`a${n}`, 1],
              [`b${n}`, 2],
            ] as const,
        ).flat(),
      );
      const step = load(
        loaded({ rev: 20, pos: { app: 20, user: 20 }, state: { app: all, user: { last: 'b9' }, session: all } }),
        { events: { last: 0 } },
      );
      return index === 0 ? step : other(step);
    }),
  ),
  storeCase(
    'a guard sees what the other store has written',
    commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), made(1, 1)),
    other(
      commit(
        append('e1', { app: set('a', 2) }, { guard: { created: 'c', rev: 0, pos: { app: 1, user: 1 } } }),
        appended(1, 2, 1),
      ),
    ),
    commit(append('e2', {}, { guard: { rev: 0 } }), { throws: 'conflict', actual: 1 }),
    commit(append('e2', {}, { guard: { pos: { app: 1 } } }), { throws: 'conflict' }),
    commit(append('e2', {}, { guard: { keys: { app: set('a', 1) } } }), { throws: 'conflict' }),
    commit(update('p', {}, { guard: { keys: { app: set('a', 1) } } }), { throws: 'conflict' }),
    commit(
      append('e2', { session: { unset: ['s'] } }, { guard: { rev: 1, pos: { app: 2 }, keys: { app: set('a', 2) } } }),
      appended(2, 2, 1),
    ),
    other(commit(append('e3', {}, { guard: { keys: { session: set('s', 1) } } }), { throws: 'conflict' })),
    other(commit(create('d'), { throws: 'exists' })),
    other({ remove: KEY }),
    other(commit(create('d'), made(2, 1))),
    commit(append('e3', {}, { guard: { created: 'c' } }), { throws: 'not-found' }),
    commit(create('f'), { throws: 'exists' }),
    commit(append('e1', {}, { guard: { created: 'd', rev: 0 } }), appended(1, 2, 1)),
    other(
      load(
        loaded({
          created: 'd',
          pos: { app: 2, user: 1 },
          state: { app: { a: 2 }, user: { u: 1 } },
          events: eventsOf('e1'),
        }),
      ),
    ),
  ),
  storeCase(
    'duplicates are known to the other store',
    commit(create('c', { app: set('a', 1) }), made(1)),
    other(commit(create('c', { app: set('a', 1) }), again(0, 1))),
    other(commit(append('e1', { app: set('a', 2) }), appended(1, 2))),
    commit(append('e1', { app: set('a', 2) }), { ...again(1, 2), data: dataOf('e1') }),
    commit(update('p', { user: set('u', 1) }), made(2, 1)),
    other(commit(update('p', { user: set('u', 9) }), updatedBefore(2, 1))),
    other(commit(update('q', { app: set('a', 3) }, ofApp), made(3))),
    commit(update('q', { app: set('a', 9) }, ofApp), updatedBefore(3)),
    load(loaded({ pos: { app: 3, user: 1 }, state: { app: { a: 3 }, user: { u: 1 } }, events: eventsOf('e1') })),
  ),
  storeCase(
    'what one knows is judged by what the other has written',
    commit(create('c', { app: set('a', 1), session: set('s', 1) }), made(1)),
    load({ ...loaded({ pos: { app: 1 } }), state: {} }, { known: { created: 'c', rev: 0, pos: { app: 1, user: 0 } } }),
    other(commit(append('e1', { app: set('a', 2) }), appended(1, 2))),
    load(
      { ...loaded({ pos: { app: 2 }, events: eventsOf('e1') }), state: { app: { a: 2 }, session: { s: 1 } } },
      {
        known: { created: 'c', rev: 0, pos: { app: 1, user: 0 } },
      },
    ),
  ),
  storeCase(
    'two stores that write at once lose nothing',
    commit(create(), made()),
    {
      parallel: times(20, (index) => {
        const step = commit(append(`e${index}`, { app: set(`x${index}`, index), session: set(`x${index}`, index) }));
        return index % 2 === 0 ? step : other(step);
      }),
      outcomes: times(20, (index) => appended(index + 1, index + 1)),
    },
    ...times(2, (index) => {
      const all = Object.fromEntries(times(20, (n) => [`x${n}`, n]));
      const step: StoreStep = {
        ...load(loaded({ rev: 20, pos: { app: 20 }, state: { app: all, session: all } }), { events: { last: 0 } }),
        namesInAnyOrder: true,
      };
      return index === 0 ? step : other(step);
    }),
  ),
  storeCase(
    'of two stores that create a session, send one change, or expect one value at once, one writes',
    { parallel: [commit(create('c1')), other(commit(create('c2')))], outcomes: [made(), { throws: 'exists' }] },
    {
      parallel: [commit(append('e1', { app: set('n', 1) })), other(commit(append('e1', { app: set('n', 1) })))],
      outcomes: [appended(1, 1), appendedBefore('e1', 1, 1)],
    },
    {
      parallel: [commit(update('p', { user: set('n', 1) })), other(commit(update('p', { user: set('n', 1) })))],
      outcomes: [made(1, 1), updatedBefore(1, 1)],
    },
    {
      parallel: [
        commit(append('e2', {}, { guard: { rev: 1 } })),
        other(commit(append('e3', {}, { guard: { rev: 1 } }))),
      ],
      outcomes: [appended(2, 1, 1), { throws: 'conflict', actual: 2 }],
    },
  ),
  storeCase(
    'two stores that write many at once lose nothing',
    {
      parallel: times(2, (index) => {
        const step = {
          commitMany: times(20, (n) =>
            create(`c${index}-${n}`, { session: set('x', n) }, { key: keyOf(`s${index}-${n + 10}`, `u${index}`) }),
          ),
          outcomes: times(20, () => made()),
        };
        return index === 0 ? step : other(step);
      }),
    },
    list(
      times(40, (n) =>
        row({
          key: keyOf(`s${Math.floor(n / 20)}-${(n % 20) + 10}`, `u${Math.floor(n / 20)}`),
          created: `c${Math.floor(n / 20)}-${n % 20}`,
          state: { x: n % 20 },
        }),
      ),
    ),
  ),
];

const watchCases: readonly StoreCase[] = [
  storeCase(
    'one who watches gets a hint when another appends',
    commit(create(), made()),
    { watch: true },
    { hinted: KEY, change: append('e', { session: set('x', 1) }) },
  ),
  storeCase(
    'one who watches gets a hint when another updates a user',
    { watch: true },
    { hinted: HOME, change: update('p', { user: set('u', 1) }) },
  ),
  storeCase(
    'one who watches gets a hint when another updates an app',
    { watch: true },
    {
      hinted: { appName: APP },
      change: update('p', { app: set('a', 1) }, ofApp),
    },
  ),
  storeCase(
    'one who has stopped watching gets no more hints',
    commit(create(), made()),
    { watch: true },
    { hinted: KEY, change: append('first') },
    { watch: false },
    other(commit(append('unseen'))),
    { watch: true },
    { hinted: KEY, change: append('second') },
  ),
];

export const sharingCases: readonly StoreCase[] = [...togetherCases, ...watchCases];
