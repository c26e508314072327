/** Pages of 20 sessions, the latest first, of which each shows its state; and a walk through all of them. */

import { fill, readState } from '../workload.mjs';
import { time } from '../measure.mjs';

const LIMIT = 20;
const USER = { appName: 'app', userId: 'ana' };
const LATEST = { ...USER, limit: LIMIT, order: 'desc' };

/** So many sessions of a user, in no order of their times. */
async function filled({ createService }, count) {
  const service = createService();
  for (let index = 0; index < count; index += 1) {
    const session = await service.createSession({ ...USER, sessionId: `session-${index}`, state: { topic: 'tides' } });
    const timestamp = 1_800_000_000_000 + ((index * 7919) % count);
    const event = { id: 'last', author: 'user', timestamp, actions: { stateDelta: { index } } };
    await service.appendEvent({ session, event });
  }
  return service;
}

async function timePage(service, request, options) {
  const page = async () => await service.listSessions(request);
  const { sessions, totalItems } = await page();
  const call = async () => {
    let values = 0;
    for (const session of (await page()).sessions) {
      values += session.id.length + readState(session);
    }
    return values;
  };
  return { proof: { totalItems, ids: sessions.map(({ id }) => id) }, ...(await time(call, options)) };
}

const firstPage = (count) => async (side, options) => await timePage(await filled(side, count), LATEST, options);

const pageByOffset = (count) => async (side, options) =>
  await timePage(await filled(side, count), { ...LATEST, offset: count / 2 }, options);

/** The page after the cursor of a page that ends in the middle. */
const pageByCursor = (count) => async (side, options) => {
  const service = await filled(side, count);
  const { cursor } = await service.listSessions({ ...LATEST, offset: count / 2 - LIMIT });
  return await timePage(service, { ...LATEST, cursor }, options);
};

export const listFirst1000 = firstPage(1_000);
export const listCursor1000 = pageByCursor(1_000);
export const listOffset1000 = pageByOffset(1_000);
export const listFirst100000 = firstPage(100_000);
export const listCursor100000 = pageByCursor(100_000);
export const listOffset100000 = pageByOffset(100_000);

/** Every page of 10,000 sessions, a hundred on each. */
export async function listWalk(side, options) {
  const service = await filled(side, 10_000);
  const walk = async () => {
    let seen = 0;
    let cursor;
    do {
      const page = await service.listSessions({ ...LATEST, limit: 100, cursor });
      seen += page.sessions.length;
      ({ cursor } = page);
    } while (cursor !== undefined);
    return seen;
  };
  return { proof: { seen: await walk() }, ...(await time(walk, options)) };
}

/** As before, with sessions of the whole workload: thirty keys each. */
export async function listPage({ createService }, options) {
  const service = createService();
  for (let index = 0; index < 1_000; index += 1) {
    const session = await fill(service, { ...USER, sessionId: `session-${index}` }, 2);
    const timestamp = 1_800_000_000_000 + ((index * 7919) % 1_000);
    const event = { id: 'last', author: 'user', timestamp, actions: { stateDelta: { index } } };
    await service.appendEvent({ session, event });
  }
  return await timePage(service, LATEST, options);
}
