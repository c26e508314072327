// The reads and writes of `updateState` over HTTP: the function runs here, and the server compares what it has read.
// Loaded at the first update.

import { readScope, readState } from './reading.js';
import { pathTo, PATHS } from '../http/paths.js';
import { admitDelta, type AdmittedDelta } from '../input/admit.js';
import { defined } from '../model/defined.js';
import { isStatepadError, StatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { resolveOperator } from '../model/operators.js';
import { APP_PREFIX, mergeRecords, underKeys, USER_PREFIX } from '../model/scope.js';
import { ReadTracker, type Reads } from '../update/read-tracker.js';
import { isSessionTarget, type State, type UpdateTarget } from '../update/update-target.js';
import type { Calls } from './calls.js';
import type { LeasedSend } from './under-lease.js';
import type { Signal } from '../async/abort.js';
import type { Json, UpdateStateOptions, UpdateStateTarget } from '../model/types.js';

export { UpdateQueues, updateState } from '../update/update-state.js';

/** The access of an update to its target. */
export function remoteTarget(
  calls: Calls,
  target: UpdateStateTarget,
  options: UpdateStateOptions,
  leased: LeasedSend,
): UpdateTarget {
  return async () => {
    const values = deepFreeze(await readTarget(calls, target, options.signal));
    const reads = new ReadTracker(values);
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (delta) => {
        const admitted = admitDelta(delta, 'delta');
        const read = reads.keysRead();
        const expected = { ...read, ...(reads.isWhole && { whole: true }) };
        try {
          return await write(calls, target, { options, admitted, expected, leased });
        } catch (error) {
          throw hasChanged(error, admitted, read) ? changed(error) : error;
        }
      },
    };
  };
}

/** The current values of a target, under full keys. */
async function readTarget(calls: Calls, target: UpdateStateTarget, signal: Signal | undefined): Promise<State> {
  if (isSessionTarget(target)) {
    return await readState(calls, target, signal);
  }
  const { appName, userId } = target;
  const [app, user] = await Promise.all([
    readScope(calls, { appName }, signal),
    userId === undefined ? {} : readScope(calls, { appName, userId }, signal),
  ]);
  return mergeRecords([underKeys(APP_PREFIX, app), underKeys(USER_PREFIX, user)]);
}

/** A write under the condition that the values that were read still hold. */
interface ConditionalWrite {
  readonly options: UpdateStateOptions;
  readonly admitted: AdmittedDelta;
  readonly expected: Reads & { readonly whole?: boolean };
  readonly leased: LeasedSend;
}

async function write(
  calls: Calls,
  target: UpdateStateTarget,
  { options, admitted, expected, leased }: ConditionalWrite,
): Promise<State> {
  const { author, invocationId, signal } = options;
  const { deleted, operators } = admitted;
  const delta: Record<string, Json> = { ...admitted.delta };
  [...deleted, ...Object.keys(operators ?? {})].forEach((key) => delete delta[key]);
  const body = defined({ delta, deleted, operators, expected, author, invocationId });
  const call = { method: 'POST', path: pathOf(target), body, repeats: 'by key', signal } as const;
  const send = async (): Promise<State> => {
    const { json, headers } = await leased(
      async (lease) => await calls.write<{ state: State }>({ ...call, headers: lease }),
    );
    if (headers.get('statepad-values') === 'unknown') {
      const message = 'the update is stored, but the values right after it are not known any more';
      throw new StatepadError('COMMIT_UNKNOWN', message, { committed: true });
    }
    return deepFreeze(json.state);
  };
  return isSessionTarget(target) ? await calls.inTurn(target, signal, send) : await send();
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
  if (!isStatepadError(error) || error.code !== 'STATE_CONFLICT' || error.key === undefined) {
    return false;
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
