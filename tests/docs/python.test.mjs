// The pages about Python: their blocks run against a server, and print what they say.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { pythonEnv, pythonOf } from '../../scripts/python.mjs';
import { temporaryFolder } from '../packaging/project.mjs';
import { blocksOf, root, textOf, write } from './pages.mjs';

const PAGES = ['python/README.md', 'docs/python.md'];
/** The address of the pages, and what the models of their agents say. */
const ADDRESS = /127\.0\.0\.1:8377/g;
const SAYS = 'The moon pulls at the sea.';
const TOKEN = 'token-of-the-pages';
const here = join(root, 'tests', 'docs', 'python');

/** A whole program begins with the comment that names its file. */
const fileOf = (code) => /^# ([\w./-]+)\n/.exec(code)?.[1];
const expectedOf = (code) => [...code.matchAll(/# → (.*)$/gm)].map(([, line]) => line);

/** Starts `statepad serve` on a store of a folder; answers its address. */
async function startServer(folder) {
  await write(folder, { tokens: `${TOKEN} id=pages\n` });
  const cli = join(root, 'pkg', 'dist', 'cli.js');
  const args = ['serve', 'memory:', '--port', '0', '--token-file', 'tokens', '--quiet'];
  const child = spawn(process.execPath, ['--no-warnings', cli, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const closed = once(child, 'close');
  const stop = async () => {
    child.kill();
    await closed;
  };
  return { address: new URL(JSON.parse(line).listening).host, stop };
}

/** Runs a script of this folder in another; answers what it printed. */
async function python(folder, script, args = [], input = '') {
  const child = spawn(await pythonOf('newest'), ['-W', 'ignore', join(here, script), ...args], {
    cwd: folder,
    env: { ...pythonEnv, STATEPAD_TOKEN: TOKEN, MODEL_SAYS: SAYS },
  });
  const [printed, errors] = [text(child.stdout), text(child.stderr)];
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  assert.equal(code, 0, await errors);
  return await printed;
}

for (const page of PAGES) {
  describe(page, () => {
    const blocks = blocksOf(textOf(page));
    const inPython = blocks.filter(({ language }) => language === 'python').map(({ code }) => code);
    const folder = temporaryFolder();
    let server;
    before(async () => (server = await startServer(folder)));
    after(() => server?.stop());
    const served = (code) => code.replaceAll(ADDRESS, server.address);

    test('the blocks print what they say, one after the other', async () => {
      const parts = inPython.filter((code) => fileOf(code) === undefined);
      const printed = JSON.parse(await python(folder, 'blocks.py', [], JSON.stringify(parts.map(served))));
      for (const [index, code] of parts.entries())
        assert.deepEqual(printed[index].split('\n').slice(0, -1), expectedOf(code), code);
    });

    for (const [index, { language, code }] of blocks.entries()) {
      const file = fileOf(code);
      if (language !== 'python' || file === undefined) continue;
      const shown = blocks[index + 1];
      test(`${file} prints what is shown below it`, async () => {
        await write(folder, { [file]: served(code) });
        const runs = [...shown.code.matchAll(/^\$ python (\S+)\n((?:(?!\$ ).*\n)*)/gm)];
        assert.ok(runs.length > 0, 'no run is shown');
        for (const [, name, lines] of runs) {
          assert.equal(name, file);
          assert.equal(await python(folder, 'program.py', [file]), lines);
        }
      });
    }
  });
}
