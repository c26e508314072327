// Stores that are broken where a change is sent again.

import { alone, changing, committing, context, each, without } from './ways.mjs';

export const brokenDuplicates = {
  'applies a duplicate once more': (store) => ({
    commit: async (change) => {
      const committed = await store.commit(change, context);
      if (committed.duplicate) {
        await store.commit(alone(change, without('session')(change.delta)), context);
      }
      return committed;
    },
  }),
  'does not say that it is a duplicate': committing(without('duplicate')),
  'does not give back the event of a duplicate': committing(without('data')),
  'gives back the event that was sent': committing((committed, { event }) =>
    committed.data === undefined ? committed : { ...committed, data: event.data },
  ),
  'gives null as the revision before a duplicate': committing((committed) =>
    committed.duplicate ? { ...committed, prev: null } : committed,
  ),
  'knows only its own duplicates': each((store, name) =>
    changing((change) => (change.kind === 'create' ? change : { ...change, id: name + change.id }))(store),
  ),
  'knows an event id in all sessions': (store) => {
    const seen = new Map();
    return {
      commit: async (change) => {
        const before = seen.get(change.id);
        if (change.kind === 'append' && before !== undefined) {
          return { ...before, prev: before.rev, duplicate: true, data: change.event.data };
        }
        const committed = await store.commit(change, context);
        seen.set(change.id, committed);
        return committed;
      },
    };
  },
  'looks at the guard before it looks for a duplicate': (store) => ({
    commit: async (change) => {
      const rev = change.guard?.rev;
      const loaded = rev === undefined ? null : await store.load(change.key, {}, context);
      // Under another id it is no duplicate.
      return store.commit(
        loaded === null || loaded.rev === rev ? change : { ...change, id: `${Math.random()}` },
        context,
      );
    },
  }),
  'remembers what it has refused': (store) => {
    const refused = new Set();
    return {
      commit: async (change) => {
        if (refused.has(change.id)) {
          return { rev: 0, prev: null, pos: { app: 0, user: 0 }, duplicate: true };
        }
        return store.commit(change, context).catch((error) => {
          refused.add(change.id);
          throw error;
        });
      },
    };
  },
  'forgets events after a hundred': (store) => ({
    commit: async (change) => {
      const rev =
        (change.kind === 'append' && (await store.load(change.key, { events: { last: 0 } }, context))?.rev) || 0;
      return rev < 100 ? store.commit(change, context) : store.commit({ ...change, id: `${Math.random()}` }, context);
    },
  }),
};
