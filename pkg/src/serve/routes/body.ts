// The JSON of bodies.

import { invalid } from '../../checks/arguments.js';

/**
 * The deepest nesting of a body: that of a value, which the service limits to 100, and of what is around it. A body
 * that is nested deeper would exceed the stack of what looks at it.
 */
const MAX_DEPTH = 128;

/** The JSON of a body; an empty object for an empty body. Throws `INVALID_ARGUMENT`. */
export function parseBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) {
    return {};
  }
  const json = parse(bytes);
  if (isDeeper(json)) {
    invalid('body', `is nested deeper than ${MAX_DEPTH} levels`);
  }
  return json;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function parse(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return invalid('body', 'must be UTF-8');
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return invalid('body', 'must be JSON');
  }
}

/** Looks at one level after the other, without recursion. */
function isDeeper(json: unknown): boolean {
  let level: unknown[] = [json];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      return true;
    }
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value === 'object' && value !== null) {
        for (const member of Object.values(value)) {
          if (typeof member === 'object' && member !== null) {
            next.push(member);
          }
        }
      }
    }
    level = next;
  }
  return false;
}
