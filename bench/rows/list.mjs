/** The first page of a list: 20 of 1,000 sessions, the latest first. */

import { fill, readState } from '../workload.mjs';
import { time } from '../measure.mjs';

export async function listPage({ createService }, options) {
  const service = createService();
  for (let index = 0; index < 1_000; index += 1) {
    const session = await fill(service, { appName: 'app', userId: 'ana', sessionId: `session-${index}` }, 2);
    const event = {
      id: 'last',
      author: 'user',
      timestamp: 1_800_000_000_000 + ((index * 7919) % 1_000),
      actions: { stateDelta: { index } },
    };
    await service.appendEvent({ session, event });
  }
  const page = async () =>
    await service.listSessions({ appName: 'app', userId: 'ana', limit: 20, page: 1, order: 'desc' });
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
