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
  readonly change: RowChange | undefined;
  /** The value before the change; absent when there was none. */
  readonly before: Json | undefined;
  /** The row of the moment; absent for a key that only the other moment has. */
  readonly row: KeyRow | undefined;
}

/** The keys of a moment, with the changes of its turn. Those of the `last` moment stay where they are the same. */
export function entriesOfTurn(rows: readonly KeyRow[], last: readonly Entry[] = []): readonly Entry[] {
  return rows.map((row, place) => {
    const same = last[place];
    return same?.row === row
      ? same
      : { ...fieldsOf(row), value: row.value, change: row.change, before: row.before, row };
  });
}

/** The keys of a moment and of another one, with what has changed since the other one. */
export function entriesSince(base: readonly KeyRow[], rows: readonly KeyRow[]): Entry[] {
  const was = new Map(base.map((row) => [row.key, row]));
  const entries = rows.flatMap((row): Entry[] => {
    const before = was.get(row.key);
    const change = changeOf(before, row);
    return row.value === undefined && change === undefined
      ? []
      : [
          {
            ...fieldsOf(row),
            value: row.value,
            change,
            before: change === undefined ? undefined : before?.value,
            row,
          },
        ];
  });
  const kept = new Set(rows.map(({ key }) => key));
  // The past does not know the temp: keys: that these are not there is no deletion.
  const gone = base.filter(({ key, value, scope }) => value !== undefined && scope !== 'temp' && !kept.has(key));
  return [
    ...entries,
    ...gone.map((row): Entry => {
      return { ...fieldsOf(row), value: undefined, change: 'deleted', before: row.value, row: undefined };
    }),
  ];
}

function fieldsOf({ key, name, scope }: KeyRow): Pick<Entry, 'key' | 'name' | 'scope'> {
  return { key, name, scope };
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
export function isFound({ key, row }: Entry, needle: string): boolean {
  return needle === '' || key.toLowerCase().includes(needle) || (row?.text ?? '').toLowerCase().includes(needle);
}

/**
 * Keeps keys in alphabetical order. Time moves over nearly the same keys again and again: these are sorted once.
 */
export class KeyOrder {
  #ranks = new Map<string, number>();
  #last: readonly Entry[] = [];
  /** The places of the last entries, in their order. */
  #order: readonly number[] = [];

  /** The entries in the order of their keys, the same at every moment. */
  sorted(entries: readonly Entry[]): Entry[] {
    const last = this.#last;
    if (entries.length !== last.length || entries.some(({ key }, place) => key !== last[place]?.key)) {
      this.#order = this.#orderOf(entries);
    }
    this.#last = entries;
    return this.#order.map((place) => entries[place] as Entry);
  }

  /** Forgets all keys: those of another session are others. */
  clear(): void {
    this.#ranks.clear();
    [this.#last, this.#order] = [[], []];
  }

  #orderOf(entries: readonly Entry[]): readonly number[] {
    if (entries.some(({ key }) => !this.#ranks.has(key))) {
      const keys = [...new Set([...this.#ranks.keys(), ...entries.map(({ key }) => key)])];
      this.#ranks = new Map(keys.sort(byName).map((key, rank) => [key, rank]));
    }
    const places: (number | undefined)[] = new Array<number | undefined>(this.#ranks.size);
    entries.forEach(({ key }, place) => (places[this.#ranks.get(key) as number] = place));
    return places.filter((place) => place !== undefined);
  }
}

const NAMES = new Intl.Collator('en', { numeric: true });

function byName(one: string, other: string): number {
  return NAMES.compare(splitKey(one).name, splitKey(other).name) || (one < other ? -1 : 1);
}
