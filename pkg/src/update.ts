// A safe read-modify-write.

import { StatepadError, isStatepadError } from './errors.js';
import { sleep } from './sleep.js';
import { isTemp, mergeRecords, type StoredScope } from './scope.js';
import { isThenable } from './thenable.js';
import { deltaOf } from './update-answer.js';
import type { Turn, Turns } from './turns.js';
import type { Json, SessionKey, UpdateStateTarget } from './types.js';
import type { Signal } from './signal.js';

/**
 * Gets the current values, read-only, and returns a delta, both under full keys, or a promise of it: anything with a callable
 * `then`. Nothing to write: `{}`; or `undefined`, which development is warned of once, as a function that changes its argument
 * in vain looks the same. Any other answer is `INVALID_ARGUMENT`.
 */
export type UpdateFunction = (
  state: Readonly<Record<string, Json>>,
) => Readonly<Record<string, unknown>> | undefined | void | PromiseLike<Readonly<Record<string, unknown>> | undefined | void>;

type State = Readonly<Record<string, Json>>;

/** What was read, and how to write over it: that throws `STATE_CONFLICT` or `SESSION_STALE` when it holds no more. */
export interface Attempt {
  readonly state: State;
  /** The scope that most others share, of those that the function has looked at. Where that is not known: the app's. */
  readonly widest?: () => StoredScope;
  /** Answers with the values after the update. */
  readonly write: (delta: Readonly<Record<string, unknown>>) => State | Promise<State>;
}

/**
 * Something that can be read, and written if it has not moved since. Reads anew at each call, unless the turn before has left
 * what it wrote.
 */
export type UpdateTarget = (turn: Turn) => Attempt | Promise<Attempt>;

/** How an update goes about it. */
export interface UpdatePlan {
  /** How often the function may run. */
  readonly attempts: number;
  /** Updates of one target take turns; those that have met others also with all of the scope that they share. */
  readonly turns: Turns;
  readonly target: UpdateStateTarget;
  readonly signal: Signal | undefined;
}

/** Runs `fn` until its delta is written over what it read. See `SessionService.updateState`. */
export async function updateState(target: UpdateTarget, fn: UpdateFunction, plan: UpdatePlan): Promise<State> {
  const { attempts, turns, signal } = plan;
  const { appName, userId, sessionId } = plan.target;
  const name = nameOf(appName, userId, sessionId);
  return await turns.run(name, signal, async (turn) => {
    const first = await tryUpdate(target, fn, turn, signal);
    if (!(first instanceof Met)) {
      return first;
    }
    const retry = async (): Promise<State> => {
      let met: Met = first;
      for (let attempt = 2; attempt <= attempts; attempt++) {
        await pause(attempt);
        const outcome = await tryUpdate(target, fn, turn, signal);
        if (!(outcome instanceof Met)) {
          return outcome;
        }
        met = outcome;
      }
      throw new StatepadError('STATE_CONFLICT', `the state changed under each of ${attempts} attempts`, { cause: met.cause });
    };
    const { widest } = first;
    const shared = widest === 'app' ? nameOf(appName) : widest === 'user' ? nameOf(appName, userId) : name;
    return shared === name || attempts === 1 ? await retry() : await turns.run(shared, signal, retry, turn);
  });
}

function nameOf(...ids: readonly (string | undefined)[]): string {
  return JSON.stringify(ids.filter((id) => id !== undefined));
}

/** Somebody else has written what was read. */
class Met {
  readonly cause: unknown;
  readonly widest: StoredScope;
  constructor(cause: unknown, widest: StoredScope) {
    this.cause = cause;
    this.widest = widest;
  }
}

async function tryUpdate(target: UpdateTarget, fn: UpdateFunction, turn: Turn, signal: Signal | undefined): Promise<State | Met> {
  signal?.throwIfAborted();
  // Whatever needs no waiting is done at once: nothing can come between.
  const found = target(turn);
  const { state, write, widest } = isThenable(found) ? await found : found;
  const answer = turn.call(() => fn(state));
  const delta = deltaOf(isThenable(answer) ? await turn.wait(answer) : answer, state);
  if (delta === undefined || isEmpty(delta)) {
    // What the function was given may be watched: what is handed out is a record as any other.
    return Object.freeze(mergeRecords([state]));
  }
  refuseTemp(delta);
  signal?.throwIfAborted();
  try {
    const written = write(delta);
    return isThenable(written) ? await written : written;
  } catch (error) {
    if (isConflict(error)) {
      return new Met(error, widest?.() ?? 'app');
    }
    throw error;
  }
}

/** Whether an update is one of a session. Throws when it names a session without its user. */
export function isSessionTarget(target: UpdateStateTarget): target is SessionKey {
  if (target.sessionId !== undefined && target.userId === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'a sessionId needs a userId', { path: 'userId' });
  }
  return target.sessionId !== undefined;
}

/** Whether there is nothing in it, not even what is refused. */
function isEmpty(delta: object): boolean {
  return Reflect.ownKeys(delta).length === 0;
}

/** Nobody would ever see them. */
function refuseTemp(delta: Readonly<Record<string, unknown>>): void {
  const key = Object.keys(delta).find(isTemp);
  if (key !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `the key "${key}" lives for one invocation: it cannot be updated`, { key });
  }
}

function isConflict(error: unknown): boolean {
  return isStatepadError(error) && (error.code === 'STATE_CONFLICT' || error.code === 'SESSION_STALE');
}

/** Growing, and by chance, so that those who met do not meet again; at most 50 ms. */
async function pause(attempt: number): Promise<void> {
  await sleep(Math.random() * Math.min(50, 2 ** Math.min(attempt - 1, 6)));
}
