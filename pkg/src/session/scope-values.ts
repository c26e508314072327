// The values of one scope, in the slots that the core assigns.

import { ScopeVersion, type Undo, type ValueList } from './scope-version.js';
import type { Limits } from '../model/limits.js';
import type { SlotValues } from '../engine/sessions.js';
import type { Json } from '../model/types.js';

/**
 * The writes after a version that is still held: at least so many, and one for each of so many slots. The copy of the
 * slots then costs each write little, and the undo entries do not grow without bound.
 */
const MIN_WRITES = 64;
const SLOTS_PER_WRITE = 8;

const UNWRITTEN = ScopeVersion.unwritten;
const NO_LIST = UNWRITTEN.list();

/**
 * The values of one scope, which change, and the version that handles show. Most users and many sessions have no
 * values at all: such a scope has neither lists nor a version of its own.
 */
export class ScopeValues implements SlotValues {
  #list = NO_LIST;
  #head = UNWRITTEN;
  /**
   * True when a handle may show the newest version, or one that leads to it. While none does, the newest version is
   * updated in place.
   */
  #isShown = false;
  /** The values that the current change has overwritten, if a handle shows them. */
  #undo: Undo | undefined;
  /** The writes of the current change. */
  #changeWrites = 0;
  /** The number of keys that have a value. */
  #count = 0;
  /** Without a store: the bytes of the names and the values, or more than these: see `growth.ts`. */
  bytes = 0;
  isExact = false;
  /** The number of changes. */
  #moves = 0;
  /** The writes since the last version that leads nowhere. */
  #writes = 0;

  /** The current version, for a handle that goes on showing it. */
  get head(): ScopeVersion {
    this.#isShown = this.#head !== UNWRITTEN;
    return this.#head;
  }

  /** The number of keys that have a value. */
  get count(): number {
    return this.#count;
  }

  /** Calls `visit` for each key, with its current value. */
  forEach(visit: (key: string, value: Json) => void): void {
    const { keys, values } = this.#list;
    values.forEach((value, slot) => value !== undefined && visit(keys[slot] as string, value));
  }

  /** True when so many more keys and bytes are within the limits for certain. */
  hasRoom(keys: number, bytes: number, limits: Pick<Limits, 'keys' | 'state'>): boolean {
    return !this.isExact && this.#count + keys <= limits.keys && this.bytes + bytes <= limits.state;
  }

  /** The current value of a key. */
  get(key: string): Json | undefined {
    const { keys, values } = this.#list;
    // A key that was deleted and written again has its newest slot.
    return values[keys.lastIndexOf(key)];
  }

  put(slot: number, key: string, value: Json | undefined): void {
    this.#changeWrites += 1;
    if (this.#list === NO_LIST) {
      // A list that begins with one element has no room for more: most never need it.
      this.#list = { keys: [key], values: [value] };
      this.#count = value === undefined ? 0 : 1;
      return;
    }
    const { keys, values } = this.#list;
    if (this.#isShown) {
      if (this.#undo === undefined) {
        this.#undo = [slot, values[slot]];
      } else {
        this.#undo.push(slot, values[slot]);
      }
    }
    this.#count += value === undefined ? 0 : 1;
    if (slot < values.length) {
      this.#count -= values[slot] === undefined ? 0 : 1;
      values[slot] = value;
    } else {
      keys.push(key);
      values.push(value);
    }
  }

  close(isCompacted: boolean): void {
    const [undo, list] = [this.#undo, this.#list];
    if (this.#changeWrites === 0) {
      return;
    }
    this.#writes += this.#changeWrites;
    this.#changeWrites = 0;
    this.#undo = undefined;
    if (this.#head === UNWRITTEN) {
      this.#list = isCompacted ? withoutHoles(list) : list;
      this.#head = this.#next();
    } else if (undo === undefined) {
      this.#list = isCompacted ? withoutHoles(list) : list;
      this.#moves += 1;
      this.#writes = 0;
      this.#head.updateInPlace(this.#moves, this.#list);
    } else if (isCompacted) {
      // The slots of the old versions stay in the old list.
      this.#list = withoutHoles(list);
      this.#advance(undo, list);
    } else if (this.#writes > Math.max(MIN_WRITES, list.values.length / SLOTS_PER_WRITE)) {
      // Versions that are still held share one copy, and nothing that is written later.
      this.#advance(undo, { keys: list.keys, values: list.values.slice() });
    } else {
      this.#advance(undo, undefined);
    }
  }

  /** Takes over other values, in the order of their keys. */
  replace(keys: string[], values: Json[]): void {
    this.#writes = 0;
    this.#list = { keys, values };
    this.#count = keys.length;
    this.#head = this.#next();
    this.#isShown = false;
  }

  /**
   * Leads from the version that was shown to the next one; or to `end`, which has the same values and never changes.
   */
  #advance(undo: Undo, end: ValueList | undefined): void {
    const old = this.#head;
    this.#head = this.#next();
    if (end === undefined) {
      old.supersede(this.#head, undo);
    } else {
      this.#writes = 0;
      this.#isShown = false;
      old.supersede(new ScopeVersion(this, this.#moves, end), undo);
    }
  }

  #next(): ScopeVersion {
    this.#moves += 1;
    return new ScopeVersion(this, this.#moves, this.#list);
  }
}

function withoutHoles({ keys, values }: ValueList): ValueList {
  const remaining: ValueList = { keys: [], values: [] };
  values.forEach((value, slot) => {
    if (value !== undefined) {
      remaining.keys.push(keys[slot] as string);
      remaining.values.push(value);
    }
  });
  return remaining;
}
