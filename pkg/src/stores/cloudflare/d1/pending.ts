// The changes of a group while they are pending, as tables for the statements that write the rest of them.

import { HEAD, KINDS, type PackedChange } from './packed-change.js';
import { rowsAs } from './rows.js';
import type { Bindings } from './client.js';

/** True if the row `s` is that of the session of `head`. */
export const IS_SESSION = 's.app = head.app AND s.user = head.user AND s.id = head.session';

/** True if the event of `head` is pending in the session `s`. */
export const IS_AHEAD =
  'EXISTS (SELECT 1 FROM statepad_events AS e WHERE e.place = (s.n << 32 | s.rev + 1) AND e.id = head.id)';

/** The changes of the group that are pending, with the number and the revision of their sessions. */
export const PENDING = `pending AS MATERIALIZED (
    SELECT head.*, s.n, s.rev AS at FROM head JOIN statepad_sessions AS s ON ${IS_SESSION}
      WHERE head.kind = ${KINDS.append} AND ${IS_AHEAD} OR head.kind = ${KINDS.create} AND s.rev = -1
    UNION ALL
    SELECT head.*, NULL, NULL FROM head
      JOIN statepad_scopes AS x ON x.scope = coalesce(head.user_scope, head.app_scope)
      JOIN statepad_updates AS u ON u.scope = x.n AND u.id = head.id
      WHERE head.kind = ${KINDS.update} AND u.time = -1
  )`;

/**
 * The targets of each pending change: the number of the scope or session, and the position or revision that it brings.
 */
export const TOUCHED = `touched AS MATERIALIZED (
    SELECT i, 0 AS part, x.n AS owner, x.pos + row_number() OVER (PARTITION BY x.n ORDER BY i) AS born
      FROM pending JOIN statepad_scopes AS x ON x.scope = app_scope WHERE moves_app
    UNION ALL
    SELECT i, 1, x.n, x.pos + row_number() OVER (PARTITION BY x.n ORDER BY i)
      FROM pending JOIN statepad_scopes AS x ON x.scope = user_scope WHERE moves_user
    UNION ALL
    SELECT i, 2, n, at + 1 FROM pending WHERE n IS NOT NULL
  )`;

/** The rows of the changes of a group. */
export function headAs(group: readonly PackedChange[], all: Bindings): string {
  return rowsAs(
    'head',
    HEAD,
    group.map(({ head }) => head),
    all,
  );
}
