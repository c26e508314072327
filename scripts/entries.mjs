// The modules of the package that others may load: those that are exported, and those that stay by themselves.

import { readdirSync } from 'node:fs';

/** Their names in a folder of the package, with an ending. */
export function entryNames(folder, ending) {
  const entry =
    /^(index|adk|jsonl|testing|engine[\\/](wasm|load\.[\w-]+)|model[\\/]errors|stores[\\/][\w-]+[\\/]index)$/;
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
    .filter((name) => entry.test(name.slice(0, -ending.length)));
}
