// Sessions that several changes create: they are invisible until they are complete. Their creation id says so; every
// answer of a store has it beside the revision, so that nothing has to be loaded for it.

import { newId } from '../../../model/ids.js';
import type { Loaded } from '../../../store/contract.js';

const PATTERN = /^whole-at-(\d+)-(.+)$/u;

/** The creation id of a session that is complete at a revision: `whole-at-3-…`. */
export function unfinishedId(revision: number, unique = newId()): string {
  return `whole-at-${revision}-${unique}`;
}

/** The revision at which a session with such an id is complete. */
export function wholeAt(created: string): number | undefined {
  const [, revision] = PATTERN.exec(created) ?? [];
  return revision === undefined ? undefined : Number(revision);
}

/** The unique part of such an id. */
export function uniquePart(created: string): string {
  return PATTERN.exec(created)?.[2] ?? created;
}

/** True for an unfinished session. */
export function isUnfinished({ created, rev }: Pick<Loaded, 'created' | 'rev'>): boolean {
  const whole = wholeAt(created);
  return whole !== undefined && rev < whole;
}
