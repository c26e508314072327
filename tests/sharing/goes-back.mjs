// A store that can be set back, as a backup is restored or a replica promoted that is behind.

import { memoryStore } from 'statepad/stores/memory';

/**
 * The store, `snapshot()` and `restore(snapshot)`. `without` names what it does not tell: `marks`, `changed`. With
 * `exclusive` nobody else writes.
 */
export function storeThatGoesBack({ without = [], exclusive = false } = {}) {
  /** All that was asked for and changes something. */
  let done = [];
  let inner = memoryStore();
  const replay = async (steps) => {
    const fresh = memoryStore();
    for (const [method, args] of steps) await fresh[method](...args).catch(() => undefined);
    [inner, done] = [fresh, steps.slice()];
  };
  const write = async (method, args) => {
    done.push([method, structuredClone(args)]);
    return await inner[method](...args, {});
  };
  const shorn = (answer) => {
    if (answer === null || answer === undefined) return answer;
    const { marks, last, before, diverged, changed, ...rest } = answer;
    return {
      ...rest,
      ...(without.includes('marks') || marks === undefined ? {} : { marks }),
      ...(without.includes('marks') || last === undefined ? {} : { last }),
      ...(without.includes('marks') || before === undefined ? {} : { before }),
      ...(without.includes('marks') || diverged === undefined ? {} : { diverged }),
      ...(without.includes('changed') || changed === undefined ? {} : { changed }),
    };
  };
  const store = {
    keeps: memoryStore().keeps,
    ...(exclusive ? { exclusive: true } : {}),
    commit: async (change) => shorn(await write('commit', [change])),
    load: async (key, query) => shorn(await inner.load(key, query, {})),
    list: async (query) => await inner.list(query, {}),
    remove: async (key, _, guard) => {
      done.push(['remove', [key]]);
      await inner.remove(key, {}, guard);
    },
    loadScope: async (scope) => await inner.loadScope(scope, {}),
  };
  return {
    store,
    /** The content of the store itself. */
    has: async (key) => await inner.load(key, {}, {}),
    scope: async (scope) => (await inner.loadScope(scope, {})).state,
    snapshot: () => done.slice(),
    restore: replay,
  };
}
