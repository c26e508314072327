// Sends statements to the server, prepared under names where the client can do that.

import { storeErrorOf } from './errors.js';

/** A value of a statement. */
export type SqlValue = string | number | null;

/** A statement and its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/**
 * The part of a client that is used: a `Pool` or a `Client` of `pg` or of Neon's serverless driver, PGlite, or
 * anything else that answers so. Each query may go to another connection.
 */
export interface PostgresClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A query of clients that keep a statement prepared under a name. */
interface NamingClient {
  query(query: { name: string; text: string; values: unknown[] }): Promise<{ readonly rows: readonly unknown[] }>;
}

/** Errors of a statement that was not prepared, or not on this connection: it was not carried out. */
const NOT_PREPARED = /^(26000|42P05)$/;

/** Sends statements, prepared where that can be. */
export class Sender {
  readonly #client: PostgresClient;
  #isNaming: boolean;

  constructor(client: PostgresClient, isNaming = canName(client)) {
    this.#client = client;
    this.#isNaming = isNaming;
  }

  /** The rows of a statement. Throws a `StoreError` when it is known that nothing was written. */
  async send({ text, values }: Statement, isRead: boolean): Promise<readonly unknown[]> {
    try {
      if (this.#isNaming) {
        try {
          const named = this.#client as unknown as NamingClient;
          return (await named.query({ name: nameOf(text), text, values: [...values] })).rows;
        } catch (error) {
          if (!NOT_PREPARED.test(String((error as { code?: unknown } | null)?.code))) {
            throw error;
          }
          // A pooler between client and server gives every statement another connection.
          this.#isNaming = false;
        }
      }
      return (await this.#client.query(text, [...values])).rows;
    } catch (error) {
      throw storeErrorOf(error, isRead);
    }
  }
}

/** True if a client is one of `pg` or made like it: those know names, others might take the query for its text. */
function canName(client: PostgresClient): boolean {
  const { escapeIdentifier, totalCount, waitingCount } = client as Partial<Record<string, unknown>> & PostgresClient;
  return (
    typeof escapeIdentifier === 'function' || (typeof totalCount === 'number' && typeof waitingCount === 'number')
  );
}

const names = new Map<string, string>();

/** A name for a text: another one for another text, also for those of another version of this package. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    name = `statepad_${digest(text, 0x811c9dc5)}${digest(text, 0x01000193)}`;
    names.set(text, name);
  }
  return name;
}

/** A hash (FNV-1a, begun at `seed`), as text. */
function digest(text: string, seed: number): string {
  let hash = seed;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(36);
}
