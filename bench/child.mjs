/**
 * Measures one row for one side in a process of its own: `node --expose-gc bench/child.mjs <row> <side> [quick]`.
 * Prints its figures as JSON. No side can weigh on another one's heap or inline caches.
 */

import { watchWasm } from './memory.mjs';
import { rowOf } from './rows.mjs';
import { sides } from './sides.mjs';

const [id, name, speed] = process.argv.slice(2);
const { file } = rowOf(id);
const options = { quick: speed === 'quick', side: name, wasmBytes: watchWasm() };
const { [id]: measureRow } = await import(`./rows/${file}.mjs`);
const answer = await measureRow(await sides[name](), options);
process.stdout.write(`${JSON.stringify(answer)}\n`);
