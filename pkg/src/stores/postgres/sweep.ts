// Sweeps: their statement, and the meaning of the answer.

import { fromColumn, toColumn } from '../shared/column-text.js';
import type { Statement } from './client.js';
import type { Hint, SweepQuery, Swept } from '../../store/contract.js';

/** The most sessions and users that one statement removes. */
const MOST = 1_000;

/** The longest time since a change, in milliseconds: a timestamp of Postgres does not go back further by far. */
const LONGEST_MS = 1e14;

/** The answer of the function: apps, users and sessions by their names. */
interface Answer {
  readonly sessions: readonly (readonly [app: string, user: string, session: string])[] | null;
  readonly users: readonly (readonly [app: string, user: string])[] | null;
  readonly more: boolean;
}

/** The statement that sweeps. `log`: true if the removal of values goes into the log. */
export function sweepStatement(schema: string, { app, limit, userTtl }: SweepQuery, log: boolean): Statement {
  return {
    text: `select ${schema}.sweep($1, $2, $3, $4) as answer`,
    values: [
      app === undefined ? null : toColumn(app),
      Math.max(1, Math.min(Math.floor(limit), MOST)),
      userTtl === undefined ? null : Math.min(userTtl, LONGEST_MS),
      String(log),
    ],
  };
}

/** Reads the answer of {@link sweepStatement}, and tells of each thing that was removed. */
export function sweptIn(rows: readonly unknown[], onRemoved: (hint: Hint) => void): Swept {
  const [row] = rows as readonly { readonly answer: string }[];
  const { sessions, users, more } = JSON.parse(row?.answer ?? '') as Answer;
  [...(sessions ?? []), ...(users ?? [])].forEach((names) => {
    const [appName = '', userId = '', sessionId] = names.map(fromColumn);
    onRemoved({ appName, userId, ...(sessionId !== undefined && { sessionId }) });
  });
  return { sessions: sessions?.length ?? 0, users: users?.length ?? 0, more };
}
