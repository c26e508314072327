// Processes are killed while they write through a service, and servers while they are written to: what was
// acknowledged is there afterwards, once, whole and in order.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SessionService } from 'statepad';
import { killLoop } from '../support/kill.mjs';
import { postgresForTests } from '../support/postgres.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { check, checkRound, openSessions, writeOn } from './kill-data.mjs';
import { openers } from './kill-stores.mjs';
import { newFolder } from './storages.mjs';

const childScript = fileURLToPath(new URL('kill-child.mjs', import.meta.url));
/** A new app now and then, so that reading does not take longer and longer. */
const perApp = 5;
/** Fewer where somebody waits for it: starting a process is what takes time. */
const share = process.env.CI ? 1 : 0.3;
const appOf = (round) => `app ${Math.floor(round / perApp)}`;

/** Kills so many processes that write to a store. `placeOf(round)` says where it is. */
async function killProcesses(t, kind, most, seed, placeOf) {
  const rounds = Math.ceil(most * share);
  t.diagnostic(`seed ${seed}`);
  const written = new Map();
  const counts = { acknowledged: 0, beyond: 0 };
  const verify = async ({ round, lines }) => {
    const { store, end } = await openers[kind](placeOf(round));
    const service = new SessionService({ store });
    await service.getSession({ appName: 'nobody', userId: 'user', sessionId: 's' });
    const ids = await check(service, store, appOf(round));
    await service.close();
    await end();
    written.set(round, { lines, count: checkRound(ids, round, lines) });
    for (let before = round - (round % perApp); before < round; before++) {
      const earlier = written.get(before);
      const there = checkRound(ids, before, earlier.lines);
      // Of a server: it may finish what a killed process has sent after somebody else has read.
      const isSame = kind === 'postgres' ? there >= earlier.count : there === earlier.count;
      assert.ok(isSame, `round ${before} had written ${earlier.count}, and after round ${round} there are ${there}`);
      earlier.count = there;
    }
    counts.acknowledged += lines.length;
    counts.beyond += written.get(round).count - lines.length;
  };
  await killLoop({
    childScript,
    args: (round) => [kind, placeOf(round), appOf(round), String(round)],
    rounds,
    verify,
    seed,
  });
  t.diagnostic(`${rounds} killed, ${counts.acknowledged} acknowledged, ${counts.beyond} written and not acknowledged`);
  assert.ok(counts.acknowledged > rounds, 'the processes came to write something');
}

/**
 * Kills a server while it is written to, and starts it again: the same service goes on, and all it was told is there.
 */
async function killServer(t, kind, url, kill, restart) {
  const { store, end } = await openers[kind](url);
  const service = new SessionService({ store, retry: { attempts: 30, pause: 50 }, timeout: 2_000 });
  const acknowledged = [];
  let left = Infinity;
  const sessions = await openSessions(service, 'server');
  const writing = writeOn(
    service,
    sessions,
    'server',
    (id) => {
      acknowledged.push(id);
      left -= 1;
    },
    () => left <= 0,
  );
  while (acknowledged.length < 40) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await kill();
  const before = acknowledged.length;
  await restart();
  left = 40;
  await writing;
  assert.ok(acknowledged.length >= before + 40, 'it goes on');
  assert.deepEqual(
    sessions.map(({ events, revision }) => events.length - revision),
    sessions.map(() => 0),
  );
  const fresh = new SessionService({ store });
  assert.equal(checkRound(await check(fresh, store, 'server'), 'server', acknowledged), acknowledged.length);
  await service.close();
  await end();
  t.diagnostic(`${before} acknowledged before, ${acknowledged.length - before} afterwards`);
}

const { server: postgres, skip: noPostgres } = await postgresForTests();
after(() => postgres?.stop());
const noRedis = whyNoRedisServer();
const redis = noRedis ? undefined : await startRedisServer();
after(() => redis?.stop());

// On a disk, not in memory: it is what a file is for.
const folder = newFolder('kill', tmpdir());
after(() => rmSync(folder, { recursive: true, force: true }));
const fileOf = (kind) => (round) => join(folder, `${kind} ${Math.floor(round / perApp)}`);

describe(
  'processes that are killed while they write lose nothing that they have acknowledged',
  { concurrency: 2 },
  () => {
    test('sqlite', (t) => killProcesses(t, 'sqlite', 200, 20240701, fileOf('sqlite')));
    test('a journal in a file', (t) => killProcesses(t, 'journal', 50, 20240702, fileOf('journal')));
    test('postgres', { skip: noPostgres }, (t) => killProcesses(t, 'postgres', 30, 20240703, () => postgres.url));
    test('redis', { skip: noRedis }, (t) => killProcesses(t, 'redis', 30, 20240704, () => redis.url));
  },
);

/** The processes that a process has started, as Linux knows them. */
function childrenOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** The command that starts a server on Linux once more as it was: its own way to start makes a new folder. */
function commandOf(pid) {
  const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
  const { uid, gid } = statSync(`/proc/${pid}`);
  const program = readlinkSync(`/proc/${pid}/exe`);
  const cwd = readlinkSync(`/proc/${pid}/cwd`);
  const env = Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  );
  return () => spawn(program, args, { uid, gid, cwd, env, stdio: 'ignore' });
}

const isThere = (pid) => {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

describe('a server that is killed while it is written to, and started again, has all that was acknowledged', () => {
  test('redis', { skip: noRedis }, async (t) => {
    const own = await startRedisServer();
    try {
      await killServer(t, 'redis', own.url, own.kill, own.restart);
    } finally {
      await own.stop();
    }
  });

  const why =
    noPostgres ??
    (postgres.pid === undefined
      ? 'the server is not ours'
      : process.platform === 'linux'
        ? undefined
        : 'only Linux tells of its processes');
  test('postgres', { skip: why }, async (t) => {
    const start = commandOf(postgres.pid);
    let again;
    try {
      await killServer(
        t,
        'postgres',
        postgres.url,
        async () => {
          // It starts no more processes, which would be left and keep a new server from starting.
          execFileSync('kill', ['-STOP', String(postgres.pid)]);
          const all = [postgres.pid, ...childrenOf(postgres.pid)];
          // All at once: what is left would otherwise finish its work.
          execFileSync('kill', ['-9', ...all.map(String)]);
          while (all.some(isThere)) {
            await new Promise((resolve) => setTimeout(resolve, 20));
          }
        },
        async () => {
          again = start();
        },
      );
    } finally {
      if (again !== undefined) {
        const ended = new Promise((resolve) => again.once('close', resolve));
        again.kill('SIGINT');
        await ended;
      }
    }
  });
});
