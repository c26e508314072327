// A fork over a store: one change after the other, invisible before the last one. A repeated call completes an
// unfinished one. A creation that comes with an event is made in the same way: it continues nothing.

import { limitRefusal } from '../commit/limits.js';
import { checkRequest, requestMembers, requestRefusal } from '../commit/requests.js';
import { creationRefused } from './create.js';
import { dropUnfinished, dropUnfinishedCreation, forkedFromIn, type ForkedFrom } from './unfinished-creation.js';
import { outcomeUnknown } from '../commit/retry.js';
import { uniquePart, unfinishedId } from '../cache/unfinished.js';
import { creationEvent } from '../../../session/creation-event.js';
import { freezeEvent, type EventDraft } from '../../../input/event-draft.js';
import { throwNotFound, notFound } from '../../../session/append.js';
import { isStatepadError, type StatepadError } from '../../../model/errors.js';
import { defined } from '../../../model/defined.js';
import { newId } from '../../../model/ids.js';
import { put } from '../../../model/json.js';
import { refusedBefore } from '../../../model/once.js';
import { nameOf, type StoredScope } from '../../../model/scope.js';
import { isStoreError, type StoreError } from '../../../store/store-error.js';
import type { AdmittedDelta } from '../../../input/admit.js';
import type { ForkPlan, ForkSource } from '../../fork-plan.js';
import type { StoreComponents } from './components.js';
import type { Change, Delta, Loaded } from '../../../store/contract.js';
import type { Json, Session } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** A fork that has begun. */
interface StartedFork {
  readonly created: string;
  /** The number of its events. */
  readonly rev: number;
  /** The revision of the source at which it branches off. */
  readonly revision: number;
}

/** See `SessionBackend.fork`. */
export async function forkStored(
  components: StoreComponents,
  plan: ForkPlan,
  signal: Signal | undefined,
): Promise<Session> {
  const { key } = plan;
  return await components.writer.runExclusive(key, signal, async (start) => {
    // The fork has no effect before its last change: until then the caller may give up.
    const beforeLast = (): void => start(key.sessionId);
    try {
      await fill(components, plan, await begin(components, plan), { signal, beforeLast });
    } catch (error) {
      if (plan.isNew && !(isStatepadError(error) && error.code === 'SESSION_EXISTS')) {
        await removeQuietly(components, plan);
      }
      throw error;
    }
    return await readWhole(components, plan);
  });
}

/** The stored fork. Throws `COMMIT_UNKNOWN` when it cannot be read now. */
async function readWhole({ loader }: StoreComponents, { key }: ForkPlan): Promise<Session> {
  let session: Session | undefined;
  try {
    session = await loader.read(key, undefined);
  } catch (error) {
    throw outcomeUnknown(key.sessionId, error);
  }
  return session ?? throwNotFound(key);
}

/** Creates the session, or finds the unfinished one of an earlier call for the same fork. Throws `SESSION_EXISTS`. */
async function begin(components: StoreComponents, plan: ForkPlan): Promise<StartedFork> {
  const { connection, limits, loader, writer, now } = components;
  const { key, state, source, revision, once, unique, expires } = plan;
  const [time, id] = [now(), unfinishedId(revision + 1, once?.id ?? unique)];
  const from = forkedFrom(source, revision);
  const data = JSON.stringify({ ...creationEvent(time, state, expires?.ttl), forkedFrom: from });
  const delta = ownDelta(state);
  try {
    const event = { id, time, data };
    const request = requestMembers(connection.store, once);
    const committed = await writer.send({
      id,
      kind: 'create',
      key,
      time,
      event,
      delta,
      ...request,
      ...defined({ expires }),
      ...limits.ofOther,
    });
    if (once !== undefined && committed.duplicate) {
      checkRequest(committed, once);
    }
    return { created: id, rev: committed.rev, revision };
  } catch (error) {
    if (!isStoreError(error)) {
      throw error;
    }
    const refusal = requestRefusal(error, once);
    if (refusal !== undefined) {
      throw refusal;
    }
    // A request continues its own fork alone, so that it finds it again.
    const existing = error.code === 'exists' && once === undefined ? await loader.loadUnfinished(key) : null;
    const begun = existing === null ? undefined : sameFork(plan, existing);
    if (begun !== undefined) {
      return begun;
    }
    if (source.sessionId === key.sessionId && existing !== null && (await dropUnfinishedCreation(components, key))) {
      return await begin(components, plan);
    }
    throw creationRefused(error, key);
  }
}

