// The parts of a session that a load answers.

import {
  KEY,
  answer,
  beginningOf,
  change,
  dataOf,
  eventsOf,
  keyOf,
  set,
  step,
  storeCase,
  times,
} from '../build/index.js';
import { EVENT_TEXTS } from '../edge-values.js';
import type { Loaded, LoadQuery } from '../../store/contract.js';
import type { LoadedAnswer, StoreCase, StoreStep } from '../case.js';

/** The times of events: forward, back, equal, fractional, negative. */
const TIMES = [10, 30, 20, 30, 5, -1.5, 30.25, 7];
const events = TIMES.map((time, index) =>
  step.commit(
    change.append(`e${index + 1}`, { session: set('n', index + 1) }, { time }),
    answer.appended(index + 1, 1, 1),
  ),
);

/** The window shows the events of these revisions, and all else is as ever. */
function shows(window: NonNullable<LoadQuery['events']>, ...revs: readonly number[]): StoreStep {
  return step.sessionHas(
    {
      rev: TIMES.length,
      time: TIMES.at(-1) ?? 0,
      pos: { app: 1, user: 1 },
      state: { app: { a: 1 }, user: { u: 1 }, session: { s: 1, n: TIMES.length } },
      events: revs.map((rev) => ({ rev, data: dataOf(`e${rev}`) })),
    },
    { events: window },
  );
}

const windows: readonly StoreStep[] = [
  shows({}, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ from: 3 }, 3, 4, 5, 6, 7, 8),
  shows({ from: 8 }, 8),
  shows({ from: 9 }),
  shows({ from: 100 }),
  shows({ from: 1 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ from: 0 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ from: 0, to: 0 }),
  shows({ from: 0, to: 2 }, 1, 2),
  shows({ from: 0, last: 8 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ from: 0, last: 100 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ to: 3 }, 1, 2, 3),
  shows({ to: 1 }, 1),
  shows({ to: 0 }),
  shows({ to: 100 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ from: 3, to: 5 }, 3, 4, 5),
  shows({ from: 4, to: 4 }, 4),
  shows({ from: 5, to: 4 }),
  shows({ last: 0 }),
  shows({ last: 1 }, 8),
  shows({ last: 3 }, 6, 7, 8),
  shows({ last: 8 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ last: 100 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ from: 7, last: 3 }, 7, 8),
  shows({ from: 2, last: 3 }, 6, 7, 8),
  shows({ to: 5, last: 2 }, 4, 5),
  shows({ to: 5, last: 0 }),
  shows({ from: 2, to: 5, last: 10 }, 2, 3, 4, 5),
  shows({ from: 2, to: 5, last: 2 }, 4, 5),
];

const since: readonly StoreStep[] = [
  shows({ since: 30 }, 2, 4, 7),
  shows({ since: 30.1 }, 7),
  shows({ since: 30.25 }, 7),
  shows({ since: 30.5 }),
  shows({ since: 10 }, 1, 2, 3, 4, 7),
  shows({ since: 5 }, 1, 2, 3, 4, 5, 7, 8),
  shows({ since: 0 }, 1, 2, 3, 4, 5, 7, 8),
  shows({ since: -1.5 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ since: -1.25 }, 1, 2, 3, 4, 5, 7, 8),
  shows({ since: -1e15 }, 1, 2, 3, 4, 5, 6, 7, 8),
  shows({ since: 1e15 }),
  shows({ since: 10, last: 2 }, 4, 7),
  shows({ since: 10, last: 0 }),
  shows({ since: 10, last: 10 }, 1, 2, 3, 4, 7),
  shows({ since: 10, from: 0 }, 1, 2, 3, 4, 7),
  shows({ since: 30.5, from: 0 }),
  shows({ since: 10, from: 3 }, 3, 4, 7),
  shows({ since: 10, to: 3 }, 1, 2, 3),
  shows({ since: 10, from: 2, to: 6 }, 2, 3, 4),
  shows({ since: 10, from: 2, to: 6, last: 2 }, 3, 4),
  shows({ since: 10, from: 5, to: 6 }),
];

/** The session that began with an event, at the time 20, and has had two others since, at 10 and at 30. */
function begun(events: NonNullable<LoadQuery['events']>, ...revs: readonly number[]): StoreStep {
  const stored = revs.map((rev) => (rev === 0 ? beginningOf() : { rev, data: dataOf(`e${rev}`) }));
  return step.sessionHas({ rev: 2, time: 30, state: { session: { s: 1 } }, events: stored }, { events });
}

