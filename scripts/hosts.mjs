// Writes the table of docs/hosts.md from what the tests in tests/hosts have seen when they ran last.

import { readFileSync, writeFileSync } from 'node:fs';
import { allSeen, page, withTable } from '../tests/hosts/matrix.mjs';

writeFileSync(page, withTable(readFileSync(page, 'utf8'), allSeen()));
