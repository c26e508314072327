// A table on a terminal, whose rows are printed as they come.

import { visible } from '../visible.js';
import { cutTo, padTo, widthOf } from './width.js';
import type { Output } from './output.js';

/** A column. */
export interface Column {
  readonly title: string;
  /** The side on which its texts stand. */
  readonly align?: 'right';
  /** True when its texts share the width that the others leave, and are cut there; only behind the others. */
  readonly isFlexible?: boolean;
}

/** The rows that decide on the widths, and the longest time that they are waited for, in milliseconds. */
const FIRST_ROWS = 64;
const FIRST_MS = 300;
/** The blanks between columns. */
const GAP = 2;
/** The widest text that is not cut on a terminal, and the narrowest room of one that is. */
const WIDEST = 64;
const NARROWEST = 12;

/** Prints rows in columns, whose widths are those of the first rows. Harmful characters are made visible. */
export class Table {
  readonly #output: Output;
  readonly #columns: readonly Column[];
  readonly #indent: string;
  #waiting: (readonly string[])[] | undefined = [];
  #widths: readonly number[] = [];
  #start = 0;

  constructor(output: Output, columns: readonly Column[], indent = '') {
    this.#output = output;
    this.#columns = columns;
    this.#indent = indent;
  }

  /** Adds a row, with a text for each column. */
  async row(cells: readonly string[]): Promise<void> {
    const row = cells.map(visible);
    if (this.#waiting === undefined) {
      await this.#print(row);
      return;
    }
    this.#start ||= performance.now();
    this.#waiting.push(row);
    if (this.#waiting.length >= FIRST_ROWS || performance.now() - this.#start > FIRST_MS) {
      await this.#settle();
    }
  }

  /** Prints the rows that wait. A table without rows is not printed. */
  async end(): Promise<void> {
    if (this.#waiting !== undefined && this.#waiting.length > 0) {
      await this.#settle();
    }
  }

  /** Decides on the widths, and prints the titles and the rows that wait. */
  async #settle(): Promise<void> {
    const rows = this.#waiting ?? [];
    this.#waiting = undefined;
    const titles = this.#columns.map(({ title }) => title);
    const needed = titles.map((title, index) =>
      Math.max(...[title, ...rows.map((row) => row[index] ?? '')].map((text) => widthOf(text))),
    );
    this.#widths = this.#fitting(needed);
    const styled = this.#output.hasStyles ? (text: string) => `\x1b[1m${text}\x1b[22m` : (text: string) => text;
    await this.#print(titles, styled);
    for (const row of rows) {
      await this.#print(row);
    }
  }

  /** The widths on this output: without a limit where it is no terminal. */
  #fitting(needed: readonly number[]): readonly number[] {
    const { columns: room } = this.#output;
    if (room === undefined) {
      return needed;
    }
    const rigid = needed.map((width, index) => (this.#columns[index]?.isFlexible ? 0 : Math.min(width, WIDEST)));
    const taken = rigid.reduce((sum, width) => sum + width, this.#indent.length + GAP * (needed.length - 1));
    const flexible = needed.flatMap((width, index) => (this.#columns[index]?.isFlexible ? [{ width, index }] : []));
    const widths = [...rigid];
    let left = room - taken;
    // The shortest first: what it does not need is left to the others.
    for (const [place, { width, index }] of flexible.sort((a, b) => a.width - b.width).entries()) {
      const share = Math.max(NARROWEST, Math.floor(left / (flexible.length - place)));
      widths[index] = Math.min(width, share);
      left -= widths[index] ?? 0;
    }
    return widths;
  }

  async #print(row: readonly string[], styled = (text: string): string => text): Promise<void> {
    const isLimited = this.#output.columns !== undefined;
    const cells = row.map((text, index) => {
      const width = this.#widths[index] ?? 0;
      const isCut = isLimited && (this.#columns[index]?.isFlexible === true || width >= WIDEST);
      const shown = isCut ? cutTo(text, width) : text;
      return this.#columns[index]?.align === 'right'
        ? ' '.repeat(Math.max(0, width - widthOf(shown))) + shown
        : padTo(shown, width);
    });
    await this.#output.line(`${this.#indent}${styled(cells.join(' '.repeat(GAP)).trimEnd())}`);
  }
}
