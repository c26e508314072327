// Writes to a store through a service without end, and prints the id of each change that is acknowledged.

import { writeSync } from 'node:fs';
import { SessionService, ready } from 'statepad';
import { readyToGo } from '../support/kill.mjs';
import { openSessions, writeOn } from './kill-data.mjs';
import { openers } from './kill-stores.mjs';

const [kind, place, appName, round] = process.argv.slice(2);
await ready();
const { store } = await openers[kind](place);
const service = new SessionService({ store });
await readyToGo();
// Straight into the pipe: what is printed was acknowledged, and survives this process.
await writeOn(service, await openSessions(service, appName), round, (id) => writeSync(1, `${id}\n`));
