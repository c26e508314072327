// An app, or a user in it: its values, their position, and the recent changes to them.

import { defined } from '../../model/defined.js';
import { ScopeEntries } from './scope-entries.js';
import { ScopeMoves } from './scope-moves.js';
import { Remembered } from './remembered.js';
import { writesOf } from '../shared/log-entries.js';
import { ScopeValues } from '../shared/scope-values.js';
import { isEmpty } from '../shared/values.js';
import type { CommitContent } from '../shared/decide.js';
import type { Delta, Known, LogEntry, LogQuery, ScopeLog } from '../../store/contract.js';

/** The origin of a move, which a log states besides its writes. */
export interface Origin extends Pick<LogEntry, 'time'> {
  readonly by?: LogEntry['by'] | undefined;
  /** The time by the store's clock, in milliseconds since the epoch. */
  readonly now: number;
}

/** The state of an app, or of a user in it. */
export class Scope {
  /** The number of changes that have touched it. */
  pos = 0;
  /** The change that brought it to `pos`, if that is known. */
  mark: string | undefined;
  /** The time of the last change, by the store's clock, in milliseconds since the epoch. */
  changed = -Infinity;
  readonly values = new ScopeValues();
  /** The updates that have been made here. */
  readonly updates = new Remembered<CommitContent>();
  readonly #moves = new ScopeMoves();
  readonly #log: ScopeEntries | undefined;

  /** `log`: true to keep its writes. */
  constructor(log: boolean) {
    this.#log = log ? new ScopeEntries() : undefined;
  }

  /** Makes a delta, which leaves its mark. An empty one is no move. Says whether it was one. */
  move(delta: Delta | undefined, mark: string, origin: Origin): boolean {
    if (delta === undefined || isEmpty(delta)) {
      return false;
    }
    this.pos += 1;
    this.mark = mark;
    this.changed = origin.now;
    this.#enter(delta, origin);
    this.#moves.add(this.pos, mark, delta, this.values);
    this.values.apply(delta);
    return true;
  }

  /** The changes of others since a caller was there; `undefined` where that is not known for sure, or is nothing. */
  since(part: 'app' | 'user', { pos, marks }: Pick<Known, 'pos' | 'marks'>): Delta | undefined {
    const known = pos?.[part];
    return known === undefined || known >= this.pos ? undefined : this.#moves.since(known, marks?.[part], this.values);
  }

  /** Deletes all values, as a move that has no mark. */
  clear(origin: Origin): void {
    this.pos += 1;
    this.changed = origin.now;
    this.#enter({ unset: Object.keys(this.values.record()) }, origin);
    this.values.clear();
    this.mark = undefined;
    this.#moves.clear(this.pos);
  }

  /** See `SessionStore.readLog`. */
  readLog(query: LogQuery): ScopeLog {
    return this.#log?.read(this.pos, query) ?? { pos: this.pos, base: this.pos, entries: [] };
  }

  /** See `SessionStore.trimLog`. */
  trimLog(upTo: number): number {
    return this.#log?.trim(upTo) ?? 0;
  }

  /** Enters a move into the log just before its values are written. */
  #enter(delta: Delta, { time, by }: Origin): void {
    this.#log?.add(defined({ pos: this.pos, time, by, writes: writesOf(delta, (name) => this.values.get(name)) }));
  }
}