function forkedFrom({ sessionId, created, lastAt }: ForkSource, revision: number): ForkedFrom {
  return { sessionId, created, revision, last: lastAt(revision) };
}

/** The unfinished session, if it is this fork: at the requested revision, or at the one that was current then. */
function sameFork({ source, at }: ForkPlan, unfinished: Loaded): StartedFork | undefined {
  const { created, rev } = unfinished;
  const origin = forkedFromIn(unfinished);
  if (origin === undefined || (at !== undefined && at !== origin.revision)) {
    return undefined;
  }
  const isSame = JSON.stringify(origin) === JSON.stringify(forkedFrom(source, origin.revision));
  return isSame ? { created, rev, revision: origin.revision } : undefined;
}

/** Writes the missing events. An event that another call has written meanwhile is a duplicate. */
async function fill(
  components: StoreComponents,
  plan: ForkPlan,
  { created, rev, revision }: StartedFork,
  { signal, beforeLast }: { readonly signal: Signal | undefined; readonly beforeLast: () => void },
): Promise<void> {
  const { connection, writer, limits } = components;
  const { key, once, eventAt, lastEvent } = plan;
  // The events of a request are one call: once one of them was refused, all are when the request is repeated.
  const request = requestMembers(connection.store, once);
  for (let next = rev + 1; next <= revision + 1; next++) {
    signal?.throwIfAborted();
    const isLast = next > revision;
    const draft = isLast ? lastEvent(revision, uniquePart(created)) : eventAt(next);
    const { id, timestamp: time } = draft;
    const delta = isLast ? deltasOf(draft) : ownDelta(draft);
    const event = { id, time, data: JSON.stringify(freezeEvent(draft)) };
    if (isLast) {
      beforeLast();
    }
    try {
      const call = once === undefined ? newId() : `${once.id}/events`;
      const change = { id, kind: 'append', key, time, event, delta, guard: { created }, call } as const;
      await writer.send({ ...change, ...request, ...limits.ofAppend });
    } catch (error) {
      throw isStoreError(error) ? await refusalOf(components, error, plan, created) : error;
    }
  }
}

/** The error for a refused event. A fork beyond a limit is deleted, as it would keep its id for ever. */
async function refusalOf(
  components: StoreComponents,
  error: StoreError,
  { key, once }: ForkPlan,
  created: string,
): Promise<StatepadError> {
  if (once !== undefined && error.code === 'conflict') {
    return refusedBefore(error);
  }
  const ofLimit = limitRefusal(error, key);
  if (ofLimit !== undefined) {
    await quietly(async () => await dropUnfinished(components, key, (found) => found.created === created));
  }
  // Unless it is beyond a limit, others have deleted it. The cause says that the store has recorded the refusal.
  return ofLimit ?? notFound(key.sessionId, error);
}

/** A delta of the session's own keys. */
function ownDelta({ delta, deleted }: Pick<AdmittedDelta | EventDraft, 'delta' | 'deleted'>): { session?: Delta } {
  const deletedKeys = new Set(deleted);
  const set: Record<string, Json> = {};
  const unset: string[] = [];
  for (const key of Object.keys(delta)) {
    if (deletedKeys.has(key)) {
      unset.push(key);
    } else {
      put(set, key, delta[key] as Json);
    }
  }
  return Object.keys(delta).length === 0 ? {} : { session: { set, unset } };
}

/** The deltas of all scopes. */
function deltasOf({ delta, deleted }: EventDraft): Change['delta'] {
  const scoped: Partial<Record<StoredScope, { set: Record<string, Json>; unset: string[] }>> = {};
  for (const key of Object.keys(delta)) {
    const [scope, name] = nameOf(key);
    const { set, unset } = (scoped[scope] ??= { set: {}, unset: [] });
    if (deleted.includes(key)) {
      unset.push(name);
    } else {
      put(set, name, delta[key] as Json);
    }
  }
  return scoped;
}

/** Deletes a fork that no call can complete, if that is possible now. */
async function removeQuietly({ connection }: StoreComponents, { key }: ForkPlan): Promise<void> {
  await quietly(async () => await connection.ask(async (store, context) => await store.remove(key, context)));
}

/** Tries to delete a fork: the caller gets the error of the fork, and what is left of it is invisible. */
async function quietly(deletion: () => Promise<unknown>): Promise<void> {
  try {
    await deletion();
  } catch (error) {
    if (!isStatepadError(error)) {
      throw error;
    }
  }
}
