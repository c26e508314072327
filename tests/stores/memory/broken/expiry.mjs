// Stores that are broken in the ends of sessions, and in claims.

import { memoryStore } from 'statepad/stores/memory';
import { changing, committing, context, each, endless, loading, reopening, without } from './ways.mjs';

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

/** A store that claims another name, or asks otherwise. */
const claiming = (map) => (store) => ({
  claim: (name, request) => store.claim(...map(name, request), context),
});

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

export const brokenExpiry = { ...brokenEnds, ...brokenAbsence, ...brokenClaims };
