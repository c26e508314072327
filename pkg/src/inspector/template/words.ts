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

/** What pointing at a placeholder points at. */
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

/** The texts that moved away: by index of a placeholder, the text before. */
export class OldTexts {
  #texts: readonly string[] | undefined;
  #of: unknown;
  /** The texts before the last changes, by index of a placeholder. */
  readonly before = new Map<number, string>();
  /** Counts the changes, so that each of them moves anew. */
  round = 0;

  /** Takes over the texts of another moment of the same template: `of` is the template and the session. */
  update(texts: readonly string[], of: string): void {
    const was = this.#of === of ? this.#texts : undefined;
    [this.#texts, this.#of] = [texts, of];
    this.before.clear();
    if (was !== undefined) {
      texts.forEach((text, index) => {
        const old = was[index];
        if (old !== undefined && old !== text) {
          this.before.set(index, old);
        }
      });
    }
    this.round += this.before.size > 0 ? 1 : 0;
  }
}
