// Stores that are broken in the log of app and user values.

import { memoryStore } from 'statepad/stores/memory';
import { committing, context, filtered, refusing, reopening, showing, without } from './ways.mjs';

/** A store whose log is told otherwise. */
const telling = (map) => (store) => ({
  readLog: async (scope, query) => map(await store.readLog(scope, query, context), query, scope, store),
});

/** A store that tells other entries. */
const listing = (map) => telling((log, ...asked) => ({ ...log, entries: map(log.entries, ...asked) }));

/** A store that leaves out entries. */
const keeping = (isMeant) => listing((entries) => entries.filter(isMeant));

/** A store whose entries are told otherwise. */
const entering = (map) => listing((entries) => entries.map((entry) => map(entry)));

/** A store that tells other writes of an entry. */
const rewriting = (map) => entering((entry) => ({ ...entry, writes: map(entry.writes, entry) }));

/** A store whose writes are told otherwise. */
const writing = (map) => rewriting((writes) => writes.map(map));

/** A store that says otherwise who wrote. */
const signing = (map) => entering(({ by, ...entry }) => ({ ...entry, ...(by && { by: map(by) }) }));

/** A store that is asked for another part of its log, where a member of the query is there. */
const askingFor = (member, map) =>
  asking((query) => (member in query ? { ...query, [member]: map(query[member]) } : query));

/** A store that trims another part of its log: by what its `trimLog` does. */
const trimming = (trim) => (store) => ({
  trimLog: (scope, upTo) => trim((...args) => store.trimLog(...args, context), scope, upTo),
});

/** A store that is asked for another part of its log. */
const asking = (map) => (store) => ({ readLog: (scope, query) => store.readLog(scope, map(query), context) });

/** A store whose log is told otherwise, by the position up to which it was trimmed last. */
const basing = (map) => (store) => {
  const bases = new Map();
  return {
    trimLog: (scope, upTo) => {
      bases.set(JSON.stringify(scope), upTo);
      return store.trimLog(scope, upTo, context);
    },
    ...telling((log, _, scope) => map(log, bases.get(JSON.stringify(scope))))(store),
  };
};

const isRemoval = ({ by, writes }) =>
  by === undefined && writes.length > 0 && writes.every((write) => !('to' in write));

