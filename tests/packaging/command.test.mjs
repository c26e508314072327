// The program of the published package, as npm installs it.

import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { started } from '../cli/process.mjs';
import { pack, project, run, temporaryFolder } from './project.mjs';

describe('the program of the package', () => {
  let folder;
  before(async () => {
    folder = await project({});
  });
  const npx = (...args) => run('npx', ['--offline', '--no-install', ...args], { cwd: folder });

  it('is run by npx, with the version of the package', async () => {
    const { version } = await pack();
    assert.equal(await npx('statepad', '--version'), `${version}\n`);
    assert.match(await npx('statepad', '--help'), /^Usage: statepad COMMAND\n/);
  });

  it('may be executed as it lies in the tarball', async () => {
    const { path } = await pack();
    const unpacked = temporaryFolder();
    await run('tar', ['-xzf', path, '-C', unpacked]);
    assert.equal(statSync(join(unpacked, 'package', 'dist', 'cli.js')).mode & 0o111, 0o111);
  });

  it('serves by npx, and ends by a signal', async () => {
    const server = await started(['serve', 'journal:sessions.journal', '--port', '0'], {
      cwd: folder,
      program: ['npx', '--offline', '--no-install', 'statepad'],
    });
    const response = await fetch(`${server.url}/healthz`);
    assert.equal(response.status, 200);
    server.child.kill('SIGTERM');
    await server.ended;
  });
});
