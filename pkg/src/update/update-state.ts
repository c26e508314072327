// A safe read-modify-write. Loaded at the first update.

import { StatepadError, isStatepadError } from '../model/errors.js';
import { conflictPause } from '../async/conflict-pause.js';
import { isTemp, mergeRecords, type StoredScope } from '../model/scope.js';
import { isThenable } from '../async/thenable.js';
import { scopeNameOf, ownScope, type UpdateReservation, type State, type UpdateTarget } from './update-target.js';
import { deltaOf } from './update-answer.js';
import { Handovers, type Handover } from '../async/handovers.js';
import { ReentrantQueues, type QueueTask } from '../async/reentrant-queues.js';
import type { UpdateFunction, UpdateStateTarget } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The updates of one service: they queue by target, and leave the next one what they wrote. */
export class UpdateQueues {
  readonly tasks = new ReentrantQueues();
  readonly handovers = new Handovers();
}

/** One call of `updateState`, checked. */
export interface UpdatePlan {
  /** The most runs of the function. */
  readonly attempts: number;
  /** Updates of one target queue; after a conflict also with all updates of the scope that they share. */
  readonly queues: UpdateQueues;
  readonly target: UpdateStateTarget;
  readonly signal: Signal | undefined;
  readonly reservation?: UpdateReservation | undefined;
}

/** The scopes, ordered by how many share them. */
const WIDTHS = { session: 0, user: 1, app: 2 } as const;

/** Runs `fn` until its delta is written over the values that it read. See `SessionService.updateState`. */
export async function updateState(target: UpdateTarget, fn: UpdateFunction, plan: UpdatePlan): Promise<State> {
  const { queues, signal, reservation } = plan;
  const own = ownScope(plan.target);
  const name = scopeNameOf(plan.target, own);
  const handover = queues.handovers.open(name);
  let isWritten = false;
  try {
    return await queues.tasks.run(name, signal, async (task) => {
      const { state, isNew } = await new Update(target, fn, plan, task, handover).run(own);
      isWritten = isNew;
      return state;
    });
  } finally {
    handover.close();
    reservation?.end(isWritten);
  }
}

/** The result of an attempt. */
interface UpdateResult {
  readonly state: State;
  /** True when something was written. */
  readonly isNew: boolean;
}

/** One call. */
class Update {
  readonly #target: UpdateTarget;
  readonly #fn: UpdateFunction;
  readonly #plan: UpdatePlan;
  readonly #task: QueueTask;
  readonly #handover: Handover;
  /** The number of conflicts, and the last one. */
  #conflicts = 0;
  #lastConflict: Conflict | undefined;

  constructor(target: UpdateTarget, fn: UpdateFunction, plan: UpdatePlan, task: QueueTask, handover: Handover) {
    this.#target = target;
    this.#fn = fn;
    this.#plan = plan;
    this.#task = task;
    this.#handover = handover;
  }

  /** Tries in the queue of a scope, and in that of a wider one after a conflict there. */
  async run(scope: StoredScope): Promise<UpdateResult> {
    const { attempts, queues, target, signal, reservation } = this.#plan;
    for (;;) {
      const shared = this.#lastConflict?.widest ?? reservation?.expectedScope ?? scope;
      if (WIDTHS[shared] > WIDTHS[scope]) {
        return await queues.tasks.run(
          scopeNameOf(target, shared),
          signal,
          async () => await this.run(shared),
          this.#task,
        );
      }
      await this.#waitBeforeAttempt(scope);
      const begin = performance.now();
      const outcome = await this.#attempt();
      if (!(outcome instanceof Conflict)) {
        return outcome;
      }
      outcome.took = performance.now() - begin;
      this.#lastConflict = outcome;
      this.#conflicts += 1;
      if (this.#conflicts >= attempts) {
        throw new StatepadError('STATE_CONFLICT', `the state changed under each of ${attempts} attempts`, {
          cause: outcome.cause,
        });
      }
    }
  }

  /** Waits for a reservation where conflicts are likely, or for a moment after a conflict. */
  async #waitBeforeAttempt(scope: StoredScope): Promise<void> {
    const { reservation } = this.#plan;
    const isContended = this.#conflicts >= 2;
    const isExpected =
      this.#conflicts === 0 ? reservation?.expectedScope !== undefined : reservation?.isContended(scope);
    // An update that a function with the reservation calls would wait for itself.
    if (reservation !== undefined && this.#task.isHead && (isContended || isExpected)) {
      const isLater = await reservation.take(scope, isContended, this.#lastConflict?.took);
      if (isLater) {
        this.#handover.expire();
      }
    }
    if (this.#conflicts > 0 && reservation?.isHeld !== true) {
      await conflictPause(this.#conflicts);
    }
  }

  async #attempt(): Promise<UpdateResult | Conflict> {
    const { signal, reservation } = this.#plan;
    signal?.throwIfAborted();
    // Without a promise no other task of this process can run between the read and the write.
    const read = this.#target(this.#handover);
    const { state, write, widest } = isThenable(read) ? await read : read;
    const answer = this.#task.call(() => this.#fn(state));
    const delta = deltaOf(isThenable(answer) ? await this.#task.wait(answer) : answer, state);
    if (delta === undefined || isEmpty(delta)) {
      // The function's argument may record its reads: the caller gets a plain record.
      return { state: Object.freeze(mergeRecords([state])), isNew: false };
    }
    refuseTemp(delta);
    signal?.throwIfAborted();
    try {
      const written = write(delta, reservation?.id);
      return { state: isThenable(written) ? await written : written, isNew: true };
    } catch (error) {
      if (isConflict(error)) {
        return new Conflict(error, widest?.(delta) ?? 'app');
      }
      throw error;
    }
  }
}

/** Another writer has changed the values that were read. */
class Conflict {
  readonly cause: unknown;
  readonly widest: StoredScope;
  /** The duration of the attempt, in milliseconds. */
  took = 0;
  constructor(cause: unknown, widest: StoredScope) {
    this.cause = cause;
    this.widest = widest;
  }
}

/** True when it has no members at all, not even such as are refused. */
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

/** True when others have changed the values that were read. A conflict with a key is that of an operator. */
function isConflict(error: unknown): boolean {
  const code = isStatepadError(error) && error.key === undefined ? error.code : undefined;
  return code === 'STATE_CONFLICT' || code === 'SESSION_STALE';
}
