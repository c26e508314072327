// The cases: data that every side is held against.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'cases');

/**
 * One file of cases, by its name without the ending.
 *
 * @param {string} name
 */
export function casesOf(name) {
  return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
}

/**
 * A record that equals another one whatever prototypes they have, also inside.
 *
 * @param {unknown} value
 */
export function plain(value) {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
