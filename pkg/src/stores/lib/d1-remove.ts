// Deleting in D1.

import { query, type D1Query } from './d1-client.js';
import { isSession } from './d1-read.js';
import { scopeColumn } from './sqlite-schema.js';
import type { ScopeName } from '../../store.js';
import type { SessionKey } from '../../types.js';

/** The statements that delete a session. */
export function removeQueries(key: SessionKey): D1Query[] {
  const { appName, userId } = key;
  return [
    query((all) => `DELETE FROM statepad_values WHERE owner = (SELECT n FROM statepad_sessions WHERE ${isSession(key, all)})`),
    query(
      (all) => `WITH session AS MATERIALIZED (SELECT n FROM statepad_sessions WHERE ${isSession(key, all)})
        DELETE FROM statepad_events
          WHERE place BETWEEN (SELECT n << 32 FROM session) AND (SELECT n << 32 | 4294967295 FROM session)`,
    ),
    query(
      (all) => `UPDATE statepad_scopes SET sessions = sessions - 1
        WHERE scope IN (${all.add(scopeColumn(appName, undefined))}, ${all.add(scopeColumn(appName, userId))})
        AND EXISTS (SELECT 1 FROM statepad_sessions WHERE ${isSession(key, all)})`,
    ),
    query((all) => `DELETE FROM statepad_sessions WHERE ${isSession(key, all)}`),
  ];
}

/** The statements that delete the values of a scope. */
export function removeScopeQueries({ app, user }: ScopeName): D1Query[] {
  const values = [scopeColumn(app, user)];
  return [
    { sql: 'DELETE FROM statepad_values WHERE owner = (SELECT n FROM statepad_scopes WHERE scope = ?1)', values },
    { sql: 'UPDATE statepad_scopes SET pos = pos + 1 WHERE scope = ?1', values },
  ];
}
