// Stores that are broken in the users of an id, and in lists of apps and users.

import { context, each, reopening, without } from './ways.mjs';

/** A store whose owners become others. */
const owning = (map) => (store) => ({
  owners: async (app, id) => map(await store.owners(app, id, context), { app, id, store }),
});

/** A store that is asked for the owners of another id. */
const askingOwners = (map) => (store) => ({ owners: (app, id) => store.owners(app, map(id), context) });

/** The users of an app who have a session, or all of them, with the id of each session. */
const sessionsOf = async (store, app) => (await store.list({ app, descending: false }, context)).rows;

const utf16 = (names) => names.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));

/** A store that takes note of every change that it has written. */
const noting = (note) => (store) => ({
  commit: async (change) => {
    const answer = await store.commit(change, context);
    note(change);
    return answer;
  },
  commitMany: async (changes) => {
    changes.forEach(note);
    return store.commitMany(changes, context);
  },
});

/** A store that has an index of its own, of what is created and removed. */
const indexing =
  ({ isKept }) =>
  (store) => {
    const kept = [];
    const note = (change) => {
      if (change.kind === 'create') kept.push(change.key);
    };
    return {
      ...noting(note)(store),
      remove: async (key, _, guard) => {
        await store.remove(key, context, guard);
        const place = kept.findIndex(
          (one) =>
            JSON.stringify([one.appName, one.userId, one.sessionId]) ===
            JSON.stringify([key.appName, key.userId, key.sessionId]),
        );
        if (place >= 0 && !isKept) kept.splice(place, 1);
      },
      owners: async (app, id) => {
        const users = kept.filter(({ appName, sessionId }) => appName === app && sessionId === id);
        return [...new Set(users.map(({ userId }) => userId))].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
      },
    };
  };
const bytes = (text) => Buffer.from(text);

const brokenOwners = {
  'finds one owner of an id': owning((users) => users.slice(0, 1)),
  'finds the owner of an id only where it is the only one': owning((users) => (users.length > 1 ? [] : users)),
  'sorts owners by UTF-16': owning(utf16),
  'names an owner once for each session': owning(async (users, { app, store }) => {
    const rows = await sessionsOf(store, app);
    return users.flatMap((user) => rows.filter(({ key }) => key.userId === user).map(() => user));
  }),
  'takes all users of an app for owners': owning(async (users, { app, store }) =>
    users.length === 0 ? users : (await store.listUsers(app, {}, context)).names,
  ),
  'takes who has values for an owner': owning(async (users, { app, store }) => {
    const rows = await sessionsOf(store, app);
    const { names } = await store.listUsers(app, {}, context);
    return users.length > 0 ? users : names.filter((name) => rows.every(({ key }) => key.userId !== name));
  }),
  'finds owners by the beginning of an id': owning(async (users, { app, id, store }) => {
    const rows = await sessionsOf(store, app);
    const alike = rows.filter(({ key }) => key.sessionId.startsWith(id)).map(({ key }) => key.userId);
    return [...new Set([...users, ...alike])].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
  }),
  'finds owners in all apps': owning(async (users, { app, id, store }) => {
    const { names } = await store.listApps({}, context);
    const others = await Promise.all(names.map((name) => (name === app ? [] : store.owners(name, id, context))));
    return [...new Set([...users, ...others.flat()])].sort((a, b) => Buffer.compare(bytes(a), bytes(b)));
  }),
  'takes ids of owners in small letters': askingOwners((id) => id.toLowerCase()),
  'takes ids of owners to their first NUL': askingOwners((id) => id.split('\0')[0]),
  'trims ids of owners': askingOwners((id) => id.trim()),
  'finds no owners of an id without a name': owning((users, { id }) => (id === '' ? [] : users)),
  'finds no owners of an id that objects know': owning((users, { id }) => (id in {} ? [] : users)),
  'finds no owners in an app without a name': owning((users, { app }) => (app === '' ? [] : users)),
  'leaves out the owner without a name': owning((users) => users.filter((user) => user !== '')),
  'keeps the owners of removed sessions': indexing({ isKept: true }),
  'takes a removal that names another creation for one': (store) => {
    const removed = new Set();
    return {
      remove: async (key, _, guard) => {
        removed.add(key.userId);
        await store.remove(key, context, guard);
      },
      owners: async (app, id) => (await store.owners(app, id, context)).filter((user) => !removed.has(user)),
    };
  },
  'takes a creation that is sent again for an owner': (store) => {
    const created = new Set();
    return {
      commit: async (change) => {
        const answer = await store.commit(change, context);
        if (answer.duplicate && change.kind === 'create') created.add(change.key.userId);
        return answer;
      },
      owners: async (app, id) =>
        [...new Set([...(await store.owners(app, id, context)), ...created])].sort((a, b) =>
          Buffer.compare(bytes(a), bytes(b)),
        ),
    };
  },
  'takes a creation that is refused for an owner': (store) => {
    const created = [];
    return {
      commit: async (change) => {
        if (change.kind === 'create') created.push(change.key);
        return store.commit(change, context);
      },
      owners: async (app, id) => {
        const users = await store.owners(app, id, context);
        const others = created.filter(({ appName, sessionId }) => appName === app && sessionId === id);
        return users.length === 0 ? users : [...new Set([...users, ...others.map(({ userId }) => userId)])].sort();
      },
    };
  },
  'forgets the owners of sessions that were created together': (store) => {
    const together = new Set();
    return {
      commitMany: async (changes) => {
        changes.filter(({ kind }) => kind === 'create').forEach(({ key }) => together.add(key.userId));
        return store.commitMany(changes, context);
      },
      owners: async (app, id) => (await store.owners(app, id, context)).filter((user) => !together.has(user)),
    };
  },
  'knows the owners of what it has created itself': each(indexing({ isKept: false })),
  'forgets owners when it is opened again': reopening(() => ({ owners: async () => [] })),
};

