// A service over a store that gives turns.

import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER } from '../../support/fixtures.mjs';

/** The targets of an update: a session, a user or an app. */
export const TARGETS = { session: KEY, user: USER, app: APP };
/** Resolves when the tasks that wait now are done. */
export const soon = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A store in memory that gives turns. `log` tells in order what was asked of it, `asked` with what. `answer` makes the
 * answer to `reserve`; `tries` says what becomes of each try to write: `lost` writes and loses the answer, `refused`
 * writes nothing, a function runs before.
 */
export function turnStore({ answer, inner = memoryStore() } = {}) {
  const [log, asked, sent, tries] = [[], [], [], []];
  const turns = [];
  const newTurn = (more = {}) => {
    const turn = {
      id: `turn ${turns.length + 1}`,
      contended: false,
      released: 0,
      release: async () => void (log.push('release'), (turn.released += 1)),
      ...more,
    };
    turns.push(turn);
    return turn;
  };
  const store = {
    ...inner,
    watch: undefined,
    load: async (...args) => (log.push('read'), await inner.load(...args)),
    loadScope: async (...args) => (log.push('read'), await inner.loadScope(...args)),
    commit: async (change, context) => {
      log.push('write');
      sent.push(change);
      const next = tries.shift();
      if (next === 'refused') throw Object.assign(new Error('busy'), { name: 'StoreError', code: 'unavailable' });
      if (typeof next === 'function') await next();
      const committed = await inner.commit(change, context);
      if (next === 'lost') throw new Error('the connection was lost');
      return committed;
    },
    reserve: async (target, times, context) => {
      log.push('reserve');
      asked.push({ target, times, context });
      return await (answer === undefined ? newTurn() : answer(newTurn, context));
    },
  };
  delete store.commitMany;
  const service = new SessionService({ store, retry: { attempts: 3, pause: 0 } });
  const theirs = new SessionService({ store: inner });
  /** Counts `names` up; others come between the first `meets` times. Says which run it is. */
  const counting = (names, meets, after = () => undefined) => {
    let runs = 0;
    return async (state) => {
      runs += 1;
      const next = Object.fromEntries(names.map((name) => [name, (state[name] ?? 0) + 1]));
      if (runs <= meets)
        await theirs.updateState(KEY, (other) =>
          Object.fromEntries(names.map((name) => [name, (other[name] ?? 0) + 1])),
        );
      return after(runs) ?? next;
    };
  };
  const open = async () => {
    await theirs.createSession(KEY);
    return { store, service, theirs, log, asked, sent, tries, turns, counting };
  };
  return open();
}
