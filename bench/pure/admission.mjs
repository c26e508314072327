/**
 * The package's own checks of what comes in, put together from its sources without the core: plain JavaScript admits,
 * copies and freezes exactly as the package does, so that only what is behind that differs.
 */

import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const ENTRY = `
  export { admitCreation } from './backend/backend.js';
  export { admitDelta } from './input/admit.js';
  export { admitEvent, extractTempKeys, freezeEvent, isRepeated } from './input/event-draft.js';
  export { REQUESTS, checkConfig, checkKey, checkList, checkRequest, checkSession } from './input/requests.js';
  export { checkCount, checkObject } from './checks/arguments.js';
  export { put } from './model/json.js';
`;

const { outputFiles } = buildSync({
  stdin: { contents: ENTRY, resolveDir: fileURLToPath(new URL('../../pkg/src', import.meta.url)), loader: 'ts' },
  bundle: true,
  format: 'esm',
  target: 'es2022',
  write: false,
});

/** The exports of the entry. */
export const admission = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
);
