// Creations and updates whose commit was not answered: the server is asked for the outcome of each before it is made
// again. Appends need none of this: the table has their ids.

import { REMEMBERED_MS } from '../shared/limits.js';
import { sleep } from '../../async/sleep.js';
import { isStoreError } from '../../store/store-error.js';
import type { CommitLost, Database, Rows } from './client.js';
import type { Change } from '../../store/contract.js';

/** A transaction that was to be committed. */
interface Pending {
  /** Its number; `null` when it has written nothing. */
  readonly id: string | null;
  /** The process of the server that ran it. */
  readonly process: string;
  /** The time of creation, of a creation. */
  readonly created: string | undefined;
  readonly since: number;
}

/** The outcome of an earlier try: it was committed, with the time of creation that it had, or there was none. */
export type Earlier = { readonly created: string | undefined } | undefined;

/** The server's code for a transaction whose number it has not assigned yet. */
const IN_THE_FUTURE = '22023';
/** The wait for a transaction that has not ended, and the time between looks at it, in milliseconds. */
const PATIENCE = 5_000;
const LOOK_EVERY = 25;

/** The answer of the statement that ends {@link createStatements} and {@link updateStatements}. */
interface Transaction {
  readonly id: string | null;
  readonly process: string;
}

/** The changes of one store of which it is unknown whether they were committed, by their ids. */
export class Unresolved {
  readonly #database: Database;
  readonly #pending = new Map<string, Pending>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Remembers a change whose commit was not answered. */
  add({ id: change }: Change, { answers }: CommitLost, created: string | undefined): void {
    const [{ id, process }] = answers.at(-1) as unknown as [Transaction];
    const now = Date.now();
    for (const [name, { since }] of this.#pending) {
      if (since < now - REMEMBERED_MS) {
        this.#pending.delete(name);
      }
    }
    this.#pending.set(change, { id, process, created, since: now });
  }

  /** Returns the outcome of an earlier try of a change. Throws when that cannot be found out now. */
  async earlier({ id: change }: Change): Promise<Earlier> {
    const pending = this.#pending.get(change);
    if (pending === undefined) {
      return undefined;
    }
    if (pending.id !== null && (await this.#isCommitted(pending.id, pending.process))) {
      // It stays known: the next question to the server may be cut off, too, and then the change comes once more.
      return { created: pending.created };
    }
    this.#pending.delete(change);
    return undefined;
  }

  async #isCommitted(id: string, process: string): Promise<boolean> {
    const end = Date.now() + PATIENCE;
    for (;;) {
      const status = await this.#statusOf(id);
      if (status !== 'in progress') {
        return status === 'committed';
      }
      if (Date.now() > end) {
        throw new Error(`postgres: transaction ${id} has not ended, so it is unknown whether it was committed`);
      }
      // Its client has vanished, which the server may not notice for hours. No other transaction is ended by this.
      await this.#ask(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1::int and backend_xid = $2::xid',
        [process, String(BigInt(id) & 0xffff_ffffn)],
      );
      await sleep(LOOK_EVERY);
    }
  }

  async #statusOf(id: string): Promise<string | null> {
    try {
      const [row] = await this.#ask('select txid_status($1::bigint) as status', [id]);
      return (row as { readonly status: string | null }).status;
    } catch (error) {
      if (isStoreError(error) && (error.cause as { readonly code?: unknown }).code === IN_THE_FUTURE) {
        // The server has gone back to a time before it.
        return null;
      }
      throw error;
    }
  }

  async #ask(text: string, values: readonly string[]): Promise<Rows> {
    return await this.#database.send({ text, values }, false);
  }
}
