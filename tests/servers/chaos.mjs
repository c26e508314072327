// Disturbances by chance, the same for the same seed: servers and writers are killed, connections are cut.

import { startBalancer } from '../support/balancer.mjs';
import { startCutter } from '../support/cutter.mjs';
import { startServer } from '../support/servers.mjs';
import { randomFrom } from '../support/random.js';

const CUTS = ['before', 'after', 'middle'];

/**
 * Servers over one place with a balancer before them, which cuts connections around some of the requests, as a seed
 * and `cutRate` say. Before that a proxy cuts connections at any byte; `bytes` are its options. `killOne()` kills a
 * server, and starts another one at its port.
 */
export async function startServers(place, { count, seed, cutRate, bytes }) {
  const random = randomFrom(seed);
  const servers = await Promise.all(Array.from({ length: count }, () => startServer(place)));
  const seen = { cuts: 0, kills: 0 };
  const cutOf = () => {
    if (random() >= cutRate) return undefined;
    seen.cuts += 1;
    return CUTS[Math.floor(random() * CUTS.length)];
  };
  const ports = servers.map(({ port }) => port);
  let isCutting = true;
  const balancer = await startBalancer(ports, () => (isCutting ? cutOf() : undefined));
  const cutter = await startCutter(Number(new URL(balancer.url).port), { seed, ...bytes });
  const restarting = new Set();
  return {
    url: cutter.url,
    urls: () => servers.map(({ url }) => url),
    seen: () => ({ ...seen, bytes: cutter.cuts() }),
    calm: () => {
      isCutting = false;
      cutter.calm();
    },
    killOne: () => {
      const index = Math.floor(random() * count);
      if (restarting.has(index)) return;
      seen.kills += 1;
      restarting.add(index);
      const restarted = servers[index].kill().then(async () => {
        servers[index] = await startServer(place, { port: ports[index] });
        restarting.delete(index);
      });
      restarted.catch((error) => console.error(error));
    },
    /** Resolves when all servers are there. */
    whole: async () => {
      while (restarting.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    stop: async () => {
      await cutter.stop();
      await balancer.stop();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/**
 * Calls one of the deeds after so many steps as chance says, between `least` and `most` of them. Answers the function
 * to call at each step.
 */
export function occasionally(deeds, { seed, least, most }) {
  const random = randomFrom(seed);
  const pause = () => least + Math.floor(random() * (most - least + 1));
  let left = pause();
  return () => {
    left -= 1;
    if (left > 0) return;
    left = pause();
    deeds[Math.floor(random() * deeds.length)]();
  };
}
