// Writes changes, and reports their outcomes.

import { CommitLost, type Database, type Rows } from './client.js';
import { appendStatements, createStatements, updateStatements, type Answer, type Moved } from './write.js';
import { checkChange } from './limits.js';
import type { Tables } from './sql.js';
import { eventText, headIn, loadStatement, scopeIn, scopeStatement, rowVersionOf } from './read.js';
import { microsecondsOf } from './times.js';
import { Unresolved, type Earlier } from './unresolved.js';
import { sessionExists, sessionNotFound, wrongState } from '../../store/refusals.js';
import { beforeOf } from '../shared/parts.js';
import { StoreError } from '../../store/store-error.js';
import type { Integers } from './numbers.js';
import type { Positions } from './positions.js';
import type { Change, Committed, Pos, ScopeName } from '../../store/contract.js';
import type { Json, SessionKey } from '../../model/types.js';

/** The number of times that an append is sent again because its session was replaced while it waited for it. */
const MAX_ROUNDS = 10;
/** Times of creation differ by this many microseconds, where they have none of their own. */
const MICROSECONDS = 1_000;

/** Writes the changes of one store. */
export class Commits {
  readonly #database: Database;
  readonly #tables: Tables;
  readonly #positions: Positions;
  readonly #integers: Integers;
  readonly #unresolved: Unresolved;
  /** Creations and updates that are under way, by their ids. */
  readonly #running = new Map<string, Promise<Committed>>();
  #creations = Math.floor(Math.random() * MICROSECONDS);

  constructor(database: Database, tables: Tables, positions: Positions, integers: Integers) {
    this.#integers = integers;
    this.#database = database;
    this.#tables = tables;
    this.#positions = positions;
    this.#unresolved = new Unresolved(database);
  }

  /** Writes a change. Throws a `StoreError`, or an error when it is unknown whether it was written. */
  async commit(change: Change): Promise<Committed> {
    const event = change.kind === 'append' ? eventIn(change) : undefined;
    checkChange(change, event);
    switch (change.kind) {
      case 'append':
        return await this.#append(change, event ?? null);
      case 'create':
        return await this.#once(change, async () => await this.#create(change));
      case 'update':
        return await this.#once(change, async () => await this.#update(change));
    }
  }

  /** A try that comes while an earlier one of the same change is under way becomes what that becomes. */
  async #once({ id }: Change, write: () => Promise<Committed>): Promise<Committed> {
    const running = this.#running.get(id);
    if (running !== undefined) {
      return await running;
    }
    try {
      const writing = write();
      this.#running.set(id, writing);
      return await writing;
    } finally {
      this.#running.delete(id);
    }
  }

  async #append(change: Change, event: Json): Promise<Committed> {
    const statements = appendStatements(this.#tables, change, event);
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const answer = answerIn((await this.#database.run(statements)).at(-1));
      if (answer.verdict !== 'again') {
        return this.#appended(change, answer);
      }
    }
    throw new StoreError('unavailable', `session "${change.key.sessionId ?? ''}" is created again and again`);
  }

  #appended(change: Change, { verdict, events = 0, last, data, app, user }: Answer): Committed {
    const before = beforeOf(undefined, undefined, last ?? undefined);
    const pos = this.#posOf(change, app, user);
    switch (verdict) {
      case 'written':
        return { rev: events + 1, prev: events, pos, before };
      case 'duplicate': {
        return { rev: events, prev: events, pos, duplicate: true, data: eventText(data ?? '{}'), before };
      }
      case 'conflict':
        throw wrongState();
      default:
        throw sessionNotFound(change);
    }
  }

  async #create(change: Change): Promise<Committed> {
    const earlier = await this.#unresolved.earlier(change);
    if (earlier !== undefined) {
      return await this.#createdEarlier(change, earlier);
    }
    const created = this.#creationTime(change.time);
    const answer = await this.#transact(change, createStatements(this.#tables, change, created), String(created));
    if (answer.verdict === 'exists') {
      throw sessionExists(change);
    }
    if (answer.verdict === 'conflict') {
      throw wrongState();
    }
    const pos = this.#posOf(change, answer.app, answer.user);
    return { rev: 0, prev: null, pos, created: String(created) };
  }

  /** A creation whose commit was not answered, and was made. */
  async #createdEarlier({ key }: Change, { created = '' }: NonNullable<Earlier>): Promise<Committed> {
    const statement = loadStatement(this.#tables, key as SessionKey, { events: { last: 0 } }, this.#positions);
    const head = headIn(await this.#database.send(statement, false), this.#integers)?.row;
    const rev = head?.created === created ? head.events : 0;
    return { rev, prev: rev, pos: await this.#readPos(key), created, duplicate: true };
  }

  async #update(change: Change): Promise<Committed> {
    if ((await this.#unresolved.earlier(change)) !== undefined) {
      return { rev: 0, prev: null, pos: await this.#readPos(change.key), duplicate: true };
    }
    const answer = await this.#transact(change, updateStatements(this.#tables, change), undefined);
    if (answer.verdict === 'conflict') {
      throw wrongState();
    }
    return { rev: 0, prev: null, pos: this.#posOf(change, answer.app, answer.user) };
  }

  /** Runs statements whose last but one answers the outcome of the change, and whose last its transaction. */
  async #transact(change: Change, statements: readonly string[], created: string | undefined): Promise<Answer> {
    try {
      const isWritten = (answers: readonly Rows[]): boolean => answerIn(answers.at(-2)).verdict === 'written';
      return answerIn((await this.#database.transact(statements, isWritten)).at(-2));
    } catch (error) {
      if (error instanceof CommitLost) {
        this.#unresolved.add(change, error, created);
      }
      throw error;
    }
  }

  /**
   * The time of a session's creation, in microseconds. Sessions of one key that are created in the same millisecond
   * get different ones.
   */
  #creationTime(time: number): number {
    const microseconds = microsecondsOf(time);
    if (microseconds % MICROSECONDS !== 0) {
      return microseconds;
    }
    this.#creations = (this.#creations + 1) % MICROSECONDS;
    return microseconds + this.#creations;
  }

  #posOf({ key: { appName: app, userId } }: Change, ofApp: Moved, ofUser: Moved | undefined): Pos {
    const posOf = (name: ScopeName, moved: Moved): number => {
      const after = moved[2];
      return after === null
        ? this.#positions.of(name, rowVersionOf(moved))
        : this.#positions.moved(name, rowVersionOf(moved), after);
    };
    return {
      app: posOf({ app }, ofApp),
      user: userId === undefined || ofUser === undefined ? 0 : posOf({ app, user: userId }, ofUser),
    };
  }

  async #readPos({ appName: app, userId }: Change['key']): Promise<Pos> {
    const posOf = async (name: ScopeName): Promise<number> => {
      const rows = await this.#database.send(scopeStatement(this.#tables, name), false);
      return this.#positions.of(name, rowVersionOf(scopeIn(rows, this.#integers).row));
    };
    return { app: await posOf({ app }), user: userId === undefined ? 0 : await posOf({ app, user: userId }) };
  }
}

/** Reads the text of an event. Throws `rejected`. */
function eventIn({ id, event }: Change): Json {
  try {
    return JSON.parse(event?.data ?? 'null') as Json;
  } catch (cause) {
    throw new StoreError('rejected', `event "${id}" is not JSON`, { cause });
  }
}

function answerIn(rows: Rows | undefined): Answer {
  const [row] = rows as readonly { readonly answer: string }[];
  return JSON.parse(row?.answer ?? 'null') as Answer;
}
