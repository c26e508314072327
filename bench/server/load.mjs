// A process with clients: commits for a while in one way, and tells how many there were and how long each took.

import { WAYS } from './ways.mjs';

let way;
let sessions = 0;
/** The functions that commit, one for each client. */
let commits = [];

/** Clients for new sessions: each its own, or one for all. */
async function clientsFor({ clients, isShared }) {
  const ids = Array.from({ length: isShared ? 1 : clients }, () => `s${process.pid}-${(sessions += 1)}`);
  for (const id of ids) await way.create(id);
  return await Promise.all(Array.from({ length: clients }, (_, index) => way.client(ids[index % ids.length])));
}

async function load(time) {
  const times = [];
  let failed = 0;
  const start = performance.now();
  await Promise.all(
    commits.map(async (commit, client) => {
      // At least twice each, however slow.
      for (let number = 0; number < 2 || performance.now() - start < time; number += 1) {
        const begun = performance.now();
        try {
          await commit(client + number * commits.length);
          times.push(performance.now() - begun);
        } catch (error) {
          if (failed === 0) console.error(String(error).slice(0, 200));
          failed += 1;
        }
      }
    }),
  );
  const took = performance.now() - start;
  way.disconnect();
  return { times, failed, took };
}

const TASKS = {
  open: async ({ name, target }) => {
    way = await WAYS[name](target);
  },
  begin: async (load) => {
    commits = await clientsFor(load);
  },
  commit: load,
  cpuTime: async () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  },
};

process.on('message', async ([task, argument]) => process.send([await TASKS[task](argument)]));
process.on('disconnect', () => process.exit());
