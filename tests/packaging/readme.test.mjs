// The first program of the README in a project of its own, with the package as it is published.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { STRICT, node, programIn } from '../docs/pages.mjs';
import { project, root, run } from './project.mjs';

const { program, shown } = programIn('ts');

describe('the agent of the README, on SQLite', () => {
  let folder;
  before(async () => {
    folder = await project(
      { 'tutor.mts': program, 'tsconfig.json': JSON.stringify({ compilerOptions: STRICT, files: ['tutor.mts'] }) },
      { link: ['@google/adk', 'better-sqlite3', '@types/better-sqlite3', '@types/node'] },
    );
  });

  it('is compiled by TypeScript, strict, and what comes of it prints what the README shows, run after run', async () => {
    await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', folder]);
    const says = JSON.stringify({ text: 'The moon pulls at the sea.' }).replace(':', ': ');
    const [, ...runs] = shown.split('$ npx tsx tutor.mts\n');
    assert.equal(runs.length, 2);
    for (const printed of runs) {
      const told = await node(folder, ['--import', join(root, 'tests/docs/model.mjs'), 'tutor.mjs'], {
        MODEL_SAYS: says,
      });
      assert.equal(told, printed);
    }
  });
});
