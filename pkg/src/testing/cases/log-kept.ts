// The later life of a log: trimmed, opened again, read by another store; the results of operators in it; the positions
// of events.

import {
  beginningOf,
  counts,
  APP,
  USER,
  added,
  answer,
  by,
  change,
  countedFrom,
  countedWrite,
  dataOf,
  entry,
  featureCase,
  increment,
  keyOf,
  push,
  set,
  step,
  storeCase,
  times,
  withOperators,
  withResults,
} from '../build/index.js';
import type { StoreCase } from '../case.js';

export const keptLogCases: readonly StoreCase[] = [
  storeCase(
    'a log that is trimmed begins behind the position that was named',
    ...counts(9),
    { trimLog: { app: APP }, upTo: 4, answer: 4 },
    step.appLog(9, countedFrom(5, 9), {}, 4),
    step.appLog(9, countedFrom(5, 9), { after: 2 }, 4),
    step.appLog(9, countedFrom(8, 9), { after: 7 }, 4),
    step.appLog(9, [], { to: 4 }, 4),
    step.appLog(9, [entry(6, [countedWrite('m', 6, 3)], undefined, 6)], { name: 'm', limit: 1 }, 4),
    { trimLog: { app: APP }, upTo: 4, answer: 0 },
    { trimLog: { app: APP }, upTo: 2, answer: 0 },
    step.appLog(9, countedFrom(5, 9), {}, 4),
    { trimLog: { app: APP }, upTo: 6, answer: 2 },
    step.appLog(9, countedFrom(7, 9), {}, 6),
    step.appHas(9, { n: 9, m: 9 }),
  ),
  storeCase(
    'a log that is trimmed up to where its scope is, or beyond, is empty, and what comes later is in it',
    ...counts(4),
    { trimLog: { app: APP }, upTo: 40, answer: 4 },
    step.appLog(4, [], {}, 4),
    step.commit(change.update('p', { app: set('n', 5) }, { time: 5 }), answer.made(5)),
    step.appLog(5, [entry(5, [{ name: 'n', from: 4, to: 5 }], undefined, 5)], {}, 4),
    { trimLog: { app: APP }, upTo: 5, answer: 1 },
    step.appLog(5, [], {}, 5),
    { trimLog: { app: APP, user: USER }, upTo: 3, answer: 0 },
    step.userLog(0, []),
    step.commit(change.update('q', { user: set('u', 1) }), answer.made(5, 1)),
    step.userLog(1, [entry(1, [added('u', 1)])]),
  ),
  storeCase(
    'a log is trimmed by itself: those of others stay',
    ...['ann', 'bob'].map((user) =>
      step.commit(change.create(`c-${user}`, { user: set('u', 1) }, { key: keyOf('s', user) }), answer.made(0, 1)),
    ),
    step.commit(change.update('p', { app: set('a', 1) }), answer.made(1)),
    { trimLog: { app: APP, user: 'ann' }, upTo: 1, answer: 1 },
    step.appLog(1, [entry(1, [added('a', 1)])]),
    {
      readLog: { app: APP, user: 'bob' },
      answer: { pos: 1, base: 0, entries: [entry(1, [added('u', 1)], { userId: 'bob', sessionId: 's' })] },
    },
    { readLog: { app: APP, user: 'ann' }, answer: { pos: 1, base: 1, entries: [] } },
  ),
  storeCase(
    'a log is there, and begins where it was trimmed, when the storage is opened again',
    ...counts(5),
    step.commit(change.create('c', { user: set('u', 1) }), answer.made(5, 1)),
    step.commit(change.append('e1', { user: { set: { v: 2 }, unset: ['u'] } }), answer.appended(1, 5, 2)),
    { reopen: 'check' },
    step.appLog(5, countedFrom(1, 5)),
    step.userLog(2, [entry(1, [added('u', 1)], by()), entry(2, [{ name: 'u', from: 1 }, added('v', 2)], by('e1'))]),
    { trimLog: { app: APP }, upTo: 3, answer: 3 },
    { reopen: 'check' },
    step.appLog(5, countedFrom(4, 5), {}, 3),
    step.commit(change.update('p', { app: set('n', 6) }, { time: 6 }), answer.made(6, 2)),
    step.appLog(6, [...countedFrom(4, 5), entry(6, [{ name: 'n', from: 5, to: 6 }], undefined, 6)], {}, 3),
  ),
  storeCase(
    'a removed scope is an entry also when the storage is opened again',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    { removeScope: { app: APP } },
    { reopen: 'check' },
    step.appLog(2, [entry(1, [added('a', 1)], by()), { pos: 2, time: null, writes: [{ name: 'a', from: 1 }] }]),
  ),
  storeCase(
    'what one store has written the other one reads in the log',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    { commit: change.append('e1', { app: set('a', 2) }), outcome: answer.appended(1, 2), by: 'another' },
    step.commit(change.update('u1', { app: set('a', 3) }), answer.made(3)),
    {
      ...step.appLog(3, [
        entry(1, [added('a', 1)], by()),
        entry(2, [{ name: 'a', from: 1, to: 2 }], by('e1')),
        entry(3, [{ name: 'a', from: 2, to: 3 }]),
      ]),
      by: 'another',
    },
    { trimLog: { app: APP }, upTo: 2, answer: 2, by: 'another' },
    step.appLog(3, [entry(3, [{ name: 'a', from: 2, to: 3 }])], {}, 2),
  ),
  storeCase(
    'what operators came to is logged behind what the delta has set',
    step.commit(change.create('c', { app: { set: { n: 1, a: 1 } } }), answer.made(1)),
    step.commit(
      withOperators(change.append('e1', { app: { set: { z: 1 }, unset: ['a'] } }), {
        app: { n: increment(2), list: push('x') },
        user: { n: increment(1) },
      }),
      withResults(answer.appended(1, 2, 1), { app: { n: 3, list: ['x'] }, user: { n: 1 } }),
    ),
    step.appLog(
      2,
      [
        entry(
          2,
          [{ name: 'a', from: 1 }, added('z', 1), { name: 'n', from: 1, to: 3 }, added('list', ['x'])],
          by('e1'),
        ),
      ],
      { after: 1 },
    ),
    step.userLog(1, [entry(1, [added('n', 1)], by('e1'))]),
  ),
  storeCase(
    'operators of changes that go together are logged from what those before them came to',
    {
      commitMany: times(3, (index) => withOperators(change.update(`u${index}`, {}), { app: { n: increment(2) } })),
      outcomes: times(3, (index) => withResults(answer.made(index + 1), { app: { n: 2 * index + 2 } })),
    },
    step.appLog(3, [
      entry(1, [added('n', 2)]),
      entry(2, [{ name: 'n', from: 2, to: 4 }]),
      entry(3, [{ name: 'n', from: 4, to: 6 }]),
    ]),
  ),
  featureCase(
    'log',
    'each event says where the scopes were after its change',
    step.commit(change.update('u1', { app: set('a', 0) }), answer.made(1)),
    step.commit(change.begin('c', { user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1', { app: set('a', 1), user: set('u', 2) }), answer.appended(1, 2, 2)),
    step.commit(change.update('u2', { app: set('a', 2) }), answer.made(3, 2)),
    step.commit(change.append('e2'), answer.appended(2, 3, 2)),
    step.commit(change.append('e3', { user: { unset: ['u'] } }), answer.appended(3, 3, 3)),
    step.sessionHas(
      {
        pos: { app: 3, user: 3 },
        state: { app: { a: 2 } },
        events: [
          { ...beginningOf('c'), pos: { app: 1, user: 1 } },
          { rev: 1, data: dataOf('e1'), pos: { app: 2, user: 2 } },
          { rev: 2, data: dataOf('e2'), pos: { app: 3, user: 2 } },
          { rev: 3, data: dataOf('e3'), pos: { app: 3, user: 3 } },
        ],
      },
      { events: { from: 0 } },
    ),
    step.sessionHas(
      {
        pos: { app: 3, user: 3 },
        state: { app: { a: 2 } },
        events: [{ rev: 3, data: dataOf('e3'), pos: { app: 3, user: 3 } }],
      },
      { events: { last: 1 } },
    ),
  ),
  featureCase(
    'log',
    'events of changes that go together say each where its change came to, also when the storage is opened again',
    ...times(2, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: [
        change.append('e1', { app: set('a', 1) }, { key: keyOf('s0') }),
        change.append('e1', { app: set('a', 2), user: set('u', 1) }, { key: keyOf('s1') }),
      ],
      outcomes: [answer.appended(1, 1), answer.appended(1, 2, 1)],
    },
    { reopen: 'check' },
    ...[
      { app: 1, user: 0 },
      { app: 2, user: 1 },
    ].map((pos, index) =>
      step.sessionHas(
        {
          created: `c${index}`,
          pos: { app: 2, user: 1 },
          state: { app: { a: 2 }, user: { u: 1 } },
          events: [{ rev: 1, data: dataOf('e1'), pos }],
        },
        {},
        keyOf(`s${index}`),
      ),
    ),
  ),
];
