/**
 * The costs of sharing, which `npm run bench:stores` measures, too. Alone, once it is built:
 * `node bench/stores/sharing.mjs`.
 *
 * - an append after others have written one key of an app that has 10,000: the size of the store's answer, and its
 *   time
 * - 100 updates of one counter at once over a store that is 10 ms away: how long, how many runs of the function, how
 *   often the store is asked
 */

import { fileURLToPath } from 'node:url';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { median } from '../cold.mjs';

const KEY = { appName: 'bench', userId: 'u', sessionId: 's' };
const TARGETS = { session: KEY, user: { appName: 'bench', userId: 'u' }, app: { appName: 'bench' } };
const [KEYS, APPENDS, AT_ONCE, AWAY] = [10_000, 50, 100, 10];
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** A store over `inner` that is `away` milliseconds from here, and what it was asked and has answered. */
function watched(inner, away) {
  const seen = { calls: 0, bytes: 0 };
  const ask =
    (method) =>
    async (...args) => {
      seen.calls += 1;
      if (away > 0) await sleep(away);
      const answer = await inner[method](...args);
      seen.bytes += JSON.stringify(answer ?? null).length;
      return answer;
    };
  const { commit, load, loadScope } = { commit: ask('commit'), load: ask('load'), loadScope: ask('loadScope') };
  return { store: { ...inner, commit, load, loadScope, commitMany: undefined, watch: undefined }, seen };
}

/** An append after each write of others, at 10,000 keys of the app. */
async function foreignMoves() {
  const inner = memoryStore();
  const { store, seen } = watched(inner, 0);
  const [ours, theirs] = [new SessionService({ store }), new SessionService({ store: inner })];
  const state = Object.fromEntries(
    Array.from({ length: KEYS }, (_, index) => [`app:key ${index}`, `value ${index} of the app`]),
  );
  const session = await ours.createSession({ ...KEY, state });
  const times = [];
  seen.bytes = 0;
  for (let number = 0; number < APPENDS; number += 1) {
    await theirs.updateState(TARGETS.app, () => ({ [`app:key ${number}`]: number }));
    const started = performance.now();
    await ours.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { number } } } });
    times.push(performance.now() - started);
  }
  return { bytes: Math.round(seen.bytes / APPENDS), ms: median(times) };
}

/** All at once. */
async function herd(target, name) {
  const { store, seen } = watched(memoryStore(), AWAY);
  const service = new SessionService({ store });
  await service.createSession(KEY);
  seen.calls = 0;
  let runs = 0;
  const started = performance.now();
  const add = (state) => {
    runs += 1;
    return { [name]: (state[name] ?? 0) + 1 };
  };
  const all = Promise.all(Array.from({ length: AT_ONCE }, () => service.updateState(TARGETS[target], add)));
  const done = await Promise.race([all.then(() => true), sleep(30_000).then(() => false)]);
  return { seconds: (performance.now() - started) / 1000, runs, calls: seen.calls, done };
}

/** The lines of the report. */
export async function measureSharing() {
  const { bytes, ms } = await foreignMoves();
  const lines = [
    `an append after others have moved one of ${KEYS.toLocaleString('en')} app keys: ${bytes.toLocaleString('en')} bytes, ${ms.toFixed(2)} ms`,
  ];
  for (const [target, name] of [
    ['session', 'n'],
    ['session', 'app:n'],
    ['user', 'user:n'],
    ['app', 'app:n'],
  ]) {
    const { seconds, runs, calls, done } = await herd(target, name);
    const time = done ? `${seconds.toFixed(2)} s` : 'not done after 30 s';
    lines.push(
      `${AT_ONCE} updates of ${name} through one ${target} at once, ${AWAY} ms away: ${time}, ${runs} runs, ${calls} calls of the store`,
    );
  }
  return lines;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log((await measureSharing()).join('\n'));
  process.exit();
}
