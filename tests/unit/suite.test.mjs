// What a run of all suites counts.

import assert from 'node:assert/strict';
import test from 'node:test';
import { runSuite } from '../../scripts/suite.mjs';

/** Runs a suite that prints these lines, the last of them to its standard error. */
async function suite(runner, ...lines) {
  const last = lines.pop();
  const program = `console.log(${JSON.stringify(lines.join('\n'))}); console.error(${JSON.stringify(last)})`;
  const { passed, failed, skipped, ok, lines: told } = await runSuite({ name: 'suite', command: [process.execPath, '-e', program], runner });
  return { counts: [passed, failed, skipped], ok, told };
}

const RESULT = 'test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s';

test('what a test of Rust says that it skips counts as skipped and not as passed', async () => {
  const { counts, ok, told } = await suite('cargo', RESULT, 'skipped: no ../shared');
  assert.deepEqual({ counts, ok }, { counts: [2, 0, 2], ok: true });
  assert.ok(told.includes('skipped: no ../shared'), 'it is told again at the end');
});

test('a suite that does nothing but skip has run no test', async () => {
  const result = 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s';
  assert.deepEqual((await suite('cargo', result, 'skipped: no ../shared')).ok, false);
});

test('a test that merely names what is skipped is a test', async () => {
  const { counts } = await suite('cargo', RESULT, 'test skipped: ok');
  assert.deepEqual(counts, [3, 0, 1]);
});
