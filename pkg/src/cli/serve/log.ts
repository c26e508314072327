// The log of a server: a line for each request, warning and error, on standard error.

import type { RequestLine } from '../../serve.js';

/** The members of a line. */
type Entry = Readonly<Record<string, string | number | undefined>>;

/** The form of the lines, and where they go. */
export interface LogOptions {
  readonly format: 'json' | 'text';
  /** True to leave requests out. */
  readonly quiet: boolean;
  readonly write: (line: string) => void;
  readonly now: () => Date;
}

/** The time in which a warning is not repeated, in milliseconds. */
const REPEAT_MS = 10_000;

/** Writes lines: JSON for programs, or text for people. */
export class Log {
  readonly #options: LogOptions;
  #lastWarning: { readonly message: string; readonly time: number } | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** A request that was answered. It has no id, payload and token. */
  request({ operation = '-', method, status, duration }: RequestLine): void {
    if (!this.#options.quiet) {
      const ms = Math.round(duration * 100) / 100;
      this.#write('info', `${method} ${operation} ${status} ${ms} ms`, {
        event: 'request',
        operation,
        method,
        status,
        ms,
      });
    }
  }

  /** A fact about the server: that it stops. */
  info(message: string): void {
    this.#write('info', message, { message });
  }

  /** A fault that the server lives with. A client that tries to connect again and again warns once in ten seconds. */
  warn(message: string): void {
    const time = this.#options.now().getTime();
    const { message: last, time: lastTime = 0 } = this.#lastWarning ?? {};
    if (message === last && time - lastTime < REPEAT_MS) {
      return;
    }
    this.#lastWarning = { message, time };
    this.#write('warn', `warning: ${message}`, { message });
  }

  /** An error whose number a client got. */
  error(message: string, number?: string): void {
    this.#write('error', `error${number === undefined ? '' : ` ${number}`}: ${message}`, { number, message });
  }

  #write(level: 'info' | 'warn' | 'error', text: string, entry: Entry): void {
    const { format, write, now } = this.#options;
    const time = now().toISOString();
    write(format === 'json' ? `${JSON.stringify({ time, level, ...entry })}\n` : `${time.slice(11, 19)} ${text}\n`);
  }
}
