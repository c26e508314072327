// A redis-server of this machine that writes every change to the disk before it answers.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from './ports.mjs';
import { pathOfProgram } from './programs.mjs';

/** @typedef {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, null>} Server */

const { STATEPAD_TEST_REDIS_SERVER: other, STATEPAD_TEST_REDIS_URL: url } = process.env;
/** The program that servers of our own are started from: that of the PATH, or another version of it. */
const program = other ?? 'redis-server';
const given = other ? undefined : url;

/**
 * The reason to skip tests with a server of our own, if there is one: for `test(name, { skip })`. Where `CI` is set, a
 * missing server is an error.
 */
export function whyNoRedisServer() {
  if (pathOfProgram(program) !== undefined) return undefined;
  const why = `${program} is not in the PATH: node scripts/setup.mjs test installs it or says how`;
  if (process.env.CI) throw new Error(why);
  console.warn(`NOT TESTED: ${why}`);
  return why;
}

/** The reason to skip all tests with Redis: neither `STATEPAD_TEST_REDIS_URL` nor a server of our own. */
export function whyNoRedis() {
  return given ? undefined : whyNoRedisServer();
}

/**
 * A server: that of `STATEPAD_TEST_REDIS_URL`, which others may use at the same time, or one of our own. Whoever uses
 * it takes a prefix that nobody else has, and deletes what lies under it.
 */
export async function startRedis() {
  if (given) return { url: given, stop: async () => {} };
  const { url, stop } = await startRedisServer();
  return { url, stop };
}

/**
 * A server of our own, in an empty folder, with further `options` of its command line. `kill` ends it at once;
 * `restart` starts it again on the same folder and port. `stop` deletes the folder.
 *
 * @param {...string} options
 */
export async function startRedisServer(...options) {
  const folder = await mkdtemp(join(tmpdir(), 'statepad-redis-'));
  const [port, busPort] = options.includes('--cluster-enabled') ? await clusterPorts() : [await freePort()];
  const args = [
    ['--port', port],
    ['--bind', '127.0.0.1'],
    ['--dir', folder],
    ['--save', ''],
    ['--appendonly', 'yes'],
    ['--appendfsync', 'always'],
  ]
    .flat()
    .map(String);
  /** @type {Server | undefined} */
  let server;
  const start = async () => {
    server = spawn(program, [...args, ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
    await isReady(server);
  };
  /** @param {NodeJS.Signals} signal */
  const end = async (signal) => {
    if (!server?.pid || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  };
  // Whoever breaks down leaves nothing behind, either.
  const clean = () => {
    server?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', clean);
  const stop = async () => {
    await end('SIGKILL');
    process.off('exit', clean);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `redis://127.0.0.1:${port}`, port, busPort, kill: () => end('SIGKILL'), restart: start, stop };
}

/**
 * A cluster of two servers that share the slots: the servers, what a client needs to find them, and a client for each.
 */
export async function startRedisCluster() {
  const servers = await Promise.all([1, 2].map(() => startRedisServer('--cluster-enabled', 'yes')));
  const admins = servers.map(({ url }) => new Redis(url));
  /** @param {number} first */
  const slotsFrom = (first) => Array.from({ length: 8_192 }, (_, index) => first + index);
  await Promise.all([
    admins[0].cluster('ADDSLOTS', ...slotsFrom(0)),
    admins[1].cluster('ADDSLOTS', ...slotsFrom(8_192)),
    admins[1].cluster('SET-CONFIG-EPOCH', 2),
  ]);
  await admins[0].cluster('MEET', '127.0.0.1', servers[1].port, servers[1].busPort);
  for (const admin of admins) {
    while (!(await admin.cluster('INFO')).includes('cluster_state:ok'))
      await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const stop = async () => {
    admins.forEach((admin) => admin.disconnect());
    await Promise.all(servers.map((server) => server.stop()));
  };
  return { servers, admins, nodes: servers.map(({ port }) => ({ host: '127.0.0.1', port })), stop };
}

/** @param {Server} server @returns {Promise<void>} */
function isReady(server) {
  return new Promise((resolve, reject) => {
    let output = '';
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${output}`)));
    server.stdout.setEncoding('utf8');
    server.stdout.on('data', (text) => {
      output += text;
      if (output.includes('Ready to accept connections')) resolve();
    });
  });
}

/** The ports of a server of a cluster: it talks to the others on a second one, which is higher by 10,000. */
async function clusterPorts() {
  for (;;) {
    const busPort = await freePort();
    const port = await freePort(busPort - 10_000).catch(() => undefined);
    if (port !== undefined) return [port, busPort];
  }
}

/**
 * Deletes all keys that begin with `prefix`, by a client of `ioredis`.
 *
 * @param {Redis} client @param {string} prefix
 */
export async function deleteKeys(client, prefix) {
  const match = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}*`;
  for (let cursor = '0'; ;) {
    const [next, keys] = await client.scanBuffer(cursor, 'MATCH', match, 'COUNT', 1000);
    if (keys.length > 0) await client.unlink(...keys);
    cursor = next.toString();
    if (cursor === '0') return;
  }
}
