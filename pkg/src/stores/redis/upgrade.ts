// Brings what an older version has written up to date, one app after the other.

import { textOf, type RedisClient, type RunScript } from './client.js';
import { appVersionKey, versionKey } from './keys.js';
import { fenceScript, movedScript, moveScript } from './scripts/upgrade.js';
import { keysOf } from './server.js';
import { SCHEMA, type Upgrade } from './version.js';
import type { Script } from './scripts/script.js';

/** The number of keys that one script looks at. */
const BATCH_SIZE = 256;

/**
 * Makes the function that upgrades every app. One call that is not waited for any longer goes on, and is waited for
 * again by the next one.
 */
export function upgrader(
  client: RedisClient,
  run: RunScript,
  prefix: string,
  { upgrades } = SCHEMA,
): () => Promise<void> {
  let upgrading: Promise<void> | undefined;
  const upgrade = async (): Promise<void> => {
    for (const step of upgrades) {
      await upgradeApps(client, run, prefix, step);
      await run(movedScript, [versionKey(prefix)], [step.from, step.to]);
    }
  };
  return () => (upgrading ??= upgrade().finally(() => (upgrading = undefined)));
}

/**
 * Takes every app from one version to the next. Each step is one script that does nothing the second time, so that
 * this may end at any point, and begin again, or be done by several processes at once:
 *
 * 1. Every app that is met gets a fence in place of its version: neither version writes to it any more.
 * 2. Its keys are brought up to date, some at a time, as long as the fence is there.
 * 3. Apps that a pass over all keys misses were made while it ran. After a pass that has put up no new fence all is
 *    there: the apps say that they are of the next version.
 *
 * In a cluster slots must not move meanwhile. An app that a process of the older version makes afterwards is refused
 * when it is met; the next upgrade finds it.
 */
async function upgradeApps(client: RedisClient, run: RunScript, prefix: string, step: Upgrade): Promise<void> {
  const fence = `${step.from}>${step.to}`;
  const script = moveScript(step.lua);
  /** For each app that says a version: true if it has the fence. */
  const apps = new Map<string, boolean>();
  for (let isNew = true; isNew;) {
    isNew = false;
    for await (const keys of keysOf(client, `${prefix}:{`)) {
      for (const [base, names] of keysByApp(keys)) {
        if (!apps.has(base)) {
          const version = textOf(await run(fenceScript, [appVersionKey(base)], [step.from, fence]));
          isNew ||= version === step.from;
          if (version !== '') {
            apps.set(base, version === step.from || version === fence);
          }
        }
        if (apps.get(base) === true) {
          await move(run, script, [appVersionKey(base), ...names], fence);
        }
      }
    }
  }
  for (const [base, isFenced] of apps) {
    if (isFenced) {
      await run(movedScript, [appVersionKey(base)], [fence, step.to]);
    }
  }
}

async function move(
  run: RunScript,
  script: Script,
  [version = '', ...keys]: readonly string[],
  fence: string,
): Promise<void> {
  for (let first = 0; first < keys.length; first += BATCH_SIZE) {
    await run(script, [version, ...keys.slice(first, first + BATCH_SIZE)], [fence]);
  }
}

/** The keys of each app but its version, by what all keys of the app begin with. */
function keysByApp(keys: readonly string[]): Map<string, string[]> {
  const apps = new Map<string, string[]>();
  for (const key of keys) {
    const base = key.slice(0, key.indexOf('}:') + 2);
    const names = apps.get(base) ?? [];
    apps.set(base, names);
    if (key !== appVersionKey(base)) {
      names.push(key);
    }
  }
  return apps;
}
