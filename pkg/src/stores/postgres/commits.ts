// Commits changes: by the function that fits them, in one call.

import { appendStatement, createStatement, isPlainAppend, isPlainCreate } from './append.js';
import { appendManyStatement, isPlainBatch } from './append-many.js';
import { batchOf, outcomeIn } from './commit.js';
import { APPEND } from './functions/append.js';
import { APPEND_MANY } from './functions/append-many.js';
import { CREATE } from './functions/create.js';
import type { Statement } from './client.js';
import type { Found } from './open.js';
import type { Outcome } from '../shared/outcome.js';
import type { Change } from '../../store/contract.js';

/** Sends a statement, and answers its rows. */
type Send = (statement: Statement) => Promise<readonly unknown[]>;

/** The commits of one store. */
export class Commits {
  readonly #schema: string;
  readonly #send: Send;
  readonly #keepsLog: boolean;
  /** The functions that the database has beside the one that takes every change. */
  #functions = new Set<string>([APPEND.name, APPEND_MANY.name, CREATE.name]);

  /** `keepsLog`: whether what is written to apps and users goes into the log. */
  constructor(schema: string, send: Send, keepsLog: boolean) {
    this.#schema = schema;
    this.#send = send;
    this.#keepsLog = keepsLog;
  }

  /** Uses no other functions than those that were found. */
  limitTo(found: readonly Found[]): void {
    this.#functions = new Set(found.map(({ name }) => name));
  }

  /** What became of each change. */
  async commit(changes: readonly Change[]): Promise<Outcome[]> {
    const [first] = changes;
    const single = changes.length === 1 && first !== undefined ? this.#single(first) : undefined;
    if (first !== undefined && single !== undefined) {
      return [outcomeIn(JSON.parse(await this.#ask(single)) as readonly unknown[], first)];
    }
    if (
      this.#functions.has(APPEND_MANY.name) &&
      changes.length > 1 &&
      changes.every(isPlainAppend) &&
      isPlainBatch(changes)
    ) {
      const batch = appendManyStatement(this.#schema, changes, this.#keepsLog);
      return batch.outcomes(await this.#ask(batch.statement));
    }
    const text = `select ${this.#schema}.commit_v2($1, $2, $3, $4, $5) as answers`;
    const values = [...batchOf(changes), String(this.#keepsLog)];
    const answers = JSON.parse(await this.#ask({ text, values })) as readonly (readonly unknown[])[];
    return changes.map((change, index) => outcomeIn(answers[index] ?? [], change));
  }

  /** The statement of the function that fits a change; `undefined` where it needs the one for every change. */
  #single(change: Change): Statement | undefined {
    if (isPlainAppend(change) && this.#functions.has(APPEND.name)) {
      return appendStatement(this.#schema, change, this.#keepsLog);
    }
    return isPlainCreate(change) && this.#functions.has(CREATE.name)
      ? createStatement(this.#schema, change, this.#keepsLog)
      : undefined;
  }

  async #ask(statement: Statement): Promise<string> {
    const [row] = (await this.#send(statement)) as readonly { readonly answers: string }[];
    return row?.answers ?? '';
  }
}
