// Appends over a store: stored first, then taken over, then shown.

import { appendAgain, appendOf, missing, notFound, repeated, ticketOf, type Append } from '../../session/append.js';
import { StatepadError, isStatepadError } from '../../model/errors.js';
import { guardOf } from './guards.js';
import { OUT, type SessionRecord, type View } from '../../session/handle.js';
import { newId } from '../../model/ids.js';
import { checkKey } from '../../input/requests.js';
import { isStoreError } from '../../store/store-error.js';
import { parseEvent } from './loaded-event.js';
import { NONE, firstOf, shownBy } from './event-range.js';
import type { Draft } from '../../input/event-draft.js';
import type { Ticket } from '../../session/registry.js';
import type { Sent } from './positions.js';
import type { AppendPlan } from '../backend.js';
import type { Change, Committed, Guard, Known } from '../../store/contract.js';
import type { Begin, StoredSessions } from './store-backend.js';
import type { Event, SessionKey } from '../../model/types.js';
import type { Signal } from '../../async/abort.js';

/** An event to append. */
export interface Writing {
  readonly session: AppendPlan['session'];
  readonly draft: Draft;
  /** What the caller wants to hold. */
  readonly guard: Guard;
  /** What the caller has of the scopes, where that is not what memory has. */
  readonly read?: Pick<Known, 'pos' | 'marks'> | undefined;
  readonly signal?: Signal | undefined;
  /** See `Change.turn`. */
  readonly turn?: string | undefined;
}

/** An event that is stored, and what the store has answered; without `stored` it was there before. */
export interface Written {
  readonly event: Event;
  readonly stored?: { readonly change: Change; readonly committed: Committed };
}

/** An append under way. */
interface Task extends Writing {
  readonly view: View | undefined;
  readonly begin: Begin;
}

/** Appends an event under a guard. */
export async function writeEvent(sessions: StoredSessions, writing: Writing): Promise<Written> {
  const { appName, userId, id: sessionId } = writing.session;
  const view = sessions.cache.view(writing.session);
  const key = view?.record.key ?? checkKey({ appName, userId, sessionId });
  return await sessions.inTurn(key, writing.signal, async (begin) => await append(sessions, key, { ...writing, view, begin }));
}

async function append(sessions: StoredSessions, key: SessionKey, task: Task): Promise<Written> {
  const { cache } = sessions;
  const { view, draft } = task;
  let sealed: Append | undefined;
  for (let isSure = sessions.connection.store.exclusive === true; ; isSure = true) {
    const isRemembered = cache.find(key) !== undefined;
    const record = await writable(sessions, key, view);
    try {
      const ticket = ticketOf(cache, record, draft, {});
      if (typeof ticket !== 'number' && !isSure) {
        // Memory has an event of this id. The store may have lost it since.
        await sessions.load(key, NONE, () => undefined);
        continue;
      }
      const prepared: Append = sealed === undefined ? appendOf(record, draft, ticket) : appendAgain(record, draft, ticket, sealed);
      const written = await writtenOf(sessions, record, prepared, task, isRemembered && sealed === undefined);
      if (written === undefined) {
        sealed = prepared;
        continue;
      }
      await show(sessions, key, view);
      if (view !== undefined && prepared.ticket !== undefined) {
        cache.showTemp(view, written.event, prepared.temp);
      }
      return written;
    } finally {
      cache.release(record);
    }
  }
}

/**
 * Has an append stored, if it is not there already. Answers `undefined` when the session that memory had is not there any more
 * and the caller has named none but that of this key: another one may be there by now.
 */
async function writtenOf(
  sessions: StoredSessions,
  record: SessionRecord,
  prepared: Append,
  task: Task,
  isRemembered: boolean,
): Promise<Written | undefined> {
  if (prepared.ticket === undefined) {
    return { event: prepared.event };
  }
  try {
    return await store(sessions, record, prepared, task);
  } catch (error) {
    const isByKey = task.view === undefined && task.guard.created === undefined;
    if (isRemembered && isByKey && isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
      return undefined;
    }
    throw error;
  }
}

/**
 * The session that an append goes to, with all events that the handle shows. It stays in memory until it is released.
 * Throws `SESSION_NOT_FOUND`.
 */
