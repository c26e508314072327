// The time until a watcher at one server hears of a change that was committed through another.

import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { startServer } from '../../tests/support/servers.mjs';
import { makeEvent } from '../workload.mjs';
import { openConnection } from './connection.mjs';

const SESSION = '/v1/apps/bench/users/u/sessions';
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** The interval between questions of a watch where the store does not tell, in milliseconds. */
export const POLL = 250;

/** Calls `heard` for each line of data of a stream. Resolves when the stream has begun. */
function watch(url, heard) {
  return new Promise((resolve, reject) => {
    const query = 'appName=bench&userId=u&sessionId=watched&since=0';
    const watching = request(`${url}/v1/watch?${query}`, { headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the watch is answered with ${response.statusCode}`));
      const lines = createInterface({ input: response });
      lines.on('line', (line) => line.startsWith('data:') && heard(line));
      // The end of the watch breaks its stream off.
      lines.on('error', () => undefined);
      resolve(() => watching.destroy());
    });
    watching.on('error', reject);
    watching.end();
  });
}

/**
 * Milliseconds from the moment when the writer knew of its commit to the one when the watcher had heard of it, for
 * `count` changes. One that was heard of before is 0.
 */
export async function measureWatching(place, count) {
  const [here, there] = await Promise.all([startServer(place, { poll: POLL }), startServer(place, { poll: POLL })]);
  const writer = openConnection(here.url);
  await writer.send('POST', SESSION, { sessionId: 'watched' });
  const heardAt = new Map();
  let wake = () => undefined;
  const stop = await watch(there.url, (line) => {
    const id = /"id":"(event-\d+)"/.exec(line)?.[1];
    if (id !== undefined) heardAt.set(id, performance.now());
    wake();
  });
  const times = [];
  for (let number = 1; number <= count; number += 1) {
    const event = makeEvent(number);
    const { status, text } = await writer.send('POST', `${SESSION}/watched/events`, { event });
    if (status !== 200) throw new Error(text);
    const committed = performance.now();
    while (!heardAt.has(event.id)) await new Promise((resolve) => (wake = resolve));
    times.push(Math.max(0, heardAt.get(event.id) - committed));
    // At another moment of the interval each time.
    await sleep(10 + ((number * 37) % POLL));
  }
  stop();
  writer.close();
  await Promise.all([here.stop(), there.stop()]);
  return times;
}
