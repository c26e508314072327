/** The entries that users may import from the package. */

import { readFileSync } from 'node:fs';

const { exports } = JSON.parse(readFileSync(new URL('../pkg/package.json', import.meta.url), 'utf8'));

/** The names of the entries: `statepad`, `statepad/adk` and so on. */
export const importedNames = () =>
  Object.keys(exports)
    .filter((path) => !path.endsWith('.json'))
    .map((path) => `statepad${path.slice(1)}`);
