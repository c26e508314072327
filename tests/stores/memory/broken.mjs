// Stores that are broken, each in one way that a store might be: the cases have to catch them all.

import assert from 'node:assert/strict';
import { StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

const context = { signal: new AbortController().signal };
const SCOPES = ['app', 'user', 'session'];

/** What becomes of each delta, and of each delta that a guard expects. */
const mapDeltas = (deltas, map) =>
  Object.fromEntries(Object.entries(deltas).map(([scope, delta]) => [scope, delta && map(delta, scope)]));

/** A store whose changes become others before they are written. */
function changing(map) {
  return (store) => ({
    commit: (change) => store.commit(map(change), context),
    commitMany: (changes) => store.commitMany(changes.map(map), context),
  });
}

/** A store whose guards become others. */
const guarding = (map) => changing(({ guard, ...change }) => ({ ...change, ...(guard && { guard: map(guard) }) }));
const without = (member) => (given) => Object.fromEntries(Object.entries(given).filter(([name]) => name !== member));

/** A store whose deltas become others. */
const delta = (map) => changing((change) => ({ ...change, delta: mapDeltas(change.delta, map) }));

/** A store whose values are read as others. */
function values(map) {
  const record = (state) => Object.assign(Object.create(null), map(state));
  return (store) => ({
    load: async (key, query) => {
      const loaded = await store.load(key, query, context);
      return (
        loaded && {
          ...loaded,
          state: Object.fromEntries(Object.entries(loaded.state).map(([scope, state]) => [scope, record(state)])),
        }
      );
    },
    loadScope: async (scope) => {
      const loaded = await store.loadScope(scope, context);
      return { ...loaded, state: record(loaded.state) };
    },
  });
}

/** A store whose values are read as if they had been written otherwise. */
const eachValue = (map) =>
  values((state) => Object.fromEntries(Object.entries(state).map(([name, value]) => [name, map(value)])));

/** A store whose answers become others. */
const committing = (map) => (store) => ({
  commit: async (change) => map(await store.commit(change, context), change),
});
const loading = (map) => (store) => ({
  load: async (key, query) => {
    const loaded = await store.load(key, query, context);
    return loaded && map(loaded, query, store, key);
  },
});
const listing = (map) => (store) => ({ list: async (query) => map(await store.list(query, context), query, store) });
/** A store that is asked something else. */
const window = (map) => (store) => ({
  load: (key, { events, ...query }) => store.load(key, events ? { ...query, events: map(events) } : query, context),
});
const asking = (map) => (store) => ({ list: (query) => store.list(map(query), context) });

/** A store that is told something else of what its caller knows. */
const asksWith = (map) => (store) => ({
  load: (key, { known, ...query }) => store.load(key, { ...query, ...(known && { known: map(known) }) }, context),
});
/** A store that tells what others have done to a scope otherwise. */
const telling = (map) => (store) => {
  const told = (answer) => (answer?.changed ? { ...answer, changed: mapDeltas(answer.changed, map) } : answer);
  return {
    ...committing(told)(store),
    ...loading(told)(store),
  };
};

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

/** Writes app and user state without the session. */
const alone = ({ key }, deltas) => ({
  id: `${Math.random()}`,
  kind: 'update',
  key: without('sessionId')(key),
  time: 0,
  delta: deltas,
});

/** A store that confuses names. */
const confusingNames = (write) =>
  delta(({ set = {}, unset = [] }) => ({
    set: Object.fromEntries(Object.entries(set).map(([name, value]) => [write(name), value])),
    unset: unset.map(write),
  }));

/** Two stores on one storage that each have something of their own. */
const each = (make) => (store) => ({
  store: { ...store, ...make(store, 'first') },
  another: { ...store, ...make(store, 'second') },
});
const pause = () => new Promise((done) => setTimeout(done, 1));
const utf16 = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const sortedBy =
  (compare) =>
  (page, { descending }) => ({
    ...page,
    rows: page.rows.toSorted((a, b) => (descending ? b.time - a.time : a.time - b.time) || compare(a, b)),
  });
/** A page that says that it ends at a row. */
const ending = (page, row) =>
  row
    ? {
        ...page,
        next: { time: row.time, sessionId: row.key.sessionId, userId: row.key.userId },
      }
    : page;
const inOrder = (values) =>
  Object.fromEntries(
    Object.keys(values)
      .sort()
      .map((name) => [name, values[name]]),
  );
const canonical = (value) => (value?.constructor === Object ? inOrder(value) : value);

/**
 * What each changes of a store in memory, under what is wrong with it. One that has a `store` gives it whole, and may
 * give `another` on the same storage, and the one that is there when the storage is `reopened`.
 */
export const broken = {
  // Deltas.
  'forgets what is unset': delta(without('unset')),
  'forgets what is unset when it sets something': delta(({ set, unset }) => (set ? { set } : { unset })),
  'forgets a user delta': changing((change) => ({ ...change, delta: without('user')(change.delta) })),
  'takes null for a deletion': delta(({ set = {}, unset = [] }) => {
    const nulls = Object.keys(set).filter((name) => set[name] === null);
    return {
      set: Object.fromEntries(Object.entries(set).filter(([name]) => !nulls.includes(name))),
      unset: [...unset, ...nulls],
    };
  }),
  'moves an overwritten name to the end': (store) => ({
    commit: async (change) => {
      const deltas = mapDeltas(change.delta, ({ set = {}, unset = [] }) => ({
        set,
        unset: [...unset, ...Object.keys(set)],
      }));
      return store.commit({ ...change, delta: deltas }, context);
    },
  }),
  'sorts names': values(inOrder),
  'loses __proto__': values((state) =>
    Object.fromEntries(Object.entries(state).filter(([name]) => name !== '__proto__')),
  ),
  'cuts names': confusingNames((name) => name.slice(0, 1_000)),
  'takes names in any case': confusingNames((name) => name.toLowerCase()),
  'normalizes names': confusingNames((name) => name.normalize()),
  'takes a NUL for the end': confusingNames((name) => name.split('\0')[0]),
  'merges values': (store) => ({
    commit: async (change) => {
      const { state } = await store.loadScope({ app: change.key.appName }, context);
      const merge = ({ set = {}, ...rest }) => ({
        ...rest,
        set: Object.fromEntries(
          Object.entries(set).map(([name, value]) => [
            name,
            value?.constructor === Object && state[name]?.constructor === Object
              ? { ...state[name], ...value }
              : value,
          ]),
        ),
      });
      return store.commit(
        { ...change, delta: { ...change.delta, ...(change.delta.app && { app: merge(change.delta.app) }) } },
        context,
      );
    },
  }),
  'writes all values of the app as it knows them': each((store) => {
    const known = new Map();
    return {
      commit: async (change) => {
        const { appName } = change.key;
        const { state } = await store.loadScope({ app: appName }, context);
        const own = known.get(appName) ?? { ...state };
        known.set(appName, own);
        const { set = {}, unset = [] } = change.delta.app ?? {};
        Object.assign(own, set);
        unset.forEach((name) => delete own[name]);
        const app = { set: own, unset: Object.keys(state).filter((name) => !(name in own)) };
        return store.commit({ ...change, delta: { ...change.delta, ...(change.delta.app && { app }) } }, context);
      },
    };
  }),
  // Values and events.
  'keeps fourteen digits': eachValue((value) => (typeof value === 'number' ? Number(value.toPrecision(14)) : value)),
  'makes an empty object an array': eachValue((value) => (JSON.stringify(value) === '{}' ? [] : value)),
  'sorts the members of values': eachValue(canonical),
  'loses NUL in values': eachValue((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', ''))),
  'cuts values': eachValue((value) => (typeof value === 'string' ? value.slice(0, 500_000) : value)),
  'gives values a prototype': (store) => ({
    loadScope: async (scope) => {
      const { pos, state } = await store.loadScope(scope, context);
      return { pos, state: { ...state } };
    },
  }),
  'writes events anew': loading((loaded) => ({
    ...loaded,
    events: loaded.events.map(({ rev, data }) => ({ rev, data: JSON.stringify(JSON.parse(data)) })),
  })),
  'trims events': loading((loaded) => ({
    ...loaded,
    events: loaded.events.map(({ rev, data }) => ({ rev, data: data.trim() })),
  })),
  // Positions.
  'has no positions': committing((committed) => ({ ...committed, pos: { app: 0, user: 0 } })),
  'loads no positions': loading((loaded) => ({ ...loaded, pos: { app: 0, user: 0 } })),
  'counts empty deltas': changing((change) => ({
    ...change,
    delta: mapDeltas(change.delta, (given) => (JSON.stringify(given) === '{}' ? { unset: ['nothing'] } : given)),
  })),
  'tells the position of the app for that of the user': committing((committed) => ({
    ...committed,
    pos: { app: committed.pos.app, user: committed.pos.app },
  })),
  'deletes a scope without counting it': (store) => {
    const missing = new Map();
    const id = ({ app, user }) => JSON.stringify([app, user]);
    return {
      removeScope: async (scope) => {
        await store.removeScope(scope, context);
        missing.set(id(scope), (missing.get(id(scope)) ?? 0) + 1);
      },
      loadScope: async (scope) => {
        const { pos, state } = await store.loadScope(scope, context);
        return { pos: pos - (missing.get(id(scope)) ?? 0), state };
      },
    };
  },
  'deletes the sessions with a scope': (store) => ({
    removeScope: async (scope) => {
      await store.removeScope(scope, context);
      const { rows } = await store.list({ ...scope, descending: false }, context);
      await Promise.all(rows.map(({ key }) => store.remove(key, context)));
    },
  }),
  // Duplicates.
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
    committed.data === undefined
      ? committed
      : {
          ...committed,
          data: event.data,
        },
  ),
  'gives null as the revision before a duplicate': committing((committed) =>
    committed.duplicate
      ? {
          ...committed,
          prev: null,
        }
      : committed,
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
  // Guards.
  'ignores guards': changing(without('guard')),
  ...Object.fromEntries(
    ['created', 'rev', 'pos', 'keys'].map((part) => [`ignores guard.${part}`, guarding(without(part))]),
  ),
  ...Object.fromEntries(
    SCOPES.map((scope) => [
      `ignores guard.keys.${scope}`,
      guarding((guard) => (guard.keys ? { ...guard, keys: without(scope)(guard.keys) } : guard)),
    ]),
  ),
  'ignores guard.keys.*.unset': guarding((guard) =>
    guard.keys
      ? {
          ...guard,
          keys: mapDeltas(guard.keys, without('unset')),
        }
      : guard,
  ),
  'ignores guard.pos.user': guarding((guard) => (guard.pos ? { ...guard, pos: without('user')(guard.pos) } : guard)),
  'ignores the guards of creations': changing((change) =>
    change.kind === 'create' ? without('guard')(change) : change,
  ),
  'ignores the guards of updates': changing((change) =>
    change.kind === 'update' ? without('guard')(change) : change,
  ),
  'compares objects whatever the order of their members': (store) => {
    const sorted = (deltas) =>
      mapDeltas(deltas, ({ set, ...rest }) => ({
        ...rest,
        ...(set && { set: Object.fromEntries(Object.entries(set).map(([name, value]) => [name, canonical(value)])) }),
      }));
    return changing((change) => ({
      ...change,
      delta: sorted(change.delta),
      ...(change.guard?.keys && { guard: { ...change.guard, keys: sorted(change.guard.keys) } }),
    }))(store);
  },
  'does not tell the actual revision': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch((error) => {
        throw Object.create(error, { actual: { value: undefined } });
      }),
  }),
  'takes every refusal for a conflict': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch((error) => {
        throw Object.create(error, { code: { value: 'conflict' } });
      }),
  }),
  'writes app and user before it looks at the guard': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch(async (error) => {
        await store.commit(alone(change, without('session')(change.delta)), context);
        throw error;
      }),
  }),
  'looks at the revision and then writes': (store) => ({
    commit: async (change) => {
      const { rev, ...guard } = change.guard ?? {};
      const loaded = rev === undefined ? null : await store.load(change.key, {}, context);
      await pause();
      // What is refused is refused rightly.
      return store.commit({ ...change, guard: loaded?.rev === rev ? guard : (change.guard ?? {}) }, context);
    },
  }),
  'writes the scopes one after the other': (store) => ({
    commit: async (change) => {
      const { app, ...rest } = change.delta;
      if (change.kind !== 'append' || app === undefined) {
        return store.commit(change, context);
      }
      const committed = await store.commit({ ...change, delta: rest }, context);
      await pause();
      const { pos } = committed.duplicate ? committed : await store.commit(alone(change, { app }), context);
      return { ...committed, pos };
    },
  }),
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
  // Marks.
  'tells no marks': loading(without('marks')),
  'tells no last event': loading(without('last')),
  'tells the first event for the last': loading((loaded) => ({
    ...loaded,
    last: loaded.events[0]?.id ?? loaded.last,
  })),
  'tells no ids of events': loading((loaded) => ({ ...loaded, events: loaded.events.map(without('id')) })),
  'does not say what was before': committing(without('before')),
  ...Object.fromEntries(
    ['session', 'app', 'user'].map((part) => [
      `does not say what ${part} was before`,
      committing((committed) => ({ ...committed, before: without(part)(committed.before) })),
    ]),
  ),
  'takes the id of an event for the mark': changing((change) =>
    change.kind === 'append' ? without('call')(change) : change,
  ),
  'does not compare marks': asksWith((known) => without('marks')(known)),
  'does not compare the last event': asksWith((known) => without('last')(known)),
  'looks for a known event in all sessions': (store) => {
    const seen = new Set();
    return {
      commit: async (change) => {
        const committed = await store.commit(change, context);
        seen.add(JSON.stringify([committed.rev, change.id]));
        return committed;
      },
      load: (key, query) => {
        const { known = {} } = query;
        const isSeen = seen.has(JSON.stringify([known.rev, known.last]));
        return store.load(key, isSeen ? { ...query, known: without('last')(known) } : query, context);
      },
    };
  },
  'never says that a session has diverged': loading(without('diverged')),
  'says that every session has diverged': loading((loaded) => ({ ...loaded, diverged: true })),
  'leaves its mark where it changes nothing': changing((change) => ({
    ...change,
    delta: mapDeltas(change.delta, (given) => (JSON.stringify(given) === '{}' ? { unset: ['nothing'] } : given)),
  })),
  // What others have done.
  'never tells what others have done': (store) => ({
    ...committing(without('changed'))(store),
    ...asksWith((known) => without('pos')(known))(store),
  }),
  'forgets what others have done to all scopes when the values of one are removed': (store) => {
    let isForgotten = false;
    return {
      removeScope: async (scope) => {
        await store.removeScope(scope, context);
        isForgotten = true;
      },
      load: (key, query) =>
        store.load(
          key,
          isForgotten && query.known ? { ...query, known: without('pos')(query.known) } : query,
          context,
        ),
    };
  },
  'tells only what was set': telling(without('unset')),
  'tells only what was deleted': telling(without('set')),
  'does not tell which names are new': telling(({ set, unset }) => ({
    set,
    unset: unset.filter((name) => !(name in set)),
  })),
  'tells new names sorted': telling(({ set, unset }) => ({ set: inOrder(set), unset })),
  'tells what the change itself does': committing((committed, { delta: { app } }) =>
    committed.changed?.app && app
      ? {
          ...committed,
          changed: {
            ...committed.changed,
            app: { set: { ...committed.changed.app.set, ...app.set }, unset: committed.changed.app.unset },
          },
        }
      : committed,
  ),
  'tells only of the app': committing((committed) =>
    committed.changed
      ? {
          ...committed,
          changed: without('user')(committed.changed),
        }
      : committed,
  ),
  'does not compare the mark of where a scope is when changes go together': (store) => ({
    commitMany: async (changes) => {
      const now = async (scope, { pos = {}, marks = {} }, part) => {
        const { pos: at, mark } = await store.loadScope(scope, context);
        return pos[part] === at && marks[part] !== undefined ? { ...marks, [part]: mark } : marks;
      };
      const asked = changes.map(async ({ known, ...change }) => {
        const { appName: app, userId: user } = change.key;
        const marks = known && (await now({ app }, known, 'app'));
        return known
          ? { ...change, known: { ...known, marks: await now({ app, user }, { ...known, marks }, 'user') } }
          : change;
      });
      return store.commitMany(await Promise.all(asked), context);
    },
  }),
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
  // What a session began with.
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
  // Windows.
  'shows all events for the last none': window(({ last, ...rest }) => (last === 0 ? rest : { last, ...rest })),
  'begins behind from': window(({ from, ...rest }) => (from === undefined ? rest : { from: from + 1, ...rest })),
  'ends before to': window(({ to, ...rest }) => (to === undefined ? rest : { to: to - 1, ...rest })),
  'ignores to': window(without('to')),
  'ignores since': window(without('since')),
  'shows what is later than since': window(({ since, ...rest }) =>
    since === undefined
      ? rest
      : {
          since: since + 0.001,
          ...rest,
        },
  ),
  'takes since in whole milliseconds': window(({ since, ...rest }) =>
    since === undefined
      ? rest
      : {
          since: Math.ceil(since),
          ...rest,
        },
  ),
  'shows the first for the last': loading(async (loaded, { events: { last, ...rest } = {} }, store, key) =>
    last === undefined
      ? loaded
      : {
          ...loaded,
          events: (await store.load(key, { events: rest }, context)).events.slice(0, last),
        },
  ),
  'takes the last before it looks at the times': loading(
    async (loaded, { events: { last, since, ...rest } = {} }, store, key) => {
      const { events } = last === undefined ? loaded : await store.load(key, { events: { ...rest, last } }, context);
      return {
        ...loaded,
        events: events.filter((event) => loaded.events.some(({ rev }) => rev === event.rev) || since === undefined),
      };
    },
  ),
  'stops at the first event that is earlier': loading((loaded, { events: { since } = {} }) => {
    const { events } = loaded;
    const gap = events.findLastIndex(
      ({ rev }, index) => index + 1 < events.length && events[index + 1].rev !== rev + 1,
    );
    return since === undefined ? loaded : { ...loaded, events: events.slice(gap + 1) };
  }),
  'shows the newest event first': loading((loaded) => ({ ...loaded, events: loaded.events.toReversed() })),
  'shows a hundred events at most': loading((loaded) => ({ ...loaded, events: loaded.events.slice(-100) })),
  // What is known.
  'takes an equal revision for the same session': (store) => ({
    load: async (key, query) =>
      store.load(
        key,
        { ...query, known: { ...query.known, created: (await store.load(key, {}, context))?.created } },
        context,
      ),
  }),
  'always gives everything': (store) => ({ load: (key, query) => store.load(key, without('known')(query), context) }),
  'takes a later position for the known one': loading((loaded, { known }) =>
    known?.pos?.app === undefined || known.pos.app < 1 ? loaded : { ...loaded, state: without('app')(loaded.state) },
  ),
  // Lists.
  'sorts ids by UTF-16': listing(sortedBy((a, b) => utf16(a.key.sessionId, b.key.sessionId))),
  'sorts users by UTF-16': listing(
    sortedBy(({ key: a }, { key: b }) => (a.sessionId === b.sessionId ? utf16(a.userId, b.userId) : 0)),
  ),
  'turns ties around': listing((page, { descending }) =>
    descending
      ? {
          ...page,
          rows: page.rows.toReversed().sort((a, b) => b.time - a.time),
        }
      : page,
  ),
  'sorts times in whole milliseconds': listing((page, { descending }) => ({
    ...page,
    rows: page.rows.toSorted(
      ({ time: a, key }, { time: b, key: other }) =>
        (descending ? -1 : 1) * (Math.trunc(a) - Math.trunc(b)) ||
        Buffer.compare(Buffer.from(key.sessionId), Buffer.from(other.sessionId)),
    ),
  })),
  'sorts times as texts': listing((page, { descending }) => ({
    ...page,
    rows: page.rows.toSorted((a, b) => (descending ? -1 : 1) * utf16(String(a.time), String(b.time))),
  })),
  'sorts by the time of creation': changing((change) => ({
    ...change,
    time: change.kind === 'append' ? 1_000 : change.time,
  })),
  'counts the page for the total': listing((page) => ({ ...page, total: page.rows.length })),
  'counts all users for the total of one': listing(async (page, query, store) => ({
    ...page,
    total: (await store.list(without('user')(query), context)).total,
  })),
  'takes no limit for a limit of none': asking(({ limit, ...query }) => (limit === 0 ? query : { limit, ...query })),
  'ignores the offset': asking(without('offset')),
  'goes on at the place and not behind it': asking(({ after, ...query }) =>
    after
      ? {
          ...query,
          after: { ...after, userId: '' },
        }
      : query,
  ),
  'goes on behind the time': asking(({ after, ...query }) =>
    after
      ? {
          ...query,
          after: { ...after, sessionId: '\u{10ffff}\u{10ffff}' },
        }
      : query,
  ),
  'goes on from a place that is there': listing(async (page, { after, ...query }, store) => {
    const { rows } = await store.list(without('limit')(query), context);
    const place = JSON.stringify([after?.time, after?.sessionId, after?.userId]);
    const isThere = rows.some(({ key, time }) => JSON.stringify([time, key.sessionId, key.userId]) === place);
    return after === undefined || isThere ? page : { ...page, rows: [], users: new Map() };
  }),
  'goes on behind as many sessions as came before the place': (store) => {
    const passed = new Map();
    const placeOf = ({ key: { sessionId, userId }, time }) => JSON.stringify([time, sessionId, userId]);
    return {
      list: async ({ after, ...query }) => {
        const offset = after && passed.get(JSON.stringify([after.time, after.sessionId, after.userId]));
        const page = await store.list(
          offset === undefined ? { ...query, ...(after && { after }) } : { ...query, offset },
          context,
        );
        page.rows.forEach((row, index) => passed.set(placeOf(row), (offset ?? query.offset ?? 0) + index + 1));
        return page;
      },
    };
  },
  'says that a page ends at its first session': listing((page) => ending(page, page.rows[0])),
  'says that a page ends at its last session of the user who comes first': listing((page) =>
    ending(
      page,
      page.rows.findLast(({ key }) => key.userId === page.rows[0].key.userId),
    ),
  ),
  'says that a page ends where the list does': listing(async (page, query, store) => {
    const { rows } = await store.list(without('limit')(query), context);
    return ending(page, rows.at(-1));
  }),
  'says that a page without sessions ends where it begins': listing((page, { after }) =>
    page.rows.length === 0 && after
      ? {
          ...page,
          next: after,
        }
      : page,
  ),
  'lists a hundred at most': listing((page) => ({ ...page, rows: page.rows.slice(0, 100) })),
  'lists all users for the one without a name': listing((page, query, store) =>
    query.user === '' ? store.list(without('user')(query), context) : page,
  ),
  'lists the values of users that are not in the rows': listing(async (page, { app }, store) => {
    const { users } = await store.list({ app, descending: false }, context);
    return { ...page, users };
  }),
  'leaves out users without values': listing((page) => ({
    ...page,
    users: new Map([...page.users].filter(([, state]) => Object.keys(state).length > 0)),
  })),
  'lists no values of an app without sessions': listing((page) =>
    page.total === 0
      ? {
          ...page,
          app: Object.create(null),
        }
      : page,
  ),
  'takes a row for corrupt': listing((page) => ({ ...page, corrupt: page.rows.slice(0, 1).map(({ key }) => key) })),
  // Many at once.
  'writes all or nothing of many': (store) => ({
    commitMany: async (changes) => {
      const answers = [];
      for (const change of changes) {
        answers.push(await store.commit(change, context));
      }
      return answers;
    },
  }),
  'answers many in another order': (store) => ({
    commitMany: async (changes) => (await store.commitMany(changes, context)).toReversed(),
  }),
  'writes the first fifty of many': (store) => ({
    commitMany: (changes) => store.commitMany(changes.slice(0, 50), context),
  }),
  'writes many backwards': (store) => ({
    commitMany: async (changes) => (await store.commitMany(changes.toReversed(), context)).toReversed(),
  }),
  'looks at all guards before it writes many': (store) => ({
    commitMany: async (changes) => {
      const before = new Map(
        await Promise.all(changes.map(async ({ key }) => [key, await store.loadScope({ app: key.appName }, context)])),
      );
      return store.commitMany(
        changes.map((change) => {
          const { guard, ...rest } = change;
          return guard?.pos?.app === undefined
            ? change
            : {
                ...rest,
                guard: {
                  ...guard,
                  pos: { app: guard.pos.app + (guard.pos.app === before.get(change.key).pos ? 0 : 1_000) },
                },
              };
        }),
        context,
      );
    },
  }),
  // Opening again.
  'forgets everything when it is opened again': (store) => ({ store, reopened: memoryStore() }),
  'forgets updates when it is opened again': (store) => {
    const other = changing((change) => (change.kind === 'update' ? { ...change, id: `again ${change.id}` } : change))(
      store,
    );
    return { store, reopened: { ...store, ...other } };
  },
  'sorts names when it is opened again': (store) => ({ store, reopened: { ...store, ...values(inOrder)(store) } }),
  'cannot be opened again to look at': (store) => ({
    store: { ...store, open: async ({ migrate }) => assert.notEqual(migrate, 'check') },
  }),
  // Hints.
  'hints at the app when a session has changed': (store, timers) => ({
    // Nobody waits for what does not come: time passes with each change.
    commit: (change) => {
      timers.tick(60_000);
      return store.commit(change, context);
    },
    watch: (onHint) => store.watch(({ appName }) => onHint({ appName })),
  }),
  'keeps on giving hints': (store) => ({
    watch: (onHint) => {
      store.watch(onHint);
      return () => undefined;
    },
  }),
};
