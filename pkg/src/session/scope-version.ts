// The values of a scope as handles show them. The newest version has the values of the scope itself. An older one
// leads to the next and knows the values that were overwritten; its own values are restored at the first access.
// Nothing counts the holders: a version without any is collected with its undo entries.

import { put, sameJson } from '../model/json.js';
import type { Json } from '../model/types.js';

/** Values by slot, and the key of each slot. A slot without a value is empty. */
export interface ValueList {
  readonly keys: string[];
  readonly values: (Json | undefined)[];
}

/** The keys that have values, with their values. */
export function* entriesOf({ keys, values }: ValueList): Generator<readonly [string, Json]> {
  for (let slot = 0; slot < values.length; slot++) {
    const value = values[slot];
    if (value !== undefined) {
      yield [keys[slot] as string, value];
    }
  }
}

/** The overwritten values: a slot, then its former value, and so on. */
export type Undo = (number | Json | undefined)[];

/** No overwritten values. */
const NO_UNDO: Undo = [];

/** The values of a scope at one moment. */
export class ScopeVersion {
  readonly #scope: object;
  #moves: number;
  #list: ValueList | undefined;
  #next: ScopeVersion | undefined;
  #undo: Undo = NO_UNDO;

  /** The version of a `scope` after so many changes. */
  constructor(scope: object, moves: number, list: ValueList) {
    this.#scope = scope;
    this.#moves = moves;
    this.#list = list;
  }

  /** Values that never change, under full keys. */
  static of(values: Readonly<Record<string, Json>>): ScopeVersion {
    const keys = Object.keys(values);
    return new ScopeVersion(values, 0, { keys, values: keys.map((key) => values[key]) });
  }

  /** The version of every scope before its first write. */
  static readonly unwritten = new ScopeVersion({}, 0, { keys: [], values: [] });

  /** The number of changes since an earlier version; `NaN` for a version of another scope. */
  movesSince(earlier: ScopeVersion): number {
    const isOfSame = this.#scope === earlier.#scope || earlier === ScopeVersion.unwritten;
    return isOfSame ? this.#moves - earlier.#moves : NaN;
  }

  /** The scope has changed, and nobody holds this version: it becomes the newest one. */
  updateInPlace(moves: number, list: ValueList): void {
    this.#moves = moves;
    this.#list = list;
  }

  /** The scope has changed: `next` has its values now, and `undo` those that were overwritten. */
  supersede(next: ScopeVersion, undo: Undo): void {
    this.#list = undefined;
    this.#next = next;
    this.#undo = undo;
  }

  /** The values. A caller must not retain them: those of the newest version change. */
  list(): ValueList {
    return this.#list ?? ScopeVersion.#restore(this);
  }

  /** The values in a record of their own. */
  record(): Record<string, Json> {
    const record: Record<string, Json> = {};
    for (const [key, value] of entriesOf(this.list())) {
      put(record, key, value);
    }
    return record;
  }

  /** Restores the values of a version, and unlinks it from the next. */
  static #restore(version: ScopeVersion): ValueList {
    const chain: ScopeVersion[] = [];
    let end = version;
    while (end.#list === undefined) {
      chain.push(end);
      end = end.#next as ScopeVersion;
    }
    const { keys, values: moved } = end.#list;
    const values = moved.slice();
    // The last write is undone first.
    for (let earlier = chain.pop(); earlier !== undefined; earlier = chain.pop()) {
      const undo = earlier.#undo;
      for (let at = undo.length - 2; at >= 0; at -= 2) {
        values[undo[at] as number] = undo[at + 1];
      }
    }
    version.#list = { keys, values };
    version.#next = undefined;
    version.#undo = NO_UNDO;
    return version.#list;
  }

  /**
   * Calls `visit` with each key that was written between a version and a later one, and its value there; a key may
   * come more than once. Returns true if that version was reached and has the same keys.
   */
  static changes(earlier: ScopeVersion, later: ScopeVersion, visit: (key: string, value: Json) => void): boolean {
    const { keys, values } = later.list();
    let version = earlier;
    while (version !== later) {
      const undo = version.#undo;
      for (let at = 0; at < undo.length; at += 2) {
        const slot = undo[at] as number;
        const value = values[slot];
        if (undo[at + 1] === undefined || value === undefined) {
          return false;
        }
        visit(keys[slot] as string, value);
      }
      const next = version.#next;
      if (next === undefined) {
        return false;
      }
      version = next;
    }
    return true;
  }

  /**
   * The difference between two versions: keys with their values in the later one, `undefined` for missing ones. Where
   * the earlier version leads to the later, only the written keys are compared.
   */
  static difference(earlier: ScopeVersion, later: ScopeVersion): Map<string, Json | undefined> {
    const [before, after] = ScopeVersion.#written(earlier, later) ?? [valuesOf(earlier), valuesOf(later)];
    const difference = new Map<string, Json | undefined>();
    for (const key of before.keys()) {
      if (!after.has(key)) {
        difference.set(key, undefined);
      }
    }
    for (const [key, value] of after) {
      if (!sameJson(before.get(key), value)) {
        difference.set(key, value);
      }
    }
    return difference;
  }

  /**
   * The values of the keys that were written between two versions, in each of them; `undefined` if the earlier one
   * does not lead to the later.
   */
  static #written(earlier: ScopeVersion, later: ScopeVersion): [Map<string, Json>, Map<string, Json>] | undefined {
    const old = new Map<number, Json | undefined>();
    for (let version = earlier; version !== later;) {
      const undo = version.#undo;
      for (let at = 0; at < undo.length; at += 2) {
        const slot = undo[at] as number;
        if (!old.has(slot)) {
          old.set(slot, undo[at + 1]);
        }
      }
      if (version.#next === undefined) {
        return undefined;
      }
      version = version.#next;
    }
    const { keys, values } = later.list();
    const [before, after] = [new Map<string, Json>(), new Map<string, Json>()];
    for (const [slot, value] of old) {
      const now = values[slot];
      if (value !== undefined) {
        before.set(keys[slot] as string, value);
      }
      if (now !== undefined) {
        after.set(keys[slot] as string, now);
      }
    }
    return [before, after];
  }
}

/** The versions that a handle shows: of the session, its app and its user. */
export type SessionVersions = readonly [own: ScopeVersion, app: ScopeVersion, user: ScopeVersion];

function valuesOf(version: ScopeVersion): Map<string, Json> {
  return new Map(entriesOf(version.list()));
}
