/**
 * Appending at a given length of history. Thirty-two appends are timed together; sessions are many enough, and new
 * ones come often enough, that no history grows by more than three percent while it is measured.
 */

import { fill, makeEvent, readEvents, stateText } from '../workload.mjs';
import { timeSamples } from '../measure.mjs';

const APPENDS = 32;

/** Each session has an app of its own, so that one append moves nothing that another session shows. */
const ownApp = (index) => ({ appName: `app-${index}`, userId: 'ana', sessionId: `session-${index}` });

/** Times one event for each pair. The events are there before the clock starts. */
async function timeAppends(service, pairs) {
  const started = performance.now();
  for (const pair of pairs) {
    await service.appendEvent(pair);
  }
  return ((performance.now() - started) * 1e6) / pairs.length;
}

async function proofOf(service, key, length) {
  const session = await service.getSession(key);
  return { length, characters: readEvents(session), state: stateText(session.state) };
}

/** Ten events are outgrown by one more: every sample has new sessions. */
export async function appendAt10({ createService }, { quick }) {
  const service = createService();
  await fill(service, ownApp(0), 11);
  const proof = await proofOf(service, ownApp(0), 11);
  const sample = async () => {
    const pairs = [];
    for (let index = 0; index < APPENDS; index += 1) {
      await service.deleteSession(ownApp(index));
      pairs.push({ session: await fill(service, ownApp(index), 10), event: makeEvent(10) });
    }
    return await timeAppends(service, pairs);
  };
  return { proof, ...(await timeSamples(sample, quick ? 150 : 400)) };
}

/** Longer histories take a few dozen events. */
const appendAt = (length, most) =>
  async function append({ createService }, { quick }) {
    const sessions = quick ? most / 2 : most;
    const service = createService();
    const all = [];
    for (let index = 0; index < sessions; index += 1) {
      all.push(await fill(service, ownApp(index), length));
    }
    const proof = await proofOf(service, ownApp(0), length);
    let next = length;
    const sample = async () => {
      const pairs = [];
      while (pairs.length < APPENDS) {
        pairs.push(...all.map((session) => ({ session, event: makeEvent(next) })));
        next += 1;
      }
      return await timeAppends(service, pairs);
    };
    const samples = Math.floor((length * 0.03 * sessions) / APPENDS);
    return { proof, ...(await timeSamples(sample, samples)) };
  };

export const appendAt1000 = appendAt(1_000, 32);
export const appendAt10000 = appendAt(10_000, 4);

/**
 * A hundred sessions of one app and many users take turns: the `app:` key of each event moves what all of them show.
 */
export async function appendShared({ createService }, { quick }) {
  const service = createService();
  const all = [];
  for (let index = 0; index < 100; index += 1) {
    all.push(await fill(service, { appName: 'app', userId: `user-${index}`, sessionId: `session-${index}` }, 100));
  }
  const proof = await proofOf(service, { appName: 'app', userId: 'user-7', sessionId: 'session-7' }, 100);
  let next = 100;
  const sample = async () => {
    const pairs = all.map((session) => ({ session, event: makeEvent(next) }));
    next += 1;
    return await timeAppends(service, pairs);
  };
  return { proof, ...(await timeSamples(sample, quick ? 10 : 40)) };
}
