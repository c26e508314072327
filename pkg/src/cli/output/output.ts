// Standard output: lines at the pace of their reader, and its facts.

import process from 'node:process';
import { ReaderGone } from '../errors.js';

/** The size from which lines are written, in UTF-16 units. */
const BLOCK = 1 << 14;

/** The stream that lines are written to. */
export type OutputStream = Pick<
  NodeJS.WriteStream,
  'write' | 'once' | 'on' | 'removeListener' | 'writableNeedDrain' | 'destroyed'
> & { readonly isTTY?: boolean; readonly columns?: number };

/** Writes lines. */
export class Output {
  readonly #stream: OutputStream;
  #waiting = '';
  #hasWritten = false;
  #isGone = false;

  constructor(stream: OutputStream = process.stdout) {
    this.#stream = stream;
    stream.on('error', () => {
      this.#isGone = true;
    });
  }

  /** True when people read it. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** The columns of the terminal; `undefined` elsewhere. */
  get columns(): number | undefined {
    return this.isTerminal ? (this.#stream.columns ?? 80) : undefined;
  }

  /** True where codes for bold and dim text may be written: see https://no-color.org. */
  get hasStyles(): boolean {
    return this.isTerminal && (process.env['NO_COLOR'] ?? '') === '' && process.env['TERM'] !== 'dumb';
  }

  /** Writes a line: the first at once, the others in blocks. Waits for the reader. Throws `ReaderGone`. */
  async line(text: string): Promise<void> {
    this.#waiting += `${text}\n`;
    if (!this.#hasWritten || this.#waiting.length >= BLOCK) {
      await this.flush();
    }
  }

  /** Writes what waits. Throws `ReaderGone`. */
  async flush(): Promise<void> {
    this.#check();
    const text = this.#waiting;
    this.#waiting = '';
    if (text === '') {
      return;
    }
    this.#hasWritten = true;
    if (!this.#stream.write(text)) {
      await this.#drained();
    }
    this.#check();
  }

  /** Resolves when all that was written has left the process: it may end then. Throws `ReaderGone`. */
  async end(): Promise<void> {
    await this.flush();
    await new Promise<void>((resolve) => {
      this.#stream.write('', () => resolve());
    });
    this.#check();
  }

  #check(): void {
    if (this.#isGone || this.#stream.destroyed) {
      throw new ReaderGone();
    }
  }

  async #drained(): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#stream.removeListener('drain', done);
        this.#stream.removeListener('error', done);
        this.#stream.removeListener('close', done);
        resolve();
      };
      this.#stream.once('drain', done);
      this.#stream.once('error', done);
      this.#stream.once('close', done);
    });
  }
}
