// The contestants: each way to commit over each store, on real files and servers.

import { fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { adkPython } from '../../tests/hosts/adk-python/python.mjs';
import { postgresServer, redisServer, sqliteFiles } from '../../tests/sharing/databases.mjs';
import { startServer } from '../../tests/support/servers.mjs';
import { freePort } from '../../tests/support/ports.mjs';

const load = fileURLToPath(new URL('load.mjs', import.meta.url));

/**
 * A process with clients in one way. `begin` makes so many, and `commit` has them commit for so many milliseconds, and
 * answers what came of it; `cpuTime` answers the time of its processor in microseconds.
 */
export async function startLoad(way, target) {
  const child = fork(load, [], { stdio: 'inherit', serialization: 'advanced' });
  let waiting;
  child.on('message', ([answer]) => waiting.resolve(answer));
  child.on('exit', (code) => waiting?.reject(new Error(`the clients of "${way}" have ended with ${code}`)));
  const ask = (task) => (argument) =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
      child.send([task, argument]);
    });
  await ask('open')({ name: way, target });
  return { begin: ask('begin'), commit: ask('commit'), cpuTime: ask('cpuTime'), stop: () => child.disconnect() };
}

/** Starts google-adk's own server of sessions over a database, at `address` of SQLAlchemy. */
async function startApiServer(address, folder) {
  const agent = join(folder, 'agents', 'bench');
  mkdirSync(agent, { recursive: true });
  writeFileSync(join(agent, '__init__.py'), '');
  writeFileSync(
    join(agent, 'agent.py'),
    "from google.adk.agents import BaseAgent\nroot_agent = BaseAgent(name='bench')\n",
  );
  const port = await freePort();
  const child = spawn(
    await adkPython(),
    [
      ...['-W', 'ignore', '-m', 'google.adk.cli', 'api_server', join(folder, 'agents')],
      ...['--port', String(port), '--session_service_uri', address, '--log_level', 'error'],
    ],
    { stdio: ['ignore', 'ignore', 'ignore'] },
  );
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; ; tries += 1) {
    const isUp = await fetch(`${url}/list-apps`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (tries > 600) throw new Error('adk api_server does not answer');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return { url, stop: () => child.kill() };
}

/** Makes a database for google-adk's own server; its address as SQLAlchemy has it. */
const ADDRESSES = {
  sqlite: async ({ path }) => `sqlite+aiosqlite:///${path}`,
  postgres: async ({ url, name }) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return url.replace(/^postgres:\/\/(.*)\/\w+$/, `postgresql+asyncpg://$1/${name}`);
  },
};

/**
 * Starts the stores whose names are chosen, and all ways over each. Answers them as `{ store, way, begin, commit }`,
 * with `cpuTime` of the process that has the service where it is one of ours; `newPlace` makes another place in a
 * store.
 */
export async function startContestants(chosen, { apiServer = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-bench-'));
  const servers = {
    sqlite: () => sqliteFiles({ onDisk: true }),
    postgres: postgresServer,
    redis: redisServer,
  };
  const databases = {};
  const ends = [];
  const all = [];
  const add = async (store, way, target, cpuTime) => {
    const { stop, ...clients } = await startLoad(way, target);
    ends.push(stop);
    all.push({ store, way, ...clients, ...(way !== 'in process' && { cpuTime }) });
  };
  for (const store of chosen) {
    const database = await servers[store]();
    if (database.skip) throw new Error(database.skip);
    databases[store] = database;
    await add(store, 'in process', { place: database.newPlace() });
    for (const way of ['own routes', 'Agent Engine']) {
      const server = await startServer(database.newPlace());
      ends.push(server.stop);
      await add(store, way, { url: server.url }, server.cpuTime);
    }
    if (apiServer && store in ADDRESSES) {
      const server = await startApiServer(await ADDRESSES[store](database.newPlace()), join(folder, store));
      ends.push(server.stop);
      await add(store, 'adk api_server', { url: server.url });
    }
  }
  const stop = async () => {
    for (const end of ends) await end();
    await Promise.allSettled(Object.values(databases).map((database) => database.stop()));
    rmSync(folder, { recursive: true, force: true });
  };
  return { all, newPlace: (store, kind) => databases[store].newPlace(kind), stop };
}
