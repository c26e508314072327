// Sessions that several changes create: they are invisible until they are complete. Their creation id says so; every
// answer of a store has it beside the revision, so that nothing has to be loaded for it.

import { newId } from '../../../model/ids.js';
import type { Loaded } from '../../../store/contract.js';

const PATTERN = /^whole-at-(\d+)-(.+)$/u;

/** The creation id of a session that is complete at a revision: `whole-at-3-…`. */
export function unfinishedId(revision: number): string {
  return `whole-at-${revision}-${newId()}`;
}

/** The unique part of such an id. */
export function uniquePart(created: string): string {
  return PATTERN.exec(created)?.[2] ?? created;
}

/** True for an unfinished session. */
export function isUnfinished({ created, rev }: Pick<Loaded, 'created' | 'rev'>): boolean {
  const [, revision] = PATTERN.exec(created) ?? [];
  return revision !== undefined && rev < Number(revision);
}
