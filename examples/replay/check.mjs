/**
 * The check: is the final state the expected one, and does the log give the conversation back?
 */
import { isDeepStrictEqual } from 'node:util';
import { OWN_KEYS } from './desk.mjs';

/**
 * @typedef {import('./read.mjs').Turn} Turn
 * @typedef {import('@google/adk').Event} Event
 * @typedef {{ key: string, expected: unknown, actual: unknown }} Mismatch a value that is not there is `undefined`
 */

/**
 * Compares a session's state with the expected one. Session keys must be equal, none missing and none too many;
 * `app:` and `user:` keys, which other sessions write too, are compared when `final` names them.
 *
 * @param {Readonly<Record<string, unknown>>} final
 * @param {Readonly<Record<string, unknown>>} state
 * @returns {Mismatch[]}
 */
export function compareFinal(final, state) {
  const ours = Object.keys(state).filter((key) => !OWN_KEYS.has(key) && !/^(?:app|user):/u.test(key));
  return [...new Set([...Object.keys(final), ...ours])]
    .map((key) => ({ key, expected: own(final, key), actual: own(state, key) }))
    .filter(({ expected, actual }) => !isDeepStrictEqual(expected, actual));
}

/**
 * Counts the turns that the log gives back exactly: author, text, what was set and what was deleted, in order.
 *
 * @param {readonly Turn[]} turns
 * @param {readonly Event[]} events
 */
export function turnsInLog(turns, events) {
  const logged = turnsOf(events);
  if (logged.length !== turns.length) return 0;
  return turns.filter((turn, i) => {
    const delta = Object.fromEntries(Object.entries(turn.delta).filter(([key]) => !key.startsWith('temp:')));
    const deleted = turn.deleted.filter((key) => !key.startsWith('temp:')).sort();
    return isDeepStrictEqual({ author: turn.author, text: turn.text, delta, deleted }, logged[i]);
  }).length;
}

/**
 * Reads the turns out of a log. The clerk's notes belong to the user's turn before them, the agent's notes to the
 * reply after them.
 *
 * @param {readonly Event[]} events
 */
function turnsOf(events) {
  /** @type {Turn[]} */
  const turns = [];
  let pending = changesOf([]);
  for (const event of events) {
    const text = event.content?.parts?.find((part) => part.text !== undefined)?.text;
    if (event.author === 'user' && text !== undefined) turns.push({ author: 'user', text, ...changesOf([event]) });
    else if (event.author === 'clerk') Object.assign(turns.at(-1) ?? {}, merge(turns.at(-1), changesOf([event])));
    else if (event.author === 'agent' && text === undefined) pending = merge(pending, changesOf([event]));
    else if (event.author === 'agent') {
      turns.push({ author: 'agent', text: text ?? '', ...merge(pending, changesOf([event])) });
      pending = changesOf([]);
    }
  }
  return turns;
}

/**
 * The changes of stored events. A deletion is a `null` in the delta whose key `customMetadata.statepad.deleted` names.
 *
 * @param {readonly Event[]} events
 */
function changesOf(events) {
  /** @type {Record<string, unknown>} */
  const delta = {};
  /** @type {string[]} */
  const deleted = [];
  for (const { actions, customMetadata } of events) {
    const marked = /** @type {any} */ (customMetadata)?.statepad?.deleted ?? [];
    for (const [key, value] of Object.entries(actions.stateDelta)) {
      if (OWN_KEYS.has(key)) continue;
      if (marked.includes(key)) deleted.push(key);
      else delta[key] = value;
    }
  }
  return { delta, deleted: deleted.sort() };
}

/** @typedef {{ delta: Record<string, unknown>, deleted: string[] }} Changes */
/** @param {Changes | undefined} a @param {Changes} b @returns {Changes} */
function merge(a, b) {
  return { delta: { ...a?.delta, ...b.delta }, deleted: [...(a?.deleted ?? []), ...b.deleted].sort() };
}

/** @param {Readonly<Record<string, unknown>>} record @param {string} key */
function own(record, key) {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
