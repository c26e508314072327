// Stores that are broken in calls that are tried again, in creations, and in what a session began with.

import { StoreError } from 'statepad';
import { changing, context, loading, without } from './ways.mjs';

export const brokenCalls = {
  // Calls and creations.
  'takes every try for the first': changing(without('attempt')),
  'takes every try for a later one': changing((change) => ({ ...change, attempt: 2 })),
  'says of a refused call what is wrong with it now': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch(async (error) => {
        const { kind, key } = change;
        const isThere = kind !== 'update' && (await store.load(key, {}, context)) !== null;
        const code =
          kind === 'create' && isThere ? 'exists' : kind === 'append' && !isThere ? 'not-found' : error.code;
        throw Object.create(error, { code: { value: code } });
      }),
  }),
  'remembers an id in place of a call': (store) => {
    const refused = new Set();
    return {
      commit: async (change) => {
        if (refused.has(change.id)) {
          throw new StoreError('conflict', 'refused before');
        }
        return store.commit(without('attempt')(change), context).catch((error) => {
          if (change.attempt !== undefined) {
            refused.add(change.id);
          }
          throw error;
        });
      },
    };
  },
  'forgets the creations of removed sessions': (store) => {
    // Under another id each time it is another creation.
    const lives = new Map();
    const life = (id) => `${lives.get(id) ?? 0} ${id}`;
    return {
      commit: (change) =>
        store.commit(change.kind === 'create' ? { ...change, id: life(change.id) } : change, context),
      remove: async (key, _, guard) => {
        const created = (await store.load(key, {}, context))?.created.slice(2);
        await store.remove(key, context, guard?.created === undefined ? {} : { created: life(guard.created) });
        lives.set(created, (lives.get(created) ?? 0) + 1);
      },
      ...loading((loaded) => ({ ...loaded, created: loaded.created.slice(2) }))(store),
    };
  },
  'removes whatever is there': (store) => ({ remove: (key) => store.remove(key, context) }),
  'removes nothing that is named': (store) => ({
    remove: async (key, _, guard) => (guard?.created === undefined ? store.remove(key, context) : undefined),
  }),
  // The beginning of a session.
  'forgets what a session began with': changing((change) =>
    change.kind === 'create' ? without('event')(change) : change,
  ),
  'shows what a session began with to all': (store) => ({
    load: (key, { events, ...query }) => store.load(key, { ...query, events: { from: 0, ...events } }, context),
  }),
  'takes an event with the id of the creation for what the session began with': (store) => ({
    commit: async (change) => {
      const loaded = change.kind === 'append' ? await store.load(change.key, { events: { from: 0 } }, context) : null;
      const [first] = loaded?.events ?? [];
      return first?.rev === 0 && loaded.created === change.id
        ? { rev: loaded.rev, prev: loaded.rev, pos: loaded.pos, duplicate: true, data: first.data }
        : store.commit(change, context);
    },
  }),
};
