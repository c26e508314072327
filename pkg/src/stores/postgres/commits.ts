// Commits changes: by the function that fits them, in one call.

import { appendStatement, isPlainAppend } from './append.js';
import { appendManyStatement, isPlainBatch } from './append-many.js';
import { batchOf, outcomeIn } from './commit.js';
import { APPEND } from './functions/append.js';
import { APPEND_MANY } from './functions/append-many.js';
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
  /** The functions that the database has beside the one that takes every change. */
  #functions = new Set<string>([APPEND.name, APPEND_MANY.name]);

  constructor(schema: string, send: Send) {
    this.#schema = schema;
    this.#send = send;
  }

  /** Uses no other functions than those that were found. */
  limitTo(found: readonly Found[]): void {
    this.#functions = new Set(found.map(({ name }) => name));
  }

  /** What became of each change. */
  async commit(changes: readonly Change[]): Promise<Outcome[]> {
    const plain = changes.filter(isPlainAppend);
    if (plain.length === changes.length) {
      const [first, ...more] = plain;
      if (first !== undefined && more.length === 0 && this.#functions.has(APPEND.name)) {
        const answer = await this.#ask(appendStatement(this.#schema, first));
        return [outcomeIn(JSON.parse(answer) as readonly unknown[], first)];
      }
      if (more.length > 0 && this.#functions.has(APPEND_MANY.name) && isPlainBatch(plain)) {
        const batch = appendManyStatement(this.#schema, plain);
        return batch.outcomes(await this.#ask(batch.statement));
      }
    }
    const text = `select ${this.#schema}.commit_v2($1, $2, $3, $4) as answers`;
    const answers = JSON.parse(await this.#ask({ text, values: batchOf(changes) })) as readonly (readonly unknown[])[];
    return changes.map((change, index) => outcomeIn(answers[index] ?? [], change));
  }

  async #ask(statement: Statement): Promise<string> {
    const [row] = (await this.#send(statement)) as readonly { readonly answers: string }[];
    return row?.answers ?? '';
  }
}
