// A process that takes the lease of a session and appends to it, several events at a time, until it is refused. See
// lease.test.mjs.

import { openService } from './places.mjs';

const AT_ONCE = 4;
/** The longest wait of a process after an event, in milliseconds: SQLite writes as long as it is asked to. */
const MOST_PAUSE_MS = 8;

/** The end although nothing was refused, in milliseconds since the start. */
const GIVE_UP_MS = 30_000;

const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * MOST_PAUSE_MS));

process.once('message', async ({ place, key, ttl }) => {
  const { service, eventOf, end } = await openService(place);
  const lease = await service.lease(await service.getSession(key), { ttl });
  const [acknowledged, refused] = [[], []];
  let count = 0;
  const work = async () => {
    while (refused.length === 0 && performance.now() < GIVE_UP_MS) {
      const id = `${lease.token} ${(count += 1)}`;
      try {
        await service.appendEvent({ session: lease.session, event: eventOf(id, { by: id }) });
        acknowledged.push(id);
        if (acknowledged.length === AT_ONCE) process.send({ leased: lease.token });
        await pause();
      } catch (error) {
        refused.push(error.code ?? error.stack);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  // And by any other way through the handle.
  for (const write of [
    () => service.appendEvent({ session: lease.session, event: eventOf('late', { by: 'late' }) }),
    () => service.updateState(lease.session, () => ({ by: 'late' })),
    () => service.updateState(lease.session, () => ({ 'user:by': 'late' })),
    () => service.rewind(lease.session, { before: 'first' }),
    () => lease.renew(),
  ]) {
    await write().then(
      () => refused.push('written'),
      (error) => refused.push(error.code ?? error.stack),
    );
  }
  const isAborted = lease.signal.aborted;
  await lease.release();
  process.send({ acknowledged, refused, isAborted });
  await end();
  process.disconnect();
});
