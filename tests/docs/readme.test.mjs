// The README's programs: each compiles, and prints what stands below it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { transform } from 'esbuild';
import { blocksOf, compile, inFolder, node, printed, root, textOf, write } from './pages.mjs';

const blocks = blocksOf(textOf('README.md'));

/** A program of the README and what it prints: its first block in this language, and the block of text behind it. */
function programIn(language) {
  const at = blocks.findIndex((block) => block.language === language);
  assert.equal(blocks[at + 1].language, 'text');
  return [blocks[at].code, blocks[at + 1].code];
}

describe('the agent on SQLite', () => {
  const [program, shown] = programIn('ts');

  test('compiles under strict TypeScript', async () => {
    assert.deepEqual(await compile({ 'tutor.mts': program }), []);
  });

  test('prints what the README says, in two processes, one after the other', async () => {
    const { code } = await transform(program, { loader: 'ts', format: 'esm', target: 'node20' });
    const [, ...runs] = shown.split('$ npx tsx tutor.mts\n');
    const says = JSON.stringify({ text: 'The moon pulls at the sea.' }).replace(':', ': ');
    await inFolder(async (folder) => {
      await write(folder, { 'tutor.mjs': code });
      for (const run of runs) {
        assert.equal(
          await node(folder, ['--import', join(root, 'tests/docs/model.mjs'), 'tutor.mjs'], { MODEL_SAYS: says }),
          run,
        );
      }
    });
    assert.equal(runs.length, 2);
  });
});

test('the program without ADK prints what the README says', async () => {
  const [program, shown] = programIn('js');
  assert.equal(await printed(program), shown);
});

test('names the two commands for a clone', () => {
  const commands = blocks
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code)
    .join('');
  assert.match(commands, /^npm start\b/m);
  assert.match(commands, /^npm test\b/m);
});
