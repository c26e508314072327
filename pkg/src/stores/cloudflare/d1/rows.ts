// Rows for a statement of D1, which takes few parameters: many of them in one parameter, as JSON.

import type { Bindings } from './client.js';
import type { SqlValue } from '../../sqlite-core/driver.js';

/** A row: its cells as JSON, and by themselves those that JSON does not carry well; these are `null` in the JSON. */
export interface PackedRow {
  readonly json: string;
  /** By column. */
  readonly asides: ReadonlyMap<number, SqlValue>;
}

/** The longest JSON of a row, and of all rows of one parameter: so many characters are less than 1 MB in any case. */
const CHUNK_CHARACTERS = 300_000;

/**
 * The most rows that go into a statement together. Each two parameters of JSON have a chunk at least: 24 of them, 40
 * asides.
 */
const ENOUGH = { characters: 3_600_000, asides: 40, rows: 1_000 };

/**
 * Packs a row. Very long values go aside; so do numbers that are not whole: SQLite reads them from a text less
 * exactly.
 */
export function packRow(cells: readonly SqlValue[]): PackedRow {
  const texts = cells.map((cell) => JSON.stringify(cell));
  const asides = new Map<number, SqlValue>();
  const setAside = (column: number): void => {
    asides.set(column, cells[column] as SqlValue);
    texts[column] = 'null';
  };
  cells.forEach((cell, column) => {
    if (typeof cell === 'number' && !Number.isSafeInteger(cell)) {
      setAside(column);
    }
  });
  while (texts.join().length > CHUNK_CHARACTERS) {
    setAside(
      texts.reduce((longest, text, column) => (text.length > (texts[longest] as string).length ? column : longest), 0),
    );
  }
  return { json: texts.join(), asides };
}

/** Counts the rows of a statement. */
export class Load {
  #characters = 0;
  #asides = 0;
  #rows = 0;

  /**
   * Adds rows that belong together, with others that are only counted by their characters. Says whether they are still
   * to go into the same statement; the first always are.
   */
  add(rows: readonly PackedRow[], others: readonly PackedRow[] = []): boolean {
    const isFirst = this.#rows === 0;
    for (const { json, asides } of [...rows, ...others]) {
      this.#characters += json.length;
      this.#asides += asides.size;
    }
    this.#rows += rows.length;
    return (
      isFirst || (this.#characters <= ENOUGH.characters && this.#asides <= ENOUGH.asides && this.#rows <= ENOUGH.rows)
    );
  }
}

/** Splits rows into those of one statement each. */
export function portionsOf(rows: readonly PackedRow[]): PackedRow[][] {
  const portions: PackedRow[][] = [];
  let load = new Load();
  for (const row of rows) {
    if (portions.length === 0 || !load.add([row])) {
      load = new Load();
      load.add([row]);
      portions.push([]);
    }
    portions.at(-1)?.push(row);
  }
  return portions;
}

/** The text for rows in a statement: `name(columns) AS (…)`, for its WITH. */
export function rowsAs(name: string, columns: readonly string[], rows: readonly PackedRow[], all: Bindings): string {
  const chunks = chunksOf(rows).map((chunk) => `(${all.add(chunk)})`);
  const cells = columns.map((_, column) => {
    // The first cell is the number of the row in this statement.
    const cell = `item.value ->> ${column + 1}`;
    const asides = rows.flatMap(({ asides }, index) => {
      const value = asides.get(column);
      return value === undefined ? [] : [`WHEN ${index} THEN ${all.add(value)}`];
    });
    return asides.length === 0 ? cell : `CASE item.value ->> 0 ${asides.join(' ')} ELSE ${cell} END`;
  });
  return (
    `${name}(${columns.join(', ')}) AS MATERIALIZED (` +
    `SELECT ${cells.join(', ')} FROM (VALUES ${chunks.join(', ')}) AS chunk, json_each(chunk.column1) AS item)`
  );
}

function chunksOf(rows: readonly PackedRow[]): string[] {
  const chunks: string[] = [];
  let texts: string[] = [];
  let length = 0;
  rows.forEach(({ json }, index) => {
    if (length > 0 && length + json.length > CHUNK_CHARACTERS) {
      chunks.push(`[${texts.join()}]`);
      [texts, length] = [[], 0];
    }
    texts.push(`[${index},${json}]`);
    length += json.length;
  });
  return [...chunks, `[${texts.join()}]`];
}
