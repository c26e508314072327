// statepad's npm package as a side of the contract.

import assert from 'node:assert/strict';
import { DELETED, SessionService, isStatepadError } from 'statepad';

/** A new service of the package. */
export function statepadSide(service = new SessionService()) {
  return {
    create: ({ appName, userId, sessionId, state }) => service.createSession({ appName, userId, sessionId, state }),
    get: ({ last, after, ...key }) =>
      service.getSession({ ...key, config: { numRecentEvents: last, afterTimestamp: after } }),
    append: ({ session, event, revision }) =>
      service.appendEvent({ session, event: withDeletions(event), expectedRevision: revision }),
    delete: (key) => service.deleteSession(key),
    list: async (request) => (await service.listSessions(request)).sessions,
    appState: (appName) => service.getAppState({ appName }),
    stateAt: (session, revision) => service.stateAt(session, revision),
    history: (session, name, options) => service.history(session, name, options),
    userState: (appName, userId) => service.getUserState({ appName, userId }),
    errors: (error, code) => {
      assert.ok(isStatepadError(error), `not a StatepadError: ${error?.stack}`);
      assert.equal(error.code, code);
      assert.ok(error instanceof Error && typeof error.stack === 'string');
      assert.match(error.message, /^[^A-Z]/, 'a message begins in lower case');
    },
  };
}

/** The keys to delete become DELETED in the delta. */
function withDeletions({ unset, ...event }) {
  const stateDelta = { ...event.actions.stateDelta };
  for (const key of unset) {
    Object.defineProperty(stateDelta, key, { value: DELETED, enumerable: true, configurable: true, writable: true });
  }
  return { ...event, actions: { ...event.actions, stateDelta } };
}
