// All tests of the store in Redis, on the oldest version.

import { testsOf } from '../suites.mjs';
import { oldest, passOver } from './installed.mjs';

passOver(oldest, testsOf('redis'));
