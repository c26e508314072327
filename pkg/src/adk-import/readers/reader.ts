// Reads the sessions of a database, page by page: rows first, and their content on demand.

import { eventColumns, eventOf } from './events.js';
import { layoutOf, type KnownKind, type Layout } from './layout.js';
import { objectOf, jsonOf, timeOf, type Numbers } from '../values.js';
import { Reading } from '../source/sql.js';
import type { Pacer } from '../pacer.js';
import { put } from '../../model/json.js';
import { StatepadError, isStatepadError } from '../../model/errors.js';
import type { Members } from '../../jsonl/members.js';
import type { EventInit, SessionKey } from '../../model/types.js';
import type { AdkDatabase, AdkRow } from '../../stores/adk-database/database.js';
import type { Identified } from '../../stores/adk-database/detect.js';

/** The number of events on a page: the database sorts those of a session again for each page. */
const EVENTS = 1000;

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
  /** Its own values, and the times of its creation and last write, in milliseconds since the epoch. */
  read(numbers: Numbers): { readonly state: Members; readonly created: number; readonly updated: number };
}

/** The values of an app, or of a user in it. */
export interface ScopeRow extends ScopeKey {
  readonly state: () => Members;
}

/** Events that belong to no session. */
export interface Orphans extends SessionKey {
  readonly events: number;
}

/** Reads a database of a known kind. */
export class AdkReader {
  readonly #kind: KnownKind;
  readonly #layout: Layout;
  readonly #sql: Reading;
  readonly #pacer: Pacer;

  constructor(kind: KnownKind, database: AdkDatabase, { tables }: Identified, pacer: Pacer) {
    this.#pacer = pacer;
    this.#kind = kind;
    this.#layout = layoutOf(kind);
    this.#sql = new Reading(database, tables);
  }

  /** All sessions, grouped by app, and by user within it. */
  async *sessions(filter: Filter): AsyncGenerator<SessionRow, void, undefined> {
    const { table, id, created, updated } = this.#layout.sessions;
    const sql = this.#sql;
    const times = `${sql.time(table, created)} AS created, ${sql.time(table, updated)} AS updated`;
    const select = `SELECT app_name, user_id, ${id}, ${sql.json('state')} AS state, ${times} FROM ${table}`;
    const { where, values } = condition(filter);
    for await (const row of sql.pages(select, ['app_name', 'user_id', id], where, values)) {
      const key = { ...ownerOf(row), sessionId: String(row[id]) };
      yield { key, read: (numbers) => this.#session(row, numbers) };
    }
  }

  #session(row: AdkRow, numbers: Numbers): ReturnType<SessionRow['read']> {
    const { unit } = this.#layout;
    return {
      state: this.#values(objectOf(row['state'], 'state', numbers)),
      created: timeOf(row['created'], 'the time of creation', unit),
      updated: timeOf(row['updated'], 'the time of the last event', unit),
    };
  }

