// The rules for sessions and events beyond their protocol buffers.

import { invalidFields } from './errors.js';
import type { Message } from './message.js';

/** The characters of a label, in its key and its value. */
const LABEL = /^[\p{Ll}\p{Lo}\p{N}_-]{0,64}$/u;

/** Checks that members are there. `path` is what errors call the whole. */
export function checkRequired(message: Message, path: string, names: Readonly<Record<string, string>>): void {
  const missing = Object.keys(names).filter((name) => message[name] === undefined);
  if (missing.length > 0) {
    throw invalidFields(...missing.map((name) => [`${path}.${names[name]}`, 'Required field is not set.'] as const));
  }
}

/** Checks the labels of a session. */
export function checkLabels(labels: unknown): void {
  for (const [key, value] of (labels ?? new Map()) as ReadonlyMap<string, string>) {
    if (key === '' || !LABEL.test(key) || !LABEL.test(value)) {
      throw invalidFields(['session.labels', `Invalid label ${JSON.stringify(key)}.`]);
    }
  }
}
