// Hashes as the scripts answer with them.

import { StoreError } from '../../store/store-error.js';
import { textOf } from './client.js';
import { emptyValues } from '../shared/values.js';
import type { Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** A hash: the values in it, and what else is in it. */
export interface Hash {
  readonly values: Values;
  readonly rest: ReadonlyMap<string, string>;
}

/** Reads a hash: `=name` is `order@position:JSON`, the rest is the store's own. Throws `corrupt`. */
export function hashOf(reply: readonly unknown[] | null, what: string): Hash {
  const rest = new Map<string, string>();
  const found: { name: string; order: number; json: string }[] = [];
  if (reply === null) {
    throw unreadable(what);
  }
  for (let index = 0; index < reply.length; index += 2) {
    const [name, text] = [textOf(reply[index]), textOf(reply[index + 1])];
    if (name.startsWith('=')) {
      const colon = text.indexOf(':');
      found.push({ name: name.slice(1), order: Number.parseInt(text, 10), json: text.slice(colon + 1) });
    } else {
      rest.set(name, text);
    }
  }
  const values = emptyValues();
  for (const { name, json } of found.sort((a, b) => a.order - b.order)) {
    try {
      values[name] = JSON.parse(json) as Json;
    } catch (cause) {
      throw unreadable(`"${name}" of ${what}`, cause);
    }
  }
  return { values, rest };
}

/** What is thrown when `what` cannot be read. */
export function unreadable(what: string, cause?: unknown): StoreError {
  return new StoreError('corrupt', `${what} cannot be read`, { cause });
}

/** A reply that has a sign before it, which keeps clients from taking it for something else than a text. */
export function textAfterSign(reply: unknown): string {
  return textOf(reply).slice(1);
}
