// The values of one scope, in the places that the core gives them.

import { ScopeVersion, type Undo, type ValueList } from './scope-version.js';
import type { SlotValues } from '../engine/sessions.js';
import type { Json } from '../model/types.js';

/**
 * So many writes may always come after a version that is still held, and one for so many places: a copy of the places
 * then costs each write little, and what the writes leave behind does not grow old.
 */
const MIN_WRITES = 64;
const SLOTS_PER_WRITE = 8;

const UNWRITTEN = ScopeVersion.unwritten;
const NO_LIST = UNWRITTEN.list();

/**
 * The values of one scope, which move, and the version that handles show of them. Most users and many sessions have no
 * values at all: such a scope has neither lists nor a version of its own.
 */
export class ScopeValues implements SlotValues {
  #list = NO_LIST;
  #head = UNWRITTEN;
  /**
   * Whether a handle may show the newest version, or one that leads to it. While none does, the newest version moves
   * with the scope.
   */
  #isShown = false;
  /** What the change that is being applied has written over, where that is shown. */
  #undo: Undo | undefined;
  /** How many writes the change has made. */
  #changeWrites = 0;
  /** How often it has moved. */
  #moves = 0;
  /** How many writes there were since the last version that nothing leads on from. */
  #writes = 0;

  /** The values as they are now, for a handle that goes on showing them. */
  get head(): ScopeVersion {
    this.#isShown = this.#head !== UNWRITTEN;
    return this.#head;
  }

  /** The value of a key as it is now. */
  get(key: string): Json | undefined {
    const { keys, values } = this.#list;
    // One that was deleted and written again has its newest slot.
    return values[keys.lastIndexOf(key)];
  }

  put(slot: number, key: string, value: Json | undefined): void {
    this.#changeWrites += 1;
    if (this.#list === NO_LIST) {
      // A list that begins with one element has no room for more: most have no more.
      this.#list = { keys: [key], values: [value] };
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
    if (slot < values.length) {
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
      // The places that the old versions know stay in the old list.
      this.#list = withoutHoles(list);
      this.#advance(undo, list);
    } else if (this.#writes > Math.max(MIN_WRITES, list.values.length / SLOTS_PER_WRITE)) {
      // What was held until now holds one copy, and nothing of what comes.
      this.#advance(undo, { keys: list.keys, values: list.values.slice() });
    } else {
      this.#advance(undo, undefined);
    }
  }

  /** Takes over other values, in the order of their keys. */
  replace(keys: string[], values: Json[]): void {
    this.#writes = 0;
    this.#list = { keys, values };
    this.#head = this.#next();
    this.#isShown = false;
  }

  /** Leads from the version that was shown to the next one; or to `end`, which is the same and stays as it is. */
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
