// Operators: what each comes to, where it does not fit, and what a store keeps of it.

import {
  answer,
  beginningOf,
  change,
  compareAndSet,
  dataOf,
  increment,
  keyOf,
  push,
  set,
  setAbsent,
  setOnce,
  step,
  storeCase,
  withOperators,
  withResults,
  inAll,
} from '../build/index.js';
import { STORED_SCOPES } from '../../model/scope.js';
import type { Change, Operator, ScopedOperators, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';
import type { StoreCase, StoreStep } from '../case.js';

/** Another session of the usual user. */
const OTHER = keyOf('other');

/** The names that operators do not fit, which are in no delta. */
const TAKEN: Values = { number: 1, text: '1', list: [1], object: { b: 1, a: 2 }, nothing: null };

const append = (id: string, operators: ScopedOperators, delta: Change['delta'] = {}, more = {}): Change =>
  withOperators(change.append(id, delta, more), operators);

/** A session whose scopes all have the values that operators find. */
const creation = step.commit(change.create('c', inAll({ set: TAKEN })), answer.made(1, 1));

/** The session after {@link creation}, when nothing was written since. */
const untouched = step.sessionHas({ pos: { app: 1, user: 1 }, state: inAll(TAKEN) });

/** In each scope an operator does not fit: nothing of its change is written. */
function misfits(throws: 'conflict' | 'rejected', operators: Readonly<Record<string, Operator>>): StoreStep[] {
  return Object.entries(operators).flatMap(([name, operator], index) => [
    ...STORED_SCOPES.map((scope) =>
      step.commit(append(`e-${scope}-${index}`, { [scope]: { [name]: operator } }, change.EVERYTHING), {
        throws,
        key: name,
        scope,
      }),
    ),
    step.commit(
      withOperators(change.update(`u-${index}`, { app: set('new', 1), user: set('new', 1) }), {
        user: { [name]: operator },
      }),
      { throws, key: name, scope: 'user' },
    ),
  ]);
}

/** Operators in all scopes, one append each, and what they come to one after the other. */
function comesTo(operator: Operator, first: Json, second: Json): StoreStep[] {
  const appended = (id: string, rev: number, value: Json): StoreStep =>
    step.commit(append(id, inAll({ x: operator })), withResults(answer.appended(rev, rev, rev), inAll({ x: value })));
  return [
    step.commit(change.create(), answer.made()),
    appended('e1', 1, first),
    appended('e2', 2, second),
    step.sessionHas({
      pos: { app: 2, user: 2 },
      state: inAll({ x: second }),
      events: [
        { rev: 1, data: dataOf('e1'), results: inAll({ x: first }) },
        { rev: 2, data: dataOf('e2'), results: inAll({ x: second }) },
      ],
    }),
    step.appHas(2, { x: second }),
    step.userHas(2, { x: second }),
    step.list(
      [answer.row({ rev: 2, state: { x: second } })],
      {},
      { app: { x: second }, users: { user: { x: second } } },
    ),
  ];
}

/** Sets names one after the other, in the session: the values before, the operators, what they come to. */
function onValues(before: Values, operators: Readonly<Record<string, Operator>>, after: Values): StoreStep[] {
  return [
    step.commit(change.create('c', { session: { set: before } }), answer.made()),
    step.commit(append('e1', { session: operators }), withResults(answer.appended(1), { session: after })),
    step.sessionHas({
      state: { session: { ...before, ...after } },
      events: [{ rev: 1, data: dataOf('e1'), results: { session: after } }],
    }),
  ];
}

export const operatorCases: readonly StoreCase[] = [
  storeCase('increment adds to a number, and a name that is not there counts as 0', ...comesTo(increment(5), 5, 10)),
  storeCase(
    'append adds to the end of a list, and a name that is not there counts as an empty one',
    ...comesTo(push(1, [2]), [1, [2]], [1, [2], 1, [2]]),
  ),
  storeCase(
    'setOnce sets a name that is not there, and leaves one that is',
    ...comesTo(setOnce({ b: 1, a: 2 }), { b: 1, a: 2 }, { b: 1, a: 2 }),
  ),
  storeCase(
    'compareAndSet without an expected value sets a name that is not there, and no other',
    step.commit(change.create(), answer.made()),
    step.commit(
      append('e1', inAll({ x: setAbsent(null) })),
      withResults(answer.appended(1, 1, 1), inAll({ x: null })),
    ),
    ...STORED_SCOPES.map((scope) =>
      step.commit(append('e2', { [scope]: { x: setAbsent(1) } }, change.EVERYTHING), {
        throws: 'conflict',
        key: 'x',
        scope,
      }),
    ),
    step.sessionHas({
      pos: { app: 1, user: 1 },
      state: inAll({ x: null }),
      events: [{ rev: 1, data: dataOf('e1'), results: inAll({ x: null }) }],
    }),
  ),
  storeCase(
    'increment takes any number',
    ...onValues(
      { a: 1, b: -1, c: 0.5, d: 0, e: 7 },
      {
        a: increment(-2),
        b: increment(0),
        c: increment(0.25),
        d: increment(1e300),
        e: increment(-7),
        f: increment(-1.5),
      },
      { a: -1, b: -1, c: 0.75, d: 1e300, e: 0, f: -1.5 },
    ),
  ),
  storeCase(
    'append adds items of every kind as they are, or none',
    ...onValues(
      { a: [], b: [[1], { z: 1, a: [] }], c: [null] },
      {
        a: push(null, true, '', 'a\u0000😀', -1.5, [], {}),
        b: push({ z: 1, a: { b: [] } }, [[2]]),
        c: push(),
        d: push(),
        e: push('\ud800'),
      },
      {
        a: [null, true, '', 'a\u0000😀', -1.5, [], {}],
        b: [[1], { z: 1, a: [] }, { z: 1, a: { b: [] } }, [[2]]],
        c: [null],
        d: [],
        e: ['\ud800'],
      },
    ),
  ),
  storeCase(
    'setOnce takes null, false and everything else for a value that is there',
    ...onValues(
      { a: null, b: false, c: 0, d: '', e: [], f: {} },
      {
        ...Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, setOnce(name)])),
        g: setOnce(null),
        h: setOnce({ z: 1, a: '\u0000' }),
      },
      { a: null, b: false, c: 0, d: '', e: [], f: {}, g: null, h: { z: 1, a: '\u0000' } },
    ),
  ),
  storeCase(
    'compareAndSet sets what has the expected value, as JSON.stringify writes it',
    ...onValues(
      {
        a: 1,
        b: null,
        c: 'a\u0000\ud800é',
        d: [1, [2]],
        e: { b: 1, a: { d: 1, c: [] } },
        f: '',
        g: false,
        h: 1e21,
        i: 1e-7,
      },
      {
        a: compareAndSet(1, null),
        b: compareAndSet(null, 0),
        c: compareAndSet('a\u0000\ud800é', ''),
        d: compareAndSet([1, [2]], []),
        e: compareAndSet({ b: 1, a: { d: 1, c: [] } }, { x: 1 }),
        f: compareAndSet('', 'x'),
        g: compareAndSet(false, true),
        h: compareAndSet(1e21, 2),
        i: compareAndSet(1e-7, 3),
        j: setAbsent([1]),
      },
      { a: null, b: 0, c: '', d: [], e: { x: 1 }, f: 'x', g: true, h: 2, i: 3, j: [1] },
    ),
  ),
  storeCase(
    'compareAndSet that finds another value is a conflict that names it, and nothing is written',
    creation,
    ...misfits('conflict', {
      number: compareAndSet('1', 2),
      text: compareAndSet(1, 2),
      list: compareAndSet([], 2),
      object: compareAndSet({ a: 2, b: 1 }, 2),
      nothing: setAbsent(2),
      absent: compareAndSet(null, 2),
    }),
    untouched,
  ),
  storeCase(
    'increment of what is no number is rejected, and nothing is written',
    creation,
    ...misfits('rejected', {
      text: increment(1),
      list: increment(1),
      object: increment(0),
      nothing: increment(1),
    }),
    untouched,
  ),
  storeCase(
    'append to what is no list is rejected, and nothing is written',
    creation,
    ...misfits('rejected', { number: push(1), text: push('1'), object: push(), nothing: push(1) }),
    untouched,
  ),
  storeCase(
    'increment beyond what a double holds is rejected, and nothing is written',
    step.commit(change.create('c', inAll(set('n', Number.MAX_VALUE))), answer.made(1, 1)),
    ...STORED_SCOPES.map((scope) =>
      step.commit(append(`e-${scope}`, { [scope]: { n: increment(1e300) } }, change.EVERYTHING), {
        throws: 'rejected',
        key: 'n',
        scope,
      }),
    ),
    step.sessionHas({ pos: { app: 1, user: 1 }, state: inAll({ n: Number.MAX_VALUE }) }),
  ),
  storeCase(
    'operators come after the delta: new names stand behind those that it sets, and one that is there keeps its place',
    step.commit(change.create('c', inAll({ set: { b: 1, n: 1, a: 1, d: 1 } })), answer.made(1, 1)),
    step.commit(
      append(
        'e1',
        inAll({ z: increment(1), n: increment(2), c: setOnce(3) }),
        inAll({ set: { y: 2, a: 2 }, unset: ['d'] }),
      ),
      withResults(answer.appended(1, 2, 2), inAll({ z: 1, n: 3, c: 3 })),
    ),
    step.sessionHas({
      pos: { app: 2, user: 2 },
      state: inAll({ b: 1, n: 3, a: 2, y: 2, z: 1, c: 3 }),
      events: [{ rev: 1, data: dataOf('e1'), results: inAll({ z: 1, n: 3, c: 3 }) }],
    }),
  ),
  storeCase(
    'operators of a creation find what its delta has set, and the values of the app and the user',
    step.commit(change.update('u1', { app: set('n', 10), user: set('list', ['u']) }), answer.made(1, 1)),
    step.commit(
      withOperators(change.begin('c', { session: set('s', 1) }), {
        app: { n: increment(1) },
        user: { list: push('v') },
        session: { n: increment(3), list: push('s') },
      }),
      withResults(answer.made(2, 2), {
        app: { n: 11 },
        user: { list: ['u', 'v'] },
        session: { n: 3, list: ['s'] },
      }),
    ),
    step.sessionHas(
      {
        pos: { app: 2, user: 2 },
        state: { app: { n: 11 }, user: { list: ['u', 'v'] }, session: { s: 1, n: 3, list: ['s'] } },
        events: [
          {
            ...beginningOf('c'),
            results: { app: { n: 11 }, user: { list: ['u', 'v'] }, session: { n: 3, list: ['s'] } },
          },
        ],
      },
      { events: { from: 0 } },
    ),
    step.commit(
      withOperators(change.create('d', { session: set('s', 1) }, { key: OTHER }), {
        user: { list: setAbsent(1) },
      }),
      { throws: 'conflict', key: 'list', scope: 'user' },
    ),
    step.load(null, {}, OTHER),
  ),
  storeCase(
    'operators of an update are resolved, and answered',
    step.commit(
      withOperators(change.update('u1', { app: set('a', 1) }), {
        app: { n: increment(1) },
        user: { n: increment(2) },
      }),
      withResults(answer.made(1, 1), { app: { n: 1 }, user: { n: 2 } }),
    ),
    step.commit(
      withOperators(change.update('u2', {}, { key: { appName: 'app' } }), { app: { n: increment(1) } }),
      withResults(answer.made(2), { app: { n: 2 } }),
    ),
    step.appHas(2, { a: 1, n: 2 }),
    step.userHas(1, { n: 2 }),
  ),
  storeCase(
    'an operator that changes no value is a change of its scope all the same',
    step.commit(change.create('c', { app: set('x', 1) }), answer.made(1)),
    step.commit(append('e1', { app: { x: setOnce(2) } }), withResults(answer.appended(1, 2), { app: { x: 1 } })),
    step.commit(change.append('e2', {}, { guard: { pos: { app: 1 } } }), { throws: 'conflict' }),
    step.appHas(2, { x: 1 }),
  ),
  storeCase(
    'names of every kind are written by operators as they are',
    ...onValues(
      JSON.parse('{"":1,"__proto__":2,"a\\u0000b":3,"constructor":4}') as Values,
      Object.fromEntries(
        ['', '__proto__', 'a\u0000b', 'constructor', 'toString', '😀', "'"].map((name) => [name, increment(1)]),
      ),
      JSON.parse('{"":2,"__proto__":3,"a\\u0000b":4,"constructor":5,"toString":1,"😀":1,"\'":1}') as Values,
    ),
  ),
  storeCase(
    'the guard is looked at before operators are',
    step.commit(change.create('c', { app: set('n', 'text') }), answer.made(1)),
    step.commit(append('e1', { app: { n: increment(1) } }, {}, { guard: { rev: 3 } }), {
      throws: 'conflict',
      actual: 0,
    }),
    step.commit(append('e1', { app: { n: increment(1) } }, {}, { guard: { keys: { app: set('n', 1) } } }), {
      throws: 'conflict',
    }),
    step.commit(append('e1', { app: { n: increment(1) } }, {}, { guard: { created: 'x' } }), { throws: 'not-found' }),
    step.commit(append('e1', { app: { n: increment(1) } }, {}, { guard: { rev: 0 } }), {
      throws: 'rejected',
      key: 'n',
      scope: 'app',
    }),
  ),
  storeCase(
    'what operators came to, and their duplicates, are known when the storage is opened again',
    step.commit(
      withOperators(change.begin(), { session: { n: increment(1) } }),
      withResults(answer.made(), { session: { n: 1 } }),
    ),
    step.commit(
      append('e1', inAll({ n: increment(2) })),
      withResults(answer.appended(1, 1, 1), { app: { n: 2 }, user: { n: 2 }, session: { n: 3 } }),
    ),
    { reopen: 'check' },
    step.sessionHas(
      {
        pos: { app: 1, user: 1 },
        state: { app: { n: 2 }, user: { n: 2 }, session: { n: 3 } },
        events: [
          { ...beginningOf('c'), results: { session: { n: 1 } } },
          { rev: 1, data: dataOf('e1'), results: { app: { n: 2 }, user: { n: 2 }, session: { n: 3 } } },
        ],
      },
      { events: { from: 0 } },
    ),
    step.commit(
      append('e1', inAll({ n: increment(2) })),
      withResults(answer.appendedBefore('e1', 1, 1, 1), { app: { n: 2 }, user: { n: 2 }, session: { n: 3 } }),
    ),
    step.commit(
      append('e2', inAll({ n: increment(-3) })),
      withResults(answer.appended(2, 2, 2), { app: { n: -1 }, user: { n: -1 }, session: { n: 0 } }),
    ),
  ),
];
