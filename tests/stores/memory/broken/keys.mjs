// Stores that are broken in which session is which, and in what is removed with one.

import assert from 'node:assert/strict';
import { changing, context, loading } from './ways.mjs';

/** A store that takes texts for the same that are written down the same way. */
function confusing(write) {
  return (store) => {
    const known = new Map();
    const first = (kind, ...parts) => {
      const text = `${kind} ${write(parts)}`;
      known.set(text, known.get(text) ?? parts);
      return known.get(text);
    };
    const key = ({ appName, userId, sessionId }) => {
      if (userId === undefined) {
        return { appName };
      }
      if (sessionId === undefined) {
        const [app, user] = first('user', appName, userId);
        return { appName: app, userId: user };
      }
      const [app, user, session] = first('session', appName, userId, sessionId);
      return { appName: app, userId: user, sessionId: session };
    };
    return {
      ...changing((change) => ({ ...change, key: key(change.key) }))(store),
      load: (wanted, query) => store.load(key(wanted), query, context),
      remove: (wanted, _, guard) => store.remove(key(wanted), context, guard),
    };
  };
}

export const brokenKeys = {
  // Keys.
  ...Object.fromEntries(
    ['', '/', ':', '|', '\0', '\x1f', '\uffff'].map((separator) => [
      `joins keys by ${JSON.stringify(separator)}`,
      confusing((parts) => parts.join(separator)),
    ]),
  ),
  'escapes the separator, but not the escape': confusing((parts) =>
    parts.map((part) => part.replaceAll('/', '\\/')).join('/'),
  ),
  'takes ids in any case': confusing((parts) => JSON.stringify(parts).toLowerCase()),
  'trims ids': confusing((parts) => JSON.stringify(parts.map((part) => part.trim()))),
  'normalizes ids': confusing((parts) => JSON.stringify(parts.map((part) => part.normalize()))),
  'takes ids for numbers': confusing((parts) =>
    JSON.stringify(parts.map((part) => (part.trim() === '' || Number.isNaN(Number(part)) ? part : Number(part)))),
  ),
  'takes a NUL for the end of an id': confusing((parts) => JSON.stringify(parts.map((part) => part.split('\0')[0]))),
  'cuts ids': confusing((parts) => JSON.stringify(parts.map((part) => part.slice(0, 200)))),
  'encodes the separator, but not the code': confusing((parts) =>
    parts.map((part) => part.replaceAll('/', '%2F')).join('/'),
  ),
  'finds a session without its user': confusing(([app, user, session]) =>
    JSON.stringify(session === undefined ? [app, user] : [app, session]),
  ),
  'takes the user without a name for none': (store) => ({
    loadScope: ({ app, user }) => store.loadScope(user ? { app, user } : { app }, context),
    list: ({ user, ...query }) => store.list(user ? { ...query, user } : query, context),
  }),
  // Removal.
  'removes the values of the user with a session': (store) => ({
    remove: async (key, _, guard) => {
      await store.remove(key, context, guard);
      await store.removeScope({ app: key.appName, user: key.userId }, context);
    },
  }),
  'cannot remove twice': (store) => ({
    remove: async (key, _, guard) => {
      assert.ok(await store.load(key, {}, context));
      await store.remove(key, context, guard);
    },
  }),
  'removes nothing': () => ({ remove: async () => undefined }),
  'keeps the events of a removed session': (store) => {
    const kept = new Map();
    const id = ({ appName, userId, sessionId }) => JSON.stringify([appName, userId, sessionId]);
    return {
      remove: async (key, _, guard) => {
        kept.set(id(key), (await store.load(key, {}, context))?.events);
        await store.remove(key, context, guard);
      },
      ...loading((loaded, _, __, key) => ({ ...loaded, events: [...(kept.get(id(key)) ?? []), ...loaded.events] }))(
        store,
      ),
    };
  },
};
