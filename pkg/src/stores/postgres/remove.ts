// The deletion of a session: its statement, and the meaning of the answer.

import { checkFence } from '../../store/lease.js';
import { toColumn } from '../shared/column-text.js';
import { NOT_EXPIRED } from './entries.js';
import type { Statement } from './client.js';
import type { Guard } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

type RemovalGuard = Pick<Guard, 'created' | 'fence'>;

/**
 * The statement that deletes a session. The token is looked at in the row as it is once it is locked, and stays so
 * until the session is deleted: a lease that is taken meanwhile waits for that. A session that has expired has no
 * token, and what is left of it is deleted.
 */
export function removeStatement(schema: string, key: SessionKey, { created, fence }: RemovalGuard): Statement {
  const { appName, userId, sessionId } = key;
  const values = [...[appName, userId, sessionId].map(toColumn), created === undefined ? null : toColumn(created)];
  const remove = `${schema}.remove($1, $2, $3, $4)`;
  return fence === undefined
    ? { text: `select ${remove}::text as is_removed`, values }
    : {
        text: `with target as materialized (
          select session.fence, ${NOT_EXPIRED} as is_there
            from ${schema}.scopes app
            join ${schema}.scopes usr on usr.parent = app.no and usr.name = $2
            join ${schema}.sessions session on session.usr = usr.no and session.id = $3
            where app.parent = 0 and app.name = $1 and session.created = coalesce($4, session.created)
            for update of session
        )
        select case when target.fence = $5::float8 or not target.is_there then ${remove}::text end as is_removed,
            case when target.is_there then target.fence::text end as fence
          from target`,
        values: [...values, fence],
      };
}

/** True if a session was there, and is deleted. Throws `fenced`. */
export function wasRemoved(rows: readonly unknown[], { fence }: RemovalGuard): boolean {
  const [row] = rows as readonly { readonly is_removed: string | null; readonly fence?: string | null }[];
  if (typeof row?.fence === 'string') {
    checkFence(Number(row.fence), fence);
  }
  return row?.is_removed === 'true';
}
