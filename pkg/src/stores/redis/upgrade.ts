// Brings what version 1 has written up to date: see `scripts/script.ts` for the keys of either.

import { textOf, type RedisClient, type RunScript } from './client.js';
import { appKeys, leftKey, versionKey, versionKeys } from './keys.js';
import { keysOf } from './server.js';
import { forgetScript } from './scripts/open.js';
import { beginUpgradeScript, endUpgradeScript, moveScript, upgradedScript } from './scripts/upgrade.js';

/** How many users and sessions one script looks at. */
const BATCH_SIZE = 256;

/**
 * Upgrades every app. Each step is one script that does nothing the second time, so that this may end at any point,
 * and begin again, or be done by several processes at once:
 *
 * 1. Every app that is met gets its fence: nothing of version 1 writes to it any more. Its own keys get their new
 *    names.
 * 2. So do the keys of its users; the ids of its sessions become what they are in this version.
 * 3. What a pass over all keys misses was made while it ran. After a pass that has put up no new fence all is there:
 *    the apps, and then the whole, say that they are of this version.
 *
 * In a cluster slots must not move meanwhile. What was missed all the same is refused when it is met, and not hidden.
 */
export async function upgrade(client: RedisClient, run: RunScript, prefix: string): Promise<void> {
  const apps = new Set<string>();
  let isNew = true;
  while (isNew) {
    isNew = false;
    for await (const keys of keysOf(client, `${prefix}:{`)) {
      for (const [base, parts] of partsByApp(keys)) {
        if (!apps.has(base)) {
          isNew = (await begin(run, base)) || isNew;
          apps.add(base);
        }
        await move(run, base, parts);
      }
    }
  }
  for (const base of apps) {
    await run(endUpgradeScript, versionKeys(base).slice(0, 2), []);
  }
  await run(upgradedScript, [versionKey(prefix)], []);
  await run(forgetScript, [leftKey(prefix)], []);
}

/** Puts up the fence of an app. Answers whether it was not there before. */
async function begin(run: RunScript, base: string): Promise<boolean> {
  const [values, moves, sessions, updates] = appKeys(base);
  const [, isNew] = (await run(
    beginUpgradeScript,
    [...versionKeys(base), values, moves, sessions, updates],
    [],
  )) as unknown[];
  return textOf(isNew) === '1';
}

/** The keys of version 1 of users and sessions, and what their new names are. */
async function move(run: RunScript, base: string, parts: readonly string[]): Promise<void> {
  let rest = parts.filter((part) => part.startsWith('u:') || part.startsWith('i:'));
  while (rest.length > 0) {
    const some = rest.slice(0, BATCH_SIZE);
    const keys = some.flatMap((part) => [
      `${base}${part}`,
      ...(part.startsWith('u:') ? [`${base}v:${part.slice(2)}`] : []),
    ]);
    const done = await run(
      moveScript,
      keys,
      some.map((part) => part.slice(0, 1)),
    );
    rest = rest.slice(Number(done));
  }
}

/** The keys of each app, without what all keys of the app begin with. */
function partsByApp(keys: readonly string[]): Map<string, string[]> {
  const apps = new Map<string, string[]>();
  for (const key of keys) {
    const end = key.indexOf('}:') + 2;
    const base = key.slice(0, end);
    if (end > 1) {
      const parts = apps.get(base);
      if (parts === undefined) {
        apps.set(base, [key.slice(end)]);
      } else {
        parts.push(key.slice(end));
      }
    }
  }
  return apps;
}
