// The reads and writes of `updateState` on a session: under a guard for the values that the function has read.

import { appendStored, type AppendRequest, type Appended } from '../operations/append.js';
import type { LeaseHold } from '../../../lease/lease-hold.js';
import { NONE } from '../cache/event-range.js';
import { withResults } from '../commit/operators.js';
import { concurrentDelta } from './concurrent-delta.js';
import { guardOfConditions } from '../../../update/conditions.js';
import { ReadTracker } from '../../../update/read-tracker.js';
import { requestEvent } from '../../../input/event-draft.js';
import { withDeltas } from '../../../model/delta.js';
import { StatepadError, isStatepadError } from '../../../model/errors.js';
import { deepFreeze } from '../../../model/json.js';
import { APP_PREFIX, USER_PREFIX, mergeRecords, underKeys } from '../../../model/scope.js';
import { notFound } from '../../../session/append.js';
import { NO_EVENTS } from '../../../session/event-window.js';
import type { StoreComponents } from '../operations/components.js';
import type { UpdateTarget, WriteConditions } from '../../../update/update-target.js';
import type { Handover } from '../../../async/handovers.js';
import type { View } from '../../../session/handle.js';
import type { SessionRecord } from '../../../session/record.js';
import type { ScopeVersion, SessionVersions } from '../../../session/scope-version.js';
import type { Delta, Guard, Known } from '../../../store/contract.js';
import { storedDeletions } from '../../../model/deletion.js';
import type { Event, Json, SessionKey, UpdateStateOptions } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

type State = Readonly<Record<string, Json>>;

/** The target of a session: a write becomes an event. */
export function sessionTarget(
  components: StoreComponents,
  key: SessionKey,
  options: UpdateStateOptions,
  lease?: LeaseHold,
  conditions?: WriteConditions,
): UpdateTarget {
  const { author = 'system', invocationId, signal } = options;
  const { cache, now } = components;
  const { registry } = cache;
  return async (handover) => {
    // A handle without events: the append brings it up to date.
    const read = (record: SessionRecord) => ({
      ...cache.known(key, record),
      session: registry.read(record, NO_EVENTS),
    });
    const current = await readHandedOver(components, key, handover, read, signal);
    if (current === undefined) {
      throw notFound(key.sessionId);
    }
    const { session, created = '', rev = 0, pos = {}, marks = {} } = current;
    const reads = new ReadTracker(session.state);
    // The append moves the handle on: these are the values of the read.
    const { versions } = registry.view(session) as View;
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (stateDelta, reserved) => {
        const once = conditions?.once;
        const draft = requestEvent({ author, invocationId, actions: { stateDelta } }, now, once);
        const guard: Guard =
          conditions === undefined
            ? { created, keys: reads.guardedKeys(), ...(reads.isWhole ? { rev, pos } : {}) }
            : { created, ...guardOfConditions(conditions, { state: session.state, pos, rev }) };
        const leave = handover.beginWrite();
        try {
          const request: AppendRequest = {
            session,
            draft,
            guard,
            isConditional: conditions !== undefined,
            signal,
            read: { pos, marks },
            reservation: reserved,
            lease,
          };
          const { event, stored } = await appendStored(components, request);
          leave('written');
          if (once !== undefined && (stored === undefined || stored.committed.duplicate)) {
            once.onRepeated?.(false);
            return Object.freeze(withWrites(mergeRecords(valuesAfter(versions, undefined, pos)), event));
          }
          return Object.freeze(mergeRecords(valuesAfter(versions, stored, pos)));
        } catch (error) {
          // Deleted, or created anew: the next read reports it.
          const isDeleted = conditions === undefined && isStatepadError(error) && error.code === 'SESSION_NOT_FOUND';
          throw isDeleted
            ? new StatepadError('STATE_CONFLICT', error.message, { id: key.sessionId, cause: error })
            : error;
        }
      },
    };
  };
}

/** Reads a session that the update before has left in the cache, or loads it. */
async function readHandedOver<T>(
  { cache, loader }: StoreComponents,
  key: SessionKey,
  handover: Handover,
  read: (record: SessionRecord) => T,
  signal: Signal | undefined,
): Promise<T | undefined> {
  const record = handover.read() === undefined ? undefined : cache.registry.find(key);
  // One that expires may be over by the clock of the store.
  return record !== undefined && record.expires === undefined && cache.isCurrent(record)
    ? read(record)
    : await loader.load(key, NONE, read, { signal });
}

/** The scopes of a session in the order of merging. */
const SCOPES = [
  ['session', ''],
  ['app', APP_PREFIX],
  ['user', USER_PREFIX],
] as const;

/**
 * The values of a session's scopes right after a change: those read and written for certain, those of others as far as
 * the store reports them.
 */
function valuesAfter(versions: SessionVersions, stored: Appended['stored'], pos: NonNullable<Known['pos']>): State[] {
  return SCOPES.map(([scope, prefix], index) => {
    const own = stored && withResults(stored.change.delta[scope], stored.committed.results?.[scope]);
    const isShared = stored !== undefined && scope !== 'session';
    const others = isShared ? concurrentDelta(stored.committed, scope, pos[scope], own) : undefined;
    return withDeltas(
      (versions[index] as ScopeVersion).record(),
      deepFreeze(keyed(prefix, others)),
      keyed(prefix, own),
    );
  });
}

/** Values with the writes of a stored event, whose operators have their results. */
function withWrites(values: Record<string, Json>, { actions, customMetadata }: Event): State {
  const written = mergeRecords([values, actions.stateDelta as State]);
  storedDeletions(customMetadata).forEach((key) => delete written[key]);
  return written;
}

/** A delta under full keys. */
function keyed(prefix: string, delta: Delta | undefined): Delta | undefined {
  return delta && { set: underKeys(prefix, delta.set ?? {}), unset: (delta.unset ?? []).map((name) => prefix + name) };
}
