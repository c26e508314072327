// One append: prepared now, applied when it is stored.

import { isRepeated, seal, takeTemp, type Draft, type TempDelta } from '../input/event-draft.js';
import { StatepadError } from '../model/errors.js';
import { TEMP, type Guard, type Memory, type Ticket } from './registry.js';
import type { SessionRecord, View } from './handle.js';
import type { Event, SessionKey } from '../model/types.js';

/** An append that the core has agreed to: to be stored, then applied. */
export interface Append {
  readonly event: Event;
  /** Absent when the session has the event already: there is nothing to store and to apply. */
  readonly ticket: Ticket | undefined;
  /** For the eyes of the handle. */
  readonly temp: TempDelta | undefined;
}

/**
 * Prepares an append. Nothing has changed when it throws: `SESSION_NOT_FOUND`, `SESSION_STALE`, `STATE_CONFLICT`,
 * `EVENT_ID_CONFLICT`, `INVALID_ARGUMENT`.
 */
export function prepareAppend(memory: Memory, record: SessionRecord, draft: Draft, guard: Guard): Append {
  return appendOf(record, draft, ticketOf(memory, record, draft, guard));
}

/** The ticket of an append, or the event that the session has under its id. Throws as {@link prepareAppend}. */
export function ticketOf(memory: Memory, record: SessionRecord, draft: Draft, guard: Guard): Ticket | Event {
  if (record.deleted) {
    throw notFound(record.key.sessionId);
  }
  return memory.prepareAppend(record, draft, guard);
}

/** Completes an append. Throws `EVENT_ID_CONFLICT`. */
export function appendOf(record: SessionRecord, draft: Draft, ticket: Ticket | Event): Append {
  if (typeof ticket !== 'number') {
    return { event: repeat(record, draft, ticket), ticket: undefined, temp: undefined };
  }
  const temp = ticket & TEMP ? takeTemp(draft) : undefined;
  return { event: seal(draft), ticket, temp };
}

/** Completes an append once more, for another session: its event was completed before. Throws `EVENT_ID_CONFLICT`. */
export function appendAgain(record: SessionRecord, draft: Draft, ticket: Ticket | Event, { event, temp }: Append): Append {
  if (typeof ticket !== 'number') {
    return { event: repeated(record, draft, event, ticket), ticket: undefined, temp: undefined };
  }
  return { event, ticket, temp };
}

/** Takes over an append that is stored, and brings the handle that it came through up to date. */
export function applyAppend(memory: Memory, record: SessionRecord, { event, ticket, temp }: Append, view: View | undefined): Event {
  if (ticket !== undefined) {
    memory.applyAppend(record, event, ticket, view);
  }
  if (view !== undefined) {
    memory.refresh(view);
  }
  if (view !== undefined && ticket !== undefined) {
    memory.showTemp(view, event, temp);
  }
  return event;
}

/** An event whose id the session has: with equal content it is a success that changes nothing. */
function repeat(record: SessionRecord, draft: Draft, stored: Event): Event {
  takeTemp(draft);
  return repeated(record, draft, seal(draft), stored);
}

/** The stored event, when the one that was given says the same. Throws `EVENT_ID_CONFLICT`. */
export function repeated(record: SessionRecord, draft: Draft, sealed: Event, stored: Event): Event {
  if (!isRepeated(draft, sealed, stored)) {
    const message = `session "${record.key.sessionId}" has another event with the id "${draft.id}"`;
    throw new StatepadError('EVENT_ID_CONFLICT', message, { id: draft.id });
  }
  return stored;
}

/** The error for a session that is not there, or not any more. */
export function notFound(id: string): StatepadError {
  return new StatepadError('SESSION_NOT_FOUND', `session "${id}" not found`, { id });
}

/** Throws that error for the session of a key. */
export function missing({ sessionId }: SessionKey): never {
  throw notFound(sessionId);
}
