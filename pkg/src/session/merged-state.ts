// The state of a session as one record, merged from its scopes at the first access.

import { put } from '../model/json.js';
import { ScopeVersion, type SessionVersions } from './scope-version.js';
import type { Json } from '../model/types.js';

export type State = Readonly<Record<string, Json>>;

/**
 * An object of at most so many keys is copied faster than it is filled: its members are stored in a row. A larger one
 * is a dictionary, which is filled faster than it is copied.
 */
const MOST_COPIED = 100;

/** The last merged state of a session, for all handles that show the same versions. */
export class MergedState {
  #versions: SessionVersions = [NO_VALUES, NO_VALUES, NO_VALUES];
  /** The record of these versions without `temp:` values, once it was made. */
  #state: State | undefined;
  /** An object with the same values that nobody else has: it is updated in place, and copied. */
  #shadow: Record<string, Json> | undefined;
  #size = 0;

  /** The record of these versions, with the `temp:` values of an invocation over them. */
  of(versions: SessionVersions, temp: ReadonlyMap<string, Json> | undefined): State {
    if (!isSame(versions, this.#versions)) {
      this.#shadow = this.#size <= MOST_COPIED ? this.#shadowAt(versions) : undefined;
      this.#versions = versions;
      this.#state = undefined;
    }
    if (temp === undefined || temp.size === 0) {
      return (this.#state ??= Object.freeze(this.#record()));
    }
    const state = this.#record();
    temp.forEach((value, key) => put(state, key, value));
    return Object.freeze(state);
  }

  /** A record of the values that may still be written to. */
  #record(): Record<string, Json> {
    if (this.#shadow !== undefined) {
      return { ...this.#shadow };
    }
    const state: Record<string, Json> = {};
    this.#size = 0;
    for (const version of this.#versions) {
      const { keys, values } = version.list();
      for (let slot = 0; slot < values.length; slot++) {
        const value = values[slot];
        if (value !== undefined) {
          put(state, keys[slot] as string, value);
          this.#size += 1;
        }
      }
    }
    return state;
  }

  /** The shadow brought up to date, a new one when the keys are unchanged, or nothing. */
  #shadowAt(versions: SessionVersions): Record<string, Json> | undefined {
    const shadow = this.#shadow;
    const hasSameKeys = versions.every((version, index) =>
      ScopeVersion.changes(this.#versions[index] as ScopeVersion, version, (key, value) => {
        if (shadow !== undefined) {
          put(shadow, key, value);
        }
      }),
    );
    return hasSameKeys ? (shadow ?? newShadow(versions)) : undefined;
  }
}

const NO_VALUES = ScopeVersion.unwritten;

function isSame(one: SessionVersions, two: SessionVersions): boolean {
  return one[0] === two[0] && one[1] === two[1] && one[2] === two[2];
}

/** An object with members in a row, as a parser creates it: one that is filled is a dictionary. */
function newShadow(versions: SessionVersions): Record<string, Json> {
  const entries: [string, Json][] = [];
  for (const version of versions) {
    const { keys, values } = version.list();
    values.forEach((value, slot) => value !== undefined && entries.push([keys[slot] as string, value]));
  }
  const shadow = JSON.parse(`{${entries.map(([key]) => `${JSON.stringify(key)}:null`).join()}}`) as Record<
    string,
    Json
  >;
  entries.forEach(([key, value]) => put(shadow, key, value));
  return shadow;
}
