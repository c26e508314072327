// The words of a rendered instruction that come from the state: who wrote them, and what was there before.

import type { Inspection, Pointed } from '../model/inspection.js';
import type { KeyRow } from '../model/rows.js';
import type { Dissection, Spot } from './rendering.js';

/** The writer of a word, in words: `#1 user`, `creation`, `another session`; empty when there is none. */
export function writerOf(row: KeyRow | undefined): string {
  if (row === undefined) {
    return '';
  }
  const { source, writer } = row;
  switch (source) {
    case 'event':
      return `#${writer?.revision ?? 0} ${writer?.event?.author ?? 'no author'}`;
    case 'creation':
      return '#0 creation';
    case 'elsewhere':
      return 'another session';
    case 'temp':
      return 'the running invocation';
  }
}

/** The revision whose event wrote a key; `undefined` when it is not in the log of the session. */
export function revisionOf(row: KeyRow | undefined): number | undefined {
  if (row === undefined || (row.source !== 'event' && row.source !== 'creation')) {
    return undefined;
  }
  return row.writer?.revision ?? 0;
}

/** The key and the event that pointing at a placeholder points at. */
export function pointedBy(spot: Spot, row: KeyRow | undefined): Pointed {
  const revision = revisionOf(row);
  return { key: spot.of, ...(revision === undefined ? {} : { revision }) };
}

/** True for the placeholders of the key, or of the event, that is pointed at anywhere. */
export function isLit(spot: Spot, row: KeyRow | undefined, { pointed }: Pick<Inspection, 'pointed'>): boolean {
  if (pointed === undefined || spot.scope === 'artifact') {
    return false;
  }
  return pointed.key === undefined
    ? pointed.revision !== undefined && row?.source === 'event' && row.writer?.revision === pointed.revision
    : pointed.key === spot.of;
}

/** The state of a placeholder, in words; empty when it has a value. */
export function faultOf({ missing, unknown, scope }: Spot, text: string): string {
  if (missing) {
    return 'missing';
  }
  if (unknown) {
    return scope === 'artifact' ? 'an artifact: loaded when the prompt is made' : 'not stored';
  }
  return text === '' ? 'empty' : '';
}

/** The texts of the placeholders, in their order. */
export function textsOf({ rendered }: Dissection): string[] {
  return rendered.flatMap(({ text, spot }) => (spot === undefined ? [] : [spot.missing || spot.unknown ? '' : text]));
}

/** The texts of the moment before, where they were others. */
export class OldTexts {
  #of = '';
  #revision: number | undefined;
  #previous: readonly string[] | undefined;
  #current: readonly string[] | undefined;
  /** The texts before, by index of a placeholder. */
  before: ReadonlyMap<number, string> = new Map();
  /** Counts the changes, so that each of them moves anew. */
  round = 0;

  /**
   * Takes over the texts at a revision: `of` names the template and the session. The texts of one revision may come
   * twice, because exact values take longer.
   */
  update(texts: readonly string[], of: string, revision: number): void {
    if (of !== this.#of) {
      [this.#of, this.#revision, this.#current] = [of, revision, undefined];
    }
    if (revision !== this.#revision || this.#current === undefined) {
      [this.#revision, this.#previous] = [revision, this.#current];
    }
    this.#current = texts;
    const before = changedTexts(this.#previous ?? texts, texts);
    if (before.size !== this.before.size || [...before].some(([index, text]) => this.before.get(index) !== text)) {
      this.round += 1;
    }
    this.before = before;
  }
}

/** The earlier texts that are others now, by their index. */
export function changedTexts(was: readonly string[], is: readonly string[]): Map<number, string> {
  return new Map([...was.entries()].filter(([index, text]) => text !== is[index]));
}
