// Keys cross into the core once; after that they go by number.

import { memoryFull } from './core-error.js';
import { wordsFor, writeText } from './transfer-buffers.js';
import { Absent, KeyWord, Shift, intern, released_keys } from './wasm.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { isWellFormed } from '../model/json.js';
import type { StoredScope } from '../model/scope.js';
import type { Json } from '../model/types.js';

/** The word of each key that the core knows: its number, and its scope in the lowest bits. */
const wordsByKey = new Map<string, number>();
/** The keys, by number. */
const keysByNumber: (string | undefined)[] = [];
/** The number of keys interned since the last sweep, and the number that it retained. */
let interned = 0;
let retained = 0;

/** The number of a key lies above the bits of its scope, which are all set for `temp:`. */
const SCOPE_MASK: number = KeyWord.Temp;
const KEY_SHIFT: number = Shift.Key;
const DELETED: number = KeyWord.Deleted;
const NONE: number = Absent.Number;

/** Keys of refused changes are swept as well, when there are so many of them. */
const MAX_REFUSED = 1024;

/** The scope of a key. */
export type KeyScope = StoredScope | 'temp';

/** The scopes, by the lowest bits of a key word. */
const SCOPES: readonly KeyScope[] = [KeyWord.Session, KeyWord.App, KeyWord.User, KeyWord.Temp].reduce<KeyScope[]>(
  (scopes, bits, index) => {
    scopes[bits] = (['session', 'app', 'user', 'temp'] as const)[index] as KeyScope;
    return scopes;
  },
  [],
);

/** A delta under full keys: the values to set (`null` where a key is deleted), and the keys to delete. */
export interface KeyedDelta {
  readonly delta: Readonly<Record<string, Json>>;
  readonly deleted: readonly string[];
}

/** The keys of a delta, and the word of each. */
export interface DeltaWords {
  readonly keys: readonly string[];
  readonly words: readonly number[];
}

/** The word of a key. Throws `CORE_FAILED`, and `VALUE_NOT_JSON` for a key that UTF-8 could not hold. */
export function wordOf(key: string): number {
  return wordsByKey.get(key) ?? internKey(key);
}

/** The word of a key, if the core knows it. */
export function knownWordOf(key: string): number | undefined {
  return wordsByKey.get(key);
}

/** The scope of a key. */
export function scopeOfWord(word: number): KeyScope {
  return SCOPES[word & SCOPE_MASK] as KeyScope;
}

/** True when a key word of a delta deletes its key. */
export function isDeletion(word: number): boolean {
  return (word & DELETED) !== 0;
}

/** The key of a number. */
export function keyOf(number: number): string {
  return keysByNumber[number] ?? unknownKey();
}

function internKey(key: string): number {
  if (!isWellFormed(key)) {
    throw new StatepadError('VALUE_NOT_JSON', `the key ${JSON.stringify(key)} has a lone surrogate: it is not JSON`);
  }
  const word = intern(writeText(key)) >>> 0;
  if (word === NONE) {
    throw memoryFull();
  }
  wordsByKey.set(key, word);
  keysByNumber[word >>> KEY_SHIFT] = key;
  interned += 1;
  return word;
}

/**
 * The keys of a delta and their words. Throws `CORE_FAILED`, and `INVALID_ARGUMENT` for a deleted key that the delta
 * does not have as `null`.
 */
export function wordsOf({ delta, deleted }: KeyedDelta): DeltaWords {
  const keys = Object.keys(delta);
  const words = keys.map(wordOf);
  if (deleted.length > 0) {
    const unmatched = new Set(deleted);
    keys.forEach((key, index) => {
      if (unmatched.has(key) && delta[key] === null) {
        unmatched.delete(key);
        words[index] = ((words[index] as number) | DELETED) >>> 0;
      }
    });
    unmatched.forEach(refuseDeletion);
  }
  return { keys, words };
}

function refuseDeletion(key: string): never {
  const message = `the key "${key}" is listed as deleted, but is not null in the state delta`;
  throw new StatepadError('INVALID_ARGUMENT', message, { key });
}

/** Writes the words of keys where the core reads them. Returns their number. Throws `CORE_FAILED`. */
export function writeWords(words: readonly number[]): number {
  const { length } = words;
  const target = wordsFor(length);
  for (let index = 0; index < length; index++) {
    target[index] = words[index] as number;
  }
  return length;
}

/**
 * Lets the core drop the keys that nothing holds any more. The words of the last answer must have been read, and no
 * delta be in progress. Returns the number of dropped keys.
 */
export function releaseKeys(): number {
  const released = released_keys();
  for (const number of released) {
    const key = keysByNumber[number];
    if (key !== undefined) {
      wordsByKey.delete(key);
      keysByNumber[number] = undefined;
    }
  }
  while (keysByNumber.length > 0 && keysByNumber.at(-1) === undefined) {
    keysByNumber.pop();
  }
  interned = 0;
  retained = wordsByKey.size;
  return released.length;
}

/** Repeats a call that was refused for lack of memory, if releasing keys makes room for it. */
export function withRoom<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    if (isStatepadError(error) && error.reason === 'memory' && releaseKeys() > 0) {
      return call();
    }
    throw error;
  }
}

/** Called after a refused call, so that its keys are not held forever. */
export function releaseRefused(): void {
  if (interned > MAX_REFUSED + retained) {
    releaseKeys();
  }
}

function unknownKey(): never {
  throw new StatepadError('CORE_FAILED', 'the core returned an unknown key');
}