export const brokenLogs = {
  'keeps an empty log': telling(({ pos }) => ({ pos, base: pos, entries: [] })),
  'tells no base': telling(without('base')),
  'tells the base as 0': telling((log) => ({ ...log, base: 0 })),
  'tells the first entry for the base': telling((log) => ({ ...log, base: log.entries[0]?.pos ?? log.base })),
  'tells the last entry for where the scope is': telling((log) => ({ ...log, pos: log.entries.at(-1)?.pos ?? 0 })),
  'tells the newest entries first': listing((entries) => entries.toReversed()),
  // Entries.
  'does not say who wrote': entering(without('by')),
  'does not say which event wrote': signing(without('eventId')),
  'says that every change is by an event': (store) => {
    const ids = new Map();
    return {
      commit: async (change) => {
        const committed = await store.commit(change, context);
        ids.set(JSON.stringify([change.key.appName, committed.pos.app]), change.id);
        return committed;
      },
      ...listing((entries, _, { app }) =>
        entries.map(({ by, ...entry }) => ({
          ...entry,
          ...(by && { by: { eventId: ids.get(JSON.stringify([app, entry.pos])), ...by } }),
        })),
      )(store),
    };
  },
  'does not say which user wrote to the app': signing((by) => ({ ...by, userId: 'user' })),
  'logs the time of its clock': entering((entry) => ({ ...entry, time: 1 })),
  'logs whole milliseconds': entering((entry) => ({ ...entry, time: Math.trunc(entry.time) })),
  'leaves out changes without writes': keeping(({ writes }) => writes.length > 0),
  'leaves out updates': keeping(({ by }) => by !== undefined),
  'leaves out removals': keeping((entry) => !isRemoval(entry)),
  'logs a removal as one without names': entering((entry) => (isRemoval(entry) ? { ...entry, writes: [] } : entry)),
  // Writes.
  'does not log what was there before': writing(without('from')),
  'logs null for what was not there': writing((write) => ({ from: null, ...write })),
  'logs null for what is deleted': writing((write) => ({ to: null, ...write })),
  'leaves out null': writing((write) => filtered(write, (_, value) => value !== null)),
  'leaves out what stays the same': rewriting((writes) =>
    writes.filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to)),
  ),
  'logs what is set before what is deleted': rewriting((writes) => [
    ...writes.filter((write) => 'to' in write),
    ...writes.filter((write) => !('to' in write)),
  ]),
  'logs names sorted': rewriting((writes, entry) =>
    isRemoval(entry) ? writes : writes.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  ),
  'logs a deletion and the setting of a name as two': rewriting((writes) =>
    writes.flatMap((write) =>
      write.name === 'b' && write.from === 1 && write.to === 2
        ? [without('to')(write), without('from')(write)]
        : [write],
    ),
  ),
  'logs deletions of what is not there': (store) => {
    const unset = new Map();
    return {
      commit: async (change) => {
        const committed = await store.commit(change, context);
        unset.set(committed.pos.app, change.delta.app?.unset ?? []);
        return committed;
      },
      ...rewriting((writes, { pos }) => [
        ...(unset.get(pos) ?? []).filter((name) => name === 'none').map((name) => ({ name })),
        ...writes,
      ])(store),
    };
  },
  'loses __proto__ in its log': rewriting((writes) => writes.filter(({ name }) => name !== '__proto__')),
  'logs names in any case': askingFor('name', (name) => name.toLowerCase()),
  'logs texts cut at a NUL': writing(({ to, ...write }) => ({
    ...write,
    ...(to !== undefined && { to: typeof to === 'string' ? to.split('\0')[0] : to }),
  })),
  // Queries.
  ...Object.fromEntries(
    ['after', 'to', 'name', 'limit'].map((member) => [`ignores ${member} of a log`, asking(without(member))]),
  ),
  'tells the entry at the position that is named': askingFor('after', (after) => after - 1),
  'ends before the position that is named': askingFor('to', (to) => to - 1),
  'tells all writes of an entry that has the name': (store) => ({
    readLog: async (scope, query) => {
      const [log, all] = [await store.readLog(scope, query, context), await store.readLog(scope, {}, context)];
      return { ...log, entries: log.entries.map(({ pos }) => all.entries.find((entry) => entry.pos === pos)) };
    },
  }),
  'keeps entries without the name': (store) => ({
    readLog: async (scope, query) => {
      const { name, ...rest } = query;
      const log = await store.readLog(scope, rest, context);
      const named = ({ writes, ...entry }) => ({ ...entry, writes: writes.filter((write) => write.name === name) });
      return name === undefined ? log : { ...log, entries: log.entries.map(named) };
    },
  }),
  'counts entries before it looks at names': (store) => ({
    readLog: async (scope, { limit = Infinity, ...query }) => {
      const log = await store.readLog(scope, without('name')(query), context);
      const some = new Set(log.entries.slice(0, limit).map(({ pos }) => pos));
      const named = await store.readLog(scope, query, context);
      return { ...named, entries: named.entries.filter(({ pos }) => some.has(pos)) };
    },
  }),
  'tells the last of a log where there is a limit': (store) => ({
    readLog: async (scope, { limit, ...query }) => {
      const log = await store.readLog(scope, query, context);
      return limit === undefined ? log : { ...log, entries: log.entries.slice(-limit) };
    },
  }),
  'tells the log of the app for that of a user': (store) => ({
    readLog: ({ app }, query) => store.readLog({ app }, query, context),
  }),
  'tells a user what all users wrote': (store) => ({
    readLog: async ({ app, user }, query) => {
      const logs = await Promise.all(
        [user, ...(user === 'ann' ? ['bob'] : [])].map((each) =>
          store.readLog(each === undefined ? { app } : { app, user: each }, query, context),
        ),
      );
      return { ...logs[0], entries: logs.flatMap(({ entries }) => entries) };
    },
  }),
  'forgets the entries of a session that is removed': (store) => {
    const gone = new Set();
    return {
      remove: async (key, _, guard) => {
        gone.add(key.sessionId);
        return store.remove(key, context, guard);
      },
      ...keeping(({ by }) => !gone.has(by?.sessionId))(store),
    };
  },
  // Trimming.
  'trims nothing': () => ({ trimLog: async () => 0 }),
  'does not say how many entries it has trimmed': trimming(
    async (trim, scope, upTo) => void (await trim(scope, upTo)),
  ),
  'counts what was trimmed before': trimming(async (trim, scope, upTo) => {
    await trim(scope, upTo);
    return upTo;
  }),
  'trims up to before the position that is named': trimming((trim, scope, upTo) => trim(scope, upTo - 1)),
  'trims all of a log': trimming((trim, scope) => trim(scope, Infinity)),
  'trims the logs of all users': trimming(async (trim, scope, upTo) => {
    await trim({ ...scope, user: 'bob' }, upTo);
    return trim(scope, upTo);
  }),
  'trims beyond where the scope is': basing((log, asked = 0) => {
    const base = Math.max(log.base, asked);
    return { ...log, base, entries: log.entries.filter(({ pos }) => pos > base) };
  }),
  'moves the base back': basing((log, asked = log.base) => ({ ...log, base: asked })),
  // Positions of events, opening, other stores.
  'does not say where scopes were after an event': showing(without('pos')),
  'says of every event where scopes are now': showing((event, { pos }) => ({ ...event, pos })),
  'does not say where scopes were after what a session began with': showing((event) =>
    event.rev === 0 ? without('pos')(event) : event,
  ),
  'says where scopes were before an event': showing(({ pos, ...event }) => ({
    ...event,
    ...(pos && { pos: { app: Math.max(0, pos.app - 1), user: Math.max(0, pos.user - 1) } }),
  })),
  'forgets its log when it is opened again': reopening(telling((log) => ({ ...log, base: log.pos, entries: [] }))),
  'forgets that its log was trimmed when it is opened again': reopening(telling((log) => ({ ...log, base: 0 }))),
  'forgets where scopes were after events when it is opened again': reopening(showing(without('pos'))),
  'keeps its log to itself': (store) => {
    const empty = memoryStore();
    return { store, another: { ...store, readLog: (scope, query) => empty.readLog(scope, query, context) } };
  },
  'logs what is refused': (store) => {
    let count = 0;
    return {
      ...refusing((error, { delta }) => {
        count += delta.app ? 1 : 0;
        return error;
      })(store),
      ...telling((log) => ({ ...log, pos: log.pos + count }))(store),
    };
  },
  'logs duplicates': (store) => {
    let count = 0;
    return {
      ...committing((committed, { delta }) => {
        count += committed.duplicate && delta.app ? 1 : 0;
        return committed;
      })(store),
      ...listing((entries) => [...entries, ...entries.slice(0, count)])(store),
    };
  },
};
