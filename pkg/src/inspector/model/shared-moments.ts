// The `app:` and `user:` keys at the moments of a session: by its own log at once, and exactly once the source was
// asked, because other sessions write these keys, too.

import type { Json, Session } from '../../index.js';
import type { KeyPast, KeyPasts } from './key-past.js';
import { splitKey } from './log.js';

type State = Readonly<Record<string, Json>>;

/** An answer of the source for one revision. */
interface Answer {
  readonly values: ReadonlyMap<string, Json>;
  readonly exact: boolean;
}

/** The most answers that are kept. */
const KEPT = 500;

/** True for an `app:` or `user:` key. */
export function isShared(key: string): boolean {
  // Most keys have no prefix at all.
  const scope = key.includes(':') ? splitKey(key).scope : 'session';
  return scope === 'app' || scope === 'user';
}

const sharedParts = new WeakMap<State, ReadonlyMap<string, Json>>();

/** The `app:` and `user:` keys of a state, looked for once: it may have thousands of others. */
export function sharedIn(state: State): ReadonlyMap<string, Json> {
  let shared = sharedParts.get(state);
  if (shared === undefined) {
    const keys = Object.keys(state).filter(isShared);
    shared = new Map(keys.map((key) => [key, state[key] as Json]));
    sharedParts.set(state, shared);
  }
  return shared;
}

/** The shared keys of one session, as far as they are known. */
export class SharedMoments {
  readonly #answers = new Map<number, Answer>();

  /** The answer of the source for a revision. */
  answer(revision: number): Answer | undefined {
    return this.#answers.get(revision);
  }

  /** Keeps what the source has answered for a revision. */
  settle(revision: number, state: State, exact: boolean): void {
    this.#answers.set(revision, { values: sharedIn(state), exact });
    const oldest = [...this.#answers.keys()].find((kept) => kept > 0);
    if (this.#answers.size > KEPT && oldest !== undefined) {
      this.#answers.delete(oldest);
    }
  }

  clear(): void {
    this.#answers.clear();
  }

  /**
   * The values at a revision: those of the source; or those of the nearest exact answer before, with what this session
   * has written since; or, without one, what this session has written, and the current values of all other keys.
   */
  at(revision: number, session: Session, pasts: KeyPasts): ReadonlyMap<string, Json> {
    const known = this.#answers.get(revision);
    if (known !== undefined) {
      return known.values;
    }
    const near = this.#nearest(revision);
    const since = near === undefined ? -1 : near.revision;
    const values = near === undefined ? unwritten(session.state, pasts) : new Map(near.values);
    for (const past of pasts.shared) {
      write(values, past, since, revision);
    }
    return values;
  }

  #nearest(revision: number): { readonly revision: number; readonly values: ReadonlyMap<string, Json> } | undefined {
    let nearest: { readonly revision: number; readonly values: ReadonlyMap<string, Json> } | undefined;
    for (const [at, { values, exact }] of this.#answers) {
      if (exact && at <= revision && at > (nearest?.revision ?? -1)) {
        nearest = { revision: at, values };
      }
    }
    return nearest;
  }
}

/** The current values of the keys that the log has not written. */
function unwritten(state: State, pasts: KeyPasts): Map<string, Json> {
  return new Map([...sharedIn(state)].filter(([key]) => pasts.of(key) === undefined));
}

function write(values: Map<string, Json>, past: KeyPast, since: number, until: number): void {
  const last = past.at(until);
  if (last !== undefined && last.revision > since) {
    if (last.to === undefined) {
      values.delete(past.key);
    } else {
      values.set(past.key, last.to);
    }
  }
}
