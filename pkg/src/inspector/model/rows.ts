// The state of a session at a moment, key by key: the value, its writer, and the effect of the turn.

import type { Event, Json } from '../../index.js';
import { splitKey, type Scope } from './log.js';

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

/** One key. A row stays the same object while nothing of it changes. */
export interface KeyRow {
  /** With its prefix. */
  readonly key: string;
  /** Without its prefix. */
  readonly name: string;
  readonly scope: Scope;
  /** Absent when the turn deleted the key. */
  readonly value: Json | undefined;
  /** The value as compact JSON; empty when there is none. Made when it is asked for. */
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

/** The members of a row that its key and its value do not tell. */
export type RowFacts = Pick<KeyRow, 'change' | 'before' | 'writer' | 'source'>;

/** A row whose text is made at its first use: most of 20,000 rows are never looked at. */
class Row implements KeyRow {
  readonly key: string;
  readonly name: string;
  readonly scope: Scope;
  readonly value: Json | undefined;
  readonly change: RowChange | undefined;
  readonly before: Json | undefined;
  readonly writer: KeyWriter | undefined;
  readonly source: KeyRow['source'];
  #text: string | undefined;

  constructor(key: string, value: Json | undefined, { change, before, writer, source }: RowFacts) {
    this.key = key;
    ({ scope: this.scope, name: this.name } = splitKey(key));
    this.value = value;
    this.change = change;
    this.before = before;
    this.writer = writer;
    this.source = source;
  }

  get text(): string {
    return (this.#text ??= this.value === undefined ? '' : JSON.stringify(this.value));
  }
}

/** A row. */
export function rowOf(key: string, value: Json | undefined, facts: RowFacts): KeyRow {
  return new Row(key, value, facts);
}

/** The effect of a turn on a key, by its values before and after. */
export function changeOf(before: Json | undefined, after: Json | undefined): RowChange | undefined {
  return isEqual(before, after)
    ? undefined
    : before === undefined
      ? 'added'
      : after === undefined
        ? 'deleted'
        : 'changed';
}

/** True when two values have the same JSON. */
export function isEqual(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (isObject(one) && isObject(other) && JSON.stringify(one) === JSON.stringify(other));
}

function isObject(value: Json | undefined): boolean {
  return typeof value === 'object' && value !== null;
}

/** True when two rows show the same. */
export function isSameRow(one: KeyRow, other: KeyRow): boolean {
  return (
    one.key === other.key &&
    one.change === other.change &&
    one.source === other.source &&
    one.writer?.revision === other.writer?.revision &&
    isEqual(one.value, other.value) &&
    isEqual(one.before, other.before)
  );
}

/** True when a key or its value contains a text, ignoring case. */
export function isFound({ key, text }: KeyRow, query: string): boolean {
  return query === '' || `${key}\n${text}`.toLowerCase().includes(query.toLowerCase());
}

/** The change of each key whose value differs. */
export function differences(before: readonly KeyRow[], after: readonly KeyRow[]): Map<string, RowChange> {
  // Of 20,000 rows nearly all are the same objects in the same places.
  const was = valuesOf(before.filter((row, place) => row !== after[place]));
  const is = valuesOf(after.filter((row, place) => row !== before[place]));
  const changes = new Map<string, RowChange>();
  for (const key of new Set([...was.keys(), ...is.keys()])) {
    const change = changeOf(was.get(key), is.get(key));
    if (change !== undefined) {
      changes.set(key, change);
    }
  }
  return changes;
}

function valuesOf(rows: readonly KeyRow[]): Map<string, Json> {
  return new Map(rows.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value]])));
}
