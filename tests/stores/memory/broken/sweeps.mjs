// Stores that are broken in sweeps, and in counting what a sweep would remove.

import { context, endless, without } from './ways.mjs';

/** A store that does something of its own before it sweeps. */
const sweeping = (before) => (store) => ({
  sweep: async (query) => {
    await before(store, query);
    return await store.sweep(query, context);
  },
});

/** A store that is told to sweep otherwise. */
const asking = (map) => (store) => ({ sweep: (query) => store.sweep(map(query), context) });

/** A store whose sweeps are answered otherwise. */
const answering = (map) => (store) => ({
  sweep: async (query) => map(await store.sweep(query, context), query),
});

/** All users with values or sessions in the app of most cases. */
const usersOf = async (store) => (await store.listUsers('app', {}, context)).names;

const brokenSweeps = {
  'sweeps nothing': () => ({ sweep: async () => ({ sessions: 0, users: 0, more: false }) }),
  'keeps what has expired when it is removed at a token': (store) => ({
    remove: async (key, _context, guard) => {
      if (guard?.fence === undefined || (await store.load(key, {}, context)) !== null) {
        await store.remove(key, context, guard);
      }
    },
  }),
  'sweeps more than its limit': asking(({ limit, ...query }) => ({ ...query, limit: limit + 1 })),
  'sweeps less than its limit': asking(({ limit, ...query }) => ({ ...query, limit: Math.max(1, limit - 1) })),
  'sweeps all apps': asking(without('app')),
  'sweeps the apps whose names differ in case alone': (store) => ({
    sweep: async (query) => {
      const swept = await store.sweep(query, context);
      const { sessions } = query.app ? await store.sweep({ ...query, app: query.app.toUpperCase() }, context) : {};
      return { ...swept, sessions: swept.sessions + (sessions ?? 0) };
    },
  }),
  'sweeps one app after the other': (store) => ({
    sweep: async ({ limit, ...query }) => {
      if (query.app !== undefined) {
        return await store.sweep({ limit, ...query }, context);
      }
      const swept = { sessions: 0, users: 0, more: false };
      for (const app of (await store.listApps({}, context)).names.toReversed()) {
        const rest = limit - swept.sessions - swept.users;
        const { sessions, users, more } = rest > 0 ? await store.sweep({ ...query, app, limit: rest }, context) : {};
        Object.assign(swept, {
          sessions: swept.sessions + (sessions ?? 0),
          users: swept.users + (users ?? 0),
          more: swept.more || (more ?? true),
        });
      }
      return swept;
    },
  }),
  'never says that there is more': answering((swept) => ({ ...swept, more: false })),
  'always says that there is more': answering((swept) => ({ ...swept, more: true })),
  'counts a swept session twice': answering((swept) => ({ ...swept, sessions: 2 * swept.sessions })),
  'counts users as sessions': answering(({ sessions, users, more }) => ({
    sessions: sessions + users,
    users: 0,
    more,
  })),
  'sweeps no users': asking(without('userTtl')),
  'sweeps users unasked': asking((query) => ({ userTtl: 1, ...query })),
  'sweeps users of any age': asking((query) => (query.userTtl === undefined ? query : { ...query, userTtl: 1 })),
  'sweeps users who have sessions': sweeping(async (store, { userTtl }) => {
    for (const user of userTtl === undefined ? [] : await usersOf(store)) {
      const { pos } = await store.loadScope({ app: 'app', user }, context);
      await (pos === 1 && store.removeScope({ app: 'app', user }, context));
    }
  }),
  'keeps the values of users whose sessions have all expired': (store) => {
    const keys = new Map();
    return {
      commit: (change) => {
        if (change.expires?.at < 1e12) {
          keys.set(change.key.userId, change.key);
        }
        return store.commit(change, context);
      },
      sweep: async (query) => {
        for (const [userId, key] of keys) {
          const held = {
            id: `held ${userId}`,
            kind: 'create',
            key: { ...key, sessionId: 'held' },
            time: 0,
            delta: {},
          };
          await store.commit(held, context);
        }
        return await store.sweep(query, context);
      },
    };
  },
  'takes the first change of a user for the last': (store) => {
    const first = new Map();
    return {
      commit: (change) => {
        const { userId } = change.key;
        if (change.delta.user && !first.has(userId)) {
          first.set(userId, Date.now());
        }
        return store.commit(change, context);
      },
      sweep: async (query) => {
        for (const [user, time] of query.userTtl === undefined ? [] : first) {
          await (time <= Date.now() - query.userTtl && store.removeScope({ app: 'app', user }, context));
        }
        return await store.sweep(query, context);
      },
    };
  },
  'sweeps the values of the app, too': (store) => ({
    sweep: async (query) => {
      const swept = await store.sweep(query, context);
      await (swept.users > 0 && store.removeScope({ app: 'app' }, context));
      return swept;
    },
  }),
  'sweeps the values of a user with their sessions': (store) => ({
    sweep: async (query) => {
      const swept = await store.sweep(query, context);
      await (swept.sessions > 0 && store.removeScope({ app: 'app', user: 'user' }, context));
      return swept;
    },
  }),
  'forgets the positions of users that it sweeps': (store) => {
    let isSwept = false;
    return {
      sweep: async (query) => {
        const swept = await store.sweep(query, context);
        isSwept ||= swept.users > 0;
        return swept;
      },
      loadScope: async (scope) => {
        const loaded = await store.loadScope(scope, context);
        return isSwept && Object.keys(loaded.state).length === 0 ? { ...loaded, pos: 0 } : loaded;
      },
    };
  },
  'forgets the creations that it sweeps': (store) => {
    let sweeps = 0;
    return {
      commit: async (change) => {
        const answer = await store.commit(change, context);
        return sweeps > 0 && change.kind === 'create' && answer.duplicate && answer.rev === 0
          ? await store.commit({ ...change, id: `${change.id} ${sweeps}` }, context)
          : answer;
      },
      sweep: async (query) => {
        sweeps += 1;
        return await store.sweep(query, context);
      },
    };
  },
  'sweeps a session that was created anew': (store) => {
    const keys = [];
    return {
      commit: (change) => {
        if (change.expires?.at < 1e12) {
          keys.push(change.key);
        }
        return store.commit(change, context);
      },
      sweep: async (query) => {
        const swept = await store.sweep(query, context);
        await Promise.all(keys.map((key) => store.remove(key, context)));
        return swept;
      },
    };
  },
  'sweeps a session that was written to in time': (store) => {
    const ends = new Map();
    return {
      commit: async (change) => {
        const answer = await store.commit(change, context);
        if (change.kind === 'create' && change.expires?.ttl) {
          ends.set(change.key, answer.expires);
        }
        return answer;
      },
      sweep: async (query) => {
        const swept = await store.sweep(query, context);
        const over = [...ends].filter(([, end]) => end <= Date.now());
        await Promise.all(over.map(([key]) => store.remove(key, context)));
        return swept;
      },
    };
  },
  'finds again what another store has swept': (store) => {
    const second = { ...store, ...endless((shadow) => ({ sweep: (query) => shadow.sweep(query, context) }))(store) };
    return {
      store: { ...store },
      another: { ...second, sweep: async () => ({ sessions: 1, users: 0, more: false }) },
    };
  },
  'has swept nothing when it is opened again': (store) => ({
    store: { ...store },
    reopened: { ...store, sweep: async () => ({ sessions: 1, users: 0, more: false }) },
  }),
};

