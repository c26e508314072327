// A session that is made by several changes: until it is whole, it is not there for anyone. What tells is its
// `created`, which every answer of a store has beside the revision, so that nothing has to be loaded for it.

import { newId } from '../../../model/ids.js';
import type { Loaded } from '../../../store/contract.js';

const PATTERN = /^whole-at-(\d+)-(.+)$/u;

/** The id of the creation of a session that is whole at a revision: `whole-at-3-…`. */
export function unfinishedId(revision: number): string {
  return `whole-at-${revision}-${newId()}`;
}

/** What of such an id is unique. */
export function uniquePart(created: string): string {
  return PATTERN.exec(created)?.[2] ?? created;
}

/** Whether a session is not whole yet. */
export function isUnfinished({ created, rev }: Pick<Loaded, 'created' | 'rev'>): boolean {
  const [, revision] = PATTERN.exec(created) ?? [];
  return revision !== undefined && rev < Number(revision);
}
