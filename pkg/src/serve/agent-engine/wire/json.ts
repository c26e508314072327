// The text of JSON, as Google's servers read it: UTF-8, of a limited depth, with numbers that are doubles.

import { ApiError, notJson } from './errors.js';
import { isWellFormed } from '../../../model/json.js';

/** The deepest nesting of objects and lists. */
const MAX_DEPTH = 100;

/** Reads the body of a request. An empty one is `undefined`. */
export function readJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) {
    return undefined;
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notJson('Encountered non UTF-8 code points.');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(`Unexpected token.\n${text.slice(0, 40)}\n^`);
  }
  checkValue(value, 1, '');
  return value;
}

function checkValue(value: unknown, depth: number, key: string): void {
  if (typeof value === 'string') {
    checkText(value);
  } else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw notJson('Number exceeds the range of double.');
  } else if (typeof value === 'object' && value !== null) {
    if (depth > MAX_DEPTH) {
      const reason = `Message too deep. Max recursion depth reached for key '${key}'`;
      throw new ApiError('INVALID_ARGUMENT', reason);
    }
    for (const [name, member] of Object.entries(value)) {
      checkText(name);
      checkValue(member, depth + 1, Array.isArray(value) ? key : name);
    }
  }
}

function checkText(text: string): void {
  if (!isWellFormed(text)) {
    throw notJson('Missing low surrogate.');
  }
}
