/**
 * Appending to a session of an app that has many keys, one of which each event moves, while so many handles show what
 * was there before.
 */

import { fill, makeEvent, readState } from '../workload.mjs';
import { timeSamples } from '../measure.mjs';

const KEY = { appName: 'app', userId: 'ana', sessionId: 'session' };
const APPENDS = 32;

/** Both compilers are done before the first sample, in which there is less to do than in those of other rows. */
async function warmUp(service) {
  const key = { ...KEY, appName: 'another app' };
  for (let round = 0; round < 1_000; round += 1) {
    await fill(service, key, 10);
    await service.deleteSession(key);
  }
}

/**
 * Handles are got anew for each sample, and their state is read, so that it has to stay. `reads` reads the writer's
 * state after each append.
 */
const appendWith = (keys, handles, reads = false) =>
  async function append({ createService }, { quick }) {
    const service = createService();
    await warmUp(service);
    const stateDelta = Object.fromEntries(
      Array.from({ length: keys }, (_, index) => [`app:key ${index}`, `v${index}`]),
    );
    const other = await service.createSession({ ...KEY, sessionId: 'other' });
    await service.appendEvent({ session: other, event: { ...makeEvent(0), actions: { stateDelta } } });
    await fill(service, KEY, 10);
    const proof = { keys: readState(await service.getSession(KEY)) };
    const sample = async () => {
      await service.deleteSession(KEY);
      const session = await fill(service, KEY, 10);
      const shown = [];
      for (let index = 1; index < handles; index += 1) {
        shown.push(await service.getSession({ ...KEY, sessionId: 'other' }));
      }
      shown.slice(0, 1).forEach(readState);
      const events = Array.from({ length: APPENDS }, (_, index) => makeEvent(10 + index));
      let values = 0;
      const started = performance.now();
      for (const event of events) {
        await service.appendEvent({ session, event });
        values += reads ? readState(session) : 0;
      }
      const elapsed = ((performance.now() - started) * 1e6) / APPENDS;
      if (reads ? values < keys : shown.length !== handles - 1) throw new Error('not all was there');
      return elapsed;
    };
    return { proof, ...(await timeSamples(sample, reads ? 8 : quick ? 60 : 150)) };
  };

export const keys10 = appendWith(10, 1);
export const keys1000 = appendWith(1_000, 1);
export const keys10000 = appendWith(10_000, 1);
export const keys10Handles = appendWith(10, 200);
export const keys1000Handles = appendWith(1_000, 200);
export const keys10000Handles = appendWith(10_000, 200);
export const keys10000Read = appendWith(10_000, 1, true);
