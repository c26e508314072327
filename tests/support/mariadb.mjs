// A real MariaDB server for tests, of the system's package: it speaks the SQL of MySQL.

import { execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.mjs';

/** The longest time until a server answers, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Starts a server of its own folder: `{ port, stop }`; `{ skip }` with the reason where there is none. Its user is
 * `root`, without a password, and its database is `test`.
 */
export async function mariadbForTests() {
  try {
    execFileSync('mariadbd', ['--version'], { stdio: 'pipe' });
  } catch {
    return { skip: 'NO MARIADB, NOT TESTED: mariadbd is not installed' };
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'statepad-mariadb-')));
  const port = await freePort();
  const user = userInfo().uid === 0 ? ['--user=mysql'] : [];
  if (user.length > 0) {
    /** @param {string} option */
    const id = (option) => Number(execFileSync('id', [option, 'mysql'], { stdio: 'pipe' }));
    chownSync(folder, id('-u'), id('-g'));
  }
  const data = join(folder, 'data');
  /** @type {import('node:child_process').ExecFileSyncOptions} */
  const options = { stdio: 'pipe', cwd: folder };
  execFileSync(
    'mariadb-install-db',
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', ...user],
    options,
  );
  const settings = [
    `--datadir=${data}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 's')}`,
  ];
  const server = spawn(
    'mariadbd',
    ['--no-defaults', ...settings, '--default-time-zone=+05:30', '--skip-networking=0', ...user],
    { stdio: 'ignore', cwd: folder },
  );
  const ended = new Promise((resolve) => server.once('close', resolve));
  const stop = async () => {
    server.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const deadline = Date.now() + PATIENCE;
  while (!(await isListening(port))) {
    if (Date.now() > deadline || server.exitCode !== null) {
      await stop();
      throw new Error('the server has not started');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  const command = ['--no-defaults', `--socket=${join(folder, 's')}`, '-u', 'root', '-e', 'CREATE DATABASE test'];
  execFileSync('mariadb', command, options);
  return { port, stop };
}

/** @param {number} port */
function isListening(port) {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
      .once('connect', () => (socket.destroy(), resolve(true)))
      .once('error', () => resolve(false));
  });
}
