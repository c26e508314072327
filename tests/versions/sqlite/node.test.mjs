// The store in SQLite over `node:sqlite` of the first Node that has it without an option, and of the newest.

import { passIn } from './installed.mjs';

const files = ['sqlite', 'sqlite-path', 'random', 'faults', 'processes'].map((name) => `sqlite/${name}.test.mjs`);
passIn('node-oldest', files);
passIn('node-newest', files);