  /**
   * The events of a session in the order in which the ADK that wrote them reads them: by their times. Throws
   * `INVALID_ARGUMENT`.
   */
  async events({ appName, userId, sessionId }: SessionKey, numbers: Numbers): Promise<EventInit[]> {
    const { table, id, time, tie, tieInSqlite } = this.#layout.events;
    const sql = this.#sql;
    const columns = [`${id} AS event_id`, `${sql.time(table, time)} AS event_time`, ...eventColumns(this.#kind, sql)];
    const order = `${table}.${time}, ${table}.${sql.isSqlite ? tieInSqlite : tie}`;
    const select = `SELECT ${columns.join(', ')} FROM ${table}
      WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY ${order} LIMIT ${EVENTS}`;
    const events: EventInit[] = [];
    for (;;) {
      const rows = await sql.rows(`${select} OFFSET ${events.length}`, [appName, userId, sessionId]);
      for (const row of rows) {
        if (this.#pacer.isDue) {
          await this.#pacer.pause();
        }
        events.push(this.#event(row, numbers));
      }
      if (rows.length < EVENTS) {
        return events;
      }
    }
  }

  /** The event of a row. An error names it. */
  #event(row: AdkRow, numbers: Numbers): EventInit {
    const id = String(row['event_id']);
    try {
      return eventOf(this.#kind, row, {
        ...numbers,
        note: (reason) => numbers.note(`event "${id}": ${reason}`),
      });
    } catch (error) {
      throw isStatepadError(error) ? new StatepadError(error.code, error.message, { id, cause: error }) : error;
    }
  }

  /** The values of an app, or of a user in it; none without a row. */
  async scope({ appName, userId }: ScopeKey, numbers: Numbers): Promise<Members> {
    const { table, isByKey } = userId === undefined ? this.#layout.app : this.#layout.user;
    const { where, values } = condition({ appName, userId });
    const rows = await this.#sql.rows(`SELECT ${this.#scopeColumns(isByKey)} FROM ${table} WHERE ${where}`, values);
    return this.#scopeState(rows, isByKey, numbers);
  }

  /** The apps, or the users, that have values and no session. */
  async *scopesAlone(of: 'app' | 'user', filter: Filter): AsyncGenerator<ScopeKey, void, undefined> {
    const { table, isByKey } = this.#layout[of];
    const keys = [`v.app_name`, ...(of === 'user' ? ['v.user_id'] : [])];
    const same = keys.map((key) => `s.${key.slice(2)} = ${key}`).join(' AND ');
    const { where, values } = condition(filter, 'v.');
    const distinct = isByKey ? 'DISTINCT ' : '';
    const alone = `NOT EXISTS (SELECT 1 FROM ${this.#layout.sessions.table} AS s WHERE ${same})`;
    const select = `SELECT ${distinct}${keys.join(', ')} FROM ${table} AS v`;
    for await (const row of this.#sql.pages(select, keys, `${where} AND ${alone}`, values)) {
      yield of === 'user' ? ownerOf(row) : { appName: String(row['app_name']) };
    }
  }

  /** The events whose session is missing. */
  async orphans(filter: Filter): Promise<readonly Orphans[]> {
    const { sessions, events } = this.#layout;
    const { where, values } = condition(filter, 'e.');
    const same = `s.app_name = e.app_name AND s.user_id = e.user_id AND s.${sessions.id} = e.session_id`;
    const keys = 'e.app_name, e.user_id, e.session_id';
    const rows = await this.#sql.rows(
      `SELECT ${keys}, COUNT(*) AS events FROM ${events.table} AS e WHERE ${where}
        AND NOT EXISTS (SELECT 1 FROM ${sessions.table} AS s WHERE ${same}) GROUP BY ${keys} ORDER BY ${keys}`,
      values,
    );
    return rows.map((row) => ({
      ...ownerOf(row),
      sessionId: String(row['session_id']),
      events: Number(row['events']),
    }));
  }

  #scopeColumns(isByKey: boolean): string {
    return isByKey
      ? `state_key, ${this.#sql.json('state_value')} AS state_value`
      : `${this.#sql.json('state')} AS state`;
  }

  #scopeState(rows: readonly AdkRow[], isByKey: boolean, numbers: Numbers): Members {
    if (!isByKey) {
      return objectOf(rows[0]?.['state'], 'state', numbers);
    }
    const state: Record<string, unknown> = {};
    for (const row of rows) {
      const name = String(row['state_key']);
      put(state, name, jsonOf(row['state_value'], `the value of ${JSON.stringify(name)}`, numbers));
    }
    return this.#values(state);
  }

  /** adk-java reads a `null` as a missing value. */
  #values(state: Members): Members {
    return this.#layout.nullDeletes
      ? Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null))
      : state;
  }
}

function ownerOf(row: AdkRow): { readonly appName: string; readonly userId: string } {
  return { appName: String(row['app_name']), userId: String(row['user_id']) };
}

function condition({ appName, userId }: Filter, prefix = ''): { where: string; values: string[] } {
  const parts = [
    ...(appName === undefined ? [] : [[`${prefix}app_name = ?`, appName] as const]),
    ...(userId === undefined ? [] : [[`${prefix}user_id = ?`, userId] as const]),
  ];
  return {
    where: parts.length === 0 ? '1 = 1' : parts.map(([text]) => text).join(' AND '),
    values: parts.map(([, value]) => value),
  };
}
