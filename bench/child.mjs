/**
 * Measures one row for one side in a process of its own: `node --expose-gc bench/child.mjs <row> <side> [quick]`.
 * Prints its figures as JSON. No side can weigh on another one's heap or inline caches.
 */

import { appendAt10, appendAt1000, appendAt10000, appendShared } from './rows/append.mjs';
import { get, getAndRead, lastTwenty } from './rows/read.mjs';
import { listPage } from './rows/list.mjs';
import { templateCompiled, templateOnce } from './rows/template.mjs';
import { memoryPerEvent, watchWasm } from './memory.mjs';
import { sides } from './sides.mjs';

const rows = {
  appendAt10,
  appendAt1000,
  appendAt10000,
  appendShared,
  get,
  getAndRead,
  lastTwenty,
  listPage,
  templateCompiled,
  templateOnce,
};

async function measured(row, side, options) {
  if (row === 'memory') {
    const wasmBytes = watchWasm();
    return await memoryPerEvent(await sides[side](), wasmBytes);
  }
  if (row === 'turn') {
    const { turnAdk, turnStatepad } = await import('./rows/turn.mjs');
    return await (side === 'adk' ? turnAdk : turnStatepad)(options);
  }
  return await rows[row](await sides[side](), options);
}

const [row, side, speed] = process.argv.slice(2);
const answer = await measured(row, side, { quick: speed === 'quick' });
process.stdout.write(`${JSON.stringify(answer)}\n`);
