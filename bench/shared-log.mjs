// The cost of keeping the log of app and user values in memory: appends that write an `app:` key, with the log and
// without, in pairs; and the memory per append that remains in use.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SessionService } from 'statepad';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const [rounds, appends] = [Number(process.argv[2] ?? 40), 2_000];
const key = { appName: 'app', userId: 'u', sessionId: 's' };

async function round(log, delta) {
  const service = new SessionService({ log });
  const session = await service.createSession(key);
  collect();
  const before = process.memoryUsage().heapUsed;
  const start = performance.now();
  for (let n = 0; n < appends; n++) {
    await service.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: delta(n) } } });
  }
  const time = ((performance.now() - start) * 1000) / appends;
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / appends;
  await service.close();
  return { time, bytes };
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
const deltas = {
  'an app: key': (n) => ({ 'app:n': n }),
  'an app:, a user: and an own key': (n) => ({ 'app:n': n, 'user:n': n, n }),
  'an own key': (n) => ({ n }),
};
for (const [name, delta] of Object.entries(deltas)) {
  const pairs = [];
  for (let index = 0; index < rounds; index++) {
    const order = index % 2 === 0 ? [true, false] : [false, true];
    const pair = {};
    for (const log of order) {
      pair[log] = await round(log, delta);
    }
    pairs.push(pair);
  }
  console.log(name, {
    'µs with': median(pairs.map((pair) => pair.true.time)).toFixed(2),
    'µs without': median(pairs.map((pair) => pair.false.time)).toFixed(2),
    ratio: median(pairs.map((pair) => pair.true.time / pair.false.time)).toFixed(2),
    'bytes more per append': Math.round(median(pairs.map((pair) => pair.true.bytes - pair.false.bytes))),
  });
}
