// The values that a guard takes for equal, in every scope.

import { answer, caseThatNeeds, change, set, step, storeCase, inAll } from '../build/index.js';
import { STORED_SCOPES } from '../../model/scope.js';
import type { Delta } from '../../store/contract.js';
import type { Json } from '../../model/types.js';
import type { StoreCase, StoreStep } from '../case.js';

/** One value is there under `x` in a scope; these guards hold, and those do not. */
function keyGuards(value: Json, holding: readonly Delta[], failing: readonly Delta[]): StoreStep[] {
  const count = 3 * holding.length;
  return [
    step.commit(change.create('c', inAll(set('x', value))), answer.made(1, 1)),
    ...STORED_SCOPES.flatMap((scope) =>
      failing.map((keys) =>
        step.commit(change.append('no', change.EVERYTHING, { guard: { keys: { [scope]: keys } } }), {
          throws: 'conflict',
        }),
      ),
    ),
    ...STORED_SCOPES.flatMap((scope, at) =>
      holding.map((keys, index) =>
        step.commit(
          change.append(`e${at}-${index}`, {}, { guard: { keys: { [scope]: keys } } }),
          answer.appended(at * holding.length + index + 1, 1, 1),
        ),
      ),
    ),
    step.sessionHas(
      {
        rev: count,
        pos: { app: 1, user: 1 },
        state: inAll({ x: value }),
      },
      { events: { last: 0 } },
    ),
  ];
}

export const comparisonCases: readonly StoreCase[] = [
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
  caseThatNeeds(
    'texts',
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
    step.commit(change.create(), answer.made()),
    ...STORED_SCOPES.flatMap((scope, index) => [
      step.commit(change.append('no', {}, { guard: { keys: { [scope]: set('__proto__', {}) } } }), {
        throws: 'conflict',
      }),
      step.commit(change.append('no', {}, { guard: { keys: { [scope]: set('constructor', null) } } }), {
        throws: 'conflict',
      }),
      step.commit(
        change.append(
          `e${index}`,
          {},
          { guard: { keys: { [scope]: { unset: ['__proto__', 'constructor', 'toString', 'length', ''] } } } },
        ),
        answer.appended(index + 1),
      ),
    ]),
    step.commit(
      change.append('e', { app: { set: { ['__proto__']: 1, constructor: 2, '': 3 } } }),
      answer.appended(4, 1),
    ),
    ...['__proto__', 'constructor', ''].map((name) =>
      step.commit(change.append('no', {}, { guard: { keys: { app: { unset: [name] } } } }), { throws: 'conflict' }),
    ),
    step.commit(
      change.append('f', {}, { guard: { keys: { app: { set: { ['__proto__']: 1, constructor: 2, '': 3 } } } } }),
      answer.appended(5, 1),
    ),
  ),
];
