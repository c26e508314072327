// Sends statements to the server: one by one, several in one message, or as a transaction that is committed later.

import { Queues } from '../../async/queues.js';
import { Sender, type PostgresClient, type Statement } from '../postgres/client.js';
import { storeErrorOf } from '../postgres/errors.js';
import { isStoreError, StoreError } from '../../store/store-error.js';

/** The rows of a statement. */
export type Rows = readonly unknown[];

/** The part of a connection that a pool has lent, as far as it is used. */
interface Lent extends PostgresClient {
  release(isBroken?: boolean): void;
  on?(event: 'error', listener: () => void): unknown;
  removeListener?(event: 'error', listener: () => void): unknown;
}

/** The part of a pool of `pg`, or of one made like it, that is used. */
interface Pool extends PostgresClient {
  connect(): Promise<Lent>;
}

/** PGlite takes several statements by another method. */
interface Executing {
  exec(text: string): Promise<readonly { readonly rows: Rows }[]>;
}

/** It is not known whether a transaction was committed: the answer to `commit` was lost. */
export class CommitLost extends Error {
  /** The earlier answers of its statements. */
  readonly answers: readonly Rows[];

  constructor(answers: readonly Rows[], cause: unknown) {
    super('the connection was lost while a transaction was committed', { cause });
    this.name = 'CommitLost';
    this.answers = answers;
  }
}

/** Nothing listens: the statement that is under way fails, too. */
const ignore = (): void => undefined;

/** Those of single connections: what all stores over one of them do. */
const queuesOf = new WeakMap<PostgresClient, Queues>();

/** A database over a pool, or over one connection, which does one thing after the other. */
export class Database {
  readonly #client: PostgresClient;
  readonly #sender: Sender;
  readonly #queues: Queues;

  constructor(client: PostgresClient, prepare: boolean | undefined) {
    this.#client = client;
    this.#sender = new Sender(client, prepare);
    this.#queues = queuesOf.get(client) ?? new Queues();
    queuesOf.set(client, this.#queues);
  }

  /** The rows of one statement. */
  async send(statement: Statement, isRead: boolean): Promise<Rows> {
    return await this.#inTurn(async () => await this.#sender.send(statement, isRead));
  }

  /** The rows of each of several statements, which are one transaction in one message. */
  async run(statements: readonly string[], isRead = false): Promise<readonly Rows[]> {
    return await this.#inTurn(async () => {
      try {
        return await runOn(this.#client, statements);
      } catch (error) {
        throw storeErrorOf(error, isRead);
      }
    });
  }

  /**
   * The same, committed by a message of its own where the answers are worth it. Throws a `StoreError` when it is known
   * that nothing was committed, {@link CommitLost} when that is not known.
   */
  async transact(
    statements: readonly string[],
    isWorthIt: (answers: readonly Rows[]) => boolean,
  ): Promise<readonly Rows[]> {
    return await this.#inTurn(async () => {
      const lent = isPool(this.#client) ? await this.#lend(this.#client) : undefined;
      const connection = lent ?? this.#client;
      let isBroken = true;
      lent?.on?.('error', ignore);
      try {
        const answers = await begin(connection, statements);
        if (isWorthIt(answers)) {
          await commit(connection, answers);
        } else {
          await rollback(connection);
        }
        isBroken = false;
        return answers;
      } catch (error) {
        // A failure leaves no transaction behind on a connection that goes on.
        isBroken = error instanceof CommitLost || !(await rollback(connection));
        throw error;
      } finally {
        lent?.removeListener?.('error', ignore);
        lent?.release(isBroken);
      }
    });
  }

  async #lend(pool: Pool): Promise<Lent> {
    try {
      return await pool.connect();
    } catch (error) {
      throw notWritten(error);
    }
  }

  async #inTurn<T>(task: () => Promise<T>): Promise<T> {
    return await (isPool(this.#client) ? task() : this.#queues.run('connection', task));
  }
}

async function begin(connection: PostgresClient, statements: readonly string[]): Promise<readonly Rows[]> {
  try {
    const [, ...answers] = await runOn(connection, ['begin isolation level read committed', ...statements]);
    return answers;
  } catch (error) {
    throw notWritten(error);
  }
}

async function commit(connection: PostgresClient, answers: readonly Rows[]): Promise<void> {
  try {
    await runOn(connection, ['commit']);
  } catch (error) {
    const known = storeErrorOf(error);
    throw isStoreError(known) ? known : new CommitLost(answers, error);
  }
}

/** True if the connection is good for another transaction. */
async function rollback(connection: PostgresClient): Promise<boolean> {
  try {
    await runOn(connection, ['rollback']);
    return true;
  } catch {
    return false;
  }
}

/** The error of a change that failed before anything was committed: not written, whatever has happened to it. */
function notWritten(error: unknown): unknown {
  const known = storeErrorOf(error);
  const message = error instanceof Error ? error.message : String(error);
  return isStoreError(known) ? known : new StoreError('unavailable', `postgres: ${message}`, { cause: error });
}

async function runOn(client: PostgresClient, statements: readonly string[]): Promise<readonly Rows[]> {
  const text = statements.join(';\n');
  if ('exec' in client && typeof client.exec === 'function') {
    return (await (client as unknown as Executing).exec(text)).map(({ rows }) => rows);
  }
  const answer: unknown = await client.query(text);
  const results = (Array.isArray(answer) ? answer : [answer]) as readonly { readonly rows: Rows }[];
  return results.map(({ rows }) => rows);
}

function isPool(client: PostgresClient): client is Pool {
  const { totalCount, connect } = client as Partial<Record<string, unknown>> & PostgresClient;
  return typeof totalCount === 'number' && typeof connect === 'function';
}
