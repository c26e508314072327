// Hashes as the scripts answer with them.

import { unreadable } from '../../store/refusals.js';
import { textOf } from './client.js';
import { parseValue, valuesOf } from '../shared/values.js';
import type { Values } from '../../store/contract.js';

/** A reply that is a list. */
export type List = readonly unknown[];

/** A hash: the values in it, and what else is in it. */
export interface Hash {
  readonly values: Values;
  readonly rest: ReadonlyMap<string, string>;
}

/** Reads a hash: `=name` is `order@position:JSON`, the rest is the store's own. Throws `corrupt`. */
export function hashOf(reply: readonly unknown[] | null, what: string): Hash {
  const rest = new Map<string, string>();
  const fields: { name: string; order: number; json: string }[] = [];
  if (reply === null) {
    throw unreadable(what);
  }
  for (let index = 0; index < reply.length; index += 2) {
    const [name, text] = [textOf(reply[index]), textOf(reply[index + 1])];
    if (name.startsWith('=')) {
      const colon = text.indexOf(':');
      fields.push({ name: name.slice(1), order: Number.parseInt(text, 10), json: text.slice(colon + 1) });
    } else {
      rest.set(name, text);
    }
  }
  const sorted = fields.sort((a, b) => a.order - b.order);
  return { values: valuesOf(sorted.map(({ name, json }) => [name, parseValue(name, json, what)])), rest };
}

/** A reply that has a sign before it, which keeps clients from taking it for something else than a text. */
export function textAfterSign(reply: unknown): string {
  return textOf(reply).slice(1);
}
