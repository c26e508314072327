/**
 * Appending at a given length of history. Thirty-two appends are timed together; sessions are many enough, and new
 * ones come often enough, that no history grows by more than three percent while it is measured.
 */

import { fill, makeEvent, readEvents, readState, stateText } from '../workload.mjs';
import { timeSamples } from '../measure.mjs';

const APPENDS = 32;

/** Each session has an app of its own, so that one append moves nothing that another session shows. */
const ownApp = (index) => ({ appName: `app-${index}`, userId: 'ana', sessionId: `session-${index}` });

/** The reads after an append: nothing, the values of all keys, or the last of all events. */
const NOTHING = () => 0;
const STATE = readState;
const EVENTS = ({ events }) => events.length + events.at(-1).content.parts[0].text.length;

/** Times one event for each pair. The events are there before the clock starts. */
async function timeAppends(service, pairs, read = NOTHING) {
  let seen = 0;
  const started = performance.now();
  for (const pair of pairs) {
    await service.appendEvent(pair);
    seen += read(pair.session);
  }
  const elapsed = ((performance.now() - started) * 1e6) / pairs.length;
  if (read !== NOTHING && seen === 0) throw new Error('there was nothing to read');
  return elapsed;
}

async function proofOf(service, key, length) {
  const session = await service.getSession(key);
  return { length, characters: readEvents(session), state: stateText(session.state) };
}

/** Short histories are outgrown by one more event: every sample has new sessions. */
const appendShort = (length, read) =>
  async function append({ createService }, { quick }) {
    const service = createService();
    await fill(service, ownApp(0), length + 1);
    const proof = await proofOf(service, ownApp(0), length + 1);
    const sample = async () => {
      const pairs = [];
      for (let index = 0; index < APPENDS; index += 1) {
        await service.deleteSession(ownApp(index));
        pairs.push({ session: await fill(service, ownApp(index), length), event: makeEvent(length) });
      }
      return await timeAppends(service, pairs, read);
    };
    return { proof, ...(await timeSamples(sample, quick ? 150 : 400)) };
  };

/** Longer histories take a few dozen events. */
const appendLong = (length, most, read) =>
  async function append({ createService, fill: fillLong = fill }, { quick }) {
    const sessions = quick ? Math.ceil(most / 2) : most;
    const service = createService();
    const all = [];
    for (let index = 0; index < sessions; index += 1) {
      all.push(await fillLong(service, ownApp(index), length));
    }
    const proof = await proofOf(service, ownApp(0), length);
    let next = length;
    const sample = async () => {
      const pairs = [];
      while (pairs.length < APPENDS) {
        pairs.push(...all.map((session) => ({ session, event: makeEvent(next) })));
        next += 1;
      }
      return await timeAppends(service, pairs, read);
    };
    const samples = Math.floor((length * 0.03 * sessions) / APPENDS);
    return { proof, ...(await timeSamples(sample, samples)) };
  };

export const appendFirst = appendShort(0);
export const appendAt10 = appendShort(10);
export const appendAt1000 = appendLong(1_000, 32);
export const appendAt10000 = appendLong(10_000, 4);
export const appendAt100000 = appendLong(100_000, 1);
export const appendReadState = appendShort(10, STATE);
export const appendReadEvents = appendShort(10, EVENTS);
export const appendReadEvents1000 = appendLong(1_000, 32, EVENTS);

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
