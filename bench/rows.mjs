/** The rows of the table: what is measured on which sides, and how far ahead of adk-js we mean to be. */

/**
 * @typedef {object} Row
 * @property {string} id
 * @property {string} what
 * @property {string[]} sides
 * @property {number} [aim] times faster (or smaller) than adk-js, at least
 */

const ALL = ['statepad', 'adk', 'pure'];
const BOTH = ['statepad', 'adk'];

/** @type {Row[]} rows that are measured in child processes */
export const ROWS = [
  { id: 'appendAt10', what: 'append, 10 events', sides: ALL, aim: 2 },
  { id: 'appendAt1000', what: 'append, 1,000 events', sides: ALL },
  { id: 'appendAt10000', what: 'append, 10,000 events', sides: ALL, aim: 50 },
  { id: 'appendShared', what: 'append, 100 sessions of one app in turn', sides: ALL },
  { id: 'get', what: 'get, 1,000 events', sides: ALL, aim: 500 },
  { id: 'getAndRead', what: 'get and read all, 1,000 events', sides: ALL, aim: 200 },
  { id: 'lastTwenty', what: 'get and read the last 20 of 10,000', sides: BOTH, aim: 5_000 },
  { id: 'listPage', what: 'list 20 of 1,000 and read each state', sides: BOTH, aim: 5 },
  { id: 'templateCompiled', what: 'template, compiled', sides: ALL, aim: 10 },
  { id: 'templateOnce', what: 'template, from its text', sides: ALL, aim: 1.3 },
  { id: 'turn', what: "a turn of ADK's Runner, 1,000 events", sides: BOTH },
];

/** Bytes, not times: measured once for each side. */
export const MEMORY = { id: 'memory', what: 'memory of an event', sides: ALL };

/** From nothing to the first session, above what node itself takes to start. */
export const COLD = { id: 'cold', what: 'cold start, above that of node', aim: 20 };

/** How much slower an append may be after 10,000 events than after 10. */
export const FLAT = { id: 'flat', what: 'append, 10,000 against 10 events', most: 1.3 };

/** The most that a browser may have to download for the module and its scripts. */
export const BUNDLE = { id: 'bundle', what: 'browser bundle, brotli', most: 50_000 };
