// One append: prepared now, applied when it is stored.

import { isRepeated, seal, takeTemp, type Draft } from './draft.js';
import { StatepadError } from './errors.js';
import { TEMP, type Guard, type Memory, type Prepared } from './memory.js';
import type { SessionRecord, View } from './handle.js';
import type { Event } from './types.js';

/** An append that the core has agreed to. */
export type Append =
  /** The session has the event already: there is nothing to store. */
  | { readonly isDone: true; readonly event: Event }
  /** To be stored, then applied. */
  | { readonly isDone: false; readonly event: Event; readonly prepared: Prepared; readonly apply: () => Event };

/**
 * Prepares an append. Nothing has changed when it throws: `SESSION_NOT_FOUND`, `SESSION_STALE`, `STATE_CONFLICT`,
 * `EVENT_ID_CONFLICT`, `INVALID_ARGUMENT`.
 */
export function prepareAppend(memory: Memory, record: SessionRecord, draft: Draft, guard: Guard, view: View | undefined): Append {
  if (record.deleted) {
    throw notFound(record.key.sessionId);
  }
  const prepared = memory.prepareAppend(record, draft, guard);
  if (!('token' in prepared)) {
    return repeat(memory, record, draft, prepared, view);
  }
  const change = prepared as Prepared;
  const temp = change.touched & TEMP ? takeTemp(draft) : undefined;
  const event = seal(draft);
  const apply = () => {
    memory.applyAppend(record, event, change, view);
    if (view !== undefined) {
      memory.showTemp(view, event, temp);
    }
    return event;
  };
  return { isDone: false, event, prepared: change, apply };
}

/** An event whose id the session has: with equal content it is a success that changes nothing. */
function repeat(memory: Memory, record: SessionRecord, draft: Draft, stored: Event, view: View | undefined): Append {
  takeTemp(draft);
  if (!isRepeated(draft, seal(draft), stored)) {
    const message = `session "${record.key.sessionId}" has another event with the id "${draft.id}"`;
    throw new StatepadError('EVENT_ID_CONFLICT', message, { id: draft.id });
  }
  if (view !== undefined) {
    memory.refresh(view);
  }
  return { isDone: true, event: stored };
}

/** The error for a session that is not there, or not any more. */
export function notFound(id: string): StatepadError {
  return new StatepadError('SESSION_NOT_FOUND', `session "${id}" not found`, { id });
}
