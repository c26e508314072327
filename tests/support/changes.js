// Changes as a service sends them to a store: in Node, in pages and in workers.

/**
 * @typedef {import('statepad/store').Change} Change
 * @typedef {Partial<Change> & { data?: string }} More `data` is the text of the event
 */

/**
 * The key of a session.
 *
 * @param {string} sessionId
 */
export function keyOf(sessionId, userId = 'user', appName = 'app') {
  return { appName, userId, sessionId };
}

/**
 * Creates a session.
 *
 * @param {string} id @param {Change['key']} key @param {Change['delta']} [delta] @param {More} [more]
 * @returns {Change}
 */
export function create(id, key, delta = {}, more = {}) {
  return { id, kind: 'create', key, time: 1_000, delta, ...more };
}

/**
 * Appends an event to a session.
 *
 * @param {string} id @param {Change['key']} key @param {Change['delta']} [delta] @param {More} [more]
 * @returns {Change}
 */
export function append(id, key, delta = {}, { time = 1_000, data = JSON.stringify({ id }), ...more } = {}) {
  return { id, kind: 'append', key, time, event: { id, time, data }, delta, ...more };
}

/**
 * Updates an app, or a user and the app.
 *
 * @param {string} id @param {Change['key']} key @param {Change['delta']} [delta] @param {More} [more]
 * @returns {Change}
 */
export function update(id, key, delta = {}, more = {}) {
  return { id, kind: 'update', key, time: 1_000, delta, ...more };
}
