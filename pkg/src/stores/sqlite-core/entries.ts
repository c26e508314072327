// The last changes of a scope, as the columns `recent` and `statepad_changes.entries` hold them.

import { inOrder, type Entry } from './rows.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { namesIn, parseValue, valuesOf } from '../shared/values.js';
import type { Delta } from '../../store/contract.js';

/** After how many changes, or after a change of how many characters, `recent` moves to `statepad_changes`. */
export const RECENT = { changes: 32, characters: 200 };

/** The most bytes of `recent` before a change comes to it: a character takes three at most. */
export const RECENT_BYTES = 3 * RECENT.changes * RECENT.characters;

/** The most characters of a change. Of one that has more, no names are kept: the scope is read whole instead. */
const ENTRY_LIMIT = 20_000;

/** The mark of a change, and the names that it has set or deleted, as their columns hold them. */
export interface ScopeChange {
  readonly mark: string;
  readonly names: readonly string[];
}

/** A change of a scope as `recent` has it. */
export function entryOf(mark: string, delta: Delta): string {
  const entry = `,${JSON.stringify([mark, ...namesIn(delta).map(toColumn)])}`;
  return entry.length > ENTRY_LIMIT ? `,${JSON.stringify([mark])}` : entry;
}

/** The changes of a scope by their positions, of a text whose last one is at `pos`. */
export function changesIn(pos: number, entries: string): [pos: number, change: ScopeChange][] {
  const items = JSON.parse(`[${entries.slice(1)}]`) as [string, ...string[]][];
  return items.map(([mark, ...names], index) => [pos - items.length + 1 + index, { mark, names }]);
}

/**
 * The names that the changes of a scope concern from behind the position `since` up to `pos`, each once. `undefined`
 * where that is not known for sure: the one that came to `since` has another mark, or is forgotten.
 */
export function namesSince(
  changes: ReadonlyMap<number, ScopeChange>,
  since: number,
  mark: string,
  pos: number,
): readonly string[] | undefined {
  if (changes.get(since)?.mark !== mark) {
    return undefined;
  }
  const touched = new Set<string>();
  for (let at = since + 1; at <= pos; at++) {
    const names = changes.get(at)?.names ?? [];
    if (names.length === 0) {
      return undefined;
    }
    names.forEach((name) => touched.add(name));
  }
  return [...touched];
}

/**
 * The changes to names since a position, by the entries of those that have a value now. Those that have come since are
 * in `unset`, too: they may have been there before.
 */
export function deltaOf(names: readonly string[], entries: readonly Entry[], since: number, whose: string): Delta {
  const sorted = inOrder(entries);
  const kept = new Map(sorted.filter(({ born }) => born <= since).map((entry) => [entry.name, entry]));
  const touched = names.map(fromColumn);
  const told = [...touched.flatMap((name) => kept.get(name) ?? []), ...sorted.filter(({ born }) => born > since)];
  const set = valuesOf(told.map(({ name, value }) => [name, parseValue(name, value, whose)]));
  return { set, unset: touched.filter((name) => !kept.has(name)) };
}
