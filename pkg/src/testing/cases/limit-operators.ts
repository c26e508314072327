// Operators and limits: what they come to is counted as if it had been set.

import {
  answer,
  change,
  compareAndSet,
  dataOf,
  eventsOf,
  featureCase,
  increment,
  push,
  set,
  setOnce,
  step,
  storeCase,
  withOperators,
  withResults,
} from '../build/index.js';
import type { Change, ScopedOperators, StoreLimits } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

/** An append of operators alone. */
function operate(id: string, operators: ScopedOperators, limits: StoreLimits, delta: Change['delta'] = {}): Change {
  return withOperators(change.append(id, delta, { limits }), operators);
}

export const limitOperatorCases: readonly StoreCase[] = [
  storeCase(
    'a list does not grow beyond the limit of values by what is appended to it',
    step.commit(change.create('c', { app: set('l', ['ä']), session: set('l', [1, 2]) }), answer.made(1)),
    step.commit(
      operate('e1', { session: { l: push(3) } }, { value: 6 }),
      answer.beyond('value', 7, 6, 'session', 'l'),
    ),
    step.commit(
      operate('e1', { session: { l: push(3) } }, { value: 7 }),
      withResults(answer.appended(1, 1), { session: { l: [1, 2, 3] } }),
    ),
    step.commit(operate('e2', { app: { l: push('é') } }, { value: 10 }), answer.beyond('value', 11, 10, 'app', 'l')),
    step.commit(
      operate('e2', { app: { l: push('é') } }, { value: 11 }),
      withResults(answer.appended(2, 2), { app: { l: ['ä', 'é'] } }),
    ),
    step.commit(
      operate('e3', { session: { new: push('x') } }, { value: 4 }),
      answer.beyond('value', 5, 4, 'session', 'new'),
    ),
    step.sessionHas({
      pos: { app: 2 },
      state: { app: { l: ['ä', 'é'] }, session: { l: [1, 2, 3] } },
      events: [
        { ...eventsOf('e1')[0], rev: 1, data: dataOf('e1'), results: { session: { l: [1, 2, 3] } } },
        { rev: 2, data: dataOf('e2'), results: { app: { l: ['ä', 'é'] } } },
      ],
    }),
  ),
  storeCase(
    'a list is compared with the limit of values also after other values were set again',
    step.commit(
      change.create('c', { user: { set: { s: 1, l: [1] } }, session: { set: { s: 1, l: [1] } } }),
      answer.made(0, 1),
    ),
    step.commit(change.append('e1', { user: set('s', 2), session: set('s', 2) }), answer.appended(1, 0, 2)),
    step.commit(
      operate('e2', { session: { l: push(2) } }, { value: 4 }, { session: set('s', 3) }),
      answer.beyond('value', 5, 4, 'session', 'l'),
    ),
    step.commit(operate('e2', { user: { l: push(2) } }, { value: 4 }), answer.beyond('value', 5, 4, 'user', 'l')),
    step.commit(
      operate('e2', { session: { l: push(2) } }, { value: 5 }, { session: set('s', 3) }),
      withResults(answer.appended(2, 0, 2), { session: { l: [1, 2] } }),
    ),
    step.sessionHas({
      pos: { user: 2 },
      state: { user: { s: 2, l: [1] }, session: { s: 3, l: [1, 2] } },
      events: [
        { rev: 1, data: dataOf('e1') },
        { rev: 2, data: dataOf('e2'), results: { session: { l: [1, 2] } } },
      ],
    }),
  ),
  storeCase(
    'a sum with one digit more makes its scope one byte larger',
    step.commit(change.create('c', { app: set('n', 9), user: set('n', 8), session: set('n', 99) }), answer.made(1, 1)),
    step.commit(operate('e1', { app: { n: increment(1) } }, { state: 2 }), answer.beyond('state', 3, 2, 'app')),
    step.commit(
      operate('e1', { user: { n: increment(1) } }, { state: 2 }),
      withResults(answer.appended(1, 1, 2), { user: { n: 9 } }),
    ),
    step.commit(operate('e2', { user: { n: increment(1) } }, { state: 2 }), answer.beyond('state', 3, 2, 'user')),
    step.commit(
      operate('e2', { session: { n: increment(1) } }, { state: 3 }),
      answer.beyond('state', 4, 3, 'session'),
    ),
    step.commit(
      operate('e2', { session: { n: increment(1) } }, { state: 4 }),
      withResults(answer.appended(2, 1, 2), { session: { n: 100 } }),
    ),
    step.commit(operate('e3', { session: { m: increment(1) } }, { keys: 1 }), answer.beyond('keys', 2, 1, 'session')),
  ),
  storeCase(
    'a value that an operator leaves as it is, or makes no larger, is never refused',
    step.commit(change.create('c', { session: { set: { s: 'long', l: [1, 2], n: 100 } } }), answer.made()),
    step.commit(
      operate('e1', { session: { s: setOnce('x'), l: push(), n: increment(-1) } }, { value: 1, state: 1, keys: 1 }),
      withResults(answer.appended(1), { session: { s: 'long', l: [1, 2], n: 99 } }),
    ),
    step.commit(
      operate('e2', { session: { s: compareAndSet('long', 'lon') } }, { value: 1, state: 1, keys: 1 }),
      withResults(answer.appended(2), { session: { s: 'lon' } }),
    ),
    step.commit(
      operate('e3', { session: { s: compareAndSet('lon', 'longer') } }, { value: 6 }),
      answer.beyond('value', 8, 6, 'session', 's'),
    ),
    step.commit(
      operate('e3', { session: { t: setOnce('x') } }, { value: 2 }),
      answer.beyond('value', 3, 2, 'session', 't'),
    ),
    step.commit(
      operate('e3', { session: { t: setOnce('x') } }, { value: 3 }),
      withResults(answer.appended(3), { session: { t: 'x' } }),
    ),
  ),
  storeCase(
    'an operator that does not fit comes before all limits, and the values of a scope before its names and bytes',
    step.commit(change.create('c', { app: set('a', 1), session: set('s', 'text') }), answer.made(1)),
    step.commit(
      operate('e1', { session: { s: increment(1) } }, { events: 0, keys: 0, value: 0 }, { app: set('b', 1) }),
      {
        throws: 'rejected',
        key: 's',
        scope: 'session',
      },
    ),
    ...(
      [
        [{ events: 0, value: 0, keys: 0, state: 0 }, answer.beyond('events', 1, 0)],
        [{ value: 0, keys: 0, state: 0 }, answer.beyond('value', 3, 0, 'app', 'l')],
        [{ value: 2, keys: 0, state: 0 }, answer.beyond('value', 3, 2, 'app', 'l')],
        [{ value: 4, keys: 2, state: 0 }, answer.beyond('keys', 3, 2, 'app')],
        [{ value: 4, keys: 3, state: 12 }, answer.beyond('value', 5, 4, 'session', 'l')],
        [{ value: 6, keys: 3, state: 12 }, answer.beyond('value', 7, 6, 'session', 'm')],
        [{ value: 7, keys: 2, state: 12 }, answer.beyond('keys', 3, 2, 'app')],
      ] as const
    ).map(([limits, refused]) =>
      step.commit(
        operate('e1', { app: { l: push(1), m: push(2) }, session: { l: push(1, 2), m: push(1, 2, 3) } }, limits, {
          session: set('s', 'x'),
        }),
        refused,
      ),
    ),
    step.appHas(1, { a: 1 }),
  ),
  storeCase(
    'names that only the delta or only an operator adds count together',
    step.commit(change.create(), answer.made()),
    step.commit(
      operate('e1', { session: { n: increment(1) } }, { keys: 1 }, { session: set('s', 1) }),
      answer.beyond('keys', 2, 1, 'session'),
    ),
    step.commit(
      operate('e1', { session: { n: increment(1) } }, { state: 3 }, { session: set('s', 1) }),
      answer.beyond('state', 4, 3, 'session'),
    ),
    step.commit(
      operate('e1', { session: { n: increment(1) } }, { keys: 2, state: 4 }, { session: set('s', 1) }),
      withResults(answer.appended(1), { session: { n: 1 } }),
    ),
  ),
  featureCase(
    'calls',
    'a call whose result was too large is not written by an earlier try that arrives after it',
    step.commit(change.create('c', { session: set('l', [1]) }), answer.made()),
    step.commit(
      { ...operate('e1', { session: { l: push(2) } }, { value: 4 }), attempt: 2 },
      answer.beyond('value', 5, 4, 'session', 'l'),
    ),
    step.commit(operate('e1', { session: { l: push(2) } }, {}), { throws: 'conflict' }),
    step.sessionHas({ state: { session: { l: [1] } } }),
  ),
];
