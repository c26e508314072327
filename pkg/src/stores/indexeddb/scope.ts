// The state of an app or a user while changes are made to it in memory, before it is written.

import { defined } from '../../model/defined.js';
import { scopeTitle } from '../../store/refusals.js';
import { scopeNames } from './keys.js';
import { get, put } from './requests.js';
import type { DeletionRow, LogRow, MarkRow, ScopeKey, ScopeRow } from './rows.js';
import { deltaSince, forgetBefore, readSince, type Since } from './since.js';
import { NO_SIZE, ValueBuffer, type ValuesConcern } from './values.js';
import { logRow, type Origin } from './log.js';
import { isEmpty } from '../shared/values.js';
import type { Delta } from '../../store/contract.js';

/** The part of a change that concerns one scope. */
export interface Concern extends ValuesConcern {
  /** The position of the scope that its caller knows. */
  readonly pos?: number | undefined;
  readonly mark?: string | undefined;
}

/** A scope, as it is after the changes that have been made so far. */
export class ScopeBuffer {
  readonly values = new ValueBuffer();
  #row: ScopeRow;
  #reading: Promise<void> | undefined;
  #isThere = false;
  #hasMoved = false;
  /** The position in the database. */
  #stored = 0;
  /** The changes since a known position, as the database has them, by position and mark. */
  readonly #since = new Map<string, Since | undefined>();
  readonly #marks: MarkRow[] = [];
  readonly #deletions: DeletionRow[] = [];
  readonly #log: LogRow[] = [];
  readonly #hasLog: boolean;

  /** `hasLog`: true to keep its writes in the log. */
  constructor(scope: ScopeKey, hasLog: boolean) {
    this.#hasLog = hasLog;
    this.#row = { scope, ...scopeNames(scope), pos: 0, sessions: 0, next: 0, size: NO_SIZE };
  }

  get pos(): number {
    return this.#row.pos;
  }

  get mark(): string | undefined {
    return this.#row.mark;
  }

  /** Reads all that a change needs. */
  async read(transaction: IDBTransaction, concern: Concern): Promise<void> {
    const { pos, mark } = concern;
    const values = this.values.read(transaction, this.#row.scope, concern);
    await (this.#reading ??= this.#readRow(transaction));
    if (pos !== undefined && mark !== undefined && !this.#since.has(textOf(pos, mark))) {
      const isCurrent = pos === this.pos && mark === this.mark;
      const { scope } = this.#row;
      const since = isCurrent ? { values: [], deletions: [] } : await readSince(transaction, scope, pos, mark);
      this.#since.set(textOf(pos, mark), since);
    }
    await values;
  }

  async #readRow(transaction: IDBTransaction): Promise<void> {
    const row = await get(transaction, 'scopes', this.#row.scope);
    if (row !== undefined) {
      this.#row = row;
      this.#isThere = true;
      this.#stored = row.pos;
      this.values.next = row.next;
      this.values.size = row.size;
    }
  }

  /** The changes since a caller's position, if they can be told: nothing of them is written otherwise. */
  changedSince({ pos, mark }: Concern): Delta | undefined {
    if (pos === undefined || mark === undefined || pos >= this.pos) {
      return undefined;
    }
    const since = this.#since.get(textOf(pos, mark));
    return (
      since && deltaSince(pos, this.values.over(since.values), [...since.deletions, ...this.#deletions], this.title())
    );
  }

  /** Its name in messages. */
  title(): string {
    const [app, user] = this.#row.scope;
    return scopeTitle(defined({ app, user }));
  }

  /** Makes the delta of a change, which leaves its mark. The scope is there from now on. */
  move(delta: Delta | undefined, mark: string, hasNewSession: boolean, origin: Origin): void {
    const { scope, pos, sessions, base } = this.#row;
    this.#hasMoved ||= hasNewSession || !this.#isThere;
    if (hasNewSession) {
      this.#row = { ...this.#row, sessions: sessions + 1 };
    }
    if (delta !== undefined && !isEmpty(delta)) {
      const next = pos + 1;
      if (this.#hasLog) {
        this.#log.push(logRow(scope, next, origin, delta, (name) => this.values.textOf(name)));
      }
      const unsetNames = this.values.apply(delta, next);
      this.#row = withBase({ ...this.#row, pos: next, mark }, this.#hasLog ? (base ?? pos) : undefined);
      this.#marks.push({ scope, pos: next, mark });
      this.#deletions.push(...unsetNames.map((name) => ({ scope, pos: next, name })));
      this.#hasMoved = true;
    }
  }

  /** Writes what has moved. */
  write(transaction: IDBTransaction): void {
    if (this.#hasMoved) {
      const { scope, pos } = this.#row;
      const { next, size } = this.values;
      const changed = pos === this.#stored ? {} : { changed: Date.now() };
      put(transaction, 'scopes', withIdle({ ...this.#row, next, size, ...changed }));
      this.values.write(transaction, scope);
      this.#marks.forEach((row) => put(transaction, 'marks', row));
      this.#deletions.forEach((row) => put(transaction, 'deletions', row));
      this.#log.forEach((row) => put(transaction, 'log', row));
      forgetBefore(transaction, scope, this.#stored, this.pos);
    }
  }
}

/** The row of a scope with as many sessions more, or fewer. */
export function withSessions(row: ScopeRow, count: number): ScopeRow {
  return withIdle({ ...row, sessions: row.sessions + count });
}

/** The row with `idle`, where its user has values and no session, or without it. */
export function withIdle(row: ScopeRow): ScopeRow {
  const { user, sessions, size, changed } = row;
  const isIdle = user !== undefined && sessions === 0 && size.keys > 0;
  return withMember(row, 'idle', isIdle ? changed : undefined);
}

/** The row with this base, or without one. */
export function withBase(row: ScopeRow, base: number | undefined): ScopeRow {
  return withMember(row, 'base', base);
}

function withMember(row: ScopeRow, member: 'idle' | 'base', value: number | undefined): ScopeRow {
  const copy: { -readonly [Member in keyof ScopeRow]: ScopeRow[Member] } = { ...row };
  delete copy[member];
  return value === undefined ? copy : { ...copy, [member]: value };
}

function textOf(pos: number, mark: string): string {
  return `${pos} ${mark}`;
}
