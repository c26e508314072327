// A session of a database, planned for a service: its beginning, its events, and its end.

import { refuse } from '../transfer/refuse.js';
import { storedDeletions, withDeletions } from '../model/deletion.js';
import { isTemp, nameOf } from '../model/scope.js';
import { put, sameJson } from '../model/json.js';
import { storedForm } from '../transfer/planned.js';
import { isBlank } from '../model/ids.js';
import type { Members, Planned } from '../transfer/planned.js';
import type { AdkReader, SessionRow } from './readers/reader.js';
import type { EventInit } from '../model/types.js';
import type { Numbers } from './values.js';

/** The id of the event that ends a session whose row has another state than its events. */
const CORRECTION = 'statepad-import';

/** Reads a session. Throws `INVALID_ARGUMENT` when it cannot be imported. */
export async function planOf(row: SessionRow, reader: AdkReader, numbers: Numbers): Promise<Planned> {
  const { key } = row;
  const { state, created, updated } = contentOf(row, numbers);
  const events = (await reader.events(key, numbers)).map(storedForm);
  const lastWrites = writtenBy(events);
  const beginning = beginningOf(state, lastWrites);
  const correction = correctionOf(state, lastWrites, events.at(-1)?.timestamp ?? updated);
  const isCorrected = correction !== undefined;
  return { key, created, beginning, events: isCorrected ? [...events, correction] : events, isCorrected, state };
}

/** The content of a session's row. Throws `INVALID_ARGUMENT` when no service can have such a session. */
export function contentOf(row: SessionRow, numbers: Numbers): ReturnType<SessionRow['read']> {
  if (isBlank(row.key.sessionId)) {
    refuse('the id of the session is blank');
  }
  const content = row.read(numbers);
  const foreign = Object.keys(content.state).find((name) => isTemp(name) || nameOf(name)[0] !== 'session');
  if (foreign !== undefined) {
    refuse(`the session's own state has the key ${JSON.stringify(foreign)}, which belongs to another scope`);
  }
  return content;
}

/** The own values of a session before its first event, as far as they are known: those that no event has written. */
export function beginningOf(state: Members, lastWrites: ReadonlyMap<string, unknown>): Members {
  return Object.fromEntries(Object.entries(state).filter(([name]) => !lastWrites.has(name)));
}

/** The last write of each of the session's own names: a value or a deletion. */
export function writtenBy(events: readonly EventInit[]): ReadonlyMap<string, Last> {
  const lastWrites = new Map<string, Last>();
  for (const { actions, customMetadata } of events) {
    const deleted = new Set(storedDeletions(customMetadata));
    for (const [key, value] of Object.entries(actions?.stateDelta ?? {})) {
      if (nameOf(key)[0] === 'session') {
        lastWrites.set(key, deleted.has(key) ? undefined : { value });
      }
    }
  }
  return lastWrites;
}

type Last = { readonly value: unknown } | undefined;

/** An event that makes the state that of the row; `undefined` when the events do that. */
function correctionOf(
  state: Members,
  lastWrites: ReadonlyMap<string, Last>,
  timestamp: number,
): EventInit | undefined {
  const delta: Record<string, unknown> = {};
  const deleted: string[] = [];
  for (const [name, last] of lastWrites) {
    if (!Object.hasOwn(state, name)) {
      if (last !== undefined) {
        put(delta, name, null);
        deleted.push(name);
      }
    } else if (last === undefined || !sameJson(last.value, state[name])) {
      put(delta, name, state[name]);
    }
  }
  if (Object.keys(delta).length === 0) {
    return undefined;
  }
  const metadata = { statepad: { imported: 'the row of the session says so' } };
  const actions = { stateDelta: delta, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
  const customMetadata = deleted.length === 0 ? metadata : withDeletions(metadata, deleted);
  return { id: CORRECTION, invocationId: '', author: 'system', timestamp, customMetadata, actions };
}
