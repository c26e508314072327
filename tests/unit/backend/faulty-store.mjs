// A service over a store whose commits go as they are told to.

import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY } from '../../support/fixtures.mjs';

export const retry = { attempts: 3, pause: 1 };

/**
 * A store whose next commits go as they are told to: `before` throws and writes nothing, `after` writes and then
 * throws, `hang` writes and never answers, `hangs` never does either.
 */
function faulty(inner = memoryStore(), many = true) {
  const plan = [];
  const seen = [];
  const one = async (change, context) => {
    seen.push(change.id);
    const { before, after, hang, hangs } = plan.shift() ?? {};
    if (before !== undefined) throw before;
    if (hangs) return await new Promise(() => undefined);
    const committed = await inner.commit(change, context);
    if (hang) return await new Promise(() => undefined);
    if (after !== undefined) throw after;
    return committed;
  };
  const store = { ...inner, watch: undefined, commit: one };
  if (many) {
    store.commitMany = async (changes, context) => {
      const answers = [];
      for (const change of changes) {
        answers.push(
          await one(change, context).catch((error) => {
            if (error instanceof StoreError) return error;
            throw error;
          }),
        );
      }
      return answers;
    };
  } else {
    delete store.commitMany;
  }
  return { store, plan, seen, inner };
}

/** A service over a store that fails as told, with a session. */
export async function open(options = {}, many = true) {
  const fault = faulty(memoryStore(), many);
  const service = new SessionService({ store: fault.store, retry, timeout: 50, ...options });
  const session = await service.createSession({ ...KEY, state: { x: 1, 'app:y': 1, 'user:z': 1 } });
  fault.seen.length = 0;
  return { ...fault, service, session };
}

/** The content of the store itself, read past the service. */
export async function stored({ inner }, of = KEY) {
  return await inner.load(of, {}, { signal: new AbortController().signal });
}
