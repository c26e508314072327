/**
 * The engine under a store by itself: the rows of an append, the same bytes, as durable, by the same client, one
 * transaction a commit; and nothing else. It checks nothing, it finds no duplicate, and nobody else may write at the
 * same time. As much of a service as is measured.
 */

/** A service over `write({ session, id, time, data, values })`, which makes an append durable. */
export function rawService({ open, create, write }) {
  let opening;
  let count = 0;
  return {
    async getSession() {
      await (opening ??= open());
    },
    async createSession({ appName, userId, sessionId }) {
      await (opening ??= open());
      count += 1;
      const session = { appName, userId, id: sessionId, number: count, rev: 0 };
      await create(session);
      return session;
    },
    async appendEvent({ session, event }) {
      session.rev += 1;
      const { id, timestamp: time } = event;
      await write({ session, id, time, data: JSON.stringify(event), values: valuesOf(event.actions.stateDelta) });
      return event;
    },
  };
}

/** Names and JSON texts by scope. */
function valuesOf(delta) {
  const values = { session: [], user: [], app: [] };
  for (const [key, value] of Object.entries(delta)) {
    const [, prefix, name] = /^(?:(app|user):)?(.*)$/su.exec(key);
    values[prefix ?? 'session'].push([name, JSON.stringify(value)]);
  }
  return values;
}
