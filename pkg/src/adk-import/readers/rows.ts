// Rows of sessions and scopes: the columns that a statement selects, and their content.

import { objectOf, jsonOf, timeOf, type Numbers } from '../values.js';
import { put } from '../../model/json.js';
import type { Layout } from './layout.js';
import type { Reading } from '../source/sql.js';
import type { Members } from '../../jsonl/members.js';
import type { SessionKey } from '../../model/types.js';
import type { AdkRow } from '../../stores/adk-database/database.js';

/** The requested sessions: all, those of an app, or those of one of its users. */
export interface Filter {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
}

/** An app, or a user in it. */
export interface ScopeKey {
  readonly appName: string;
  readonly userId?: string | undefined;
}

/** A session of a database. The content of its row is read on demand, because that may be refused. */
export interface SessionRow {
  readonly key: SessionKey;
  /** The time of its last write, as the database computes it, in milliseconds since the epoch. */
  readonly moment: number;
  /** Its own values, and the times of its creation and last write, in milliseconds since the epoch. */
  read(numbers: Numbers): { readonly state: Members; readonly created: number; readonly updated: number };
}

/** A statement that selects sessions, up to its `FROM`. */
export function sessionSelect(sql: Reading, { sessions: { table, id, created, updated }, unit }: Layout): string {
  const times = `${sql.time(table, created)} AS created, ${sql.time(table, updated)} AS updated`;
  const moment = `${sql.moment(table, updated, unit)} AS moment`;
  return `SELECT app_name, user_id, ${id}, ${sql.json('state')} AS state, ${times}, ${moment} FROM ${table}`;
}

/** The session of a row of {@link sessionSelect}. */
export function sessionRow(row: AdkRow, layout: Layout): SessionRow {
  const { sessions, unit } = layout;
  return {
    key: { ...ownerOf(row), sessionId: String(row[sessions.id]) },
    moment: Number(row['moment'] ?? NaN),
    read: (numbers) => ({
      state: values(objectOf(row['state'], 'state', numbers), layout),
      created: timeOf(row['created'], 'the time of creation', unit),
      updated: timeOf(row['updated'], 'the time of the last event', unit),
    }),
  };
}

/** The columns of the values of an app or a user. */
export function scopeColumns(sql: Reading, isByKey: boolean): string {
  return isByKey ? `state_key, ${sql.json('state_value')} AS state_value` : `${sql.json('state')} AS state`;
}

/** The values of an app or a user, of its rows. */
export function scopeState(rows: readonly AdkRow[], isByKey: boolean, layout: Layout, numbers: Numbers): Members {
  if (!isByKey) {
    return objectOf(rows[0]?.['state'], 'state', numbers);
  }
  const state: Record<string, unknown> = {};
  for (const row of rows) {
    const name = String(row['state_key']);
    put(state, name, jsonOf(row['state_value'], `the value of ${JSON.stringify(name)}`, numbers));
  }
  return values(state, layout);
}

/** adk-java reads a `null` as a missing value. */
function values(state: Members, { nullDeletes }: Layout): Members {
  return nullDeletes ? Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null)) : state;
}

/** The app and the user of a row. */
export function ownerOf(row: AdkRow): { readonly appName: string; readonly userId: string } {
  return { appName: String(row['app_name']), userId: String(row['user_id']) };
}

/** A condition for the rows of a filter, with its values. */
export function condition({ appName, userId }: Filter, prefix = ''): { where: string; values: string[] } {
  const parts = [
    ...(appName === undefined ? [] : [[`${prefix}app_name = ?`, appName] as const]),
    ...(userId === undefined ? [] : [[`${prefix}user_id = ?`, userId] as const]),
  ];
  return {
    where: parts.length === 0 ? '1 = 1' : parts.map(([text]) => text).join(' AND '),
    values: parts.map(([, value]) => value),
  };
}
