// Several at the same time.

import {
  APP,
  KEY,
  answer,
  change,
  dataOf,
  eventsOf,
  keyOf,
  set,
  step,
  storeCase,
  times,
  inAll,
} from '../build/index.js';
import type { Outcome, StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };
const COUNT = 20;
const all = Object.fromEntries(times(COUNT, (index) => [`x${index}`, index]));
/** One wins, and all others learn so. */
const one = (winner: Outcome, others: Outcome): Outcome[] => [winner, ...times(COUNT - 1, () => others)];

/** While this event is appended, everybody sees all of it or nothing. */
function whole(rev: number): StoreStep {
  const [before, after] = [rev - 1, rev].map((n) => inAll({ n }));
  const loaded = ([state, at]: readonly [typeof before, number]) =>
    answer.loaded({
      rev: at,
      time: at,
      pos: { app: at + 1, user: at + 1 },
      state: state ?? {},
      events: eventsOf(...times(at, (index) => `e${index + 1}`)),
    });
  const listed = (n: number) => ({
    rows: [answer.row({ rev: n, time: n, state: { n } })],
    app: { n },
    users: { user: { n } },
    total: 1,
  });
  const loads: StoreStep = { load: KEY, answer: loaded([before, rev - 1]), or: [loaded([after, rev])] };
  const lists: StoreStep = { list: { app: APP, descending: false }, answer: listed(rev - 1), or: [listed(rev)] };
  const n = { n: rev };
  const writes = step.commit(
    change.append(`e${rev}`, inAll({ set: n }), { time: rev }),
    answer.appended(rev, rev + 1, rev + 1),
  );
  return { parallel: [loads, lists, writes, loads, lists, loads, lists] };
}

export const parallelCases: readonly StoreCase[] = [
  storeCase(
    'twenty events appended to one session at once are all there, each at a revision of its own',
    step.commit(change.create(), answer.made()),
    {
      parallel: times(COUNT, (index) =>
        step.commit(change.append(`e${index}`, { app: set(`x${index}`, index), session: set(`x${index}`, index) })),
      ),
      outcomes: times(COUNT, (index) => answer.appended(index + 1, index + 1, 0)),
    },
    {
      ...step.sessionHas(
        { rev: COUNT, pos: { app: COUNT }, state: { app: all, session: all } },
        {
          events: { last: 0 },
        },
      ),
      namesInAnyOrder: true,
    },
    ...times(COUNT, (index) =>
      step.commit(change.append(`e${index}`), answer.appendedBefore(`e${index}`, COUNT, COUNT)),
    ),
  ),
  storeCase(
    'twenty names of an app written at once are all there',
    {
      parallel: times(COUNT, (index) =>
        step.commit(change.update(`p${index}`, { app: set(`x${index}`, index) }, ofApp)),
      ),
      outcomes: times(COUNT, (index) => answer.made(index + 1, 0)),
    },
    { ...step.appHas(COUNT, all), namesInAnyOrder: true },
    ...times(COUNT, (index) => step.commit(change.update(`p${index}`, {}, ofApp), answer.updatedBefore(COUNT))),
  ),
  storeCase(
    'twenty sessions of one user that write to app and user at once lose nothing',
    ...times(COUNT, (index) =>
      step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made()),
    ),
    {
      parallel: times(COUNT, (index) =>
        step.commit(
          change.append(
            'e1',
            { app: set(`x${index}`, index), user: set(`x${index}`, index) },
            { key: keyOf(`s${index}`) },
          ),
        ),
      ),
      outcomes: times(COUNT, (index) => answer.appended(1, index + 1, index + 1)),
    },
    { ...step.appHas(COUNT, all), namesInAnyOrder: true },
    { ...step.userHas(COUNT, all), namesInAnyOrder: true },
  ),
  storeCase(
    'of twenty that create one session at once, one does',
    {
      parallel: times(COUNT, (index) => step.commit(change.create(`c${index}`, { app: set('n', 1) }))),
      outcomes: one(answer.made(1, 0), { throws: 'exists' }),
    },
    step.appHas(1, { n: 1 }),
  ),
  storeCase(
    'twenty sessions created at once are all there',
    {
      parallel: times(COUNT, (index) =>
        step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index + 10}`) }), answer.made()),
      ),
    },
    step.list(times(COUNT, (index) => answer.row({ key: keyOf(`s${index + 10}`), created: `c${index}` }))),
  ),
  storeCase(
    'a change that is sent twenty times at once is written once',
    {
      parallel: times(COUNT, () => step.commit(change.create('c', { app: set('a', 1) }))),
      outcomes: one(answer.made(1), answer.again(0, 1)),
    },
    {
      parallel: times(COUNT, () => step.commit(change.append('e1', { app: set('a', 2), session: set('s', 1) }))),
      outcomes: one(answer.appended(1, 2), answer.appendedBefore('e1', 1, 2)),
    },
    {
      parallel: times(COUNT, () => step.commit(change.update('p', { app: set('a', 3), user: set('u', 1) }))),
      outcomes: one(answer.made(3, 1), answer.updatedBefore(3, 1)),
    },
    step.sessionHas({
      pos: { app: 3, user: 1 },
      state: { app: { a: 3 }, user: { u: 1 }, session: { s: 1 } },
      events: [{ rev: 1, data: dataOf('e1') }],
    }),
  ),
  storeCase(
    'of twenty that expect the same revision, one is written',
    step.commit(change.create(), answer.made()),
    {
      parallel: times(COUNT, (index) =>
        step.commit(change.append(`e${index}`, { app: set('n', 1) }, { guard: { rev: 0 } })),
      ),
      outcomes: one(answer.appended(1, 1), { throws: 'conflict', actual: 1 }),
    },
    step.appHas(1, { n: 1 }),
  ),
  storeCase(
    'of twenty that expect the same value, one is written',
    step.commit(change.update('p', { app: set('n', 0) }, ofApp), answer.made(1)),
    {
      parallel: times(COUNT, (index) =>
        step.commit(
          change.update(`p${index}`, { app: set('n', 1) }, { ...ofApp, guard: { keys: { app: set('n', 0) } } }),
        ),
      ),
      outcomes: one(answer.made(2), { throws: 'conflict' }),
    },
    {
      parallel: times(COUNT, (index) =>
        step.commit(change.update(`q${index}`, { app: set('m', 1) }, { ...ofApp, guard: { pos: { app: 2 } } })),
      ),
      outcomes: one(answer.made(3), { throws: 'conflict' }),
    },
    step.appHas(3, { n: 1, m: 1 }),
  ),
  storeCase(
    'one who reads while another writes sees all of a change or nothing',
    step.commit(change.create('c', inAll(set('n', 0)), { time: 0 }), answer.made(1, 1)),
    ...times(COUNT, (index) => whole(index + 1)),
  ),
  storeCase(
    'sessions are removed while others are made',
    step.commit(change.create(), answer.made()),
    { parallel: [{ remove: KEY }, { remove: KEY }, { remove: keyOf('other') }] },
    step.load(null),
    {
      parallel: [
        step.commit(change.create('d', {}, { key: keyOf('d') }), answer.made()),
        { remove: KEY },
        step.commit(change.create('e', {}, { key: keyOf('e') }), answer.made()),
      ],
    },
    step.list([answer.row({ key: keyOf('d'), created: 'd' }), answer.row({ key: keyOf('e'), created: 'e' })]),
  ),
];
