// What is refused, and that nothing is written then.

import {
  append,
  appended,
  appHas,
  APP,
  commit,
  create,
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
  userHas,
} from '../build.js';
import type { Change, Delta, Guard } from '../../store/contract.js';
import type { Json } from '../../model/types.js';
import type { StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };
const SCOPES = ['app', 'user', 'session'] as const;
/** What would be seen if any of it were written. */
const everything: Change['delta'] = {
  app: { set: { new: 1 }, unset: ['a'] },
  user: { set: { new: 1 }, unset: ['u'] },
  session: { set: { new: 1 }, unset: ['s'] },
};
const begin: readonly StoreStep[] = [
  commit(create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), made(1, 1)),
  commit(append('e1', {}, { time: 2_000 }), appended(1, 1, 1)),
];
/** Everything is as it was after `begin`. */
const unchanged: readonly StoreStep[] = [
  load(
    loaded({
      time: 2_000,
      pos: { app: 1, user: 1 },
      state: { app: { a: 1 }, user: { u: 1 }, session: { s: 1 } },
      events: eventsOf('e1'),
    }),
  ),
  list([row({ rev: 1, time: 2_000, state: { s: 1 } })], {}, { app: { a: 1 }, users: { user: { u: 1 } } }),
  appHas(1, { a: 1 }),
  userHas(1, { u: 1 }),
];

/** An append that its guard refuses. */
function conflict(guard: Guard, actual?: number): StoreStep {
  const outcome = actual === undefined ? { throws: 'conflict' as const } : { throws: 'conflict' as const, actual };
  return commit(append('e2', everything, { guard, time: 3_000 }), outcome);
}

/** One value is there under `x` in a scope; these guards hold, and those do not. */
function keyGuards(value: Json, holding: readonly Delta[], failing: readonly Delta[]): StoreStep[] {
  const count = 3 * holding.length;
  return [
    commit(create('c', { app: set('x', value), user: set('x', value), session: set('x', value) }), made(1, 1)),
    ...SCOPES.flatMap((scope) =>
      failing.map((keys) =>
        commit(append('no', everything, { guard: { keys: { [scope]: keys } } }), { throws: 'conflict' }),
      ),
    ),
    ...SCOPES.flatMap((scope, at) =>
      holding.map((keys, index) =>
        commit(
          append(`e${at}-${index}`, {}, { guard: { keys: { [scope]: keys } } }),
          appended(at * holding.length + index + 1, 1, 1),
        ),
      ),
    ),
    load(
      loaded({
        rev: count,
        pos: { app: 1, user: 1 },
        state: { app: { x: value }, user: { x: value }, session: { x: value } },
      }),
      { events: { last: 0 } },
    ),
  ];
}

const missingCases: readonly StoreCase[] = [
  storeCase(
    'a session that is there is not created by another change',
    ...begin,
    commit(create('d', everything, { time: 3_000 }), { throws: 'exists' }),
    commit(create('e1', everything, { time: 3_000 }), { throws: 'exists' }),
    ...unchanged,
  ),
  storeCase(
    'a session that is not there is not appended to',
    commit(append('e1', everything), { throws: 'not-found' }),
    commit(append('e1', everything, { guard: { created: 'c' } }), { throws: 'not-found' }),
    commit(append('e1', everything, { guard: { rev: 0 } }), { throws: 'not-found' }),
    load(null),
    list([]),
    appHas(0, {}),
    userHas(0, {}),
    ...begin,
    ...[keyOf('other'), keyOf('session', 'other'), keyOf('session', 'user', 'other')].map((key) =>
      commit(append('e2', everything, { key }), { throws: 'not-found' }),
    ),
    ...unchanged,
  ),
  storeCase(
    'an append that is meant for an earlier session under this key is not found',
    commit(create('b', { session: set('old', 1) }), made()),
    commit(append('e1', {}, { guard: { created: 'b' } }), appended(1)),
    { remove: KEY },
    ...begin,
    commit(append('e2', everything, { guard: { created: 'b' } }), { throws: 'not-found' }),
    commit(append('e2', everything, { guard: { created: 'b', rev: 7 } }), { throws: 'not-found' }),
    commit(append('e2', everything, { guard: { created: '' } }), { throws: 'not-found' }),
    commit(append('e2', everything, { guard: { created: 'e1' } }), { throws: 'not-found' }),
    ...unchanged,
    commit(append('e2', {}, { guard: { created: 'c' } }), appended(2, 1, 1)),
  ),
];

