// Disturbances by chance, the same for the same seed: doors and writers are killed, connections are cut.

import { startBalancer } from '../support/balancer.mjs';
import { startDoor } from '../support/door.mjs';
import { randomFrom } from '../support/random.js';

const CUTS = ['before', 'after', 'middle'];

/**
 * Doors over one place with a balancer before them, which cuts some of the connections, as a seed and `cutRate` say.
 * `killOne()` kills a door, and starts another one at its port.
 */
export async function startDoors(place, { count, seed, cutRate }) {
  const random = randomFrom(seed);
  const doors = await Promise.all(Array.from({ length: count }, () => startDoor(place)));
  const seen = { cuts: 0, kills: 0 };
  const cutOf = () => {
    if (random() >= cutRate) return undefined;
    seen.cuts += 1;
    return CUTS[Math.floor(random() * CUTS.length)];
  };
  const ports = doors.map(({ port }) => port);
  let isCutting = true;
  const balancer = await startBalancer(ports, () => (isCutting ? cutOf() : undefined));
  const restarting = new Set();
  return {
    url: balancer.url,
    urls: () => doors.map(({ url }) => url),
    seen,
    calm: () => (isCutting = false),
    killOne: () => {
      const index = Math.floor(random() * count);
      if (restarting.has(index)) return;
      seen.kills += 1;
      restarting.add(index);
      const restarted = doors[index].kill().then(async () => {
        doors[index] = await startDoor(place, { port: ports[index] });
        restarting.delete(index);
      });
      restarted.catch((error) => console.error(error));
    },
    /** Resolves when all doors are there. */
    whole: async () => {
      while (restarting.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    stop: async () => {
      await balancer.stop();
      await Promise.all(doors.map((door) => door.stop()));
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