const beginning: readonly StoreStep[] = [
  begun({}, 1, 2),
  begun({ from: 1 }, 1, 2),
  begun({ to: 0 }),
  begun({ to: 1 }, 1),
  begun({ last: 3 }, 1, 2),
  begun({ since: 0 }, 1, 2),
  begun({ since: 20 }, 2),
  begun({ from: 0 }, 0, 1, 2),
  begun({ from: 0, to: 0 }, 0),
  begun({ from: 0, to: 1 }, 0, 1),
  begun({ from: 0, last: 0 }),
  begun({ from: 0, last: 2 }, 1, 2),
  begun({ from: 0, last: 3 }, 0, 1, 2),
  begun({ from: 0, last: 100 }, 0, 1, 2),
  begun({ from: 0, to: 1, last: 1 }, 1),
  begun({ from: 0, to: 0, last: 1 }, 0),
  begun({ from: 0, since: 10 }, 0, 1, 2),
  begun({ from: 0, since: 20 }, 0, 2),
  begun({ from: 0, since: 20.5 }, 2),
  begun({ from: 0, since: 30.5 }),
  begun({ from: 0, since: 20, to: 1 }, 0),
  begun({ from: 0, since: 20, last: 1 }, 2),
  begun({ from: 0, since: 20, last: 2 }, 0, 2),
];

const knownSession = { created: 'c', rev: 1 };
const state: Loaded['state'] = { app: { a: 1 }, user: { u: 1 }, session: { s: 1 } };
const session = answer.loaded({ pos: { app: 1, user: 1 }, state, events: eventsOf('e1') });

/** The session with only these scopes. */
function only(...scopes: readonly ('app' | 'user' | 'session')[]): LoadedAnswer {
  return { ...session, state: Object.fromEntries(scopes.map((scope) => [scope, state[scope] ?? {}])) };
}

