// The ends of sessions in an IndexedDB database. The clock is that of the page, as for leases.

import { defined } from '../../model/defined.js';
import { toOrdered } from './keys.js';
import { answer, source } from './requests.js';
import type { SessionRow } from './rows.js';
import type { Expiry } from '../../store/contract.js';

/** Sessions of an app, or of a user in it; of all apps when absent. */
export interface Part {
  readonly app?: string | undefined;
  readonly user?: string | undefined;
}

/** The columns of the end of a session that is created at `now`. */
export function endOf(expires: Expiry | undefined, now: number): Pick<SessionRow, 'ttl' | 'expires'> {
  if (expires?.ttl === undefined) {
    return defined({ expires: expires?.at });
  }
  return { ttl: expires.ttl, expires: now + expires.ttl };
}

/** The columns that an append at `now` moves. */
export function laterEnd({ ttl }: SessionRow, now: number): Pick<SessionRow, 'expires'> {
  return ttl === undefined ? {} : { expires: now + ttl };
}

/** True when a session is not there any more, although its row is. */
export function hasEnded({ expires }: Pick<SessionRow, 'expires'>, now: number): boolean {
  return expires !== undefined && expires <= now;
}

/** The row of a session that is there. */
export function unended(row: SessionRow | undefined, now = Date.now()): SessionRow | undefined {
  return row === undefined || hasEnded(row, now) ? undefined : row;
}

/** The index of the ends of some sessions, and the range of those that have ended by `now`, the earliest first. */
export function ended({ app, user }: Part, now: number): { readonly index: string; readonly range: IDBKeyRange } {
  const index = app === undefined ? 'end' : user === undefined ? 'appEnd' : 'userEnd';
  const start = [app, user].filter((name) => name !== undefined).map(toOrdered);
  return { index, range: IDBKeyRange.bound([...start, -Infinity], [...start, now]) };
}

/** The number of sessions that have ended by `now`, and whose rows are there. */
export function countEnded(transaction: IDBTransaction, part: Part, now: number): Promise<number> {
  const { index, range } = ended(part, now);
  return answer(source(transaction, 'sessions', index).count(range));
}
