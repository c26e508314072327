// Lanes: queues of one service for writes that rest on the values of an app or of a user that they have read.
//
// Such a write is refused when another one comes between its read and its commit. Of two that run concurrently, the
// one that fails pauses, while the other one continues at once, and again: the first would never succeed. So there is
// one lane for each scope, whichever keys are written: a write that shares only one key with others meets them there,
// and some stores, as encrypted ones, guard all keys of a scope together.

import { Queues } from '../../../async/queues.js';
import { SHARED_SCOPES, isTemp, nameOf, type SharedScope } from '../../../model/scope.js';
import type { Hint } from '../../../store/contract.js';

/** The lanes of one service. The holder of a lane waits for nothing but the store. */
export class Lanes {
  readonly #queues = new Queues();

  /** True when no lane is held. */
  get areFree(): boolean {
    return this.#queues.isEmpty;
  }

  /** Runs a task after all earlier holders of these lanes: values that were read before may be outdated by then. */
  async hold<T>(names: readonly string[], task: () => Promise<T>): Promise<T> {
    const [first, ...others] = names;
    return first === undefined ? await task() : await this.#queues.run(first, () => this.hold(others, task));
  }

  /**
   * Waits for the current holders of these lanes, for a write that rests on no values: it would come between. Nobody
   * waits for it.
   */
  async pass(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#queues.has(name)) {
        await this.#queues.run(name, async () => undefined);
      }
    }
  }
}

/** An app or a user whose values are written. */
type SharedTarget = Pick<Hint, 'appName'> & { readonly userId?: string | undefined };

/** The lanes of these scopes. */
export function lanesOf({ appName, userId }: SharedTarget, isWritten: (scope: SharedScope) => boolean): string[] {
  // The order is the same for all writers, so that no cycle can form.
  return SHARED_SCOPES.filter(isWritten).map((scope) =>
    JSON.stringify(scope === 'app' ? [appName] : [appName, userId]),
  );
}

/** The lanes of the scopes that these keys belong to. */
export function lanesOfKeys(key: SharedTarget, keys: readonly string[]): string[] {
  const scopes = new Set(keys.filter((name) => !isTemp(name)).map((name) => nameOf(name)[0]));
  return lanesOf(key, (scope) => scopes.has(scope));
}
