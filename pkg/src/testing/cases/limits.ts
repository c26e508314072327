// The limits of scopes: sizes and numbers of names, at the limit and beyond it, whoever wrote what is there.

import { answer, change, eventsOf, keyOf, set, step, storeCase } from '../build/index.js';
import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import type { Change, Delta, StoreLimits } from '../../store/contract.js';
import type { Json } from '../../model/types.js';
import type { StoreCase, StoreStep } from '../case.js';

/** The positions of app and user after a change of one scope, which is the `count`-th. */
function places(scope: StoredScope, count = 1): readonly [app: number, user: number] {
  return [scope === 'app' ? count : 0, scope === 'user' ? count : 0];
}

/** Names and values with their sizes, as the UTF-8 bytes of the name and of the JSON text. */
const SIZES: readonly (readonly [name: string, value: Json, bytes: number])[] = [
  ['n', null, 1 + 4],
  ['n', '', 1 + 2],
  ['n', 'ab', 1 + 4],
  ['n', 'ä', 1 + 4],
  ['n', '€', 1 + 5],
  ['n', '😀', 1 + 6],
  ['n', '\n', 1 + 4],
  ['n', '"\\', 1 + 6],
  ['n', '\u0001', 1 + 8],
  ['n', '\u007f\u0080', 1 + 5],
  ['n', '\u2028/', 1 + 6],
  ['n', '\ud800', 1 + 8],
  ['n', 1.5e300, 1 + 8],
  ['n', [1, 'ä', { é: [] }], 1 + 18],
  ['ä', 1, 2 + 1],
  ['€😀', 1, 7 + 1],
  ["it's", true, 4 + 4],
  ['', 1, 1],
];

/** Each is created with a limit that is one byte too low, and then with one that is just enough. */
function sized(sizes: typeof SIZES): StoreStep[] {
  return sizes.flatMap(([name, value, bytes], index) => {
    const key = keyOf(`s${index}`);
    const delta = { session: set(name, value) };
    return [
      step.commit(
        change.create(`x${index}`, delta, { key, limits: { state: bytes - 1 } }),
        answer.beyond('state', bytes, bytes - 1, 'session'),
      ),
      step.load(null, {}, key),
      step.commit(change.create(`c${index}`, delta, { key, limits: { state: bytes } }), answer.made()),
      step.sessionHas({ created: `c${index}`, state: { session: { [name]: value } } }, {}, key),
    ];
  });
}

const sizeCases: readonly StoreCase[] = [
  storeCase(
    'the size of a state is that of its names and of its values as JSON text, in UTF-8 bytes',
    ...sized(SIZES),
  ),
  storeCase('a name is as large as it is, whatever the store makes of it', ...sized([['a\u0000b', '\u0000', 3 + 8]])),
  storeCase(
    'the sizes of all names of a scope count together',
    step.commit(change.create('c', { session: { set: { a: 1, bb: 'xy' } } }), answer.made()),
    // a1 and bb"xy" have 8 bytes, c[] has 3.
    step.commit(
      change.append('e1', { session: set('c', []) }, { limits: { state: 10 } }),
      answer.beyond('state', 11, 10, 'session'),
    ),
    step.commit(change.append('e1', { session: set('c', []) }, { limits: { state: 11 } }), answer.appended(1)),
    step.sessionHas({ state: { session: { a: 1, bb: 'xy', c: [] } }, events: eventsOf('e1') }),
  ),
];

/** An append that changes one scope. */
function appendTo(scope: StoredScope, id: string, delta: Delta, limits?: StoreLimits): Change {
  return change.append(id, { [scope]: delta }, limits === undefined ? {} : { limits });
}

