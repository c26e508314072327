// Ways to make another store of one, and words for its changes.

export const context = { signal: new AbortController().signal };

/** Maps each delta, and each delta that a guard expects. */
export const mapDeltas = (deltas, map) =>
  Object.fromEntries(Object.entries(deltas).map(([scope, delta]) => [scope, delta && map(delta, scope)]));

/** A store whose changes become others before they are written. */
export function changing(map) {
  return (store) => ({
    commit: (change) => store.commit(map(change), context),
    commitMany: (changes) => store.commitMany(changes.map(map), context),
  });
}

export const without = (member) => (given) =>
  Object.fromEntries(Object.entries(given).filter(([name]) => name !== member));

/** A store whose values are read as others. */
export function values(map) {
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

/** A store whose answers become others. */
export const committing = (map) => (store) => ({
  commit: async (change) => map(await store.commit(change, context), change),
});

export const loading = (map) => (store) => ({
  load: async (key, query) => {
    const loaded = await store.load(key, query, context);
    return loaded && map(loaded, query, store, key);
  },
});

/** Writes app and user state without the session. */
export const alone = ({ key }, deltas) => ({
  id: `${Math.random()}`,
  kind: 'update',
  key: without('sessionId')(key),
  time: 0,
  delta: deltas,
});

/** Two stores on one storage that each have something of their own. */
export const each = (make) => (store) => ({
  store: { ...store, ...make(store, 'first') },
  another: { ...store, ...make(store, 'second') },
});

export const inOrder = (values) =>
  Object.fromEntries(
    Object.keys(values)
      .sort()
      .map((name) => [name, values[name]]),
  );

export const canonical = (value) => (value?.constructor === Object ? inOrder(value) : value);
