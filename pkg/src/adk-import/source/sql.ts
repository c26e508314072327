// The SQL in which dialects differ: expressions that read values equally with every driver, and placeholders.

import { Queues } from '../../async/queues.js';
import type { Unit } from '../values.js';
import type { AdkDatabase, AdkRow } from '../../stores/adk-database/database.js';
import type { TableColumns } from '../../stores/adk-database/tables.js';

/** The number of rows on a page. */
const PAGE = 200;

/** Composes and sends statements that read. */
export class Reading {
  readonly #database: AdkDatabase;
  readonly #tables: TableColumns;
  /** A connection runs one statement at a time. */
  readonly #turns = new Queues();

  constructor(database: AdkDatabase, tables: TableColumns) {
    this.#database = database;
    this.#tables = tables;
  }

  get isSqlite(): boolean {
    return this.#database.dialect === 'sqlite';
  }

  /** True when a table has a column. */
  has(table: string, column: string): boolean {
    return this.#tables.get(table)?.has(column) === true;
  }

  /** A column of JSON, read as its text. Drivers would parse it, each in its own way. */
  json(column: string): string {
    return { postgres: `${column}::text`, mysql: `CAST(${column} AS CHAR)`, sqlite: column }[this.#database.dialect];
  }

  /** A column of time, in a form that `timeOf` parses. Drivers would take it for a time of their own zone. */
  time(table: string, name: string): string {
    const type = this.#tables.get(table)?.get(name)?.type;
    const column = `${table}.${name}`;
    switch (this.#database.dialect) {
      case 'postgres':
        return `(EXTRACT(EPOCH FROM ${column}) * 1000)::float8`;
      case 'mysql':
        // A TIMESTAMP is returned in the zone of the connection, a DATETIME as it was written.
        return type === 'timestamp' ? `CAST(UNIX_TIMESTAMP(${column}) * 1000 AS CHAR)` : `CAST(${column} AS CHAR)`;
      case 'sqlite':
        return column;
    }
  }

  /**
   * A column of time as a number that rows can be sorted by, in milliseconds since the epoch: to the millisecond where
   * SQLite has a text. `unit` is that of a number in SQLite.
   */
  moment(table: string, name: string, unit: Unit): string {
    const column = `${table}.${name}`;
    switch (this.#database.dialect) {
      case 'postgres':
        return this.time(table, name);
      case 'mysql':
        return this.#tables.get(table)?.get(name)?.type === 'timestamp'
          ? `UNIX_TIMESTAMP(${column}) * 1000`
          : `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${column}) / 1000`;
      case 'sqlite': {
        // A text may have a zone at its end in a form that SQLite does not know.
        const days = `COALESCE(julianday(${column}), julianday(substr(${column}, 1, 19)))`;
        const number = unit === 'seconds' ? `ROUND(${column} * 1000000.0) / 1000.0` : `${column} * 1.0`;
        return `CASE typeof(${column}) WHEN 'text' THEN ROUND((${days} - 2440587.5) * 86400000.0) ELSE ${number} END`;
      }
    }
  }

  /** A text, compared by the bytes of its UTF-8. */
  bytes(text: string): string {
    return { postgres: `${text} COLLATE "C"`, mysql: `CAST(${text} AS BINARY)`, sqlite: text }[this.#database.dialect];
  }

  /** A condition of names that its columns equal, compared so that upper and lower case differ. */
  exactly(where: string): string {
    return this.#database.dialect === 'mysql' ? where.replaceAll('= ?', '= ? COLLATE utf8mb4_bin') : where;
  }

  /** A placeholder for a number that is compared with a {@link Reading.moment}. */
  get number(): string {
    return { postgres: '?::float8', mysql: '?', sqlite: '?' }[this.#database.dialect];
  }

  /** A list of so many pairs, for `(one, other) IN`. */
  pairs(count: number): string {
    return `(${this.isSqlite ? 'VALUES ' : ''}${Array.from({ length: count }, () => '(?, ?)').join(', ')})`;
  }

  /** Sends a statement with values for its placeholders `?`. */
  async rows(sql: string, values: readonly (string | number)[]): Promise<readonly AdkRow[]> {
    let place = 0;
    const text = this.#database.dialect === 'postgres' ? sql.replace(/\?/g, () => `$${++place}`) : sql;
    return await this.#turns.run('query', async () => await this.#database.query(text, values));
  }

  /**
   * All rows of a statement, page by page, in the order of the columns of their key. `where` is a condition with its
   * values; `keys` are names of columns, which the statement selects under the same names.
   */
  async *pages(
    select: string,
    keys: readonly string[],
    where: string,
    values: readonly string[],
  ): AsyncGenerator<AdkRow, void, undefined> {
    const order = `ORDER BY ${keys.join(', ')} LIMIT ${PAGE}`;
    const after = ` AND (${keys.join(', ')}) > (${keys.map(() => '?').join(', ')})`;
    let last: readonly string[] = [];
    for (;;) {
      const behind = last.length === 0 ? '' : after;
      const rows = await this.rows(`${select} WHERE ${where}${behind} ${order}`, [...values, ...last]);
      yield* rows;
      const end = rows.at(-1);
      if (end === undefined || rows.length < PAGE) {
        return;
      }
      last = keys.map((key) => String(end[unqualified(key)]));
    }
  }
}

function unqualified(column: string): string {
  return column.slice(column.indexOf('.') + 1);
}
