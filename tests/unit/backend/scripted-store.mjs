// A service over a store whose calls that write go as a script says.

import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

/** An event that sets `stateDelta`. */
export const event = (stateDelta, id) => ({
  ...(id === undefined ? {} : { id }),
  author: 'agent',
  timestamp: 1,
  actions: { stateDelta },
});

/** Long enough for a call to be on its way. */
export const turn = () => new Promise((resolve) => setTimeout(resolve, 5));

/**
 * A store in memory whose calls that write go as `script` says, one entry a try: `lost` writes and loses the answer,
 * `cut` writes nothing and nobody knows, `refused` writes nothing and says so, `stuck` is on its way until
 * `release()`, and nobody waits for it; a function is called before, and what it throws is thrown. `sent` is what was
 * sent.
 */
export function scripted({ keeps } = {}) {
  const inner = memoryStore();
  const script = [];
  const sent = [];
  const stuck = [];
  const lost = () => new Error('the connection was lost');
  const run = async (what, go) => {
    sent.push(what);
    const next = script.shift();
    if (typeof next === 'function') await next();
    if (next === 'refused') throw new StoreError('unavailable', 'too many connections');
    if (next === 'cut') throw lost();
    if (next === 'stuck') {
      stuck.push(go);
      throw lost();
    }
    const answer = await go();
    if (next === 'lost') throw lost();
    return answer;
  };
  const store = {
    ...inner,
    watch: undefined,
    ...(keeps === undefined ? {} : { keeps }),
    commit: async (change, context) => await run(change, () => inner.commit(change, context)),
    remove: async (key, context, guard) => await run({ key, guard }, () => inner.remove(key, context, guard)),
  };
  delete store.commitMany;
  /** Lets the stuck calls arrive now. Answers with the outcome of each. */
  const release = async () =>
    await Promise.all(
      stuck.splice(0).map((go) =>
        go().then(
          () => 'done',
          ({ code }) => code,
        ),
      ),
    );
  const service = new SessionService({ store, retry: { attempts: 3, pause: 1 } });
  const theirs = new SessionService({ store: inner });
  return { service, theirs, inner, script, sent, release };
}
