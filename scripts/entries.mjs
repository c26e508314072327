// The modules of the package that are files of their own: those that are exported, and those that stay by themselves.

import { readdirSync } from 'node:fs';

const EXPORTED = /^(index|adk|jsonl|testing|stores[\\/][\w-]+[\\/]index)$/;
const ALONE = /^(engine[\\/](wasm|load\.[\w-]+)|model[\\/]errors)$/;

/** The names of all of them in a folder of the package, with an ending. */
export function entryNames(folder, ending) {
  return names(folder, ending, (name) => EXPORTED.test(name) || ALONE.test(name));
}

/** The names of those that users may import. */
export function exportedNames(folder, ending) {
  return names(folder, ending, (name) => EXPORTED.test(name));
}

function names(folder, ending, isChosen) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
    .filter((name) => isChosen(name.slice(0, -ending.length)));
}
