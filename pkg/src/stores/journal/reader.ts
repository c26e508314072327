// Reads a journal: finds damaged and missing lines, and the sessions, users and apps that they belong to.

import { StoreError } from '../../store/store-error.js';
import { LOST_DELTA, type LogItem } from './log-tables.js';
import { isTorn, isTornVersion, needsShared, readLine, recordOf, splitLines, versionIn, type Piece } from './lines.js';
import type { Hint } from '../../store/contract.js';
import type { VersionStatement, LogFormat } from './version.js';
import type { Records } from './log-record.js';

/**
 * Reads lines. Between two whole lines their numbers tell how many others there must be: what is damaged there and
 * belongs to none of those was never part of the journal, like a line that was torn when its writer died.
 */
export class JournalReader {
  /** The number of the last line. */
  last = 0;
  /** True when there is no line at all, sound or damaged. */
  isEmpty = true;
  /** The latest version that has written to it, as far as that has been read. */
  #version: number | undefined;
  readonly #format: LogFormat;
  /** A checksum of each line, by its number: it tells a line that was written twice from another one of its number. */
  readonly #sums: (number | undefined)[] = [];
  /** The damaged lines since the last whole one, by their numbers. */
  readonly #remains = new Map<number, Piece>();
  /** The place of the first line since the last whole one whose key cannot be read. */
  #unreadable: number | undefined;
  /** The numbers of the lines that are missing. */
  readonly #missing: number[] = [];

  constructor(format: LogFormat) {
    this.#format = format;
  }

  /**
   * Returns the records, and the version before those that it has written. `tally.missing` says how many are known to
   * be missing from sessions that have been read so far. Throws `corrupt` when it cannot be known what a damaged or
   * missing line belongs to.
   */
  async *read(lines: Records<string>, tally: { readonly missing: number }): AsyncGenerator<LogItem> {
    let place = 0;
    let damaged: string | undefined;
    for await (const text of lines) {
      if (damaged !== undefined) {
        this.#keep(damaged, place);
        damaged = undefined;
      }
      place += 1;
      if (text === '') {
        continue;
      }
      this.isEmpty = false;
      const version = versionIn(text);
      if (version !== undefined) {
        yield* this.#see(version);
        // It follows the last line: one that is there twice tells nothing of the lines since.
        if (version.last >= this.last) {
          yield* this.#resolve(version.last + 1);
        }
      } else if (!isTornVersion(text)) {
        const whole = this.#wholeLines(text);
        for (const piece of whole) {
          yield* this.#accept(piece);
        }
        damaged = whole.length === 0 ? text : undefined;
      }
    }
    if (damaged !== undefined && !isTorn(damaged, this.#format)) {
      this.#keep(damaged, place);
    }
    if (this.#unreadable !== undefined) {
      throw unreadable(this.#unreadable);
    }
    yield* this.#resolve([...this.#remains.keys()].reduce((last, number) => Math.max(last, number), this.last) + 1);
    this.#sums.length = 0;
    if (this.#missing.length > tally.missing) {
      const [first] = this.#missing;
      throw new StoreError(
        'corrupt',
        `the journal has lost ${this.#missing.length} lines, the first of them number ${first}, and their owners are unknown`,
      );
    }
  }

  /** Reports a version that has not been reported yet, and is later than those that have. */
  *#see({ version, layout }: VersionStatement): Generator<LogItem> {
    if (this.#version === undefined || version > this.#version) {
      this.#version = version;
      yield { kind: 'version', version, layout };
    }
  }

  *#accept({ key, own, shared, sum, version }: Piece): Generator<LogItem> {
    const { number } = key;
    yield* this.#see(version);
    if (number > this.last) {
      yield* this.#resolve(number);
      this.last = number;
      this.#sums[number] = sum;
    } else if (this.#sums[number] === undefined || this.#sums[number] === sum) {
      // A retry has written it twice.
      return;
    }
    yield recordOf(key, own as NonNullable<Piece['own']>, shared);
  }

  /** Keeps the readable part of a damaged line until the next whole line shows whether it is part of the journal. */
  #keep(text: string, place: number): void {
    const { pieces } = readLine(text, this.#format);
    for (const piece of pieces) {
      // Two lines of one number say different things: neither is known to be true.
      const isOther = this.#remains.has(piece.key.number);
      this.#remains.set(piece.key.number, isOther ? { ...piece, shared: undefined, own: undefined } : piece);
    }
    if (pieces.length === 0) {
      this.#unreadable ??= place;
    }
  }

  /** Returns the readable parts of the lines before `next`, and notes those that are missing. */
  *#resolve(next: number): Generator<LogItem> {
    while (this.last + 1 < next) {
      this.last += 1;
      const remains = this.#remains.get(this.last);
      if (remains !== undefined) {
        yield* this.#see(remains.version);
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

  /** The whole lines that a text consists of: one, as a rule; none when it is damaged. */
  #wholeLines(text: string): readonly Piece[] {
    const { pieces, isWhole } = readLine(text, this.#format);
    if (isWhole) {
      return pieces;
    }
    const lines = splitLines(text)?.map((line) => readLine(line, this.#format)) ?? [];
    return lines.every(({ isWhole }) => isWhole) ? lines.flatMap(({ pieces }) => pieces) : [];
  }
}

/** The readable and the lost parts of a damaged line. */
function* restOf({ key, own, shared }: Piece): Generator<Exclude<LogItem, VersionStatement>> {
  const { appName, userId, sessionId } = key.key;
  // Without a session, the effect of a line on its scopes depends on both sections.
  const isShared = (own !== undefined || sessionId !== undefined) && (shared !== undefined || !needsShared(key, own));
  const [isAppLost, isUserLost] = [!isShared && key.touchesApp, !isShared && key.touchesUser];
  const delta = { ...shared, ...(isAppLost && { app: LOST_DELTA }), ...(isUserLost && { user: LOST_DELTA }) };
  const scopes: Hint[] = [
    ...(isAppLost ? [{ appName }] : []),
    ...(isUserLost && userId !== undefined ? [{ appName, userId }] : []),
  ];
  const isOwnLost = own === undefined;
  const targets = [...scopes, ...(isOwnLost && sessionId !== undefined ? [key.key] : [])];
  if (targets.length > 0) {
    yield { kind: 'corrupt', key: key.key, targets, delta: isOwnLost ? delta : {} };
  }
  if (own !== undefined) {
    yield recordOf(key, own, delta);
  }
}

function unreadable(place: number): StoreError {
  return new StoreError('corrupt', `line ${place} of the journal cannot be read, and its owner is unknown`);
}
