// One write to the state of a target, under conditions that its caller names.

import { admitDelta, type AdmittedDelta } from '../../input/admit.js';
import { checkTarget } from '../../input/requests.js';
import { admitString, checkObject, checkOptionalString, checkSignal, invalid } from '../../checks/arguments.js';
import { Handovers } from '../../async/handovers.js';
import { conflictPause } from '../../async/conflict-pause.js';
import { isThenable } from '../../async/thenable.js';
import { isStatepadError } from '../../model/errors.js';
import { isTemp, nameOf, type StoredScope } from '../../model/scope.js';
import { isStoreError } from '../../store/store-error.js';
import { stateAt } from '../past.js';
import { currentLog, type RequestComponents } from '../current-log.js';
import type { BackendAccess } from '../../backend/backend-access.js';
import { extraKey } from '../../update/conditions.js';
import { notExpected, type UpdateTarget, type WriteConditions } from '../../update/update-target.js';
import type { Once } from '../../model/once.js';
import type { Json, Session, SessionKey, UpdateStateTarget } from '../../model/types.js';
import type { StateWrite } from '../serving-access.js';

type State = Readonly<Record<string, Json>>;

/** The most attempts of a write whose operators the store does not resolve. */
const ATTEMPTS = 100;

/** A checked write. */
export interface WritePlan {
  readonly target: UpdateStateTarget;
  readonly write: StateWrite;
  readonly admitted: AdmittedDelta;
  readonly conditions: Pick<WriteConditions, 'expected' | 'whole'>;
}

/** Checks a write. Throws `INVALID_ARGUMENT` and `VALUE_NOT_JSON`. */
export function checkWrite(request: UpdateStateTarget | Session, write: StateWrite): WritePlan {
  const target = checkTarget(request);
  checkObject(write, 'write');
  const { delta, expected = {}, author, invocationId, signal } = write;
  checkSignal(signal);
  checkOptionalString(author, 'author');
  checkOptionalString(invocationId, 'invocationId');
  const admitted = admitDelta(delta, 'delta');
  for (const key of Object.keys(admitted.delta)) {
    checkWrittenKey(target, key, 'delta');
  }
  checkObject(expected, 'expected');
  const conditions = { expected: expectedByScope(target, expected), whole: expected.whole };
  return { target, write, admitted, conditions };
}

/** Checks that a key belongs to a target. */
function checkWrittenKey({ userId, sessionId }: UpdateStateTarget, key: string, path: string): void {
  const [scope] = nameOf(key);
  if (isTemp(key)) {
    invalid(path, `cannot have the key "${key}", which lives for one invocation`);
  }
  if ((scope === 'session' && sessionId === undefined) || (scope === 'user' && userId === undefined)) {
    invalid(path, `cannot have the key "${key}": the target has no ${scope}`);
  }
}

function expectedByScope(
  target: UpdateStateTarget,
  { set = {}, unset = [] }: NonNullable<StateWrite['expected']>,
): WriteConditions['expected'] {
  const values = admitDelta(set, 'expected.set');
  if (values.operators !== undefined || values.deleted.length > 0) {
    invalid('expected.set', 'must have values, and neither operators nor deletions');
  }
  if (!Array.isArray(unset)) {
    invalid('expected.unset', 'must be a list of keys');
  }
  const groups: Partial<Record<StoredScope, { set: Record<string, Json>; unset: string[] }>> = {};
  const groupOf = (key: string, path: string): [NonNullable<(typeof groups)['app']>, string] => {
    checkWrittenKey(target, admitString(key, path), path);
    const [scope, name] = nameOf(key);
    return [(groups[scope] ??= { set: Object.create(null) as Record<string, Json>, unset: [] }), name];
  };
  for (const key of Object.keys(values.delta)) {
    const [group, name] = groupOf(key, 'expected.set');
    group.set[name] = values.delta[key] as Json;
  }
  for (const key of unset as readonly string[]) {
    const [group, name] = groupOf(key, 'expected.unset');
    group.unset.push(name);
  }
  return groups;
}

/** True if a write takes one attempt: its operators, if it has any, are resolved where it is written. */
export function isSingle({ requests }: BackendAccess, { admitted: { operators } }: WritePlan): boolean {
  return operators === undefined || requests?.resolves(operators) !== false;
}

/** Carries out a write. See `ServingAccess.write`. */
export async function writeState(
  components: RequestComponents,
  access: BackendAccess,
  plan: WritePlan,
  once: Once | undefined,
): Promise<State> {
  const isFinal = isSingle(access, plan);
  const isCompared = access.requests === undefined || !isFinal;
  for (let attempt = 1; ; attempt++) {
    plan.write.signal?.throwIfAborted();
    try {
      return await writeOnce(components, plan, once, isCompared);
    } catch (error) {
      if (isFinal || attempt === ATTEMPTS || !isConflict(error)) {
        throw error;
      }
    }
    await conflictPause(attempt, plan.write.signal);
  }
}

/** One attempt. `isCompared`: the conditions are compared before it, too. */
async function writeOnce(
  { sessions, lease }: RequestComponents,
  { target: key, write, admitted, conditions: named }: WritePlan,
  once: Once | undefined,
  isCompared: boolean,
): Promise<State> {
  const { author, invocationId, signal } = write;
  const conditions = { ...named, once };
  const target: UpdateTarget = await sessions.target(key, { author, invocationId, signal }, lease, conditions);
  const handover = new Handovers().open('');
  // Without a promise no other task of this process can run between the read and the write.
  const read = target(handover);
  const attempt = isThenable(read) ? await read : read;
  const isEmpty = Object.keys(admitted.delta).length === 0;
  if (isCompared || isEmpty) {
    checkExpected(attempt.state, write, conditions);
  }
  return isEmpty ? Object.freeze({ ...attempt.state }) : await attempt.write(write.delta);
}

/** Throws `STATE_CONFLICT` when values are not the expected ones. */
function checkExpected(
  state: State,
  { expected: { set = {}, unset = [] } = {} }: StateWrite,
  conditions: WriteConditions,
): void {
  const valueOf = (key: string): Json | undefined => (Object.hasOwn(state, key) ? state[key] : undefined);
  const wrong =
    Object.keys(set).find((key) => JSON.stringify(valueOf(key)) !== JSON.stringify(set[key])) ??
    unset.find((key) => Object.hasOwn(state, key)) ??
    extraKey(conditions, state);
  if (wrong !== undefined) {
    throw notExpected(undefined, wrong);
  }
}

/** True when others have written at the same time. A conflict with a key is one with the caller's conditions. */
function isConflict(error: unknown): boolean {
  if (!isStatepadError(error) || error.key !== undefined) {
    return false;
  }
  const isRefusedBefore = isStoreError(error.cause) && error.cause.digest !== undefined;
  return !isRefusedBefore && (error.code === 'STATE_CONFLICT' || error.code === 'SESSION_STALE');
}

/**
 * The values of a session right after the event that an earlier attempt of a request has appended; `undefined` where
 * they are not certain.
 */
export async function valuesThen(
  components: RequestComponents,
  { appName, userId, sessionId }: SessionKey,
  eventId: string,
): Promise<State | undefined> {
  try {
    const name = { appName, userId, id: sessionId };
    const { record } = await currentLog(components, name, undefined);
    const index = record.events.findIndex(({ id }) => id === eventId);
    const { state, exact } = await stateAt(components.sessions, name, index + 1, undefined);
    return index >= 0 && exact ? state : undefined;
  } catch {
    return undefined;
  }
}