const guardCases: readonly StoreCase[] = [
  storeCase(
    'a revision that is not the expected one is a conflict, which tells the actual one',
    ...begin,
    conflict({ rev: 0 }, 1),
    conflict({ rev: 2 }, 1),
    conflict({ created: 'c', rev: 10 }, 1),
    ...unchanged,
    commit(append('e2', {}, { guard: { rev: 1 } }), appended(2, 1, 1)),
    commit(append('e3', {}, { guard: { rev: 1 } }), { throws: 'conflict', actual: 2 }),
    commit(append('e3', {}, { guard: { rev: 2, created: 'c' } }), appended(3, 1, 1)),
    commit(create('d', {}, { key: keyOf('new') }), made(1, 1)),
    commit(append('e1', {}, { key: keyOf('new'), guard: { rev: 1 } }), { throws: 'conflict', actual: 0 }),
    commit(append('e1', {}, { key: keyOf('new'), guard: { rev: 0 } }), appended(1, 1, 1)),
  ),
  storeCase(
    'a position that is not the expected one is a conflict',
    ...begin,
    conflict({ pos: { app: 0 } }),
    conflict({ pos: { app: 2 } }),
    conflict({ pos: { user: 0 } }),
    conflict({ pos: { user: 2 } }),
    conflict({ pos: { app: 1, user: 0 } }),
    conflict({ pos: { app: 0, user: 1 } }),
    commit(update('p', { app: everything.app ?? {}, user: everything.user ?? {} }, { guard: { pos: { user: 0 } } }), {
      throws: 'conflict',
    }),
    commit(update('p', { app: everything.app ?? {} }, { ...ofApp, guard: { pos: { app: 2 } } }), {
      throws: 'conflict',
    }),
    commit(create('d', everything, { key: keyOf('new'), guard: { pos: { app: 0 } } }), { throws: 'conflict' }),
    ...unchanged,
    commit(append('e2', {}, { guard: { pos: {} } }), appended(2, 1, 1)),
    commit(append('e3', { app: set('a', 2) }, { guard: { pos: { app: 1, user: 1 } } }), appended(3, 2, 1)),
    commit(append('e4', {}, { guard: { pos: { app: 1 } } }), { throws: 'conflict' }),
    commit(update('p', { user: set('u', 2) }, { guard: { pos: { app: 2, user: 1 } } }), made(2, 2)),
    commit(update('q', { app: set('a', 3) }, { ...ofApp, guard: { pos: { app: 2 } } }), made(3, 0)),
    commit(create('d', {}, { key: keyOf('new'), guard: { pos: { app: 3, user: 2 } } }), made(3, 2)),
    commit(create('f', {}, { key: keyOf('new', 'nobody'), guard: { pos: { user: 1 } } }), { throws: 'conflict' }),
    commit(create('f', {}, { key: keyOf('new', 'nobody'), guard: { pos: { user: 0 } } }), made(3, 0)),
  ),
  storeCase(
    'names that do not have the expected values are a conflict, whatever the scope',
    ...begin,
    ...(['a', 'u', 's'] as const).flatMap((name, index) => {
      const scope = SCOPES[index] ?? 'app';
      return [
        conflict({ keys: { [scope]: set(name, 2) } }),
        conflict({ keys: { [scope]: { unset: [name] } } }),
        conflict({ keys: { [scope]: set('absent', 1) } }),
        conflict({ keys: { [scope]: { set: { [name]: 1, absent: 1 } } } }),
        conflict({ keys: { [scope]: { set: { absent: 1, [name]: 1 } } } }),
        conflict({ keys: { [scope]: { unset: ['absent', name] } } }),
        conflict({ keys: { [scope]: { set: { [name]: 1 }, unset: ['absent', name] } } }),
      ];
    }),
    ...unchanged,
    commit(
      append(
        'e2',
        {},
        {
          guard: {
            keys: {
              app: { set: { a: 1 }, unset: ['u', 's'] },
              user: { set: { u: 1 }, unset: ['a'] },
              session: { set: { s: 1 }, unset: ['u'] },
            },
          },
        },
      ),
      appended(2, 1, 1),
    ),
    commit(append('e3', {}, { guard: { keys: {} } }), appended(3, 1, 1)),
    commit(
      append('e4', {}, { guard: { keys: { app: {}, user: { set: {} }, session: { unset: [] } } } }),
      appended(4, 1, 1),
    ),
    commit(append('e5', {}, { guard: {} }), appended(5, 1, 1)),
  ),
  storeCase(
    'all parts of a guard have to hold',
    ...begin,
    conflict({
      created: 'c',
      rev: 1,
      pos: { app: 1, user: 1 },
      keys: { app: set('a', 1), user: set('u', 1), session: set('s', 2) },
    }),
    conflict({
      created: 'c',
      rev: 1,
      pos: { app: 1, user: 1 },
      keys: { app: set('a', 1), user: set('u', 2), session: set('s', 1) },
    }),
    conflict({
      created: 'c',
      rev: 1,
      pos: { app: 1, user: 1 },
      keys: { app: set('a', 2), user: set('u', 1), session: set('s', 1) },
    }),
    conflict({ created: 'c', rev: 1, pos: { app: 1, user: 2 }, keys: { app: set('a', 1) } }),
    conflict({ created: 'c', rev: 2, pos: { app: 1, user: 1 }, keys: { app: set('a', 1) } }, 1),
    ...unchanged,
    commit(
      append(
        'e2',
        {},
        {
          guard: {
            created: 'c',
            rev: 1,
            pos: { app: 1, user: 1 },
            keys: { app: set('a', 1), user: set('u', 1), session: set('s', 1) },
          },
        },
      ),
      appended(2, 1, 1),
    ),
  ),
  storeCase(
    'a guard is about what is there before the change',
    commit(create('c', { session: set('n', 1) }), made()),
    commit(append('e1', { session: set('n', 2) }, { guard: { keys: { session: set('n', 2) } } }), {
      throws: 'conflict',
    }),
    commit(append('e1', { session: { unset: ['n'] } }, { guard: { keys: { session: { unset: ['n'] } } } }), {
      throws: 'conflict',
    }),
    commit(append('e1', { session: set('n', 2) }, { guard: { keys: { session: set('n', 1) } } }), appended(1)),
    commit(append('e2', { session: { unset: ['n'] } }, { guard: { keys: { session: set('n', 2) } } }), appended(2)),
    commit(append('e3', { session: set('n', 3) }, { guard: { keys: { session: { unset: ['n'] } } } }), appended(3)),
    load(loaded({ state: { session: { n: 3 } }, events: eventsOf('e1', 'e2', 'e3') })),
  ),
  storeCase(
    'updates and creations have guards, too',
    commit(
      update(
        'p1',
        { app: set('a', 1), user: set('u', 1) },
        { guard: { keys: { app: { unset: ['a'] }, user: { unset: ['u'] } } } },
      ),
      made(1, 1),
    ),
    commit(update('p2', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { user: { unset: ['u'] } } } }), {
      throws: 'conflict',
    }),
    commit(update('p2', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { app: set('a', 2) } } }), {
      throws: 'conflict',
    }),
    commit(update('p2', { app: set('a', 2) }, { ...ofApp, guard: { keys: { app: set('u', 1) } } }), {
      throws: 'conflict',
    }),
    commit(create('c', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { user: set('u', 2) } } }), {
      throws: 'conflict',
    }),
    commit(create('c', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { app: { unset: ['a'] } } } }), {
      throws: 'conflict',
    }),
    load(null),
    list([], {}, { app: { a: 1 } }),
    appHas(1, { a: 1 }),
    userHas(1, { u: 1 }),
    commit(
      update('p2', { app: set('a', 2) }, { ...ofApp, guard: { keys: { app: { set: { a: 1 }, unset: ['u'] } } } }),
      made(2, 0),
    ),
    commit(
      create('c', { user: { unset: ['u'] } }, { guard: { keys: { app: set('a', 2), user: set('u', 1) } } }),
      made(2, 2),
    ),
    load(loaded({ pos: { app: 2, user: 2 }, state: { app: { a: 2 } } })),
  ),
];