/** The faults of a list of names; `asking` and `answering` make a store whose list is asked, or answers, otherwise. */
const brokenList = (what, { asking, answering }) => ({
  [`lists no ${what}`]: answering((page) => ({ ...page, names: [] })),
  [`sorts ${what} by UTF-16`]: answering((page) => ({ ...page, names: utf16(page.names) })),
  [`lists all ${what} on every page`]: asking(without('limit')),
  [`begins every page of ${what} at the first`]: asking(without('after')),
  [`begins a page of ${what} at the name before`]: answering((page, { after }) =>
    after === undefined ? page : { ...page, names: [after, ...page.names] },
  ),
  [`takes the empty name for the beginning of ${what}`]: asking(({ after, ...query }) =>
    after === '' ? query : { ...query, ...(after !== undefined && { after }) },
  ),
  [`goes on behind ${what} that are there`]: answering(async (page, { after }, all) =>
    after === undefined || (await all()).includes(after) ? page : { ...page, names: [] },
  ),
  [`leaves out the empty name of ${what}`]: answering((page) => ({
    ...page,
    names: page.names.filter((name) => name !== ''),
  })),
  [`says that there are always more ${what}`]: answering((page) => ({ ...page, more: true })),
  [`says that there are no more ${what}`]: answering((page) => ({ ...page, more: false })),
  [`says that there are more ${what} behind a full page`]: answering((page, { limit }) => ({
    ...page,
    more: page.names.length === limit,
  })),
  [`has a page of ${what} one name too long`]: asking(({ limit, ...query }) =>
    limit === undefined ? query : { ...query, limit: limit + 1 },
  ),
  [`lists the first hundred ${what}`]: answering((page) => ({ ...page, names: page.names.slice(0, 100) })),
  [`forgets ${what} when it is opened again`]: reopening(answering((page) => ({ ...page, names: [] }))),
});

const all = { descending: false };
const namesOfUsers = (map) => (store) => ({
  listUsers: async (app, query) => map(await store.listUsers(app, query, context), app, query, store),
});
/** A page of some names, as a store would answer it. */
const filteredPage = async (page, isListed) => {
  const flags = await Promise.all(page.names.map(isListed));
  return { ...page, names: page.names.filter((_, index) => flags[index]) };
};

