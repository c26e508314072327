// Leases in D1: the rule of `decideLease` as the condition of an UPDATE, by the clock of the database.

import { decideLease } from '../../../store/lease.js';
import { sessionNotFound } from '../../../store/refusals.js';
import { query, type Bindings, type D1Query } from './client.js';
import { ifCurrent, IS_CURRENT, isLive, isSession, NOW, READ_VERSION } from './read.js';
import { checkRemoval } from './remove.js';
import { leaseIn } from '../../sqlite-core/lease.js';
import { numberIn, textIn } from '../../sqlite-core/rows.js';
import { toColumn } from '../../shared/column-text.js';
import { isNamed } from '../../shared/keys.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { LeaseAnswer, LeaseRequest } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/** The statements that take a lease, make it last longer or give it back. */
export function leaseQueries(key: SessionKey, request: LeaseRequest): D1Query[] {
  const { created } = request;
  return [
    READ_VERSION,
    query((all) => {
      const isMeant = created === undefined ? '' : ` AND created = ${all.add(toColumn(created))}`;
      return moveLease('statepad_sessions', `${isSession(key, all)}${isMeant} AND ${isLive()}`, request, all);
    }),
    // What the statement before has not changed is as it found it.
    query((all) => `SELECT created, ${LEASE} FROM statepad_sessions WHERE ${isSession(key, all)} AND ${isLive()}`),
  ];
}

/** The statements that do the same with the lease of a name. */
export function claimQueries(name: string, request: ClaimRequest): D1Query[] {
  const values = [toColumn(name)];
  return [
    READ_VERSION,
    {
      sql: `INSERT INTO statepad_claims (name, fence) SELECT ?1, 0 WHERE ${IS_CURRENT} ON CONFLICT (name) DO NOTHING`,
      values,
    },
    query((all) => moveLease('statepad_claims', `name = ${all.add(toColumn(name))}`, request, all)),
    { sql: `SELECT ${LEASE} FROM statepad_claims WHERE name = ?1`, values },
  ];
}

type ClaimRequest = Omit<LeaseRequest, 'created'>;

const LEASE = 'fence, holder, held_until AS until';

/** The rule of `decideLease` for the row of a table. Answers the lease where it was granted. */
function moveLease(table: string, isMeant: string, { holder, ttl, fence }: ClaimRequest, all: Bindings): string {
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
  return `${ifCurrent(`UPDATE ${table} SET ${set} WHERE ${isMeant} AND ${holds}`)}
    RETURNING fence, coalesce(held_until, ${NOW}) AS until`;
}

/** The statement that reads what a session has for its leases. */
export function readLeaseQuery(key: SessionKey): D1Query {
  return query((all) => `SELECT ${LEASE} FROM statepad_sessions WHERE ${isSession(key, all)} AND ${isLive()}`);
}

/** Reads the answers of {@link leaseQueries}. */
export function leaseFrom(
  key: SessionKey,
  request: LeaseRequest,
  answers: readonly (readonly SqlRow[])[],
): LeaseAnswer {
  checkRemoval(answers);
  const [, [lease] = [], [session] = []] = answers;
  if (lease === undefined && (session === undefined || !isNamed({ created: textIn(session, 'created') }, request))) {
    throw sessionNotFound({ key });
  }
  return answerFrom(request, lease, session);
}

/** Reads the answers of {@link claimQueries}. */
export function claimFrom(request: ClaimRequest, answers: readonly (readonly SqlRow[])[]): LeaseAnswer {
  checkRemoval(answers);
  const [, , [lease] = [], [row] = []] = answers;
  return answerFrom(request, lease, row);
}

/** The answer by the lease that was granted, or by the row that was not changed. */
function answerFrom(request: ClaimRequest, lease: SqlRow | undefined, row: SqlRow = {}): LeaseAnswer {
  if (lease !== undefined) {
    return { fence: numberIn(lease, 'fence'), until: numberIn(lease, 'until') };
  }
  // Nothing was changed, by the same rules: this throws, unless the lease was given back before. A holder that keeps
  // it from others was in time by the clock of the database.
  return { fence: decideLease(leaseIn(row), request, -Infinity).fence, until: 0 };
}