async function writable(sessions: StoredSessions, key: SessionKey, view: View | undefined): Promise<SessionRecord> {
  const { cache } = sessions;
  const { created, deleted } = view?.record ?? {};
  const found = cache.find(key);
  const hold = (record: SessionRecord): SessionRecord => cache.hold(record);
  const isFound = found !== undefined && cache.isCurrent(found);
  const record = deleted ? undefined : isFound ? hold(found) : await sessions.load(key, NONE, hold, { idle: view?.record });
  if (record === undefined) {
    return missing(key);
  }
  try {
    if (created !== undefined && record.created !== created) {
      return missing(key);
    }
    if (view !== undefined) {
      cache.join(view, record);
      const wanted = shownBy(view, cache.isOther(view, record) ? record : undefined);
      if (record.base > firstOf(wanted, record)) {
        await sessions.load(key, wanted, () => undefined);
      }
      if (record.number !== OUT) {
        cache.rebind(view, record);
      }
    }
    return record.number === OUT ? missing(key) : record;
  } catch (error) {
    cache.release(record);
    throw error;
  }
}

/** Brings a handle up to date, with the log that the store has. When that cannot be read, the handle stays behind. */
async function show(sessions: StoredSessions, key: SessionKey, view: View | undefined): Promise<void> {
  const { cache } = sessions;
  if (view === undefined || view.record.deleted) {
    return;
  }
  let record: SessionRecord | undefined;
  try {
    if (view.record.number === OUT) {
      record = await writable(sessions, key, view);
    }
    cache.refresh(view);
  } catch {
    // It is brought up to date when it is used next.
  } finally {
    if (record !== undefined) {
      cache.release(record);
    }
  }
}

/** Has an append stored, and takes it over. */
async function store(sessions: StoredSessions, record: SessionRecord, append: Append, task: Task): Promise<Written> {
  const { draft, guard, begin, view, read, turn } = task;
  const { id, timestamp: time, named } = draft;
  const { cache } = sessions;
  const { key, created } = record;
  const ticket = append.ticket as Ticket;
  const known: Known = { ...cache.known(key, record), ...read };
  const { pos = {}, marks = {} } = known;
  let change: Change;
  let committed: Committed;
  try {
    change = {
      id,
      kind: 'append',
      key,
      time,
      event: { id, time, data: JSON.stringify(append.event) },
      delta: cache.scopedDelta(ticket),
      ...guardOf(sessions.connection.store, { created, ...guard }),
      known: { pos, marks },
      ...(named ? { call: newId() } : {}),
      ...(turn === undefined ? {} : { turn }),
    };
  } catch (error) {
    cache.discard(ticket);
    throw error;
  }
  try {
    committed = await sessions.commit(change, ticket, begin);
  } catch (error) {
    throw await refusal(sessions, error, record, guard);
  }
  const stored = { change, committed };
  if (committed.duplicate) {
    cache.discard(ticket);
    await sessions.reload(record);
    const there = parseEvent(record, { rev: committed.rev, data: committed.data ?? 'null' });
    return { event: repeated(record, draft, append.event, there), stored };
  }
  const sent: Sent = { change, known };
  const settled = cache.settle(record, append, sent, committed, view);
  if (settled === undefined) {
    await sessions.reload(record);
  }
  return { event: settled ?? append.event, stored };
}

/** What the caller is told of an append that failed; and what is here is looked at again before it is used. */
async function refusal(sessions: StoredSessions, error: unknown, record: SessionRecord, guard: Guard): Promise<unknown> {
  const { cache } = sessions;
  const { sessionId: id } = record.key;
  if (!isStoreError(error)) {
    cache.doubt(record);
    return error;
  }
  if (error.code === 'not-found') {
    cache.drop(record);
    return notFound(id);
  }
  await sessions.reload(record);
  const { rev: expected } = guard;
  if (expected === undefined || guard.keys !== undefined) {
    return new StatepadError('STATE_CONFLICT', `the state of session "${id}" changed since it was read`, { id, cause: error });
  }
  const actual = error.actual ?? record.revision;
  const message = `session "${id}" is at revision ${actual}, not at the expected ${expected}`;
  return new StatepadError('SESSION_STALE', message, { id, expected, actual, cause: error });
}
