// Stores that are broken in the ends of sessions, in sweeps and in claims.

import { memoryStore } from 'statepad/stores/memory';
import { changing, committing, context, each, loading, reopening, without } from './ways.mjs';

/** A store whose sessions end otherwise. */
const ending = (map) =>
  changing(({ expires, ...change }) => {
    const other = expires && map(expires, change);
    return { ...change, ...(other && { expires: other }) };
  });

/** A store that lists other rows. */
const listing = (map) => (store) => ({
  list: async (query) => {
    const page = await store.list(query, context);
    return { ...page, rows: page.rows.map(map) };
  },
});

/**
 * A store with a second one beside it, where the same changes are made to sessions that never end: some of its methods
 * are those of that one.
 */
const endless = (take) => (store) => {
  const shadow = memoryStore();
  const both = async (change) => {
    await shadow.commit(without('expires')(change), context).catch(() => undefined);
    return await store.commit(change, context);
  };
  const base = {
    commit: both,
    commitMany: async (changes) => {
      await shadow.commitMany(changes.map(without('expires')), context);
      return await store.commitMany(changes, context);
    },
  };
  return { ...base, ...take(shadow, store, base) };
};

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

/** A store that claims another name, or asks otherwise. */
const claiming = (map) => (store) => ({
  claim: (name, request) => store.claim(...map(name, request), context),
});

/** All users with values or sessions in the app of most cases. */
const usersOf = async (store) => (await store.listUsers('app', {}, context)).names;

const brokenEnds = {
  'lets no session end': ending(() => undefined),
  'lets a session that lives for a time never end': ending((expires) =>
    expires.ttl === undefined ? expires : undefined,
  ),
  'lets a session that ends at a time never end': ending((expires) =>
    expires.at === undefined ? expires : undefined,
  ),
  'takes seconds for milliseconds': ending(({ at, ttl }) => (ttl === undefined ? { at } : { ttl: ttl / 1_000 })),
  'takes milliseconds for seconds': ending(({ at, ttl }) => (ttl === undefined ? { at } : { ttl: ttl * 1_000 })),
  'takes a time in milliseconds for one in seconds': ending(({ at, ttl }) =>
    ttl === undefined ? { at: at * 1_000 } : { ttl },
  ),
  'does not let appends move the end': ending(({ at, ttl }) => ({ at: at ?? Date.now() + ttl })),
  'tells no end when it writes': committing(without('expires')),
  'tells no end when it loads': loading(without('expires')),
  'tells no end in lists': listing(without('expires')),
  'tells no end of a duplicate': committing((answer) => (answer.duplicate ? without('expires')(answer) : answer)),
  'tells an end of a session that has none': loading((loaded) => ({ expires: 9e12, ...loaded })),
  'tells an end in lists of a session that has none': listing((row) => ({ expires: 9e12, ...row })),
  'tells the end of another session to a creation that is known': (store) => ({
    commit: async (change) => {
      const answer = await store.commit(change, context);
      const { expires } = (answer.duplicate && (await store.load(change.key, {}, context))) || {};
      return expires === undefined ? answer : { ...answer, expires };
    },
  }),
  'lets an update move the end': (store) => {
    let updates = 0;
    return {
      commit: (change) => {
        updates += change.kind === 'update' ? 1 : 0;
        return store.commit(change, context);
      },
      ...loading(({ expires, ...loaded }) => (expires ? { ...loaded, expires: expires + 10 * updates } : loaded))(
        store,
      ),
    };
  },
  'lets a lease move the end': (store) => {
    let leases = 0;
    return {
      lease: (key, request) => {
        leases += 1;
        return store.lease(key, request, context);
      },
      ...loading(({ expires, ...loaded }) => (expires ? { ...loaded, expires: expires + 10 * leases } : loaded))(
        store,
      ),
    };
  },
  'knows no ends when it is opened again': reopening(loading(without('expires'))),
  'does not move ends when it is opened again': reopening((store) => ({
    commit: async (change) => {
      const { expires } = (await store.load(change.key, {}, context)) ?? {};
      const answer = await store.commit(change, context);
      return expires ? { ...answer, expires } : answer;
    },
  })),
  'knows no ends that another store has set': each((store, which) =>
    which === 'second' ? loading(without('expires'))(store) : {},
  ),
};

