// Turns at the values of an app and of a user in it, for writes of one service that rest on what they have read there.
//
// Such a write is refused when another comes between its reading and its commit. Of two that go at it at once the one
// that fails pauses, while the other one goes on at once, and again: it would never come through. So there is one
// lane for each scope, whichever keys are written: who shares but one key with others meets them there, and over some
// stores, as encrypted ones, all keys of a scope are guarded together.

import { Queues } from '../../../async/queues.js';
import { isTemp, nameOf } from '../../../model/scope.js';
import type { SharedScope } from '../cache/continuity.js';
import type { Hint } from '../../../store/contract.js';

/** The shared scopes in the order in which everybody takes their lanes: so nobody waits in a circle. */
const ORDER: readonly SharedScope[] = ['app', 'user'];

/** The lanes of one service. Whoever has one waits for nothing but the store. */
export class Lanes {
  readonly #queues = new Queues();

  /** Whether nobody has any of them. */
  get areFree(): boolean {
    return this.#queues.isEmpty;
  }

  /**
   * Runs a task when all that hold these lanes, or have asked for them before, are done: what was read before may be
   * old by then.
   */
  async hold<T>(names: readonly string[], task: () => Promise<T>): Promise<T> {
    const [first, ...others] = names;
    return first === undefined ? await task() : await this.#queues.run(first, () => this.hold(others, task));
  }

  /**
   * Waits until all that hold these lanes now are done, for a write that rests on nothing: it would come between.
   * Nobody waits for it.
   */
  async pass(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (this.#queues.has(name)) {
        await this.#queues.run(name, async () => undefined);
      }
    }
  }
}

/** Whose values are written. */
type SharedTarget = Pick<Hint, 'appName'> & { readonly userId?: string | undefined };

/** The lanes of these scopes. */
export function lanesOf({ appName, userId }: SharedTarget, isWritten: (scope: SharedScope) => boolean): string[] {
  return ORDER.filter(isWritten).map((scope) => JSON.stringify(scope === 'app' ? [appName] : [appName, userId]));
}

/** The lanes of the scopes that these keys belong to. */
export function lanesOfKeys(key: SharedTarget, keys: readonly string[]): string[] {
  const scopes = new Set(keys.filter((name) => !isTemp(name)).map((name) => nameOf(name)[0]));
  return lanesOf(key, (scope) => scopes.has(scope));
}
