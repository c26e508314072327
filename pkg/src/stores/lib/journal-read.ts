// Reads a journal: which lines are whole, whose are those that are not, and whether any is missing.

import { StoreError } from '../../store-error.js';
import { LOST, type Damage } from './journal-tables.js';
import { isTorn, needsShared, readLine, recordOf, splitLines, type Line, type LineKey } from './journal-lines.js';
import type { Hint } from '../../store.js';
import type { LogRecord, Records } from './callbacks.js';

/** What is left of a damaged line. */
type Remains = Pick<Line, 'shared' | 'own'> & { readonly key: LineKey };

/**
 * Reads lines. Between two whole lines their numbers tell how many others there must be: what is damaged there and belongs
 * to none of those was never part of the journal, like a line that was torn when its writer died.
 */
export class JournalReader {
  /** The number of the last line. */
  last = 0;
  /** Whether there are lines at all, whatever they are. */
  isEmpty = true;
  /** By the number of a line: what tells it from others. */
  readonly #sums: (number | undefined)[] = [];
  /** By the number of a damaged line since the last whole one. */
  readonly #remains = new Map<number, Remains>();
  /** Where the first line since the last whole one stands of which not even the key can be read. */
  #unreadable: number | undefined;
  /** The numbers of lines of which nothing is left. */
  readonly #missing: number[] = [];

  /**
   * Gives back the records. `found.missing` says how many are known to be missing from sessions that have been read so far.
   * Throws `corrupt` when it cannot be known what a damaged or missing line belongs to.
   */
  async *read(lines: Records<string>, found: { readonly missing: number }): AsyncGenerator<LogRecord | Damage> {
    let place = 0;
    let damaged: string | undefined;
    for await (const text of lines) {
      if (damaged !== undefined) {
        this.#keep(damaged, place);
        damaged = undefined;
      }
      place += 1;
      if (text !== '') {
        this.isEmpty = false;
        const whole = wholeLines(text);
        for (const line of whole) {
          yield* this.#accept(line);
        }
        damaged = whole.length === 0 ? text : undefined;
      }
    }
    if (damaged !== undefined && !isTorn(damaged)) {
      this.#keep(damaged, place);
    }
    if (this.#unreadable !== undefined) {
      throw unreadable(this.#unreadable);
    }
    yield* this.#resolve([...this.#remains.keys()].reduce((last, number) => Math.max(last, number), this.last) + 1);
    if (this.#missing.length > found.missing) {
      const [first] = this.#missing;
      throw new StoreError('corrupt', `the journal has lost ${this.#missing.length} lines, the first of them number ${first}, and it cannot be known whose`);
    }
  }

  *#accept(line: Line): Generator<LogRecord | Damage> {
    const [key] = line.keys as [LineKey];
    const { number } = key;
    if (number > this.last) {
      yield* this.#resolve(number);
      this.last = number;
      this.#sums[number] = line.sum;
    } else if (this.#sums[number] === undefined || this.#sums[number] === line.sum) {
      // It is there twice.
      return;
    }
    yield recordOf(key, line.own as NonNullable<Line['own']>, line.shared);
  }

  /** Keeps what is left of a damaged line until it is clear whether it counts. */
  #keep(text: string, place: number): void {
    const { keys, shared, own } = readLine(text);
    for (const key of keys) {
      // Of two lines in one it is not known whose the other sections are, and two lines of one number say different things.
      const isClear = keys.length === 1 && !this.#remains.has(key.number);
      this.#remains.set(key.number, { key, ...(isClear ? { shared, own } : { shared: undefined, own: undefined }) });
    }
    if (keys.length === 0) {
      this.#unreadable ??= place;
    }
  }

  /** Accounts for all lines before one. */
  *#resolve(next: number): Generator<LogRecord | Damage> {
    while (this.last + 1 < next) {
      this.last += 1;
      const remains = this.#remains.get(this.last);
      if (remains !== undefined) {
        yield* restOf(remains);
      } else if (this.#unreadable !== undefined) {
        throw unreadable(this.#unreadable);
      } else {
        this.#missing.push(this.last);
      }
    }
    this.#remains.clear();
    this.#unreadable = undefined;
  }
}

/** The whole lines that a text consists of: one, as a rule; none when it is damaged. */
function wholeLines(text: string): Line[] {
  const line = readLine(text);
  if (line.isWhole) {
    return [line];
  }
  const lines = splitLines(text)?.map(readLine) ?? [];
  return lines.every(({ isWhole }) => isWhole) ? lines : [];
}

/** What a damaged line still says, and what is lost with the rest. */
function* restOf({ key, own, shared }: Remains): Generator<LogRecord | Damage> {
  const { appName, userId, sessionId } = key.key;
  // Without a session, what a line does to its scopes depends on both sections.
  const isShared = (own !== undefined || sessionId !== undefined) && (shared !== undefined || !needsShared(key, own));
  const [isAppLost, isUserLost] = [!isShared && key.touchesApp, !isShared && key.touchesUser];
  const delta = { ...shared, ...(isAppLost && { app: LOST }), ...(isUserLost && { user: LOST }) };
  const scopes: Hint[] = [...(isAppLost ? [{ appName }] : []), ...(isUserLost && userId !== undefined ? [{ appName, userId }] : [])];
  const isOwnLost = own === undefined;
  const lost = [...scopes, ...(isOwnLost && sessionId !== undefined ? [key.key] : [])];
  if (lost.length > 0) {
    yield { kind: 'corrupt', key: key.key, lost, delta: isOwnLost ? delta : {} };
  }
  if (own !== undefined) {
    yield recordOf(key, own, delta);
  }
}

function unreadable(place: number): StoreError {
  return new StoreError('corrupt', `line ${place} of the journal cannot be read, and it cannot be known whose it is`);
}
