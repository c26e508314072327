// Users by the id of a session, and the names of users and apps: the arguments and the answers of their scripts.

import { toColumn } from '../shared/column-text.js';
import { pageWithin } from '../shared/name-page.js';
import { textOf } from './client.js';
import { textAfterSign, type List } from './hashes.js';
import { sessionOf } from './keys.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** The largest number of names. */
const MOST = Number.MAX_SAFE_INTEGER - 1;

/** The arguments of the script that finds the users of an id: all members of it lie between them. */
export function ownersArgs(sessionId: string): string[] {
  const start = `=${toColumn(sessionId)}`;
  return [`[${start}\0`, `(${start}\x01`];
}

/** Reads what it answers. */
export function decodeOwners(reply: unknown): string[] {
  const [, members] = reply as [unknown, List];
  return members.map((member) => sessionOf(textOf(member)).userId);
}

/** The arguments of the scripts that list names: as many as the page has, and one more. */
export function namesArgs({ after, limit = Infinity }: NameQuery): string[] {
  return [after === undefined ? '-' : `(=${after}`, String(Math.min(limit, MOST) + 1)];
}

/** Reads the names that they answer. */
export function decodeNames(names: unknown, query: NameQuery): NamePage {
  return pageWithin((names as List).map(textAfterSign), query);
}