const brokenAbsence = {
  'loads what has expired': endless((shadow) => ({ load: (key, query) => shadow.load(key, query, context) })),
  'lists what has expired': endless((shadow) => ({ list: (query) => shadow.list(query, context) })),
  'counts what has expired in totals': endless((shadow, store) => ({
    list: async (query) => ({
      ...(await store.list(query, context)),
      total: (await shadow.list(query, context)).total,
    }),
  })),
  'finds owners of what has expired': endless((shadow) => ({ owners: (...args) => shadow.owners(...args) })),
  'leases what has expired': endless((shadow) => ({ lease: (...args) => shadow.lease(...args) })),
  'looks at leases of what has expired': endless((shadow) => ({ readLease: (...args) => shadow.readLease(...args) })),
  'leaves what has expired when it is removed': (store) => ({
    remove: async (key, ...rest) => {
      const isThere = (await store.load(key, {}, context)) !== null;
      await (isThere && store.remove(key, ...rest));
    },
  }),
  'compares tokens when it removes what has expired': endless((shadow, store) => ({
    remove: async (...args) => {
      await shadow.remove(...args);
      await store.remove(...args);
    },
  })),
  'appends to what has expired': endless((shadow, store, { commit }) => ({
    commit: (change) => (change.kind === 'append' ? shadow.commit(change, context) : commit(change)),
  })),
  'creates nothing under the key of what has expired': endless((shadow, store, { commit }) => ({
    commit: (change) => (change.kind === 'create' ? shadow.commit(change, context) : commit(change)),
  })),
  'appends to what has expired among many': endless((shadow, store, { commitMany }) => ({
    commitMany: (changes) =>
      changes.some(({ kind }) => kind === 'append')
        ? shadow.commitMany(changes.map(without('expires')), context)
        : commitMany(changes),
  })),
  'has another revision of a creation that has expired': committing((answer, { kind }) =>
    kind === 'create' && answer.duplicate && answer.rev === 0 ? { ...answer, prev: null } : answer,
  ),
  'forgets the digest of what has expired': committing((answer) =>
    answer.duplicate && answer.rev === 0 ? without('digest')(answer) : answer,
  ),
  'brings back what has expired when its creation is sent again': (store) => ({
    commit: async (change) => {
      const answer = await store.commit(change, context);
      return change.expires && answer.duplicate && (await store.load(change.key, {}, context)) === null
        ? without('expires')(await store.commit({ ...without('expires')(change), id: `${change.id} again` }, context))
        : answer;
    },
  }),
  'keeps the lease of what has expired for the next session': (store) => {
    const fences = new Map();
    return {
      lease: async (key, request) => {
        const answer = await store.lease(key, request, context);
        const name = JSON.stringify(key);
        const fence = answer.fence + (request.holder === 'two' ? (fences.get(name) ?? 0) : 0);
        fences.set(name, fence);
        return { ...answer, fence };
      },
      remove: async (key, ...rest) => {
        fences.delete(JSON.stringify(key));
        await store.remove(key, ...rest);
      },
    };
  },
};

const brokenSweeps = {
  'sweeps nothing': () => ({ sweep: async () => ({ sessions: 0, users: 0, more: false }) }),
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

const brokenClaims = {
  'gives a claim to all who ask': (store) => ({
    claim: async (name, request) => {
      try {
        return await store.claim(name, request, context);
      } catch (error) {
        if (error.code === 'held') {
          return { fence: 1, until: error.until };
        }
        throw error;
      }
    },
  }),
  'has one claim for all names': claiming((_name, request) => ['claim', request]),
  'looks at the letters of claims alone': claiming((name, request) => [name.toLowerCase(), request]),
  'trims the names of claims': claiming((name, request) => [name.trim(), request]),
  'ends the names of claims at NUL': claiming((name, request) => [name.split('\0')[0], request]),
  'takes a claim back from nobody': claiming((name, request) => [name, { ...request, ttl: request.ttl || 1e9 }]),
  'lets claims last for ever': claiming((name, request) => [name, { ...request, ttl: request.ttl && 1e9 }]),
  'lets claims end at once': claiming((name, request) => [name, { ...request, ttl: request.ttl && 1 }]),
  'does not compare the tokens of claims': claiming((name, { fence, ...request }) => [
    name,
    request.ttl === 0 ? { fence, ...request } : request,
  ]),
  'gives the first token of a claim again': (store) => ({
    claim: async (...args) => ({ ...(await store.claim(...args)), fence: 1 }),
  }),
  'has the claims of each store by themselves': each((_store, which) =>
    which === 'second' ? { claim: memoryStore().claim } : {},
  ),
  'takes a claim for the lease of a session': (store) => ({
    claim: async (name, request) => {
      const answer = await store.claim(name, request, context);
      const key = { appName: 'app', userId: 'user', sessionId: name };
      await store.lease(key, { ttl: 1e9, holder: 'x' }, context).catch(() => undefined);
      return answer;
    },
    commit: async (change) => {
      const answer = await store.commit(change, context);
      if (change.kind === 'create' && change.key.sessionId === 'session') {
        const claimed = await store.claim('session', { ttl: 1, holder: 'probe' }, context).catch(() => 'held');
        await (claimed === 'held' && store.lease(change.key, { ttl: 1e9, holder: 'x' }, context));
      }
      return answer;
    },
  }),
};

export const brokenExpiry = { ...brokenEnds, ...brokenAbsence, ...brokenSweeps, ...brokenClaims };
