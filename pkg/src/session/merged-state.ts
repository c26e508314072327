// The state of a session as one record: made of the values of its scopes when it is looked at.

import { put } from '../model/json.js';
import { ScopeVersion } from './scope-version.js';
import type { Json } from '../model/types.js';

export type State = Readonly<Record<string, Json>>;

/** The values that a handle shows: those of the session, of its app and of its user. */
export type SessionVersions = readonly [own: ScopeVersion, app: ScopeVersion, user: ScopeVersion];

/**
 * Of at most so many keys an object is copied faster than it is filled: its members lie in a row. A larger one is a
 * dictionary, which is filled faster than it is copied.
 */
const MOST_COPIED = 100;

/** The state that was made last for a session, for all handles that show the same. */
export class MergedState {
  #versions: SessionVersions = [NO_VALUES, NO_VALUES, NO_VALUES];
  /** The record of these versions, once one was made without `temp:` values. */
  #state: State | undefined;
  /** An object with the same values that nothing else has: it is brought up to date, and copied. */
  #shadow: Record<string, Json> | undefined;
  #size = 0;

  /** The record that shows these versions, and over them the `temp:` values of an invocation. */
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

  /** A record of the values, which may still be written to. */
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

  /** The shadow, brought up to date; made, when the keys have stayed as they were; or nothing, when they have not. */
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

/** An object of these values whose members lie in a row, as a parser makes it: one that is filled is a dictionary. */
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