/** A store that is told to count otherwise, and sweeps as it should. */
const askingToCount = (map) => asking((query) => (query.dry ? map(query) : query));

/** A store whose counts are answered otherwise. */
const answeringCounts = (map) => answering((swept, query) => (query.dry ? map(swept, query) : swept));

const brokenCounts = {
  'sweeps where it is to count': asking(without('dry')),
  'counts nothing': answeringCounts(() => ({ sessions: 0, users: 0, more: false })),
  'counts by sweeping one session': (store) => ({
    sweep: async (query) => {
      const counted = await store.sweep(query, context);
      await (query.dry && store.sweep({ limit: 1 }, context));
      return counted;
    },
  }),
  'counts once alone': (store) => {
    let counts = 0;
    return {
      sweep: async (query) => {
        counts = query.dry ? counts + 1 : 0;
        return counts > 1 ? { sessions: 0, users: 0, more: false } : await store.sweep(query, context);
      },
    };
  },
  'does not sweep after it has counted': (store) => {
    let hasCounted = false;
    return {
      sweep: async (query) => {
        hasCounted ||= query.dry === true;
        return await store.sweep(hasCounted ? { ...query, dry: true } : query, context);
      },
    };
  },
  'counts all apps': askingToCount(without('app')),
  'counts more than its limit': askingToCount(({ limit, ...query }) => ({ ...query, limit: limit + 1 })),
  'counts less than its limit': askingToCount(({ limit, ...query }) => ({ ...query, limit: Math.max(1, limit - 1) })),
  'counts one where all are meant': askingToCount(({ limit, ...query }) => ({
    ...query,
    limit: limit > 1e9 ? 1 : limit,
  })),
  'never says that there is more to count': answeringCounts((swept) => ({ ...swept, more: false })),
  'always says that there is more to count': answeringCounts((swept) => ({ ...swept, more: true })),
  'counts no users': askingToCount(without('userTtl')),
  'counts users unasked': askingToCount((query) => ({ userTtl: 1, ...query })),
  'counts users of any age': askingToCount((query) =>
    query.userTtl === undefined ? query : { ...query, userTtl: 1 },
  ),
  'counts users apart from sessions': (store) => ({
    sweep: async (query) => {
      const swept = await store.sweep(query, context);
      if (!query.dry || query.userTtl === undefined) {
        return swept;
      }
      const { users } = await store.sweep({ ...query, limit: Number.MAX_SAFE_INTEGER }, context);
      return { ...swept, users: Math.min(users, query.limit) };
    },
  }),
  'counts no user whose sessions have all expired': answeringCounts((swept) =>
    swept.sessions > 0 && swept.users > 0 ? { ...swept, users: swept.users - 1 } : swept,
  ),
  'removes the values of users whom it counts': sweeping(async (store, { userTtl, dry }) => {
    for (const user of dry && userTtl !== undefined ? await usersOf(store) : []) {
      await store.removeScope({ app: 'app', user }, context);
    }
  }),
  'takes what it has counted for removed': (store) => {
    let counted = false;
    return {
      sweep: async (query) => {
        counted ||= query.dry === true;
        return await store.sweep(query, context);
      },
      commit: async (change) => {
        const answer = await store.commit(change, context);
        return counted && change.kind === 'create' && answer.duplicate
          ? await store.commit({ ...change, id: `${change.id} again` }, context)
          : answer;
      },
    };
  },
};

export const brokenSweepsAndCounts = { ...brokenSweeps, ...brokenCounts };
