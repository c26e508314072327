// The text of JSON, as Google's servers write it.

import { shuffled } from './shuffle.ts';

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
