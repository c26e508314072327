// The state of an app or a user while changes are made to it in memory, before it is written.

import { scopeTitle } from '../../store/refusals.js';
import { get, put } from './requests.js';
import type { GoneRow, MarkRow, ScopeKey, ScopeRow } from './rows.js';
import { deltaSince, forgetBefore, readSince, type Since } from './since.js';
import { HeldValues } from './values.js';
import { isEmpty } from '../shared/values.js';
import type { Delta } from '../../store/contract.js';

/** The part of a change that concerns one scope. */
export interface Concern {
  readonly delta?: Delta | undefined;
  /** What its guard expects. */
  readonly expected?: Delta | undefined;
  /** Where its caller knows the scope to be. */
  readonly pos?: number | undefined;
  readonly mark?: string | undefined;
}

/** A scope, as it is after the changes that have been made so far. */
export class HeldScope {
  readonly values = new HeldValues();
  #row: ScopeRow;
  #reading: Promise<void> | undefined;
  #isThere = false;
  #hasMoved = false;
  /** The position in the database. */
  #stored = 0;
  /** What has happened since a known position, as the database has it, by position and mark. */
  readonly #since = new Map<string, Since | undefined>();
  readonly #marks: MarkRow[] = [];
  readonly #gone: GoneRow[] = [];

  constructor(scope: ScopeKey) {
    this.#row = { scope, pos: 0, sessions: 0, next: 0 };
  }

  get pos(): number {
    return this.#row.pos;
  }

  get mark(): string | undefined {
    return this.#row.mark;
  }

  /** Reads what a change needs. */
  async read(transaction: IDBTransaction, { delta, expected, pos, mark }: Concern): Promise<void> {
    const values = this.values.read(transaction, this.#row.scope, delta, expected);
    await (this.#reading ??= this.#readRow(transaction));
    if (pos !== undefined && mark !== undefined && !this.#since.has(textOf(pos, mark))) {
      const isCurrent = pos === this.pos && mark === this.mark;
      const since = isCurrent ? { values: [], gone: [] } : await readSince(transaction, this.#row.scope, pos, mark);
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
    }
  }

  /** What has happened since a caller's position, if that can be told: nothing of it is written otherwise. */
  changedSince({ pos, mark }: Concern): Delta | undefined {
    if (pos === undefined || mark === undefined || pos >= this.pos) {
      return undefined;
    }
    const since = this.#since.get(textOf(pos, mark));
    return since && deltaSince(pos, this.values.over(since.values), [...since.gone, ...this.#gone], this.#title());
  }

  #title(): string {
    const [app, user] = this.#row.scope;
    return scopeTitle(user === undefined ? { app } : { app, user });
  }

  /** Makes the delta of a change, which leaves its mark. The scope is there from now on. */
  move(delta: Delta | undefined, mark: string, hasNewSession: boolean): void {
    const { scope, pos, sessions } = this.#row;
    this.#hasMoved ||= hasNewSession || !this.#isThere;
    if (hasNewSession) {
      this.#row = { ...this.#row, sessions: sessions + 1 };
    }
    if (delta !== undefined && !isEmpty(delta)) {
      const next = pos + 1;
      const gone = this.values.apply(delta, next);
      this.#row = { ...this.#row, pos: next, mark };
      this.#marks.push({ scope, pos: next, mark });
      this.#gone.push(...gone.map((name) => ({ scope, pos: next, name })));
      this.#hasMoved = true;
    }
  }

  /** Writes what has moved. */
  write(transaction: IDBTransaction): void {
    if (this.#hasMoved) {
      const { scope } = this.#row;
      put(transaction, 'scopes', { ...this.#row, next: this.values.next });
      this.values.write(transaction, scope);
      this.#marks.forEach((row) => put(transaction, 'marks', row));
      this.#gone.forEach((row) => put(transaction, 'gone', row));
      forgetBefore(transaction, scope, this.#stored, this.pos);
    }
  }
}

function textOf(pos: number, mark: string): string {
  return `${pos} ${mark}`;
}
