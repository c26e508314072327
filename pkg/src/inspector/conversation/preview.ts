// A JSON value in one line, without its inner parts.

import type { Json } from '../../index.js';

/** The length of a text in a preview, in characters. */
const TEXT = 60;
/** The number of members in a preview. */
const MEMBERS = 8;

/** The members of an object, or the elements of a list, in a line: `city: "Lisbon", hotels: [2]`. */
export function previewOf(value: Json): string {
  if (typeof value !== 'object' || value === null) {
    return atom(value);
  }
  const parts = Array.isArray(value)
    ? (value as readonly Json[]).slice(0, MEMBERS).map(atom)
    : Object.entries(value as Readonly<Record<string, Json>>)
        .slice(0, MEMBERS)
        .map(([name, member]) => `${name.slice(0, TEXT)}: ${atom(member)}`);
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return `${parts.join(', ')}${count > MEMBERS ? ', …' : ''}`.toWellFormed();
}

/** The preview of a tool's result: of its only member, without the name that says nothing. */
export function resultPreview(value: Json): string {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    const [first, ...others] = Object.entries(value as Readonly<Record<string, Json>>);
    if (first !== undefined && others.length === 0 && (first[0] === 'result' || first[0] === 'output')) {
      return previewOf(first[1]);
    }
  }
  return previewOf(value);
}

function atom(value: Json): string {
  if (typeof value === 'string') {
    return value.length > TEXT ? `"${value.slice(0, TEXT)}…"` : JSON.stringify(value);
  }
  if (typeof value !== 'object' || value === null) {
    return String(value);
  }
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return Array.isArray(value) ? `[${count}]` : count === 0 ? '{}' : '{…}';
}
