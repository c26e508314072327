// Ways to make another store of one, and words for its changes.

import { memoryStore } from 'statepad/stores/memory';

export const context = { signal: new AbortController().signal };

/** Maps the values of a record. */
export const mapped = (record, map) =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value, name)]));

/** Filters the members of a record. */
export const filtered = (record, isMeant) =>
  Object.fromEntries(Object.entries(record).filter(([name, value]) => isMeant(name, value)));

/** Maps each delta, and each delta that a guard expects. */
export const mapDeltas = (deltas, map) => mapped(deltas, (delta, scope) => delta && map(delta, scope));

/** A store whose changes become others before they are written. */
export function changing(map) {
  return (store) => ({
    commit: (change) => store.commit(map(change), context),
    commitMany: (changes) => store.commitMany(changes.map(map), context),
  });
}

/** A store whose guards become others. */
export const guarding = (map) =>
  changing(({ guard, ...change }) => ({ ...change, ...(guard && { guard: map(guard) }) }));

export const without = (member) => (given) => filtered(given, (name) => name !== member);

/** A store whose values are read as others. */
export function values(map) {
  const record = (state) => Object.assign(Object.create(null), map(state));
  return (store) => ({
    load: async (key, query) => {
      const loaded = await store.load(key, query, context);
      return loaded && { ...loaded, state: mapped(loaded.state, record) };
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

/** A store whose events are read as others. */
export const showing = (map) =>
  loading((loaded) => ({ ...loaded, events: loaded.events.map((event) => map(event, loaded)) }));

/** A store that refuses changes otherwise: `refuse` answers another error, or throws it. */
export const refusing = (refuse) => (store) => ({
  commit: (change) =>
    store.commit(change, context).catch(async (error) => {
      throw await refuse(error, change, store);
    }),
});

/** A store that is broken when it is opened again. */
export const reopening = (make) => (store) => ({ store, reopened: { ...store, ...make(store) } });

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

export const inOrder = (values) => Object.fromEntries(Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1)));

export const canonical = (value) => (value?.constructor === Object ? inOrder(value) : value);

/**
 * A store with a second one beside it, where the same changes are made to sessions that never end: some of its methods
 * are those of that one.
 */
export const endless = (take) => (store) => {
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
