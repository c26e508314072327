// The text of JSON, as Google's servers read it: UTF-8, of a limited depth, with numbers that are doubles.

import { ApiError, notJson } from './errors.js';
import { isWellFormed } from '../../../model/json.js';

/** The deepest nesting of objects and lists. */
const MAX_DEPTH = 100;

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text of a body. */
export function readText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw notJson('Encountered non UTF-8 code points.');
  }
}

/** The value of a text. */
export function readJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notJson(`Unexpected token.\n${text.slice(0, 40)}\n^`);
  }
  // In a text that was UTF-8 a lone surrogate is written as an escape.
  checkValue(value, 1, '', text.includes('\\u') ? checkText : () => undefined);
  return value;
}

function checkValue(value: unknown, depth: number, key: string, checkText: (text: string) => void): void {
  if (typeof value === 'string') {
    checkText(value);
  } else if (typeof value === 'number' && !Number.isFinite(value)) {
    throw notJson('Number exceeds the range of double.');
  } else if (typeof value === 'object' && value !== null) {
    if (depth > MAX_DEPTH) {
      const reason = `Message too deep. Max recursion depth reached for key '${key}'`;
      throw new ApiError('INVALID_ARGUMENT', reason);
    }
    const isList = Array.isArray(value);
    for (const name of Object.keys(value)) {
      checkText(name);
      checkValue((value as Readonly<Record<string, unknown>>)[name], depth + 1, isList ? key : name, checkText);
    }
  }
}

function checkText(text: string): void {
  if (!isWellFormed(text)) {
    throw notJson('Missing low surrogate.');
  }
}