export const loadCases: readonly StoreCase[] = [
  storeCase(
    'a window chooses events by revision and from the end; the state never depends on it',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    ...events,
    ...windows,
  ),
  storeCase(
    'a window chooses events by their time, each judged by itself',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    ...events,
    ...since,
  ),
  storeCase(
    'a window on no events shows none',
    step.commit(change.create(), answer.made()),
    ...[
      {},
      { from: 0 },
      { from: 0, to: 0 },
      { from: 0, since: 0 },
      { from: 0, last: 1 },
      { from: 1 },
      { to: 1 },
      { since: 0 },
      { last: 0 },
      { last: 1 },
      { from: 1, to: 1, since: 0, last: 1 },
    ].map((window) => step.sessionHas({}, { events: window })),
  ),
  storeCase(
    'what a session began with is its event of revision 0, where it is asked for; no other event is a duplicate of it',
    step.commit(change.begin('c', { session: set('s', 1) }, { time: 20 }), answer.made()),
    ...[
      {},
      { from: 1 },
      { to: 0 },
      { to: 1 },
      { since: 0 },
      { last: 1 },
      { from: 0, since: 20.5 },
      { from: 0, last: 0 },
    ].map((window) => step.sessionHas({ time: 20, state: { session: { s: 1 } } }, { events: window })),
    ...[{ from: 0 }, { from: 0, to: 0 }, { from: 0, since: 20 }, { from: 0, last: 1 }].map((window) =>
      step.sessionHas({ time: 20, state: { session: { s: 1 } }, events: [beginningOf()] }, { events: window }),
    ),
    step.list([answer.row({ time: 20, state: { s: 1 } })]),
    step.commit(change.append('e1', {}, { time: 10, guard: { created: 'c', rev: 0 } }), answer.appended(1)),
    step.commit(change.append('e2', {}, { time: 30, guard: { rev: 1 } }), answer.appended(2)),
    ...beginning,
    step.load(
      { ...answer.loaded({ rev: 2, time: 30, events: [beginningOf()] }), state: {} },
      { events: { from: 0, to: 0 }, known: { created: 'c', rev: 2, pos: { app: 0, user: 0 } } },
    ),
    step.list([answer.row({ rev: 2, time: 30, state: { s: 1 } })]),
  ),
  storeCase(
    'what a session began with is told as it was written, of each session its own',
    ...EVENT_TEXTS.map((data, index) =>
      step.commit(
        change.create(`c${index}`, {}, { key: keyOf(`s${index}`), event: { id: `c${index}`, time: 1_000, data } }),
        answer.made(),
      ),
    ),
    ...EVENT_TEXTS.map((data, index) =>
      step.sessionHas(
        { created: `c${index}`, events: [{ rev: 0, data }] },
        { events: { from: 0 } },
        keyOf(`s${index}`),
      ),
    ),
  ),
  storeCase(
    'a window on many events shows the right ones, in their order',
    step.commit(change.begin(), answer.made()),
    ...times(130, (index) =>
      step.commit(change.append(`e${index + 1}`, {}, { time: index }), answer.appended(index + 1)),
    ),
    ...[
      { window: {}, from: 1, to: 130 },
      { window: { from: 0 }, from: 0, to: 130 },
      { window: { last: 105 }, from: 26, to: 130 },
      { window: { from: 0, last: 105 }, from: 26, to: 130 },
      { window: { from: 9, to: 101 }, from: 9, to: 101 },
      { window: { since: 99, last: 20 }, from: 111, to: 130 },
      { window: { from: 9, to: 11 }, from: 9, to: 11 },
    ].map(({ window, from, to }) =>
      step.sessionHas(
        {
          rev: 130,
          time: 129,
          events: [beginningOf(), ...eventsOf(...times(130, (index) => `e${index + 1}`))].slice(from, to + 1),
        },
        { events: window },
      ),
    ),
  ),
  storeCase(
    'the time of a session is that of its last event, even when an earlier one has a later time',
    step.commit(change.create('c', {}, { time: 50 }), answer.made()),
    step.sessionHas({ time: 50 }),
    step.commit(change.append('e1', {}, { time: 90 }), answer.appended(1)),
    step.commit(change.append('e2', {}, { time: -3.5 }), answer.appended(2)),
    step.sessionHas({ time: -3.5, events: eventsOf('e1', 'e2') }),
    step.commit(change.update('p', { user: set('u', 1) }, { time: 1_000_000 }), answer.made(0, 1)),
    step.sessionHas({ time: -3.5, pos: { user: 1 }, state: { user: { u: 1 } }, events: eventsOf('e1', 'e2') }),
  ),
  storeCase(
    'values that are known are left out',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1'), answer.appended(1, 1, 1)),
    step.load(only(), { known: { ...knownSession, pos: { app: 1, user: 1 } } }),
    step.load(only('session'), { known: { pos: { app: 1, user: 1 } } }),
    step.load(only('app', 'user'), { known: knownSession }),
    step.load(only('session', 'user'), { known: { pos: { app: 1 } } }),
    step.load(only('session', 'app'), { known: { pos: { user: 1 } } }),
    step.load(only('session', 'app', 'user'), { known: {} }),
    step.load(only('session', 'app', 'user'), { known: { pos: {} } }),
    step.load(
      { ...only(), events: [] },
      { events: { from: 2 }, known: { ...knownSession, pos: { app: 1, user: 1 } } },
    ),
  ),
  storeCase(
    'values that are known by half, or were known once, are given',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1'), answer.appended(1, 1, 1)),
    step.load(only('session', 'app', 'user'), { known: { created: 'c' } }),
    step.load(only('session', 'app', 'user'), { known: { rev: 1 } }),
    step.load(only('session', 'app', 'user'), { known: { created: 'c', rev: 0, pos: { app: 0, user: 0 } } }),
    step.load(only('session', 'app', 'user'), { known: { created: 'c', rev: 0, pos: { app: 2, user: 2 } } }),
    step.load(only('session', 'app', 'user'), { known: { created: 'earlier', rev: 1 } }),
    step.load(only('session'), { known: { created: 'earlier', rev: 1, pos: { app: 1, user: 1 } } }),
    step.commit(change.append('e2', { app: set('a', 2) }), answer.appended(2, 2, 1)),
    step.load(
      {
        ...session,
        rev: 2,
        pos: { app: 2, user: 1 },
        state: { app: { a: 2 }, session: { s: 1 } },
        events: [{ rev: 2, data: dataOf('e2') }],
      },
      { events: { from: 2 }, known: { ...knownSession, pos: { app: 1, user: 1 } } },
    ),
    step.commit(change.update('p', { user: { unset: ['u'] } }), answer.made(2, 2)),
    step.load(
      { ...session, rev: 2, pos: { app: 2, user: 2 }, state: { user: {} }, events: [] },
      { events: { from: 3 }, known: { created: 'c', rev: 2, pos: { app: 2, user: 1 } } },
    ),
  ),
  storeCase(
    'what is known of nothing is left out, too',
    step.commit(change.create(), answer.made()),
    step.load({ ...answer.loaded(), state: {} }, { known: { created: 'c', rev: 0, pos: { app: 0, user: 0 } } }),
  ),
  storeCase(
    'what is known of an earlier session under the same key does not hide the values of this one',
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    { remove: KEY },
    step.commit(change.create('d', { session: set('s', 2) }), answer.made()),
    step.sessionHas({ created: 'd', state: { session: { s: 2 } } }, { known: { created: 'c', rev: 0 } }),
    step.load(null, { known: { created: 'c', rev: 0 } }, keyOf('other')),
  ),
];
