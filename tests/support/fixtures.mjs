// Fixtures of all tests: a session's key, events, the form of an error, and the number of runs of a law.

import { isStatepadError } from 'statepad';

export const APP = Object.freeze({ appName: 'app' });
export const USER = Object.freeze({ ...APP, userId: 'u' });
/** The key of the session that a test uses when it needs one. */
export const KEY = Object.freeze({ ...USER, sessionId: 's' });

/** The ways to a counter: by which target it is updated, under which key. */
export const COUNTERS = Object.freeze([
  ['session', 'n'],
  ['session', 'user:n'],
  ['session', 'app:n'],
  ['user', 'user:n'],
  ['user', 'app:n'],
  ['app', 'app:n'],
]);

/**
 * An event to append that sets `stateDelta`; `more` are its other members.
 *
 * @param {Record<string, unknown>} stateDelta
 */
export const setting = (stateDelta, more = {}) => ({
  invocationId: 'i',
  author: 'agent',
  ...more,
  actions: { stateDelta },
});

/**
 * For `assert.rejects` and `assert.throws`: an error of the package with this code.
 *
 * @param {string} code
 */
export const hasCode = (code) => (/** @type {unknown} */ error) => isStatepadError(error) && error.code === code;

/** The error of a store's client that cannot say whether a call was executed. */
export const connectionLost = () => new Error('the connection was lost');

/**
 * The warnings of the process during `run`, each as its code and message.
 *
 * @param {() => unknown} run
 */
export async function warningsOf(run) {
  /** @type {[string | undefined, string][]} */
  const heard = [];
  /** @param {Error & { code?: string }} warning */
  const listen = (warning) => heard.push([warning.code, warning.message]);
  process.on('warning', listen);
  await run();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  return heard;
}

/**
 * The number of random runs of a law: `count`, or a tenth of it for a quick answer (`npm run test:unit`).
 *
 * @param {number} count
 */
export const runs = (count) => (process.env.STATEPAD_QUICK ? Math.ceil(count / 10) : count);
