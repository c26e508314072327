// The text of JSON, as Google's servers read and write it: UTF-8, of a limited depth, with numbers that are doubles.

import { ApiError, notJson } from './errors.ts';
import { shuffled } from './shuffle.ts';
import { isWellFormed } from '../../../pkg/src/model/json.ts';

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

/** Writes an answer, indented by two spaces. Maps become objects, in an order of the service. */
export function writeJson(value: unknown): string {
  return `${textOf(value, '\n')}\n`;
}

function textOf(value: unknown, newline: string): string {
  if (typeof value === 'number') {
    return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  }
  if (typeof value !== 'object' || value === null) {
    return JSON.stringify(value);
  }
  const inner = `${newline}  `;
  if (Array.isArray(value)) {
    return bracketed(
      '[]',
      value.map((item) => textOf(item, inner)),
      newline,
    );
  }
  const entries = value instanceof Map ? shuffled(value as Map<string, unknown>) : Object.entries(value);
  const members = entries.filter(([, member]) => member !== undefined);
  return bracketed(
    '{}',
    members.map(([name, member]) => `${JSON.stringify(name)}: ${textOf(member, inner)}`),
    newline,
  );
}

function bracketed(brackets: string, items: readonly string[], newline: string): string {
  const inner = `${newline}  `;
  return items.length === 0
    ? brackets
    : `${brackets.charAt(0)}${inner}${items.join(`,${inner}`)}${newline}${brackets.charAt(1)}`;
}
