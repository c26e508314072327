// Opening the store: which version wrote what is there.

import { StoreError } from '../../store/store-error.js';
import { newerVersion, olderVersion } from '../../store/refusals.js';
import { textOf, type RunScript } from './client.js';
import { leftKey, versionKey } from './keys.js';
import { isThereScript, openScript } from './scripts/open.js';
import { VERSION } from './version.js';
import type { Migrate } from '../../store/contract.js';

/**
 * Asks for the version of what is there, for {@link needsUpgrade}; where there is none, makes it this one unless that
 * is forbidden.
 */
export function findVersion(run: RunScript, prefix: string, migrate: Migrate): Promise<unknown> {
  return run(openScript, [versionKey(prefix)], [String(VERSION), migrate === 'check' ? '' : 'create', migrate]);
}

/** Whether there is an upgrade to do. Throws when what was found does not suit. */
export async function needsUpgrade(
  run: RunScript,
  prefix: string,
  answer: unknown,
  migrate: Migrate,
): Promise<boolean> {
  const isOlder = checkVersion(prefix, answer, migrate);
  return isOlder || (migrate === 'upgrade' && Number(await run(isThereScript, [leftKey(prefix)], [])) === 1);
}

/** Whether what was found is older. Throws when it does not suit. */
function checkVersion(prefix: string, answer: unknown, migrate: Migrate): boolean {
  const [status, found] = answer as readonly unknown[];
  if (textOf(status) === 'denied') {
    throw new StoreError('rejected', `redis does not allow the user the commands ${textOf(found)}`);
  }
  if (found === null) {
    throw new StoreError(
      'rejected',
      `there is no store under the prefix "${prefix}", and migrate: '${migrate}' makes none`,
    );
  }
  const [version, what] = [Number(found), `the store under the prefix "${prefix}"`];
  if (!Number.isInteger(version)) {
    throw new StoreError('rejected', `"${versionKey(prefix)}" has something else than a version: use another prefix`);
  }
  if (version > VERSION) {
    throw newerVersion(what, version, VERSION);
  }
  if (migrate !== 'upgrade' && version !== VERSION) {
    throw olderVersion(what, version, VERSION);
  }
  return version < VERSION;
}
