// The places of tests of watching: services that write and services that watch, over stores that report more or less.

import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

/** @typedef {import('statepad/store').SessionStore} SessionStore */

/** @param {SessionStore} store @returns {SessionStore} */
export const silent = (store) => ({ ...store, watch: undefined });
/** @param {SessionStore} store */
const withoutLog = (store) => ({
  ...store,
  readLog: undefined,
  keeps: store.keeps?.filter((feature) => feature !== 'log'),
});
/**
 * A store that can compare nothing, and tells no more than every store has to.
 *
 * @param {SessionStore} store @returns {SessionStore}
 */
const plainest = ({ commit, load, list, remove, loadScope }) => {
  /** @type {SessionStore['commit']} */
  const blind = async (change, context) => await commit({ ...change, guard: undefined }, context);
  return { commit: blind, load, list, remove, loadScope, guards: 'none' };
};

/** Two services that see the same: one that writes, and one that is watched. */
export const places = {
  memory: () => alone({}),
  'memory without a log': () => alone({ log: false }),
  callbacks: () => alone({ persist: async () => undefined, restore: async () => [] }),
  'a store with hints': () => pair(memoryStore()),
  'a store without hints': () => pair(silent(memoryStore())),
  'a store without a log': () => pair(withoutLog(memoryStore())),
  'a store of which nothing is cached': () => pair(memoryStore(), { cachedEvents: 0 }),
  'a store that compares nothing': () => pair(plainest(memoryStore())),
};

/** @param {import('statepad').SessionServiceOptions} options */
function alone(options) {
  const service = new SessionService(options);
  return [service, service];
}

/** @param {SessionStore} store */
function pair(store, options = {}) {
  return [new SessionService({ store, ...options }), new SessionService({ store, ...options })];
}
