// The log of one scope: the writes to its values, oldest first.

import { chooseEntries } from '../shared/log-entries.js';
import type { LogEntry, LogQuery, ScopeLog } from '../../store/contract.js';

/** The entries of one scope. Each move of the scope is one. */
export class ScopeEntries {
  #entries: LogEntry[] = [];
  /** The position up to which entries were trimmed. */
  #base = 0;

  /** Adds the writes of a move: that to the position after the last. */
  add(entry: LogEntry): void {
    this.#entries.push(entry);
  }

  /** See `SessionStore.readLog`. `pos` is where the scope is. */
  read(pos: number, { after = 0, ...query }: LogQuery): ScopeLog {
    const start = Math.max(0, Math.floor(after) - this.#base);
    return { pos, base: this.#base, entries: chooseEntries(this.#entries.slice(start), { after, ...query }) };
  }

  /** See `SessionStore.trimLog`. */
  trim(upTo: number): number {
    const count = Math.max(0, Math.min(this.#entries.length, Math.floor(upTo) - this.#base));
    this.#entries.splice(0, count);
    this.#base += count;
    return count;
  }
}
