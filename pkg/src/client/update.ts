// The reads and writes of `updateState` over HTTP: the function runs here, and the server compares what it has read.
// Loaded at the first update.

import { readScope, readWithoutEvents } from './reading.js';
import { CREATION_HEADER, type HandleSend } from './through-handle.js';
import { pathTo, PATHS } from '../http/paths.js';
import { admitDelta, type AdmittedDelta } from '../input/admit.js';
import { defined } from '../model/defined.js';
import { isStatepadError, StatepadError } from '../model/errors.js';
import { withDeltas, type Delta } from '../model/delta.js';
import { deepFreeze } from '../model/json.js';
import { resolveOperator } from '../model/operators.js';
import { APP_PREFIX, mergeRecords, underKeys, USER_PREFIX } from '../model/scope.js';
import { ReadTracker, type Reads } from '../update/read-tracker.js';
import { isSessionTarget, type State, type UpdateTarget } from '../update/update-target.js';
import type { Calls } from './calls.js';
import type { Signal } from '../async/abort.js';
import type { Json, UpdateStateOptions, UpdateStateTarget } from '../model/types.js';

export { UpdateQueues, updateState } from '../update/update-state.js';

/** The access of an update to its target. */
export function remoteTarget(
  calls: Calls,
  target: UpdateStateTarget,
  options: UpdateStateOptions,
  send: HandleSend,
): UpdateTarget {
  return async () => {
    const { values, etag } = await readTarget(calls, target, options.signal);
    const reads = new ReadTracker(values);
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (delta) => {
        const admitted = admitDelta(delta, 'delta');
        const read = reads.keysRead();
        const expected = { ...read, ...(reads.isWhole && { whole: true }) };
        try {
          return await write(calls, target, { options, admitted, values, etag, expected, send });
        } catch (error) {
          throw hasChanged(error, admitted, read) ? changed(error) : error;
        }
      },
    };
  };
}

/** The values of a target, and the etag of a session. */
interface ReadTarget {
  readonly values: State;
  readonly etag: string | undefined;
}

/** The current values of a target, under full keys. */
async function readTarget(calls: Calls, target: UpdateStateTarget, signal: Signal | undefined): Promise<ReadTarget> {
  if (isSessionTarget(target)) {
    const { json, headers } = await readWithoutEvents(calls, target, signal);
    return { values: deepFreeze(json.state), etag: headers.get('etag') ?? undefined };
  }
  const { appName, userId } = target;
  const [app, user] = await Promise.all([
    userId === undefined ? readScope(calls, { appName }, signal) : readableScope(calls, { appName }, signal),
    userId === undefined ? {} : readScope(calls, { appName, userId }, signal),
  ]);
  const values = mergeRecords([underKeys(APP_PREFIX, app), underKeys(USER_PREFIX, user)]);
  return { values: deepFreeze(values), etag: undefined };
}

/** The values of an app as sessions show them: a client that may not read them sees none. */
async function readableScope(
  calls: Calls,
  scope: { readonly appName: string },
  signal: Signal | undefined,
): Promise<Record<string, Json>> {
  try {
    return await readScope(calls, scope, signal);
  } catch (error) {
    if (isStatepadError(error) && error.code === 'FORBIDDEN') {
      return {};
    }
    throw error;
  }
}

/** A write under the condition that the values that were read still hold. */
interface ConditionalWrite extends ReadTarget {
  readonly options: UpdateStateOptions;
  readonly admitted: AdmittedDelta;
  readonly expected: Reads & { readonly whole?: boolean };
  readonly send: HandleSend;
}

async function write(
  calls: Calls,
  target: UpdateStateTarget,
  { options, admitted, values, etag, expected, send }: ConditionalWrite,
): Promise<State> {
  const { author, invocationId, signal } = options;
  const { deleted, operators } = admitted;
  const delta: Record<string, Json> = { ...admitted.delta };
  [...deleted, ...Object.keys(operators ?? {})].forEach((key) => delete delta[key]);
  const body = defined({ delta, deleted, operators, expected, author, invocationId });
  const call = { method: 'POST', path: pathOf(target), body, repeats: 'by key', signal } as const;
  const written = async (): Promise<State> => {
    const { json, headers } = await send(async (own) => {
      const all = { ...own, [CREATION_HEADER]: etag };
      return await calls.write<{ state: State }>({ ...call, headers: all });
    });
    return headers.get('statepad-values') === 'unknown'
      ? knownAnyway(values, { set: delta, unset: deleted }, operators)
      : deepFreeze(json.state);
  };
  return isSessionTarget(target) ? await calls.inTurn(target, signal, written) : await written();
}

/**
 * The values right after a write whose answer was lost and cannot be repeated: they are known all the same, as those
 * that were read still held, unless operators have made some of them.
 */
function knownAnyway(values: State, delta: Delta, operators: object | undefined): State {
  if (operators !== undefined) {
    const message = 'the update is stored, but the results of its operators are not known any more';
    throw new StatepadError('COMMIT_UNKNOWN', message, { committed: true });
  }
  return Object.freeze(withDeltas(values, delta));
}

function pathOf(target: UpdateStateTarget): string {
  const { appName, userId } = target;
  if (isSessionTarget(target)) {
    return pathTo(PATHS.updateSessionState, target);
  }
  return userId === undefined
    ? pathTo(PATHS.updateAppState, { appName })
    : pathTo(PATHS.updateUserState, { appName, userId });
}

/**
 * True when a write was refused because of values that the function has read: it runs again. An operator that does not
 * fit a value that the function has not read, or that is as the function has read it, is the function's own fault.
 */
function hasChanged(error: unknown, { operators = {} }: AdmittedDelta, { set, unset }: Reads): boolean {
  if (!isStatepadError(error)) {
    return false;
  }
  if (error.code !== 'STATE_CONFLICT' || error.key === undefined) {
    // Deleted, or created anew: the next read reports it.
    return error.code === 'SESSION_NOT_FOUND';
  }
  const { key } = error;
  const operator = Object.hasOwn(operators, key) ? operators[key] : undefined;
  const isRead = key in set || unset.includes(key);
  return operator === undefined || (isRead && !('fault' in resolveOperator(operator, set[key])));
}

/** The error that lets the function run again. */
function changed(cause: unknown): StatepadError {
  return new StatepadError('STATE_CONFLICT', 'the state changed since it was read', { cause });
}
