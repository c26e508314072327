// `npm run www` and `npm start`, once everything is built.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';

const script = (name) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));

/** Runs a script until the test ends, and answers what it prints, once that has `wanted` in it. */
async function until(t, wanted, ...args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  t.after(() => child.kill('SIGKILL'));
  let printed = '';
  return await new Promise((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text;
        const found = wanted.exec(printed);
        if (found) resolve(found);
      });
    }
    child.on('close', (code) => reject(new Error(`ended with ${code}, and had printed ${printed}`)));
  });
}

const ADDRESS = /the page: (http:\/\/127\.0\.0\.1:\d+\/)/;

describe('serving', () => {
  it('npm run www serves the page on this machine alone, and a second one finds another port', async (t) => {
    const [, one] = await until(t, ADDRESS, script('www.mjs'));
    const [, two] = await until(t, ADDRESS, script('www.mjs'));
    assert.notEqual(one, two);
    for (const address of [one, two]) {
      const response = await fetch(address);
      assert.equal(response.status, 200);
      assert.match(await response.text(), /<statepad-page>/);
    }
  });

  it('npm start replays, then serves', async (t) => {
    const [printed, address] = await until(
      t,
      new RegExp(`final states equal:[^]*${ADDRESS.source}`),
      script('start.mjs'),
      '--quiet',
    );
    assert.match(printed, /4 of 4/);
    assert.equal((await fetch(address)).status, 200);
  });

  it('npm start -- --no-serve ends after the replay', async (t) => {
    await assert.rejects(
      until(t, ADDRESS, script('start.mjs'), '--quiet', '--no-serve'),
      /ended with 0, and had printed [^]*final states equal: +4 of 4/,
    );
  });

  it('npm start tells its usage, and that an option is unknown, where nothing is installed or built', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'statepad-start-'));
    t.after(() => rmSync(folder, { recursive: true }));
    for (const name of ['scripts', 'examples', 'Cargo.lock']) {
      cpSync(new URL(`../../${name}`, import.meta.url), join(folder, name), { recursive: true });
    }
    const start = join(folder, 'scripts', 'start.mjs');
    await assert.rejects(until(t, ADDRESS, start, '--help'), /ended with 0, and had printed Replays [^]*--no-serve/);
    await assert.rejects(until(t, ADDRESS, start, '--sevre'), /ended with 2, [^]*'--sevre'[^]*--help shows how/);
    assert.deepEqual(readdirSync(folder).sort(), ['Cargo.lock', 'examples', 'scripts']);
  });
});
