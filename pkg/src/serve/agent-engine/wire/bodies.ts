// The rules for sessions and events beyond their protocol buffers.

import { invalidFields } from './errors.js';
import { readMessage, type Message } from './message.js';
import type { Version } from './schema.js';

/** The members of a session that can be changed. */
const UPDATABLE = ['displayName', 'labels', 'sessionState', 'ttl', 'expireTime'];

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

/** Reads a body that has to have nothing in it. */
export function readEmpty(body: unknown): void {
  readMessage('Empty', body, '', 'v1');
}

/** The members that an update writes: those that its mask names, or all that it has. */
export function readMask(mask: string | undefined, message: Message): readonly string[] {
  if (!mask || mask === '*') {
    return UPDATABLE.filter((name) => mask === '*' || message[name] !== undefined);
  }
  return mask.split(',').map((path) => {
    const name = path.trim().replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (!UPDATABLE.includes(name)) {
      throw invalidFields(['update_mask', `Invalid field mask path: ${path}.`]);
    }
    return name;
  });
}

/** The address of the type of a message. */
export function typeOf(version: Version, name: string): string {
  return `type.googleapis.com/google.cloud.aiplatform.${version}.${name}`;
}
