// Changes for the tests of Cloudflare's stores, and what they assert: they run in workers.

import * as changes from '../../support/changes.js';

export const keyOf = changes.keyOf;
export const KEY = keyOf('session');

export function create(key = KEY, delta = {}, more = {}) {
  return changes.create(`create ${key.userId} ${key.sessionId}`, key, delta, more);
}

export function append(id, delta = {}, { key = KEY, ...more } = {}) {
  return changes.append(id, key, delta, { time: 2_000, ...more });
}

export function update(id, delta, more = {}) {
  return changes.update(id, { appName: 'app', userId: 'user' }, delta, { time: 3_000, ...more });
}

/** One change of each kind, with something in every part. */
export function everyKind() {
  const delta = { app: { set: { a: 1 }, unset: ['b'] }, user: { set: { a: 1 }, unset: ['b'] } };
  const session = { set: { c: 1 }, unset: ['d'] };
  const guard = { fence: 0, pos: { app: 0 }, keys: { user: { unset: ['x'] } } };
  return [create(KEY, { ...delta, session }, { guard }), append('e1', { ...delta, session }), update('u1', delta)];
}

export function assert(condition, message) {
  if (!condition) {
    throw new Error(message);
  }
}

export function assertEqual(actual, expected, what) {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  assert(one === other, `${what} is ${one?.slice(0, 1_000)}, not ${other?.slice(0, 1_000)}`);
}

/** The error that an action throws. */
export async function thrown(action) {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

export async function assertCode(action, code) {
  const error = await thrown(action);
  assert(error.code === code, `it throws ${error.code} (${error.message}), not ${code}`);
  return error;
}