const comparisonCases: readonly StoreCase[] = [
  storeCase(
    'a guard tells null from absent',
    ...keyGuards(
      null,
      [set('x', null), { unset: ['y'] }],
      [{ unset: ['x'] }, set('y', null), set('x', 0), set('x', '')],
    ),
  ),
  storeCase(
    'a guard tells an empty text from nothing',
    ...keyGuards('', [set('x', '')], [set('x', null), { unset: ['x'] }, set('x', '""'), set('x', ' '), set('x', [])]),
  ),
  storeCase(
    'a guard tells numbers from texts and booleans',
    ...keyGuards(1, [set('x', 1)], [set('x', '1'), set('x', true), set('x', 1.5), set('x', [1])]),
  ),
  storeCase(
    'a guard compares numbers in full',
    ...keyGuards(0.1 + 0.2, [set('x', 0.1 + 0.2)], [set('x', 0.3), set('x', '0.30000000000000004')]),
  ),
  storeCase(
    'a guard takes zero for zero',
    ...keyGuards(0, [set('x', 0), set('x', -0)], [set('x', null), set('x', false), set('x', '0')]),
  ),
  storeCase(
    'a guard compares objects as their JSON text',
    ...keyGuards(
      { a: 1, b: [{ c: null }, ''], d: {} },
      [set('x', { a: 1, b: [{ c: null }, ''], d: {} })],
      [
        set('x', { b: [{ c: null }, ''], a: 1, d: {} }),
        set('x', { a: 1, b: [{ c: null }, ''] }),
        set('x', { a: 1, b: [{ c: null }, ''], d: {}, e: 1 }),
        set('x', { a: 1, b: ['', { c: null }], d: {} }),
        set('x', { a: 1, b: [{}, ''], d: {} }),
        set('x', { a: 1, b: [{ c: null }, ''], d: [] }),
        set('x', '{"a":1,"b":[{"c":null},""],"d":{}}'),
        set('x', {}),
      ],
    ),
  ),
  storeCase(
    'a guard compares texts by their characters',
    ...keyGuards(
      '\u00e9\u0000😀',
      [set('x', '\u00e9\u0000😀')],
      [
        set('x', 'e\u0301\u0000😀'),
        set('x', '\u00e9'),
        set('x', '\u00c9\u0000😀'),
        set('x', '\u00e9\u0000😀 '),
        set('x', '\u00e9\\u0000😀'),
      ],
    ),
  ),
  storeCase(
    'a guard does not take what objects have by themselves for values',
    commit(create(), made()),
    ...SCOPES.flatMap((scope, index) => [
      commit(append('no', {}, { guard: { keys: { [scope]: set('__proto__', {}) } } }), { throws: 'conflict' }),
      commit(append('no', {}, { guard: { keys: { [scope]: set('constructor', null) } } }), { throws: 'conflict' }),
      commit(
        append(
          `e${index}`,
          {},
          { guard: { keys: { [scope]: { unset: ['__proto__', 'constructor', 'toString', 'length', ''] } } } },
        ),
        appended(index + 1),
      ),
    ]),
    commit(append('e', { app: { set: { ['__proto__']: 1, constructor: 2, '': 3 } } }), appended(4, 1)),
    ...['__proto__', 'constructor', ''].map((name) =>
      commit(append('no', {}, { guard: { keys: { app: { unset: [name] } } } }), { throws: 'conflict' }),
    ),
    commit(
      append('f', {}, { guard: { keys: { app: { set: { ['__proto__']: 1, constructor: 2, '': 3 } } } } }),
      appended(5, 1),
    ),
  ),
];

export const refusalCases: readonly StoreCase[] = [...missingCases, ...guardCases, ...comparisonCases];
