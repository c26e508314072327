// The state of a session at a moment, key by key: the value, its writer, and the effect of the turn.

import type { Event, Json, Session } from '../../index.js';
import type { InspectorSource } from './source.js';
import { deltaOf, splitKey, type Log, type Scope } from './log.js';

/** The effect of the moment's turn on a key. */
export type RowChange = 'added' | 'changed' | 'deleted';

/** The writer of a key: an event, or the creation of the session. */
export interface KeyWriter {
  /** Of the event; 0 for the creation. */
  readonly revision: number;
  /** Absent for the creation. */
  readonly event?: Event | undefined;
  /** The value; `undefined` for a deletion. */
  readonly to?: Json | undefined;
}

/** One key. */
export interface KeyRow {
  /** With its prefix. */
  readonly key: string;
  /** Without its prefix. */
  readonly name: string;
  readonly scope: Scope;
  /** Absent when the turn deleted the key. */
  readonly value: Json | undefined;
  /** The value as compact JSON; empty when there is none. */
  readonly text: string;
  readonly change: RowChange | undefined;
  /** The value before the turn, if the turn changed it. */
  readonly before: Json | undefined;
  /** The last write in this session's log. */
  readonly writer: KeyWriter | undefined;
  /**
   * The source of the value: the `writer`'s event, the session's `creation`, `elsewhere` (another session, before or
   * since, or unknown), or the running invocation (`temp`).
   */
  readonly source: 'event' | 'creation' | 'elsewhere' | 'temp';
}

/** A moment of a session. */
export interface Moment {
  readonly session: Session;
  readonly log: Log;
  /** From 0, the creation, to the session's own revision. */
  readonly revision: number;
  /** The `temp:` keys that are visible at the moment. */
  readonly temp: Readonly<Record<string, Json>>;
}

type State = Readonly<Record<string, Json>>;

/** All keys at a moment, including those that its turn has deleted. */
export async function rowsAt(
  service: InspectorSource,
  { session, log, revision, temp }: Moment,
): Promise<readonly KeyRow[]> {
  const first = log.turns[revision - 1];
  const written = first === undefined ? new Set<string>() : keysWritten(log, first, revision);
  const [state, before]: [State, State] = await Promise.all([
    revision === session.revision ? storedStateOf(session) : service.stateAt(session, revision),
    first === undefined ? {} : service.stateAt(session, first - 1),
  ]);
  const deleted = [...written].filter((key) => !Object.hasOwn(state, key) && Object.hasOwn(before, key));
  const keys = [...Object.keys(state), ...deleted];
  const writers = lastWrites(log, revision);
  // An own key that no event has written is from the creation. The service knows the others.
  const unknown = keys.filter((key) => !writers.has(key) && splitKey(key).scope !== 'session');
  const steps = await Promise.all(unknown.map((key) => service.history(session, key, { until: revision, last: 1 })));
  const others = new Map(unknown.map((key, index) => [key, steps[index]?.[0]]));
  const rows = keys.map((key) => {
    const change = written.has(key) ? changeOf(key, before, state) : undefined;
    const turn = change === undefined ? undefined : { change, before: ownOf(before, key) };
    return row(key, ownOf(state, key), turn, writers.get(key) ?? others.get(key));
  });
  return [...rows, ...Object.entries(temp).map(([key, value]) => tempRow(key, value))];
}

/** The current state of a session: others may have written `app:` and `user:` keys since its last event. */
function storedStateOf({ state }: Session): State {
  return Object.fromEntries(Object.entries(state).filter(([key]) => splitKey(key).scope !== 'temp'));
}

function keysWritten(log: Log, from: number, to: number): Set<string> {
  return new Set(log.events.slice(from - 1, to).flatMap((event) => Object.keys(deltaOf(event).delta)));
}

function changeOf(key: string, before: State, after: State): RowChange | undefined {
  const [was, is] = [before, after].map((state) =>
    Object.hasOwn(state, key) ? JSON.stringify(state[key]) : undefined,
  );
  if (was === is) {
    return undefined;
  }
  return was === undefined ? 'added' : is === undefined ? 'deleted' : 'changed';
}

/** The own member of a record, because a key may be named like an inherited member. */
function ownOf(state: State, key: string): Json | undefined {
  return Object.hasOwn(state, key) ? state[key] : undefined;
}

/** The last write of each key in the events of a log. */
function lastWrites(log: Log, until: number): Map<string, KeyWriter> {
  const writers = new Map<string, KeyWriter>();
  log.events.slice(0, until).forEach((event, place) => {
    const { delta, deleted } = deltaOf(event);
    for (const [key, value] of Object.entries(delta)) {
      writers.set(key, { revision: place + 1, event, to: deleted.has(key) ? undefined : (value as Json) });
    }
  });
  return writers;
}

function row(
  key: string,
  value: Json | undefined,
  turn: Pick<KeyRow, 'change' | 'before'> | undefined,
  writer: KeyWriter | undefined,
): KeyRow {
  const text = value === undefined ? '' : JSON.stringify(value);
  const isIts =
    writer !== undefined && (writer.to === undefined ? value === undefined : JSON.stringify(writer.to) === text);
  const { scope, name } = splitKey(key);
  // Own keys without a writer are from a creation that is not recorded.
  const other = scope === 'session' ? 'creation' : 'elsewhere';
  const source = isIts ? (writer.event === undefined ? 'creation' : 'event') : other;
  return { key, name, scope, value, text, change: turn?.change, before: turn?.before, writer, source };
}

function tempRow(key: string, value: Json): KeyRow {
  const text = JSON.stringify(value);
  return {
    key,
    ...splitKey(key),
    value,
    text,
    change: undefined,
    before: undefined,
    writer: undefined,
    source: 'temp',
  };
}

/** True when a key or its value contains a text, ignoring case. */
export function isFound({ key, text }: KeyRow, query: string): boolean {
  return query === '' || `${key}\n${text}`.toLowerCase().includes(query.toLowerCase());
}

/** The change of each key whose value differs. */
export function differences(before: readonly KeyRow[], after: readonly KeyRow[]): Map<string, RowChange> {
  const was = textsOf(before);
  const is = textsOf(after);
  const keys = [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key));
  return new Map(keys.map((key) => [key, was.has(key) ? (is.has(key) ? 'changed' : 'deleted') : 'added']));
}

function textsOf(rows: readonly KeyRow[]): Map<string, string> {
  return new Map(rows.flatMap(({ key, value, text }) => (value === undefined ? [] : [[key, text]])));
}
