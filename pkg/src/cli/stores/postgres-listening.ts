// A connection to Postgres that listens: when it breaks another one takes its place, and listens to the same.

import type { PostgresListener, PostgresNotification } from '../../stores/postgres/index.js';

/** The members of a `Client` of pg that are used. */
export interface ListeningClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  on(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  end(): Promise<void>;
}

/** The pauses between tries to connect, in milliseconds: doubled after each, up to the longest. */
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

/** Listens for a store. Hints that are lost meanwhile make it slower, never wrong. */
export class PostgresListening implements PostgresListener {
  readonly #make: () => ListeningClient;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<(message: PostgresNotification) => void>();
  readonly #channels = new Set<string>();
  #client: ListeningClient | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #pause = FIRST_PAUSE_MS;
  #isClosed = false;

  /** `make` makes a client that is not connected; `onError` receives the reasons for which one was lost. */
  constructor(make: () => ListeningClient, onError: (error: unknown) => void) {
    this.#make = make;
    this.#onError = onError;
  }

  /** Connects. Throws the error of the first try. */
  async begin(): Promise<void> {
    const client = this.#make();
    client.on('notification', (message) => this.#listeners.forEach((listener) => listener(message)));
    // An error comes before the end of a connection, and more than one may come.
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, undefined));
    await client.connect();
    if (this.#isClosed) {
      await client.end();
      return;
    }
    this.#client = client;
    this.#pause = FIRST_PAUSE_MS;
    for (const channel of this.#channels) {
      await client.query(`listen ${channel}`);
    }
  }

  /** Takes the commands `listen` and `unlisten`, and remembers what they say. */
  async query(text: string): Promise<unknown> {
    const [, command, channel = ''] = /^(listen|unlisten) (.+)$/s.exec(text) ?? [];
    if (command === 'listen') {
      this.#channels.add(channel);
    } else {
      this.#channels.delete(channel);
    }
    return await this.#client?.query(text);
  }

  on(_event: 'notification', listener: (message: PostgresNotification) => void): void {
    this.#listeners.add(listener);
  }

  removeListener(_event: 'notification', listener: (message: PostgresNotification) => void): void {
    this.#listeners.delete(listener);
  }

  /** Ends the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end();
  }

  #lost(client: ListeningClient, error: Error | undefined): void {
    if (this.#client === client && !this.#isClosed) {
      this.#client = undefined;
      this.#onError(error ?? new Error('postgres has ended the connection that listens'));
      void client.end().catch(() => undefined);
      this.#retry();
    }
  }

  #retry(): void {
    this.#timer = setTimeout(() => {
      this.begin().catch(() => {
        if (!this.#isClosed) {
          this.#client = undefined;
          this.#retry();
        }
      });
    }, this.#pause);
    this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE_MS);
  }
}
