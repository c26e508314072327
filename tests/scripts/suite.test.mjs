// The counts of a run of all suites.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { runSuite } from '../../scripts/suite.mjs';

/** Runs a suite that prints these lines, the last of them to its standard error. */
async function suite(runner, ...lines) {
  const last = lines.pop();
  const program = `console.log(${JSON.stringify(lines.join('\n'))}); console.error(${JSON.stringify(last)})`;
  const {
    passed,
    failed,
    skipped,
    ok,
    lines: told,
  } = await runSuite({ name: 'suite', command: [process.execPath, '-e', program], runner });
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

test('the counts of pytest are read, and its reasons for what did not run are told', async () => {
  const reason = 'SKIPPED [2] tests/test_one.py:3: no database';
  const { counts, ok, told } = await suite(
    'pytest',
    '3 passed of a test',
    reason,
    '4 passed, 2 skipped, 1 warning in 0.12s',
  );
  assert.deepEqual({ counts, ok }, { counts: [4, 0, 2], ok: true });
  assert.deepEqual(told, ['4 passed, 2 skipped, 1 warning in 0.12s', reason]);
});

for (const [summary, counts] of [
  ['===== 2 failed, 7 passed, 1 xfailed, 1 error in 61.20s (0:01:01) =====', [7, 3, 1]],
  ['1 passed, 1 xpassed in 0.01s', [1, 1, 0]],
  ['9 skipped in 0.01s', [0, 1, 9]],
  ['no tests ran in 0.01s', [0, 1, 0]],
]) {
  test(`a run of pytest that ends with "${summary}" is a failure`, async () => {
    const seen = await suite('pytest', summary, '');
    assert.deepEqual([seen.counts, seen.ok], [counts, false]);
  });
}

test('what a suite prints beside others is kept together, and told when it failed', async () => {
  const command = [process.execPath, '-e', 'console.log("one"); console.error("two"); process.exit(3)'];
  const { ok, output, failure } = await runSuite({ name: 'suite', command }, { show: 'nothing' });
  assert.deepEqual(
    { ok, output: output.split('\n').sort(), failure: failure.sort() },
    { ok: false, output: ['', 'one', 'two'], failure: ['one', 'two'] },
  );
});

test('a program that is not there is a failure that names it', async () => {
  const { ok, failure } = await runSuite({ name: 'suite', command: ['no-such-program'] }, { show: 'nothing' });
  assert.equal(ok, false);
  assert.match(failure.join('\n'), /no-such-program/);
});

test('quick steps print a line each, and only those that failed all that they have printed', () => {
  const node = (program) => [process.execPath, '-e', program];
  const steps = [
    { name: 'good', command: node('console.log("fine")') },
    { name: 'bad', command: node('console.log("what is wrong"); process.exitCode = 1') },
    { name: 'cannot', refusal: 'run this first' },
    { name: 'none', omission: 'there is no compiler' },
    { name: 'later', command: node(''), after: ['cannot'] },
  ];
  const program = `import { runSteps } from ${JSON.stringify(new URL('../../scripts/steps.mjs', import.meta.url))}; await runSteps(${JSON.stringify(steps)})`;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  assert.equal(status, 1);
  const lines = stdout.split('\n');
  const lineOf = (name) => lines.filter((line) => /^(ok|FAILED|left) /.test(line) && line.slice(8).startsWith(name));
  assert.match(lineOf('good').join('\n'), /^ok +good +\d+\.\d s$/);
  assert.match(lineOf('bad').join('\n'), /^FAILED +bad +\d+\.\d s$/);
  assert.match(lineOf('cannot').join('\n'), /^FAILED +cannot +run this first$/);
  assert.match(lineOf('none').join('\n'), /^left +none +there is no compiler$/);
  assert.match(lineOf('later').join('\n'), /^ok +later/);
  assert.match(stdout, /=== bad\n\nwhat is wrong\n/);
  assert.doesNotMatch(stdout, /fine|=== good/);
  assert.match(stdout, /\nfailed: (bad, cannot|cannot, bad); \d+\.\d s\n$/);
});
