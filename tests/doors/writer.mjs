// A program that writes events to a session, one after the other, until all are acknowledged: by a service over the
// store, or by a client at a door. The argument is JSON; see writers.mjs. What has failed is sent again as it was: the
// ids and the times of the events depend on nothing else than their numbers.

import { setTimeout as sleep } from 'node:timers/promises';
import { increment } from 'statepad';
import { readyToGo } from '../support/kill.mjs';
import { openSource } from './sources.mjs';

/** What another try may mend. */
const PASSING = ['STORE_UNAVAILABLE', 'COMMIT_UNKNOWN', 'STATE_CONFLICT', 'TOO_MANY_REQUESTS', 'CLOSED'];

const { source: place, key, name, from, count } = JSON.parse(process.argv[2]);

/** An event that counts, also by an operator on a key that all share. */
function eventOf(number) {
  const id = `${name}.${number}`;
  const stateDelta = { [id]: number, [`user:${id}`]: number, 'app:total': increment(), [`user:${name}`]: increment() };
  const timestamp = 1_700_000_000_000 + number * 1_000;
  return { id, invocationId: `i-${id}`, author: name, timestamp, actions: { stateDelta } };
}

async function append(source, event) {
  for (;;) {
    try {
      const session = await source.getSession({ ...key, config: { numRecentEvents: 0 } });
      await source.appendEvent({ session, event });
      return;
    } catch (error) {
      if (!PASSING.includes(error.code)) throw error;
    }
  }
}

/** Without a pause it would be done before others, which are slower, have begun. In milliseconds. */
const PAUSE = 20;

const { source, end } = await openSource(place);
await readyToGo();
for (let number = from; number <= count; number += 1) {
  await append(source, eventOf(number));
  process.stdout.write(`${number}\n`);
  await sleep(PAUSE);
}
await end();
process.exit();
