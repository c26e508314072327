// The users who have a session with an id.

import { fromColumn, toColumn } from '../shared/column-text.js';
import { arrayOf } from './arrays.js';
import { NOT_EXPIRED } from './entries.js';
import type { Statement } from './client.js';

/** The most questions of a statement. */
const MAX_BATCH = 256;

/** A row of an answer: the number of the question, counted from 1, and a user. */
interface OwnerRow {
  readonly nth: number | string;
  readonly name: string;
}

interface Question {
  readonly app: string;
  readonly sessionId: string;
  readonly resolve: (owners: string[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Finds the users of apps who have a session with an id. Questions that are asked together share a statement: a server
 * asks one for each request, and its requests arrive together.
 */
export class Owners {
  readonly #schema: string;
  readonly #send: (statement: Statement) => Promise<readonly unknown[]>;
  #waiting: Question[] = [];

  constructor(schema: string, send: (statement: Statement) => Promise<readonly unknown[]>) {
    this.#schema = schema;
    this.#send = send;
  }

  /** The users, in the order of their names. */
  of(app: string, sessionId: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ app, sessionId, resolve, reject });
      if (this.#waiting.length === 1) {
        void Promise.resolve().then(() => this.#ask());
      }
    });
  }

  #ask(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    while (waiting.length > 0) {
      void this.#answer(waiting.splice(0, MAX_BATCH));
    }
  }

  async #answer(questions: readonly Question[]): Promise<void> {
    try {
      const rows = (await this.#send(ownersStatement(this.#schema, questions))) as readonly OwnerRow[];
      const found = questions.map((): string[] => []);
      rows.forEach(({ nth, name }) => found[Number(nth) - 1]?.push(fromColumn(name)));
      questions.forEach(({ resolve }, index) => resolve(found[index] ?? []));
    } catch (error) {
      questions.forEach(({ reject }) => reject(error));
    }
  }
}

/**
 * Each question is a search in the index: `offset 0` keeps the planner from joining whole tables, and Postgres 13 from
 * a second plan that reads all sessions. The selects around
 * the parameters hide their lengths: a short list would look cheap, and be planned anew each time, which takes the
 * server longer than the answer.
 */
function ownersStatement(schema: string, questions: readonly Question[]): Statement {
  const text = `select asked.nth, found.name
from unnest((select $1::text[]), (select $2::text[])) with ordinality asked (app, id, nth)
  cross join lateral (
    select usr.name
      from ${schema}.owners owner join ${schema}.scopes usr on usr.no = owner.usr
      where owner.id = asked.id
        and owner.app = (select app.no from ${schema}.scopes app where app.parent = 0 and app.name = asked.app)
        and (not owner.expires or exists (select from ${schema}.sessions session
          where session.usr = owner.usr and session.id = owner.id and ${NOT_EXPIRED} offset 0))
      offset 0) found
order by asked.nth, found.name`;
  const apps = arrayOf(questions.map(({ app }) => toColumn(app)));
  return { text, values: [apps, arrayOf(questions.map(({ sessionId }) => toColumn(sessionId)))] };
}
