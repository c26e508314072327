// A safe read-modify-write.

import { StatepadError, isStatepadError } from '../model/errors.js';
import { sleep } from '../async/sleep.js';
import { isTemp, mergeRecords, type StoredScope } from '../model/scope.js';
import { isThenable } from '../async/thenable.js';
import {
  nameOf,
  ownScope,
  type Reservation,
  type State,
  type UpdateFunction,
  type UpdateTarget,
} from '../backend/update-target.js';
import { deltaOf } from './update-answer.js';
import { ExclusiveQueues, type QueueTurn } from '../async/reentrant-queues.js';
import type { UpdateStateTarget } from '../model/types.js';
import type { Signal } from '../async/abort.js';

export { ExclusiveQueues };

/** How an update goes about it. */
export interface UpdatePlan {
  /** How often the function may run. */
  readonly attempts: number;
  /** Updates of one target take turns; those that have met others also with all of the scope that they share. */
  readonly turns: ExclusiveQueues;
  readonly target: UpdateStateTarget;
  readonly signal: Signal | undefined;
  readonly reservation?: Reservation | undefined;
}

/** How many share a scope, by order. */
const WIDTHS = { session: 0, user: 1, app: 2 } as const;

/** Runs `fn` until its delta is written over what it read. See `SessionService.updateState`. */
export async function updateState(target: UpdateTarget, fn: UpdateFunction, plan: UpdatePlan): Promise<State> {
  const { turns, signal, reservation } = plan;
  const own = ownScope(plan.target);
  let isWritten = false;
  try {
    return await turns.runExclusive(nameOf(plan.target, own), signal, async (turn) => {
      const { state, isNew } = await new Update(target, fn, plan, turn).run(own);
      isWritten = isNew;
      return state;
    });
  } finally {
    reservation?.end(isWritten);
  }
}

/** What an attempt has come to. */
interface Done {
  readonly state: State;
  /** Whether anything was written. */
  readonly isNew: boolean;
}

/** One call. */
class Update {
  readonly #target: UpdateTarget;
  readonly #fn: UpdateFunction;
  readonly #plan: UpdatePlan;
  readonly #turn: QueueTurn;
  /** How many attempts have met others, and the last one of them. */
  #count = 0;
  #met: Met | undefined;

  constructor(target: UpdateTarget, fn: UpdateFunction, plan: UpdatePlan, turn: QueueTurn) {
    this.#target = target;
    this.#fn = fn;
    this.#plan = plan;
    this.#turn = turn;
  }

  /** Tries, in the line of a scope; in that of a wider one as soon as others have been met there. */
  async run(scope: StoredScope): Promise<Done> {
    const { attempts, turns, target, signal, reservation } = this.#plan;
    for (;;) {
      const shared = this.#met?.widest ?? reservation?.expected ?? scope;
      if (WIDTHS[shared] > WIDTHS[scope]) {
        return await turns.runExclusive(
          nameOf(target, shared),
          signal,
          async () => await this.run(shared),
          this.#turn,
        );
      }
      await this.#wait(scope);
      const begin = performance.now();
      const outcome = await tryUpdate(this.#target, this.#fn, this.#turn, this.#plan);
      if (!(outcome instanceof Met)) {
        return outcome;
      }
      outcome.took = performance.now() - begin;
      this.#met = outcome;
      this.#count += 1;
      if (this.#count >= attempts) {
        throw new StatepadError('STATE_CONFLICT', `the state changed under each of ${attempts} attempts`, {
          cause: outcome.cause,
        });
      }
    }
  }

  /** Waits until it is worth while to try: for a turn among all where others come between, or a moment. */
  async #wait(scope: StoredScope): Promise<void> {
    const { reservation } = this.#plan;
    const hasMet = this.#count >= 2;
    const isExpected = this.#count === 0 ? reservation?.expected !== undefined : reservation?.isHot(scope);
    // One that a function with the turn has asked for would wait for itself.
    if (reservation !== undefined && this.#turn.isHead && (hasMet || isExpected)) {
      const isLater = await reservation.take(scope, hasMet, this.#met?.took);
      if (isLater) {
        this.#turn.forget();
      }
    }
    if (this.#count > 0 && reservation?.isHeld !== true) {
      await pause(this.#count + 1);
    }
  }
}

/** Another writer has changed what was read. */
class Met {
  readonly cause: unknown;
  readonly widest: StoredScope;
  /** How long the attempt has taken, in milliseconds. */
  took = 0;
  constructor(cause: unknown, widest: StoredScope) {
    this.cause = cause;
    this.widest = widest;
  }
}

async function tryUpdate(
  target: UpdateTarget,
  fn: UpdateFunction,
  turn: QueueTurn,
  plan: UpdatePlan,
): Promise<Done | Met> {
  const { signal, reservation } = plan;
  signal?.throwIfAborted();
  // Without waiting no other task of this process can run between the read and the write.
  const found = target(turn);
  const { state, write, widest } = isThenable(found) ? await found : found;
  const answer = turn.call(() => fn(state));
  const delta = deltaOf(isThenable(answer) ? await turn.wait(answer) : answer, state);
  if (delta === undefined || isEmpty(delta)) {
    // What the function was given may be watched: what is handed out is a record as any other.
    return { state: Object.freeze(mergeRecords([state])), isNew: false };
  }
  refuseTemp(delta);
  signal?.throwIfAborted();
  try {
    const written = write(delta, reservation?.id);
    return { state: isThenable(written) ? await written : written, isNew: true };
  } catch (error) {
    if (isConflict(error)) {
      return new Met(error, widest?.(delta) ?? 'app');
    }
    throw error;
  }
}

/** Whether there is nothing in it, not even what is refused. */
function isEmpty(delta: object): boolean {
  return Reflect.ownKeys(delta).length === 0;
}

/** `temp:` keys are not stored, so writing them here would have no effect. */
function refuseTemp(delta: Readonly<Record<string, unknown>>): void {
  const key = Object.keys(delta).find(isTemp);
  if (key !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `the key "${key}" lives for one invocation: it cannot be updated`, {
      key,
    });
  }
}

/** Whether others have changed what was read. A conflict that names a key is that of an operator of the delta. */
function isConflict(error: unknown): boolean {
  const code = isStatepadError(error) && error.key === undefined ? error.code : undefined;
  return code === 'STATE_CONFLICT' || code === 'SESSION_STALE';
}

/** Grows with the attempts, with jitter, so that conflicting writers drift apart; at most 50 ms. */
async function pause(attempt: number): Promise<void> {
  await sleep(Math.random() * Math.min(50, 2 ** Math.min(attempt - 1, 6)));
}
