// Leases: their statements, and the meaning of the answers.

import { decideLease, type LeaseRow } from '../../store/lease.js';
import { sessionNotFound } from '../../store/refusals.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { NOT_EXPIRED } from './entries.js';
import type { Statement } from './client.js';
import type { LeaseAnswer, LeaseRequest } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The answer of the function. */
type Answer =
  | readonly [fence: number, until: number]
  | readonly ['not-found']
  | readonly ['refused', fence: number, holder: string | null, until: number | null, now: number];

/** The statement that asks for a lease, makes it last longer or gives it back. */
export function leaseStatement(schema: string, key: SessionKey, request: LeaseRequest): Statement {
  const { appName, userId, sessionId } = key;
  const { holder, ttl, fence = null, created } = request;
  const values = [appName, userId, sessionId].map(toColumn);
  return {
    text: `select ${schema}.lease($1, $2, $3, $4, $5, $6, $7) as answer`,
    values: [...values, created === undefined ? null : toColumn(created), toColumn(holder), ttl, fence],
  };
}

/** The statement that reads what a session has for its leases. */
export function readLeaseStatement(schema: string, key: SessionKey): Statement {
  return {
    text: `select json_build_array(session.fence, session.holder, session.held_until)::text as answer
from ${schema}.scopes app
join ${schema}.scopes usr on usr.parent = app.no and usr.name = $2
join ${schema}.sessions session on session.usr = usr.no and session.id = $3 and ${NOT_EXPIRED}
where app.parent = 0 and app.name = $1`,
    values: [key.appName, key.userId, key.sessionId].map(toColumn),
  };
}

/** Reads the answer of {@link readLeaseStatement}. */
export function leaseRowIn(rows: readonly unknown[]): LeaseRow | null {
  const [row] = rows as readonly { readonly answer: string }[];
  if (row === undefined) {
    return null;
  }
  const [fence, holder, until] = JSON.parse(row.answer) as [number, string | null, number | null];
  return { fence, holder: holder === null ? undefined : fromColumn(holder), until: until ?? undefined };
}

/** The statement that asks for the lease of a name, makes it last longer or gives it back. */
export function claimStatement(schema: string, name: string, request: LeaseRequest): Statement {
  const { holder, ttl, fence = null } = request;
  return {
    text: `select ${schema}.claim($1, $2, $3, $4) as answer`,
    values: [toColumn(name), toColumn(holder), ttl, fence],
  };
}

/**
 * Reads the answer of {@link leaseStatement}, or of {@link claimStatement}, which has no key. Throws `held`, `fenced`,
 * `not-found`.
 */
export function leaseIn(rows: readonly unknown[], request: LeaseRequest, key: Partial<SessionKey> = {}): LeaseAnswer {
  const [row] = rows as readonly { readonly answer: string }[];
  const answer = JSON.parse(row?.answer ?? '') as Answer;
  if (answer[0] === 'not-found') {
    throw sessionNotFound({ key: { appName: '', ...key } });
  }
  if (answer[0] === 'refused') {
    const [, fence, holder, until, now] = answer;
    const lease = { fence, holder: holder === null ? undefined : fromColumn(holder), until: until ?? undefined };
    // The function has changed nothing, by the same rules: this throws, unless the lease was given back before.
    const { fence: newFence, until: end } = decideLease(lease, request, now);
    return { fence: newFence, until: end ?? now };
  }
  const [fence, until] = answer;
  return { fence, until };
}
