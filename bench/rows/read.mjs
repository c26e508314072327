/** Getting a session: the handle alone, all that is in it, and the end of a long history. */

import { fill, readEvents, readState, stateText } from '../workload.mjs';
import { time } from '../measure.mjs';

const KEY = { appName: 'app', userId: 'ana', sessionId: 'session' };

async function filled({ createService, fill: fillLong = fill }, length) {
  const service = createService();
  await fillLong(service, KEY, length);
  const session = await service.getSession(KEY);
  return { service, proof: { characters: readEvents(session), state: stateText(session.state) } };
}

const getAt = (length) =>
  async function get(side, options) {
    const { service, proof } = await filled(side, length);
    const call = async () => (await service.getSession(KEY)).id.length;
    return { proof, ...(await time(call, options)) };
  };

export const get = getAt(1_000);
export const getAt100000 = getAt(100_000);

export async function getAndRead(side, options) {
  const { service, proof } = await filled(side, 1_000);
  const call = async () => {
    const session = await service.getSession(KEY);
    return readEvents(session) + readState(session);
  };
  return { proof: { ...proof, read: await call() }, ...(await time(call, options)) };
}

export async function lastTwenty(side, options) {
  const { service, proof } = await filled(side, 10_000);
  const request = { ...KEY, config: { numRecentEvents: 20 } };
  const call = async () => readEvents(await service.getSession(request));
  return { proof: { ...proof, read: await call() }, ...(await time(call, options)) };
}
