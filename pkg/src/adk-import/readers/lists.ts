// Lists of a database: pages of sessions, and the names of apps and users. Each is as many statements as the page
// needs, whatever the number of all sessions is.

import { layoutOf, type KnownKind, type Layout } from './layout.js';
import {
  condition,
  scopeColumns,
  scopeState,
  sessionRow,
  sessionSelect,
  type Filter,
  type SessionRow,
} from './rows.js';
import { Reading } from '../source/sql.js';
import type { Numbers } from '../values.js';
import type { Members } from '../../jsonl/members.js';
import type { AdkDatabase, AdkRow } from '../../stores/adk-database/database.js';
import type { Identified } from '../../stores/adk-database/detect.js';

/** The number of sessions, or users, that one statement asks about: some databases take few values. */
const CHUNK = 100;

/** A page of sessions, by the time of their last write; ties by session and then by user. */
export interface SessionPage {
  readonly app: string;
  readonly user?: string | undefined;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Only those behind this place. */
  readonly after?: { readonly time: number; readonly sessionId: string; readonly userId: string } | undefined;
}

/** The numbers of events, by {@link sessionName}. */
export type EventCounts = ReadonlyMap<string, number>;

/** The name of a session within its app. */
export function sessionName(userId: string, sessionId: string): string {
  return JSON.stringify([userId, sessionId]);
}

/** Reads lists of a database of a known kind. */
export class AdkLists {
  readonly #layout: Layout;
  readonly #sql: Reading;

  constructor(kind: KnownKind, database: AdkDatabase, { tables }: Pick<Identified, 'tables'>) {
    this.#layout = layoutOf(kind);
    this.#sql = new Reading(database, tables);
  }

  /** The sessions of a page. */
  async sessions({ app, user, descending, limit, offset, after }: SessionPage): Promise<readonly SessionRow[]> {
    const sql = this.#sql;
    const { id } = this.#layout.sessions;
    const { where, values } = this.#of({ appName: app, userId: user });
    const [byId, byUser, text] = [sql.bytes(`s.${id}`), sql.bytes('s.user_id'), sql.bytes('?')];
    const isTied = `s.moment = ${sql.number} AND (${byId} > ${text} OR (${byId} = ${text} AND ${byUser} > ${text}))`;
    const isBehind = `(s.moment ${descending ? '<' : '>'} ${sql.number} OR (${isTied}))`;
    const place = after && [after.time, after.time, after.sessionId, after.sessionId, after.userId];
    const rows = await sql.rows(
      `SELECT s.* FROM (${sessionSelect(sql, this.#layout)} WHERE ${where}) AS s WHERE ${place ? isBehind : '1 = 1'}
        ORDER BY s.moment ${descending ? 'DESC' : 'ASC'}, ${byId}, ${byUser} LIMIT ${limit} OFFSET ${offset}`,
      [...values, ...(place ?? [])],
    );
    return rows.map((row) => sessionRow(row, this.#layout));
  }

  /** The number of all sessions of an app, or of one of its users. */
  async total(filter: Filter): Promise<number> {
    const { where, values } = this.#of(filter);
    const [row] = await this.#sql.rows(
      `SELECT COUNT(*) AS sessions FROM ${this.#layout.sessions.table} WHERE ${where}`,
      values,
    );
    return Number(row?.['sessions']);
  }

  /** The number of events of some sessions of an app. Those that have none are not in it. */
  async eventCounts(app: string, sessions: readonly SessionRow[]): Promise<EventCounts> {
    const counts = new Map<string, number>();
    for (const some of chunksOf(sessions)) {
      const rows = await this.#sql.rows(
        `SELECT user_id, session_id, COUNT(*) AS events FROM ${this.#layout.events.table}
          WHERE app_name = ? AND (user_id, session_id) IN ${this.#sql.pairs(some.length)}
          GROUP BY user_id, session_id`,
        [app, ...some.flatMap(({ key }) => [key.userId, key.sessionId])],
      );
      for (const row of rows) {
        counts.set(sessionName(String(row['user_id']), String(row['session_id'])), Number(row['events']));
      }
    }
    return counts;
  }

  /** A function that reads the values of each of some users of an app. */
  async users(app: string, users: readonly string[]): Promise<(user: string, numbers: Numbers) => Members> {
    const { table, isByKey } = this.#layout.user;
    const byUser = new Map<string, AdkRow[]>(users.map((user) => [user, []]));
    for (const some of chunksOf(users)) {
      const rows = await this.#sql.rows(
        `SELECT user_id, ${scopeColumns(this.#sql, isByKey)} FROM ${table}
          WHERE app_name = ? AND user_id IN (${some.map(() => '?').join(', ')})`,
        [app, ...some],
      );
      rows.forEach((row) => byUser.get(String(row['user_id']))?.push(row));
    }
    return (user, numbers) => scopeState(byUser.get(user) ?? [], isByKey, this.#layout, numbers);
  }

  /** The users in an app who have a session with an id. */
  async owners(app: string, sessionId: string): Promise<readonly string[]> {
    const { table, id } = this.#layout.sessions;
    const { where, values } = this.#of({ appName: app });
    const isOne = `${this.#sql.bytes(id)} = ${this.#sql.bytes('?')}`;
    return await this.#names(`SELECT user_id AS name FROM ${table} WHERE ${where} AND ${isOne}`, [
      ...values,
      sessionId,
    ]);
  }

  /** So many of the names of apps behind one, in the order of their UTF-8 bytes. */
  async apps(after: string | undefined, limit: number): Promise<readonly string[]> {
    const { sessions, app, user } = this.#layout;
    return await this.#distinct('app_name', [sessions.table, app.table, user.table], undefined, after, limit);
  }

  /** The same of the users in an app. */
  async usersOf(app: string, after: string | undefined, limit: number): Promise<readonly string[]> {
    const { sessions, user } = this.#layout;
    return await this.#distinct('user_id', [sessions.table, user.table], app, after, limit);
  }

  async #distinct(
    column: string,
    tables: readonly string[],
    app: string | undefined,
    after: string | undefined,
    limit: number,
  ): Promise<readonly string[]> {
    const { where, values: own } = this.#of({ appName: app });
    const isBehind = after === undefined ? '' : ` AND ${this.#sql.bytes(column)} > ${this.#sql.bytes('?')}`;
    const values = after === undefined ? own : [...own, after];
    const selects = tables.map((table) => `SELECT ${column} AS name FROM ${table} WHERE ${where}${isBehind}`);
    const union = `SELECT names.name FROM (${selects.join(' UNION ')}) AS names`;
    return await this.#names(
      union,
      tables.flatMap(() => values),
      `names.name`,
      limit,
    );
  }

  async #names(
    select: string,
    values: readonly string[],
    column = 'user_id',
    limit = Number.MAX_SAFE_INTEGER,
  ): Promise<readonly string[]> {
    const order = `ORDER BY ${this.#sql.bytes(column)} LIMIT ${limit}`;
    return (await this.#sql.rows(`${select} ${order}`, values)).map((row) => String(row['name']));
  }

  /** The condition of a filter, for names with exactly these characters. */
  #of(filter: Filter): ReturnType<typeof condition> {
    const { where, values } = condition(filter);
    return { where: this.#sql.exactly(where), values };
  }
}

function chunksOf<T>(items: readonly T[]): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, index) =>
    items.slice(index * CHUNK, (index + 1) * CHUNK),
  );
}
