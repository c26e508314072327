// A safe read-modify-write.

import { notFound } from './append.js';
import { admitDelta, admitString } from './admit.js';
import { StatepadError, isStatepadError } from './errors.js';
import { deepFreeze } from './freeze.js';
import { newId } from './ids.js';
import { checkKey } from './requests.js';
import { isTemp } from './scope.js';
import type { SessionRecord } from './handle.js';
import type { Guard, Memory, Ticket } from './memory.js';
import type { Change } from './store.js';
import type { Event, EventInit, Json, UpdateStateOptions, UpdateStateTarget } from './types.js';

/** Gets the current values and returns a delta, both under full keys. Nothing to write: `undefined` or `{}`. */
export type UpdateFunction = (
  state: Readonly<Record<string, Json>>,
) => Readonly<Record<string, unknown>> | undefined | void | Promise<Readonly<Record<string, unknown>> | undefined | void>;

/** What an update needs of the service. */
export interface UpdateHost {
  readonly memory: Memory;
  readonly now: () => number;
  readonly append: (record: SessionRecord, event: EventInit, guard: Guard) => Event | Promise<Event>;
  /** Runs a write after all earlier ones of the app: what it read must not move while it waits for its store. */
  readonly inTurn: (write: () => unknown) => unknown;
  /** Absent in memory, where nothing may come between preparing and applying. */
  readonly commit: ((change: Omit<Change, 'delta'>, ticket: Ticket) => Promise<void>) | undefined;
}

/** Something that can be read, and written if it has not moved since. */
interface Target {
  readonly read: () => { readonly state: Readonly<Record<string, Json>>; readonly guard: Guard };
  readonly write: (delta: Readonly<Record<string, unknown>>, guard: Guard) => unknown;
}

/** Runs `fn` until its delta is written over what it read. See `SessionService.updateState`. */
export async function updateState(
  target: UpdateStateTarget,
  fn: UpdateFunction,
  options: UpdateStateOptions,
  host: UpdateHost,
): Promise<Readonly<Record<string, Json>>> {
  const { attempts = 100 } = options;
  if (!Number.isSafeInteger(attempts) || attempts < 1) {
    throw new StatepadError('INVALID_ARGUMENT', 'attempts must be a whole number from 1', { path: 'attempts' });
  }
  const { read, write } = resolve(target, options, host);
  for (let attempt = 1; ; attempt++) {
    const { state, guard } = read();
    const answer = fn(state);
    // Whatever needs no waiting is written at once: nothing can come between.
    const delta = answer instanceof Promise ? await answer : answer;
    if (!delta || Object.keys(delta).length === 0) {
      return state;
    }
    refuseTemp(delta);
    try {
      await host.inTurn(() => write(delta, guard));
      return read().state;
    } catch (error) {
      if (!isConflict(error)) {
        throw error;
      }
      if (attempt === attempts) {
        throw new StatepadError('STATE_CONFLICT', `the state changed under each of ${attempts} attempts`, { cause: error });
      }
    }
    await pause(attempt);
  }
}

function resolve(target: UpdateStateTarget, options: UpdateStateOptions, host: UpdateHost): Target {
  const { appName, userId, sessionId } = target;
  if (sessionId !== undefined) {
    if (userId === undefined) {
      throw new StatepadError('INVALID_ARGUMENT', 'a sessionId needs a userId', { path: 'userId' });
    }
    return sessionTarget({ appName, userId, sessionId }, options, host);
  }
  admitString(appName, 'appName');
  return scopeTarget(appName, userId === undefined ? undefined : admitString(userId, 'userId'), host);
}

/** A session: what is written becomes an event of it. */
function sessionTarget(key: { appName: string; userId: string; sessionId: string }, options: UpdateStateOptions, host: UpdateHost): Target {
  const { memory } = host;
  const { appName, userId, sessionId } = checkKey(key);
  const find = (): SessionRecord => {
    const record = memory.find({ appName, userId, sessionId });
    if (record === undefined) {
      throw notFound(sessionId);
    }
    return record;
  };
  let record = find();
  return {
    read: () => {
      record = find();
      const app = memory.scopeVersion(appName, undefined);
      const user = memory.scopeVersion(appName, userId);
      return { state: memory.read(record).state, guard: { revision: record.revision, app, user } };
    },
    write: (stateDelta, guard) => {
      if (find() !== record) {
        throw new StatepadError('STATE_CONFLICT', `session "${sessionId}" has been created anew`, { id: sessionId });
      }
      const { author = 'system', invocationId } = options;
      return host.append(record, { author, invocationId, actions: { stateDelta } }, guard);
    },
  };
}

/** A user's and the app's keys, or the app's alone. */
function scopeTarget(appName: string, userId: string | undefined, host: UpdateHost): Target {
  const { memory, now, commit } = host;
  const users = userId === undefined ? [undefined] : [undefined, userId];
  return {
    read: () => {
      const state = Object.create(null) as Record<string, Json>;
      for (const user of users) {
        Object.assign(state, deepFreeze(JSON.parse(memory.scopeText(appName, user, true))));
      }
      const app = memory.scopeVersion(appName, undefined);
      const user = userId === undefined ? undefined : memory.scopeVersion(appName, userId);
      return { state: Object.freeze(state), guard: { app, user } };
    },
    write: async (delta, guard) => {
      const id = newId();
      const time = now();
      const key = userId === undefined ? { appName } : { appName, userId };
      const ticket = memory.prepareUpdate(appName, userId, id, time, admitDelta(delta, 'delta'), guard);
      if (commit !== undefined) {
        await commit({ id, kind: 'update', key, time }, ticket);
      }
      memory.applyUpdate(appName, userId, ticket);
    },
  };
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
  const most = Math.min(50, 2 ** Math.min(attempt, 6));
  await new Promise((resolve) => setTimeout(resolve, Math.random() * most));
}
