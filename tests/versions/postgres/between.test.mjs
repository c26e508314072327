// The cases and a random history of the store in Postgres, on the versions between the oldest and the newest. Nothing
// of that depends on what is on disk.

import { others, passOver } from './installed.mjs';

for (const version of others) {
  passOver(version, ['postgres/postgres.test.mjs', 'postgres/random.test.mjs'], 'fsync=off');
}
