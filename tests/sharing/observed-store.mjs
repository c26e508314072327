// A store that remembers what it was asked to load, and what it answered.

/**
 * The store, `loads`: the query of each `load` so far, and `answers`. `nextLoad()` resolves when the next one has been
 * answered.
 */
export function observed(store) {
  const loads = [];
  const answers = [];
  let waiting = [];
  const load = async (key, query, context) => {
    loads.push(query);
    try {
      const answer = await store.load(key, query, context);
      answers.push(answer);
      return answer;
    } finally {
      waiting.forEach((resolve) => resolve(query));
      waiting = [];
    }
  };
  return {
    store: { ...store, load },
    loads,
    answers,
    nextLoad: () => new Promise((resolve) => waiting.push(resolve)),
  };
}
