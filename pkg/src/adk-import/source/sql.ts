// The SQL in which dialects differ: how values are read so that every driver gives the same, and where values stand.

import { Queues } from '../../async/queues.js';
import type { AdkDatabase, AdkRow } from '../../stores/adk-database/database.js';
import type { SeenTables } from '../../stores/adk-database/tables.js';

/** How many rows are read at once. */
const PAGE = 200;

/** Writes and sends statements that read. */
export class Reading {
  readonly #database: AdkDatabase;
  readonly #tables: SeenTables;
  /** One connection does one thing after the other. */
  readonly #turns = new Queues();

  constructor(database: AdkDatabase, tables: SeenTables) {
    this.#database = database;
    this.#tables = tables;
  }

  get isSqlite(): boolean {
    return this.#database.dialect === 'sqlite';
  }

  /** Whether a table has a column. */
  has(table: string, column: string): boolean {
    return this.#tables.get(table)?.has(column) === true;
  }

  /** A column of JSON, read as the text of it. Drivers would make values of it, each in its own way. */
  json(column: string): string {
    return { postgres: `${column}::text`, mysql: `CAST(${column} AS CHAR)`, sqlite: column }[this.#database.dialect];
  }

  /** A column of time: `timeOf` understands what is read. Drivers would take it for a time of their own zone. */
  time(table: string, name: string): string {
    const type = this.#tables.get(table)?.get(name)?.type;
    const column = `${table}.${name}`;
    switch (this.#database.dialect) {
      case 'postgres':
        return `(EXTRACT(EPOCH FROM ${column}) * 1000)::float8`;
      case 'mysql':
        // A TIMESTAMP is given in the zone of the connection, a DATETIME as it was written.
        return type === 'timestamp' ? `CAST(UNIX_TIMESTAMP(${column}) * 1000 AS CHAR)` : `CAST(${column} AS CHAR)`;
      case 'sqlite':
        return column;
    }
  }

  /** Sends a statement whose values stand in the places of `?`. */
  async rows(sql: string, values: readonly string[]): Promise<readonly AdkRow[]> {
    let place = 0;
    const text = this.#database.dialect === 'postgres' ? sql.replace(/\?/g, () => `$${++place}`) : sql;
    return await this.#turns.run('query', async () => await this.#database.query(text, values));
  }

  /**
   * All rows of a statement, page by page, in the order of the columns of their key. `where` is a condition with its
   * values; `keys` are names of columns, which are among those that are read under the same names.
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
