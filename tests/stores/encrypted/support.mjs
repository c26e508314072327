// Helpers of the encrypted store's tests: keys, changes, and stores to look into and to tamper with.

import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import * as changes from '../../support/changes.js';
import { source } from '../../support/source.mjs';

/** The beginning of every sealed text. */
export const { MARK } = await source('stores/encrypted/version.ts');
/** Returns true if a stored value is sealed. */
export const isSealed = (value) => typeof value === 'string' && value.startsWith(MARK);

/** The operators that the store leaves to the service. */
export const operators = ['increment', 'append', 'setOnce', 'compareAndSet'];

/** 32 bytes, the same for a number each time. */
export const bytes = (number) => new Uint8Array(32).fill(number);
export const keys = [{ id: 'k1', key: bytes(1) }];
export const nameKey = bytes(200);
export const context = { signal: new AbortController().signal };

export const key = { appName: 'app', userId: 'ana', sessionId: 's1' };
export const data = (id, text = '') => JSON.stringify({ id, text });
export const create = (id, delta, more = {}) => changes.create(id, key, delta, { time: 1, ...more });
export const append = (id, delta, more = {}) => changes.append(id, key, delta, { time: 2, data: data(id), ...more });
export const update = (id, delta, more = {}) => {
  const { appName, userId } = key;
  return changes.update(id, { appName, userId }, delta, { time: 3, ...more });
};

/** Members of an update of the app alone. */
export const ofApp = { key: { appName: 'app' } };
/** The scope of the values of the app. */
export const home = { app: 'app' };
/** A delta that sets `n`. */
export const count = (n) => ({ set: { n } });

/** An encrypted store over memory, and the memory. */
export function overMemory(options = {}, inner = memoryStore()) {
  return { inner, store: encryptedStore(inner, { keys, ...options }) };
}

/** A store that is another one but for some methods; each gets the method that it stands for, then its arguments. */
export function instead(inner, methods) {
  const replaced = Object.entries(methods).map(([name, method]) => [
    name,
    (...args) => method(inner[name].bind(inner), ...args),
  ]);
  return { ...inner, ...Object.fromEntries(replaced) };
}

/** All that a store is asked, as text. */
export function recording(inner) {
  const asked = [];
  const methods = Object.keys(inner).filter((name) => typeof inner[name] === 'function');
  const record =
    (name) =>
    (method, ...args) => {
      asked.push(JSON.stringify([name, args[0]]));
      return method(...args);
    };
  return { asked, store: instead(inner, Object.fromEntries(methods.map((name) => [name, record(name)]))) };
}

/** The error of a promise; `undefined` when it is fulfilled. */
export const refusal = (promise) =>
  promise.then(
    () => undefined,
    (error) => error,
  );

/** The outcome of a change, without its news of others. */
export const outcome = (committed) =>
  Object.fromEntries(Object.entries(committed).filter(([member]) => !['before', 'changed'].includes(member)));

/** Values without their missing prototype. */
export const plain = (values) => ({ ...values });
