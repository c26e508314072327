// A store that remembers what it was asked to load.

/** The store, and `loads`: the query of each `load` so far. `nextLoad()` resolves when the next one has been answered. */
export function observed(store) {
  const loads = [];
  let waiting = [];
  const load = async (key, query, context) => {
    loads.push(query);
    try {
      return await store.load(key, query, context);
    } finally {
      waiting.forEach((resolve) => resolve(query));
      waiting = [];
    }
  };
  return { store: { ...store, load }, loads, nextLoad: () => new Promise((resolve) => waiting.push(resolve)) };
}