const scopeCases: readonly StoreCase[] = STORED_SCOPES.flatMap((scope) => [
  storeCase(
    `the number of names of the ${scope} is limited, and stays what it is when more are refused`,
    step.commit(change.create(), answer.made()),
    step.commit(appendTo(scope, 'e1', { set: { a: 1, b: 1, c: 1 } }, { keys: 2 }), answer.beyond('keys', 3, 2, scope)),
    step.commit(appendTo(scope, 'e1', { set: { a: 1, b: 1 } }, { keys: 2 }), answer.appended(1, ...places(scope))),
    step.commit(appendTo(scope, 'e2', set('c', 1), { keys: 2 }), answer.beyond('keys', 3, 2, scope)),
    step.commit(appendTo(scope, 'e2', set('b', 2), { keys: 2 }), answer.appended(2, ...places(scope, 2))),
    step.commit(
      appendTo(scope, 'e3', { set: { c: 1 }, unset: ['a'] }, { keys: 2 }),
      answer.appended(3, ...places(scope, 3)),
    ),
    step.commit(
      appendTo(scope, 'e4', { set: { b: 3, d: 1 }, unset: ['b', 'absent'] }, { keys: 2 }),
      answer.beyond('keys', 3, 2, scope),
    ),
    step.commit(
      appendTo(scope, 'e4', { set: { d: 1 }, unset: ['absent', 'absent'] }, { keys: 3 }),
      answer.appended(4, ...places(scope, 4)),
    ),
    step.sessionHas({
      pos: { app: places(scope, 4)[0], user: places(scope, 4)[1] },
      state: { [scope]: { b: 2, c: 1, d: 1 } },
      events: eventsOf('e1', 'e2', 'e3', 'e4'),
    }),
  ),
  storeCase(
    `the bytes of the ${scope} are limited, and stay what they are when more are refused`,
    step.commit(change.create(), answer.made()),
    step.commit(appendTo(scope, 'e1', set('a', 'xyz'), { state: 5 }), answer.beyond('state', 6, 5, scope)),
    step.commit(appendTo(scope, 'e1', set('a', 'xyz'), { state: 6 }), answer.appended(1, ...places(scope))),
    step.commit(appendTo(scope, 'e2', set('a', 'xyzä'), { state: 7 }), answer.beyond('state', 8, 7, scope)),
    step.commit(appendTo(scope, 'e2', set('a', 'ä'), { state: 5 }), answer.appended(2, ...places(scope, 2))),
    step.commit(
      appendTo(scope, 'e3', { set: { b: 1 }, unset: ['a'] }, { state: 2 }),
      answer.appended(3, ...places(scope, 3)),
    ),
    step.commit(
      appendTo(scope, 'e4', { set: { b: 10 }, unset: ['b'] }, { state: 2 }),
      answer.beyond('state', 3, 2, scope),
    ),
    step.commit(
      appendTo(scope, 'e4', { set: { b: 10 }, unset: ['b'] }, { state: 3 }),
      answer.appended(4, ...places(scope, 4)),
    ),
    step.sessionHas({
      pos: { app: places(scope, 4)[0], user: places(scope, 4)[1] },
      state: { [scope]: { b: 10 } },
      events: eventsOf('e1', 'e2', 'e3', 'e4'),
    }),
  ),
  storeCase(
    `the ${scope} beyond a limit that was lowered can be changed and emptied, as long as it does not grow`,
    step.commit(change.create(), answer.made()),
    step.commit(appendTo(scope, 'e1', { set: { a: 'xyz', b: 1, c: 1 } }), answer.appended(1, ...places(scope))),
    ...(['state', 'keys'] as const).map((limit) =>
      step.commit(
        appendTo(scope, 'e2', set('d', 1), { [limit]: 1 }),
        answer.beyond(limit, limit === 'keys' ? 4 : 12, 1, scope),
      ),
    ),
    step.commit(appendTo(scope, 'e2', set('a', 'xyzz'), { state: 1 }), answer.beyond('state', 11, 1, scope)),
    step.commit(
      appendTo(scope, 'e2', set('a', 'zyx'), { state: 1, keys: 1 }),
      answer.appended(2, ...places(scope, 2)),
    ),
    step.commit(appendTo(scope, 'e3', set('a', 'zz'), { state: 1, keys: 1 }), answer.appended(3, ...places(scope, 3))),
    step.commit(
      appendTo(scope, 'e4', { set: { d: 2 }, unset: ['c'] }, { state: 1, keys: 1 }),
      answer.appended(4, ...places(scope, 4)),
    ),
    step.commit(
      appendTo(scope, 'e5', { unset: ['a', 'b'] }, { state: 0, keys: 0 }),
      answer.appended(5, ...places(scope, 5)),
    ),
    step.commit(
      appendTo(scope, 'e6', { unset: ['d'] }, { state: 0, keys: 0 }),
      answer.appended(6, ...places(scope, 6)),
    ),
    step.commit(appendTo(scope, 'e7', set('a', 1), { keys: 0 }), answer.beyond('keys', 1, 0, scope)),
    step.commit(appendTo(scope, 'e7', set('a', 1), { state: 2, keys: 1 }), answer.appended(7, ...places(scope, 7))),
  ),
]);

export const limitCases: readonly StoreCase[] = [...sizeCases, ...scopeCases];
