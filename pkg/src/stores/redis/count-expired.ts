// Counting what a sweep would remove: nothing is written, and no session is read.

import { scopeTitle } from '../../store/refusals.js';
import { textOf } from './client.js';
import { appKeys, appVersionKey, baseOf, sessionOf, userKeys } from './keys.js';
import { countScript, expiredPartScript, leftByAllScript } from './scripts/sweep.js';
import { allApps, askEach, type SweepParts } from './sweep.js';
import type { List } from './hashes.js';
import type { StoreContext, SweepQuery, Swept } from '../../store/contract.js';

/** The most expired sessions that one script looks at: Redis does nothing else meanwhile. */
const SLICE = 500;

type CountParts = Pick<SweepParts, 'prefix' | 'run' | 'ask'>;

/**
 * Counts what {@link sweep} would remove: see `SweepQuery.dry`. Sessions are counted by their index; those that have
 * expired are only looked at where users are counted, too, as far as the limit goes. A user whose sessions have all
 * expired is among the users, as the sweep comes to them after the sessions.
 */
export async function countExpired(parts: CountParts, query: SweepQuery, context: StoreContext): Promise<Swept> {
  const { limit, userTtl } = query;
  const apps = query.app === undefined ? await allApps(parts) : [query.app];
  const counts = await askEach(apps, (app) => countIn(parts, app, userTtl));
  context.answered?.();
  const all = counts.reduce((sum, [expired]) => sum + expired, 0);
  const sessions = Math.min(all, limit);
  let users = 0;
  for (const [index, [expired, idle]] of counts.entries()) {
    const room = limit - sessions - users;
    if (room <= 0) {
      break;
    }
    const left =
      userTtl === undefined || expired === 0
        ? 0
        : await countLeft(parts, apps[index] ?? '', { ...query, userTtl, limit: room - idle }, context);
    users += Math.min(idle + left, room);
  }
  // A sweep that comes to its limit does not look for more.
  return { sessions, users, more: sessions + users >= limit || context.signal.aborted };
}

/** The sessions of an app that have expired, and its idle users. */
async function countIn(
  { prefix, ask }: CountParts,
  app: string,
  userTtl: number | undefined,
): Promise<[sessions: number, users: number]> {
  const base = baseOf(prefix, app);
  const [expiring, idle] = appKeys(base).slice(-2) as [string, string];
  const keys = [appVersionKey(base), expiring, idle];
  const args = [userTtl === undefined ? '' : String(userTtl)];
  const reply = await ask(app, countScript, keys, args, whatOf(app));
  const [, sessions, users] = reply as List;
  return [Number(textOf(sessions)), Number(textOf(users))];
}

/** The users of an app who have sessions that have expired, and no others; at least `limit`, or all of them. */
async function countLeft(
  { prefix, ask }: CountParts,
  app: string,
  { limit, userTtl }: SweepQuery & { readonly userTtl: number },
  context: StoreContext,
): Promise<number> {
  const base = baseOf(prefix, app);
  const version = appVersionKey(base);
  const [expiring] = appKeys(base).slice(-2) as [string, string];
  let count = 0;
  for (let first = 0; count < limit && !context.signal.aborted; first += SLICE) {
    const part = await ask(app, expiredPartScript, [version, expiring], [String(first), String(SLICE)], whatOf(app));
    const members = (part as readonly [unknown, List])[1].map(textOf);
    if (members.length === 0) {
      break;
    }
    const keys = members.flatMap((member) => {
      const [values, , sessions, ofUser] = userKeys(base, sessionOf(member).userId);
      return [sessions, ofUser, values];
    });
    const reply = await ask(app, leftByAllScript, [version, ...keys], [String(userTtl), ...members], whatOf(app));
    count += Number(textOf((reply as List)[1]));
    context.answered?.();
  }
  return count;
}

function whatOf(app: string): string {
  return `what has expired of ${scopeTitle({ app })}`;
}
