// The keys of a moment with what has changed: in its turn, or since another moment.

import type { Json } from '../../index.js';
import { splitKey, type Scope } from '../model/log.js';
import type { KeyRow, RowChange } from '../model/rows.js';

/** A key as the tree shows it. */
export interface Entry {
  /** With its prefix. */
  readonly key: string;
  /** Without its prefix. */
  readonly name: string;
  readonly scope: Scope;
  /** Absent when the key is not there, or not any more. */
  readonly value: Json | undefined;
  /** The value as compact JSON; empty when there is none. */
  readonly text: string;
  readonly change: RowChange | undefined;
  /** The value before the change; absent when there was none. */
  readonly before: Json | undefined;
  /** The row of the moment; absent for a key that only the other moment has. */
  readonly row: KeyRow | undefined;
}

/** The keys of a moment, with the changes of its turn. */
export function entriesOfTurn(rows: readonly KeyRow[]): Entry[] {
  return rows.map((row) => ({ ...fieldsOf(row), change: row.change, before: row.before, row }));
}

/** The keys of a moment and of another one, with what has changed since the other one. */
export function entriesSince(base: readonly KeyRow[], rows: readonly KeyRow[]): Entry[] {
  const was = new Map(base.map((row) => [row.key, row]));
  const entries = rows.flatMap((row): Entry[] => {
    const before = was.get(row.key);
    const change = changeOf(before, row);
    return row.value === undefined && change === undefined
      ? []
      : [{ ...fieldsOf(row), change, before: change === undefined ? undefined : before?.value, row }];
  });
  const kept = new Set(rows.map(({ key }) => key));
  // The past does not know the temp: keys: that these are not there is no deletion.
  const gone = base.filter(({ key, value, scope }) => value !== undefined && scope !== 'temp' && !kept.has(key));
  return [
    ...entries,
    ...gone.map((row): Entry => {
      const { key, name, scope, value } = row;
      return { key, name, scope, value: undefined, text: '', change: 'deleted', before: value, row: undefined };
    }),
  ];
}

function fieldsOf({
  key,
  name,
  scope,
  value,
  text,
}: KeyRow): Pick<Entry, 'key' | 'name' | 'scope' | 'value' | 'text'> {
  return { key, name, scope, value, text };
}

function changeOf(before: KeyRow | undefined, after: KeyRow): RowChange | undefined {
  if (after.scope === 'temp') {
    return undefined;
  }
  const [was, is] = [
    before?.value === undefined ? undefined : before.text,
    after.value === undefined ? undefined : after.text,
  ];
  return was === is ? undefined : was === undefined ? 'added' : is === undefined ? 'deleted' : 'changed';
}

/** True when a key or its value contains a text in lower case. */
export function isFound({ key, text }: Entry, needle: string): boolean {
  return needle === '' || key.toLowerCase().includes(needle) || text.toLowerCase().includes(needle);
}

/**
 * Keeps keys in alphabetical order. Time moves over nearly the same keys again and again: these are sorted once.
 */
export class KeyOrder {
  #ranks = new Map<string, number>();

  /** The entries in the order of their keys, the same at every moment. */
  sorted(entries: readonly Entry[]): Entry[] {
    if (entries.some(({ key }) => !this.#ranks.has(key))) {
      const keys = [...new Set([...this.#ranks.keys(), ...entries.map(({ key }) => key)])];
      this.#ranks = new Map(keys.sort(byName).map((key, rank) => [key, rank]));
    }
    const places: (Entry | undefined)[] = new Array<Entry | undefined>(this.#ranks.size);
    for (const entry of entries) {
      places[this.#ranks.get(entry.key) as number] = entry;
    }
    return places.filter((entry) => entry !== undefined);
  }

  /** Forgets all keys: those of another session are others. */
  clear(): void {
    this.#ranks.clear();
  }
}

const NAMES = new Intl.Collator('en', { numeric: true });

function byName(one: string, other: string): number {
  return NAMES.compare(splitKey(one).name, splitKey(other).name) || (one < other ? -1 : 1);
}
