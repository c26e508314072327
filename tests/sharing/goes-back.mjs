// A store that can be set back, as a backup is restored or a replica promoted that is behind.

import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../contract/read.mjs';
import { KEY } from '../support/fixtures.mjs';

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

/** One attempt for each call: nothing is tried again. */
export const retry = { attempts: 1 };

/** An event of an agent. */
export const event = (id, stateDelta = {}) => ({ id, author: 'agent', timestamp: 1, actions: { stateDelta } });

/** The ids of the events of a session, in their order. */
export const ids = ({ events }) => events.map(({ id }) => id);

/** A session as the store has it, in the form in which a service shows it. */
export async function stored(back, key = KEY) {
  const found = await back.has(key);
  if (found === null) return undefined;
  const full = (prefix, values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
  const { session, app, user } = found.state;
  const state = plain({ ...session, ...full('app:', app), ...full('user:', user) });
  return { state, ids: found.events.map(({ data }) => JSON.parse(data).id), revision: found.rev };
}

/** A session as a service shows it. */
export const shown = (session) =>
  session && { state: plain(session.state), ids: ids(session), revision: session.revision };
