// Leases in D1: the rule of `decideLease` as the condition of an UPDATE, by the clock of the database.

import { decideLease } from '../../../store/lease.js';
import { sessionNotFound } from '../../../store/refusals.js';
import { query, type Bindings, type D1Query } from './client.js';
import { ifCurrent, isSession, READ_VERSION } from './read.js';
import { checkRemoval } from './remove.js';
import { leaseIn } from '../../sqlite-core/lease.js';
import { numberIn, textIn } from '../../sqlite-core/rows.js';
import { toColumn } from '../../shared/column-text.js';
import { isNamed } from '../../shared/keys.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { LeaseAnswer, LeaseRequest } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/** The time by the clock of the database, in milliseconds since the epoch. */
const NOW = "(unixepoch('subsec') * 1000)";

/** The statements that take a lease, make it last longer or give it back. */
export function leaseQueries(key: SessionKey, { holder, ttl, fence, created }: LeaseRequest): D1Query[] {
  const isMeant = (all: Bindings): string =>
    `${isSession(key, all)}${created === undefined ? '' : ` AND created = ${all.add(toColumn(created))}`}`;
  return [
    READ_VERSION,
    query(
      (all) =>
        `SELECT created, fence, holder, held_until AS until FROM statepad_sessions WHERE ${isSession(key, all)}`,
    ),
    query((all) => {
      const own = all.add(toColumn(holder));
      const until = `${NOW} + ${all.add(ttl)}`;
      const [set, holds] =
        fence === undefined
          ? [
              `fence = fence + (holder IS NOT ${own}), holder = ${own}, held_until = ${until}`,
              `(holder IS NULL OR holder = ${own} OR held_until IS NULL OR held_until <= ${NOW})`,
            ]
          : [
              ttl > 0 ? `held_until = ${until}` : 'fence = fence + 1, holder = NULL, held_until = NULL',
              `fence = ${all.add(fence)} AND holder = ${own}`,
            ];
      return `${ifCurrent(`UPDATE statepad_sessions SET ${set} WHERE ${isMeant(all)} AND ${holds}`)}
        RETURNING fence, coalesce(held_until, ${NOW}) AS until`;
    }),
  ];
}

/** The statement that reads what a session has for its leases. */
export function readLeaseQuery(key: SessionKey): D1Query {
  return query(
    (all) => `SELECT fence, holder, held_until AS until FROM statepad_sessions WHERE ${isSession(key, all)}`,
  );
}

/** Reads the answers of {@link leaseQueries}. */
export function leaseFrom(
  key: SessionKey,
  request: LeaseRequest,
  answers: readonly (readonly SqlRow[])[],
): LeaseAnswer {
  checkRemoval(answers);
  const [, [session], [lease] = []] = answers as [unknown, readonly SqlRow[], readonly SqlRow[] | undefined];
  if (lease !== undefined) {
    return { fence: numberIn(lease, 'fence'), until: numberIn(lease, 'until') };
  }
  if (session === undefined || !isNamed({ created: textIn(session, 'created') }, request)) {
    throw sessionNotFound({ key });
  }
  // Nothing was changed, by the same rules: this throws, unless the lease was given back before. A holder that keeps
  // it from others was in time by the clock of the database.
  return { fence: decideLease(leaseIn(session), request, -Infinity).fence, until: 0 };
}