const brokenNames = {
  ...brokenList('users', {
    asking: (map) => (store) => ({ listUsers: (app, query) => store.listUsers(app, map(query), context) }),
    answering: (map) => (store) => ({
      listUsers: async (app, query) =>
        map(
          await store.listUsers(app, query, context),
          query,
          async () => (await store.listUsers(app, {}, context)).names,
        ),
    }),
  }),
  ...brokenList('apps', {
    asking: (map) => (store) => ({ listApps: (query) => store.listApps(map(query), context) }),
    answering: (map) => (store) => ({
      listApps: async (query) =>
        map(await store.listApps(query, context), query, async () => (await store.listApps({}, context)).names),
    }),
  }),
  'lists users who have sessions': namesOfUsers(async (page, app, _, store) =>
    filteredPage(page, async (user) => (await store.list({ app, user, ...all }, context)).total > 0),
  ),
  'lists users who have values': namesOfUsers(async (page, app, _, store) =>
    filteredPage(page, async (user) => Object.keys((await store.loadScope({ app, user }, context)).state).length > 0),
  ),
  'lists a user once for each session': namesOfUsers(async (page, app, { limit }, store) => {
    const totals = await Promise.all(
      page.names.map(async (user) => (await store.list({ app, user, ...all }, context)).total),
    );
    return { ...page, names: page.names.flatMap((user, index) => Array(totals[index]).fill(user)).slice(0, limit) };
  }),
  'lists the users of the first sessions': namesOfUsers(async (page, app, { limit }, store) => {
    const { rows } = await store.list({ app, ...all, ...(limit && { limit }) }, context);
    return limit === undefined
      ? page
      : { ...page, names: page.names.filter((name) => rows.some(({ key }) => key.userId === name)) };
  }),
  'lists the users of all apps': (store) => ({
    listUsers: async (app, query) => {
      const { names } = await store.listApps({}, context);
      const pages = await Promise.all(names.map((name) => store.listUsers(name, query, context)));
      const more = pages.some((page) => page.more);
      return { names: [...new Set(pages.flatMap((page) => page.names))].sort().slice(0, query.limit), more };
    },
  }),
  'lists no users of an app without a name': namesOfUsers((page, app) => (app === '' ? { ...page, names: [] } : page)),
  'lists no user whose values were removed': (store) => {
    const removed = new Set();
    return {
      removeScope: async (scope) => {
        removed.add(scope.user);
        await store.removeScope(scope, context);
      },
      ...namesOfUsers((page) => filteredPage(page, (user) => !removed.has(user)))(store),
    };
  },
  'does not list again who had lost all': (store) => {
    const removed = new Set();
    return {
      remove: async (key, _, guard) => {
        await store.remove(key, context, guard);
        removed.add(key.userId);
      },
      ...namesOfUsers((page) => filteredPage(page, (user) => !removed.has(user)))(store),
    };
  },
  'lists the users whom it has seen itself': each((store) => {
    const seen = new Set();
    return {
      ...noting(({ key }) => seen.add(key.userId))(store),
      ...namesOfUsers((page) => filteredPage(page, (user) => seen.has(user)))(store),
    };
  }),
  'lists apps that have a session': (store) => ({
    listApps: async (query) =>
      filteredPage(
        await store.listApps(query, context),
        async (app) => (await store.list({ app, ...all }, context)).total > 0,
      ),
  }),
  'lists apps that have a value of their own or a session': (store) => ({
    listApps: async (query) =>
      filteredPage(await store.listApps(query, context), async (app) => {
        const { rows, app: values } = await store.list({ app, ...all }, context);
        return rows.length > 0 || Object.keys(values).length > 0;
      }),
  }),
  'lists apps that have a user': (store) => ({
    listApps: async (query) =>
      filteredPage(
        await store.listApps(query, context),
        async (app) => (await store.listUsers(app, {}, context)).names.length > 0,
      ),
  }),
  'lists an app once for each user': (store) => ({
    listApps: async (query) => {
      const page = await store.listApps(query, context);
      const users = await Promise.all(page.names.map(async (app) => (await store.listUsers(app, {}, context)).names));
      return { ...page, names: page.names.flatMap((app, index) => users[index].map(() => app)) };
    },
  }),
  'lists the apps that it has seen itself': each((store) => {
    const seen = new Set();
    return {
      ...noting(({ key }) => seen.add(key.appName))(store),
      listApps: async (query) => filteredPage(await store.listApps(query, context), (app) => seen.has(app)),
    };
  }),
};

export const brokenNamesAndOwners = { ...brokenOwners, ...brokenNames };
