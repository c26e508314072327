// Suites of the stores, run once more: in a process that is told which version of a database to take.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../packaging/project.mjs';

/**
 * A test for each of these files of tests/stores, that all of its tests pass and none is skipped: in the Node at
 * `node`, with `env` besides what this process has.
 */
export function pass(version, files, { node = process.execPath, env = {}, skip = false } = {}) {
  for (const file of files) {
    test(`${version}: ${file}`, { skip }, async (t) => {
      const { code, output } = await run(node, join(root, 'tests', 'stores', file), env);
      const failed = output.split('\n').filter((line) => /^\s*not ok /.test(line));
      assert.deepEqual(failed, [], output);
      assert.equal(code, 0, output);
      const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1]);
      assert.deepEqual([count('fail'), count('cancelled'), count('skipped'), count('todo')], [0, 0, 0, 0], output);
      assert.ok(count('pass') > 0, output);
      t.diagnostic(`${count('pass')} tests pass`);
    });
  }
}

/** The output of Node's runner for a file, and its exit code. */
function run(node, file, more) {
  const env = { ...process.env, ...more };
  // Told that it belongs to a test, it would report to nobody.
  delete env.NODE_TEST_CONTEXT;
  const child = spawn(node, ['--test', '--test-reporter=tap', file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const from of [child.stdout, child.stderr]) from.setEncoding('utf8').on('data', (text) => (output += text));
  return new Promise((resolve, reject) => child.on('error', reject).on('close', (code) => resolve({ code, output })));
}

/** The files of tests of a store, as `pass` takes them. */
export function testsOf(store) {
  const names = readdirSync(join(root, 'tests', 'stores', store));
  return names.filter((name) => name.endsWith('.test.mjs')).map((name) => `${store}/${name}`);
}

/** The sentence of a page that names versions, which has to stand there. */
export function assertSays(page, sentence) {
  const text = readFileSync(join(root, page), 'utf8').replaceAll(/\s+/g, ' ');
  assert.ok(text.includes(sentence), `${page} does not say: ${sentence}`);
}
