// A program that writes events to a session, one after the other, until all are acknowledged: by a service over the
// store, or by a client of a server. The argument is JSON; see writers.mjs. What has failed is sent again as it was:
// the ids and the times of the events depend on nothing else than their numbers.

import { setTimeout as sleep } from 'node:timers/promises';
import { increment } from 'statepad';
import { readyToGo } from '../support/kill.mjs';
import { openSource } from './sources.mjs';

/** The errors that another try may mend. */
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
  const session = await source.getSession({ ...key, config: { numRecentEvents: 0 } });
  await source.appendEvent({ session, event });
}

/** Counts once: an answer that was lost is found again, perhaps without the count. */
async function countUp(source) {
  const { appName } = key;
  try {
    await source.updateState({ appName }, () => ({ 'app:updates': increment() }));
  } catch (error) {
    if (error.committed !== true) throw error;
  }
}

async function untilDone(work) {
  for (;;) {
    try {
      return await work();
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
  await untilDone(() => append(source, eventOf(number)));
  await countUp(source);
  process.stdout.write(`${number}\n`);
  await sleep(PAUSE);
}
await end();
process.exit();
