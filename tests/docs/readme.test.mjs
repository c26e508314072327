// The README's programs: each compiles under strict TypeScript, and prints what stands below it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { transform } from 'esbuild';
import { bundleSizes } from '../../bench/size.mjs';
import { blocksOf, compile, inFolder, node, printed, programIn, root, textOf, write } from './pages.mjs';

const blocks = blocksOf(textOf('README.md'));

test('every program compiles under strict TypeScript as it stands, with and without types', async () => {
  const programs = blocks.filter(({ language }) => ['js', 'ts'].includes(language));
  assert.ok(programs.some(({ language }) => language === 'js') && programs.some(({ language }) => language === 'ts'));
  assert.deepEqual(await compile(Object.fromEntries(programs.map(({ code }, index) => [`${index}.mts`, code]))), []);
});

describe('the agent on SQLite', () => {
  const { program, shown } = programIn('ts');

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
  const { program, shown } = programIn('js');
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

test('says no less than a browser loads', async () => {
  const [, said] = /Less than (\d+) kB in a\s+browser/.exec(textOf('README.md'));
  const { statepad } = await bundleSizes();
  assert.ok(statepad.brotli < Number(said) * 1000, `${statepad.brotli} bytes`);
});
