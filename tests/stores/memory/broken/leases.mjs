// Stores that are broken in leases and their tokens.

import { StoreError } from 'statepad';
import { changing, context, guarding, without } from './ways.mjs';

/** A store that is asked for another lease. */
const asking = (map) => (store) => ({ lease: (key, request) => store.lease(key, map(request), context) });

/** A store whose leases are answered otherwise. */
const answering = (map) => (store) => ({
  lease: async (key, request) => map(await store.lease(key, request, context), request),
});

/** The `lease` of a store, which notes something of each answer. */
const noting = (store, note) => async (key, request) => {
  const answer = await store.lease(key, request, context);
  note(JSON.stringify(key), answer, request);
  return answer;
};

/** A store that refuses otherwise. */
const refusing = (map) => (store) => {
  const other = (error) => {
    throw map(error);
  };
  return {
    lease: (key, request) => store.lease(key, request, context).catch(other),
    commit: (change) => store.commit(change, context).catch(other),
  };
};

export const brokenLeases = {
  'tells no lease': (store) => ({ readLease: async (key) => (await store.readLease(key, context)) && { fence: 0 } }),
  'tells the holder of a lease that was given back': (store) => {
    let holder;
    return {
      lease: async (key, request) => {
        ({ holder } = request);
        return await store.lease(key, request, context);
      },
      readLease: async (key) => {
        const row = await store.readLease(key, context);
        return row && { until: 0, holder, ...row };
      },
    };
  },
  'gives a lease to all who ask': (store) => ({
    lease: async (key, request) => {
      try {
        return await store.lease(key, request, context);
      } catch (error) {
        if (error.code === 'held') {
          return { fence: error.actual ?? 1, until: error.until };
        }
        throw error;
      }
    },
  }),
  'does not compare tokens': guarding(without('fence')),
  'does not compare tokens when it removes': (store) => ({
    remove: (key, _context, guard) => store.remove(key, context, guard && without('fence')(guard)),
  }),
  'refuses to remove what is gone': (store) => ({
    remove: async (key, _context, guard = {}) => {
      if (guard.fence !== undefined && (await store.load(key, {}, context)) === null) {
        throw new StoreError('fenced', 'it is gone', { actual: 0 });
      }
      await store.remove(key, context, guard);
    },
  }),
  'looks at the token before it looks which session it removes': (store) => ({
    remove: async (key, _context, guard = {}) => {
      const loaded = guard.fence === undefined ? null : await store.load(key, {}, context);
      await store.remove(key, context, loaded === null ? guard : { ...guard, created: loaded.created });
    },
  }),
  'needs a token to remove what is leased': (store) => {
    const tokens = new Map();
    return {
      lease: noting(store, (key, { fence }) => tokens.set(key, fence)),
      remove: async (key, _context, guard = {}) => {
        if (guard.fence === undefined && tokens.has(JSON.stringify(key))) {
          throw new StoreError('fenced', 'it is leased', { actual: tokens.get(JSON.stringify(key)) });
        }
        await store.remove(key, context, guard);
      },
    };
  },
  'does not compare tokens among many': (store) => ({ commitMany: guarding(without('fence'))(store).commitMany }),
  'takes an older token for a good one': guarding((guard) => (guard.fence > 1 ? guard : without('fence')(guard))),
  'takes no token for an old one': (store) => {
    const tokens = new Map();
    return {
      lease: noting(store, (key, { fence }) => tokens.set(key, fence)),
      commit: (change) => {
        const guard = change.guard ?? { fence: 0 };
        const isLeased = change.kind === 'append' && tokens.has(JSON.stringify(change.key));
        return store.commit(isLeased ? { ...change, guard } : change, context);
      },
    };
  },
  'gives the same token to the next holder': answering((answer) => ({ ...answer, fence: 1 })),
  'gives a new token to a holder that asks again': (store) => {
    const holders = new Map();
    return {
      lease: async (key, request) => {
        const text = JSON.stringify(key);
        const { holder, fence = 0 } = holders.get(text) ?? {};
        if (request.fence === undefined && holder === request.holder) {
          await store.lease(key, { holder, ttl: 0, fence }, context);
        }
        const answer = await store.lease(key, request, context);
        holders.set(text, { holder: request.holder, fence: answer.fence });
        return answer;
      },
    };
  },
  'lets anyone with the token make a lease last longer': (store) => {
    const holders = new Map();
    return {
      lease: async (key, request) => {
        const text = JSON.stringify(key);
        const holder = request.fence === undefined ? request.holder : (holders.get(text) ?? request.holder);
        const answer = await store.lease(key, { ...request, holder }, context);
        holders.set(text, holder);
        return answer;
      },
    };
  },
  'does not make leases last longer': (store) => {
    const ends = new Map();
    return {
      lease: async (key, request) => {
        const answer = await store.lease(key, request, context);
        const text = JSON.stringify([key, answer.fence]);
        ends.set(text, ends.get(text) ?? answer.until);
        return { ...answer, until: ends.get(text) };
      },
    };
  },
  'never ends a lease': asking((request) => (request.ttl === 0 ? request : { ...request, ttl: 1e12 })),
  'ends every lease at once': asking((request) => (request.ttl === 0 ? request : { ...request, ttl: 1 })),
  'ends a lease when its time is over, taken or not': (store) => {
    const ends = new Map();
    return {
      lease: async (key, request) => {
        const text = JSON.stringify(key);
        if (request.fence !== undefined && (ends.get(text) ?? Infinity) < Date.now()) {
          throw new StoreError('fenced', 'its time is over', { actual: request.fence });
        }
        const answer = await store.lease(key, request, context);
        ends.set(text, answer.until);
        return answer;
      },
    };
  },
  'refuses a lease that is given back once more': (store) => {
    const given = new Set();
    return {
      lease: async (key, request) => {
        const name = JSON.stringify([key, request.holder, request.fence]);
        if (request.ttl === 0 && given.has(name)) {
          throw new StoreError('fenced', 'it was given back', { actual: request.fence + 1 });
        }
        const answer = await store.lease(key, request, context);
        if (request.ttl === 0) given.add(name);
        return answer;
      },
    };
  },
  'takes every lease for given back once it was': (store) => {
    const given = new Map();
    return {
      lease: async (key, request) => {
        const name = JSON.stringify([key, request.holder, request.fence]);
        const answer = given.get(name) ?? (await store.lease(key, request, context));
        if (request.ttl === 0) given.set(name, answer);
        return answer;
      },
    };
  },
  'leaves the token where it was when a lease is given back': asking((request) =>
    request.ttl === 0 ? { ...request, ttl: 1 } : request,
  ),
  'keeps leases when their session is removed': (store) => {
    const tokens = new Map();
    return {
      lease: noting(store, (key, _, { holder }) => tokens.set(key, holder)),
      commit: async (change) => {
        const committed = await store.commit(change, context);
        const holder = tokens.get(JSON.stringify(change.key));
        if (change.kind === 'create' && !committed.duplicate && holder !== undefined) {
          await store.lease(change.key, { holder, ttl: 1e9 }, context);
        }
        return committed;
      },
    };
  },
  'leases what is not there': refusing((error) =>
    error.code === 'not-found' ? new StoreError('fenced', 'no lease', { actual: 0 }) : error,
  ),
  'leases whatever session is there': asking(without('created')),
  'leases all sessions of a user as one': (store) => ({
    lease: async (key, request) => {
      const { rows } = await store.list({ app: key.appName, user: key.userId, descending: false }, context);
      const isThere = rows.some(({ key: { sessionId } }) => sessionId === key.sessionId);
      return store.lease(isThere ? rows[0].key : key, request, context);
    },
  }),
  'takes holders in any case for one': asking((request) => ({ ...request, holder: request.holder.toLowerCase() })),
  'takes every try of a fenced call for the first': changing((change) =>
    change.guard?.fence === undefined ? change : without('attempt')(change),
  ),
  'does not say which token the session is at': refusing((error) =>
    error.code === 'fenced' ? new StoreError('fenced', error.message) : error,
  ),
  'does not say when the lease ends that another holder has': refusing((error) =>
    error.code === 'held' ? new StoreError('held', error.message) : error,
  ),
  'tells no end of a lease': answering(({ fence }) => ({ fence })),
  'says that a lease is held when it was lost': refusing((error) =>
    error.code === 'fenced' ? new StoreError('held', error.message, { until: 0 }) : error,
  ),
  'looks at the revision before it looks at the token': (store) => ({
    commit: async (change) => {
      const { fence, rev } = change.guard ?? {};
      const actual = fence === undefined ? rev : (await store.load(change.key, {}, context))?.rev;
      if (fence !== undefined && rev !== undefined && rev !== actual) {
        throw new StoreError('conflict', 'another revision', { actual });
      }
      return store.commit(change, context);
    },
  }),
  'looks at the token before it looks for a duplicate': (store) => {
    const tokens = new Map();
    return {
      lease: noting(store, (key, { fence }) => tokens.set(key, fence)),
      commit: (change) => {
        const actual = tokens.get(JSON.stringify(change.key));
        const fence = change.guard?.fence;
        if (fence !== undefined && actual !== undefined && fence !== actual) {
          throw new StoreError('fenced', 'the lease was lost', { actual });
        }
        return store.commit(change, context);
      },
    };
  },
  'moves the revision when it gives a lease': (store) => {
    const leased = new Set();
    return {
      lease: noting(store, (key) => leased.add(key)),
      load: async (key, query) => {
        const loaded = await store.load(key, query, context);
        return loaded && leased.has(JSON.stringify(key)) ? { ...loaded, rev: loaded.rev + 1 } : loaded;
      },
    };
  },
  'forgets leases when it is opened again': (store) => {
    const known = new Set();
    const lease = async (key, request) => {
      const text = JSON.stringify(key);
      if (request.fence === undefined && !known.has(text)) {
        known.add(text);
        return { fence: 1, until: Date.now() + request.ttl };
      }
      return store.lease(key, request, context);
    };
    return { store, reopened: { ...store, lease } };
  },
  'keeps its leases to itself': (store) => {
    let count = 0;
    return {
      store,
      another: {
        ...store,
        lease: async (_, { ttl }) => ({ fence: ++count, until: Date.now() + ttl }),
      },
    };
  },
};
