// All tests of the store in the tables of adk-python on the oldest version of Postgres, and its cases on the others.

import { testsOf } from '../suites.mjs';
import { oldest, others, passOver } from './installed.mjs';

passOver(oldest, testsOf('adk-database'));
for (const version of others) passOver(version, ['adk-database/adk-database.test.mjs'], 'fsync=off');
