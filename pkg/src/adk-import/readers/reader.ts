// Reads the sessions of a database, page by page: rows first, and their content on demand.

import { eventColumns, eventOf } from './events.js';
import { layoutOf, type KnownKind, type Layout } from './layout.js';
import { condition, ownerOf, scopeColumns, scopeState, sessionRow, sessionSelect } from './rows.js';
import { Reading } from '../source/sql.js';
import type { Filter, ScopeKey, SessionRow } from './rows.js';
import type { Numbers } from '../values.js';
import type { Pacer } from '../../transfer/pacer.js';
import { StatepadError, isStatepadError } from '../../model/errors.js';
import type { Members } from '../../jsonl/members.js';
import type { EventInit, SessionKey } from '../../model/types.js';
import type { AdkDatabase, AdkRow } from '../../stores/adk-database/database.js';
import type { Identified } from '../../stores/adk-database/detect.js';

export type { Filter, ScopeKey, SessionRow } from './rows.js';

/** The number of events on a page: the database sorts those of a session again for each page. */
const EVENTS = 1000;

/** The columns of an event that name its session. */
const OF_SESSION = 'app_name = ? AND user_id = ? AND session_id = ?';

/** Events that belong to no session. */
export interface Orphans extends SessionKey {
  readonly events: number;
}

/** A part of the rows of a session's events: so many behind so many. */
export interface RowRange {
  readonly offset: number;
  readonly limit: number;
}

/** Reads a database of a known kind. */
export class AdkReader {
  readonly #kind: KnownKind;
  readonly #layout: Layout;
  readonly #sql: Reading;
  readonly #pacer: Pacer;

  constructor(kind: KnownKind, database: AdkDatabase, { tables }: Pick<Identified, 'tables'>, pacer: Pacer) {
    this.#pacer = pacer;
    this.#kind = kind;
    this.#layout = layoutOf(kind);
    this.#sql = new Reading(database, tables);
  }

  /** All sessions, grouped by app, and by user within it. */
  async *sessions(filter: Filter): AsyncGenerator<SessionRow, void, undefined> {
    const { where, values } = condition(filter);
    const keys = ['app_name', 'user_id', this.#layout.sessions.id];
    for await (const row of this.#sql.pages(sessionSelect(this.#sql, this.#layout), keys, where, values)) {
      yield sessionRow(row, this.#layout);
    }
  }

  /** One session; `undefined` when there is none. */
  async session(key: SessionKey): Promise<SessionRow | undefined> {
    const { where, values } = condition(key);
    const isOne = `${where} AND ${this.#layout.sessions.id} = ?`;
    const select = `${sessionSelect(this.#sql, this.#layout)} WHERE ${isOne}`;
    const rows = await this.#sql.rows(select, [...values, key.sessionId]);
    // Databases that take upper and lower case for the same find others, too.
    return rows.map((row) => sessionRow(row, this.#layout)).find((row) => isSame(row.key, key));
  }

  /**
   * The events of a session in the order in which the ADK that wrote them reads them: by their times. Throws
   * `INVALID_ARGUMENT`.
   */
  async events(key: SessionKey, numbers: Numbers): Promise<EventInit[]> {
    const events: EventInit[] = [];
    for (;;) {
      const rows = await this.eventRows(key, { offset: events.length, limit: EVENTS });
      for (const row of rows) {
        if (this.#pacer.isDue) {
          await this.#pacer.pause();
        }
        events.push(eventOfRow(this.#kind, row, numbers));
      }
      if (rows.length < EVENTS) {
        return events;
      }
    }
  }

  /** Rows of a session's events, in the order of {@link AdkReader.events}: see {@link eventOfRow}. */
  async eventRows(key: SessionKey, range: RowRange): Promise<readonly AdkRow[]> {
    const { table, id, time } = this.#layout.events;
    const sql = this.#sql;
    const columns = [`${id} AS event_id`, `${sql.time(table, time)} AS event_time`, ...eventColumns(this.#kind, sql)];
    return await this.#eventsIn(key, columns.join(', '), range);
  }

  /** The id of the event at a place in that order; `undefined` when there are fewer. */
  async eventId(key: SessionKey, offset: number): Promise<string | undefined> {
    const [row] = await this.#eventsIn(key, `${this.#layout.events.id} AS event_id`, { offset, limit: 1 });
    return row && String(row['event_id']);
  }

  /** The number of events of a session. */
  async eventCount({ appName, userId, sessionId }: SessionKey): Promise<number> {
    const select = `SELECT COUNT(*) AS events FROM ${this.#layout.events.table} WHERE ${OF_SESSION}`;
    const [row] = await this.#sql.rows(select, [appName, userId, sessionId]);
    return Number(row?.['events']);
  }

  async #eventsIn(
    { appName, userId, sessionId }: SessionKey,
    columns: string,
    { offset, limit }: RowRange,
  ): Promise<readonly AdkRow[]> {
    const { table, time, tie, tieInSqlite } = this.#layout.events;
    const order = `${table}.${time}, ${table}.${this.#sql.isSqlite ? tieInSqlite : tie}`;
    const select = `SELECT ${columns} FROM ${table}
      WHERE ${OF_SESSION} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
    return await this.#sql.rows(select, [appName, userId, sessionId]);
  }

  /** The values of an app, or of a user in it; none without a row. */
  async scope(key: ScopeKey, numbers: Numbers): Promise<Members> {
    return (await this.scopeRows(key))(numbers);
  }

  /** A function that reads the values of an app, or of a user in it, of its rows. */
  async scopeRows({ appName, userId }: ScopeKey): Promise<(numbers: Numbers) => Members> {
    const { table, isByKey } = userId === undefined ? this.#layout.app : this.#layout.user;
    const { where, values } = condition({ appName, userId });
    const columns = scopeColumns(this.#sql, isByKey);
    const rows = await this.#sql.rows(`SELECT ${columns} FROM ${table} WHERE ${where}`, values);
    return (numbers) => scopeState(rows, isByKey, this.#layout, numbers);
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
}

/** The event of a row of {@link AdkReader.eventRows}. An error names it. */
export function eventOfRow(kind: KnownKind, row: AdkRow, numbers: Numbers): EventInit {
  const id = String(row['event_id']);
  try {
    return eventOf(kind, row, { ...numbers, note: (reason) => numbers.note(`event "${id}": ${reason}`) });
  } catch (error) {
    throw isStatepadError(error) ? new StatepadError(error.code, error.message, { id, cause: error }) : error;
  }
}

function isSame(one: SessionKey, other: SessionKey): boolean {
  return one.appName === other.appName && one.userId === other.userId && one.sessionId === other.sessionId;
}
