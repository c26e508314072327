// Opening the store: the version that wrote the data.

import { StoreError } from '../../store/store-error.js';
import { textOf, type RunScript } from './client.js';
import { versionKey } from './keys.js';
import { openScript } from './scripts/open.js';
import { otherVersion, SCHEMA } from './version.js';
import type { Migrate } from '../../store/contract.js';

/**
 * Looks at the version of the data; where there is none, makes it this one unless that is forbidden. Throws
 * `rejected` for a version that cannot be read, and for one that has to be upgraded and must not be.
 */
export async function findStore(run: RunScript, prefix: string, migrate: Migrate, schema = SCHEMA): Promise<void> {
  const { version, layout, upgrades } = schema;
  const ours = `${version}:${layout}`;
  const answer = await run(openScript, [versionKey(prefix)], [ours, migrate === 'check' ? '' : 'create']);
  const [status, detail] = answer as readonly unknown[];
  if (textOf(status) === 'denied') {
    throw new StoreError('rejected', `redis does not allow the user the commands ${textOf(detail)}`);
  }
  if (detail === null) {
    throw new StoreError(
      'rejected',
      `there is no store under the prefix "${prefix}", and migrate: '${migrate}' creates none`,
    );
  }
  const isUpgradable = migrate === 'upgrade' && upgrades.some(({ from }) => from === textOf(detail));
  if (textOf(detail) !== ours && !isUpgradable) {
    throw otherVersion(`the store under the prefix "${prefix}"`, textOf(detail), schema);
  }
}
