// `npm run test:unit`: the tests that need only what is in this repository, in less than a minute: those of the crate,
// and tests/unit and tests/contract for the package. Laws are tried with fewer random runs than in `npm test`. It puts
// pkg/dist together anew when the TypeScript has changed, which takes a second; it does not build the core.

import { join } from 'node:path';
import { stateOfCore } from './core.mjs';
import { needNpmPackages } from './installed.mjs';
import { filesUnder } from './step.mjs';
import { runSteps } from './steps.mjs';
import { nodeTests } from './suites.mjs';
import { root } from './tools.mjs';

needNpmPackages();
/** @param {string} folder */
const testsIn = (folder) => filesUnder(join(root, 'tests', folder)).filter((file) => file.endsWith('.test.mjs'));

/** @type {Partial<Record<ReturnType<typeof stateOfCore>, string>>} */
const refusals = {
  missing: 'pkg/wasm is missing: npm run build makes it',
  stale: 'the Rust has changed since pkg/wasm was built: npm run build makes it anew',
};

await runSteps([
  {
    name: 'cargo test',
    command: ['cargo', 'test', '--locked', '--lib', '--tests'],
    runner: 'cargo',
    extraEnv: { PROPTEST_CASES: '32' },
    seconds: 10,
  },
  { name: 'bundle', command: [process.execPath, join(root, 'scripts', 'build.mjs'), 'bundle'], seconds: 2 },
  {
    name: 'tests/unit',
    command: nodeTests([...testsIn('contract'), ...testsIn('unit')], 2),
    runner: 'node',
    extraEnv: { STATEPAD_QUICK: '1' },
    after: ['bundle'],
    refusal: refusals[stateOfCore()],
    seconds: 35,
  },
]);
