// Sums of doubles that decimal arithmetic, integers and other texts of numbers get wrong.

import {
  answer,
  change,
  compareAndSet,
  increment,
  set,
  step,
  storeCase,
  withOperators,
  withResults,
  inAll,
} from '../build/index.js';
import type { StoreCase } from '../case.js';

/** A value, what is added, and the sum as IEEE doubles have it. */
const SUMS: readonly (readonly [before: number, by: number, after: number])[] = [
  [0.1, 0.2, 0.30000000000000004],
  [0.1, 0.7, 0.7999999999999999],
  [1.1, 2.2, 3.3000000000000003],
  [0.3, -0.1, 0.19999999999999998],
  [1, -1, 0],
  [-0.5, 0.5, 0],
  [0, 0, 0],
  [-7, -0.25, -7.25],
  // Beyond the integers that doubles tell apart.
  [9_007_199_254_740_991, 1, 9_007_199_254_740_992],
  [9_007_199_254_740_992, 1, 9_007_199_254_740_992],
  [9_007_199_254_740_992, 3, 9_007_199_254_740_996],
  [-9_007_199_254_740_992, -1, -9_007_199_254_740_992],
  [9_223_372_036_854_775_807, 1, 9_223_372_036_854_775_808],
  [2 ** 31 - 1, 1, 2 ** 31],
  [-(2 ** 31), -1, -(2 ** 31) - 1],
  [2 ** 64, 1, 2 ** 64],
  [123_456_789_012_345_680, 8, 123_456_789_012_345_696],
  // The text of a number gets an exponent here, or loses it.
  [1e20, 9e20, 1e21],
  [1e21, -1, 1e21],
  [1e21, -9e20, 100_000_000_000_000_000_000],
  [9.99999e-7, 1e-12, 0.000001],
  [0.000001, -5e-7, 5e-7],
  [1e-7, 1e-7, 2e-7],
  [1e16, 1, 10_000_000_000_000_000],
  [1e16, 2, 10_000_000_000_000_002],
  [1e15, 0.3, 1_000_000_000_000_000.2],
  // The least of them, and the greatest.
  [5e-324, 5e-324, 1e-323],
  [5e-324, -5e-324, 0],
  [2.2250738585072014e-308, -5e-324, 2.225073858507201e-308],
  [2.2250738585072014e-308, -2.225073858507201e-308, 5e-324],
  [1, 5e-324, 1],
  [1.7976931348623157e308, 1, 1.7976931348623157e308],
  [1.7976931348623157e308, 9.979201547673598e291, 1.7976931348623157e308],
  [1.7976931348623157e308, -1.7976931348623157e308, 0],
  [1e308, 7.9e307, 1.79e308],
  // Half of a last digit goes to the even one.
  [1, 1.1102230246251565e-16, 1],
  [1, 1.1102230246251568e-16, 1.0000000000000002],
  [1.0000000000000002, 1.1102230246251565e-16, 1.0000000000000004],
];

/** Sums that go beyond a double, the first by half of its last digit. */
const OVERFLOWS: readonly (readonly [before: number, by: number])[] = [
  [1.7976931348623157e308, 9.979201547673599e291],
  [-1.7976931348623157e308, -9.979201547673599e291],
  [1e308, 1e308],
  [-1.7976931348623157e308, -1.7976931348623157e308],
];

const before = Object.fromEntries(SUMS.map(([value], index) => [`n${index}`, value]));
const after = Object.fromEntries(SUMS.map(([, , sum], index) => [`n${index}`, sum]));
/** The results of the same where there was no value. */
const ADDED = Object.fromEntries(SUMS.map(([, by], index) => [`n${index}`, by]));
const operators = Object.fromEntries(SUMS.map(([, by], index) => [`n${index}`, increment(by)]));

export const numberCases: readonly StoreCase[] = [
  storeCase(
    'sums are those of IEEE doubles, to the last digit',
    step.commit(change.create('c', { app: { set: before }, session: { set: before } }), answer.made(1)),
    step.commit(
      withOperators(change.append('e1'), inAll(operators)),
      withResults(answer.appended(1, 2, 1), { app: after, user: ADDED, session: after }),
    ),
    step.appHas(2, after),
    step.list([answer.row({ rev: 1, state: after })], {}, { app: after, users: { user: ADDED } }),
  ),
  storeCase(
    'sums are compared as JSON.stringify writes them',
    step.commit(change.create('c', { app: { set: before } }), answer.made(1)),
    step.commit(
      withOperators(change.append('e1'), { app: operators }),
      withResults(answer.appended(1, 2), { app: after }),
    ),
    step.commit(change.append('e2', {}, { guard: { keys: { app: { set: after } } } }), answer.appended(2, 2)),
    step.commit(
      withOperators(change.append('e3'), {
        app: Object.fromEntries(SUMS.map(([, , sum], index) => [`n${index}`, compareAndSet(sum, index)])),
      }),
      withResults(answer.appended(3, 3), { app: Object.fromEntries(SUMS.map((_, index) => [`n${index}`, index])) }),
    ),
  ),
  storeCase(
    'a sum beyond a double is rejected, at the last digit',
    ...OVERFLOWS.flatMap(([value, by], index) => [
      step.commit(change.update(`u${index}`, { user: set('n', value) }), answer.made(0, index + 1)),
      step.commit(withOperators(change.update(`v${index}`, {}), { user: { n: increment(by) } }), {
        throws: 'rejected',
        key: 'n',
        scope: 'user',
      }),
      step.userHas(index + 1, { n: value }),
    ]),
  ),
];
