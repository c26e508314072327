// The answers of a store.

import { dataOf } from './stored.js';
import { KEY, TIME } from './keys.js';
import { defined } from '../../model/defined.js';
import type { Committed, Loaded, StoreLimit } from '../../store/contract.js';
import type { StoredScope } from '../../model/scope.js';
import type { EndsAt, ListedRow, LoadedAnswer, Refused } from '../case.js';

/** A creation or an update is written, and the scopes are at these positions. */
export function made(app = 0, user = 0): Committed {
  return { rev: 0, prev: null, pos: { app, user } };
}

/** An append is written. */
export function appended(rev: number, app = 0, user = 0): Committed {
  return { rev, prev: rev - 1, pos: { app, user } };
}

/** A duplicate creation; the session is at this revision. */
export function again(rev: number, app = 0, user = 0): Committed {
  return { rev, prev: rev, pos: { app, user }, duplicate: true };
}

/** A duplicate event of {@link append}. */
export function appendedBefore(id: string, rev: number, app = 0, user = 0): Committed {
  return { ...again(rev, app, user), data: dataOf(id) };
}

/** A duplicate update. */
export function updatedBefore(app = 0, user = 0): Committed {
  return { ...made(app, user), duplicate: true };
}

/** The same answer, with the digest that the change was made with. */
export function withDigest(committed: Committed, digest: string): Committed {
  return { ...committed, digest };
}

/** The refusal of a change that exceeds a limit. `key` is the name of a value. */
export function beyond(exceeded: StoreLimit, size: number, limit: number, scope?: StoredScope, key?: string): Refused {
  return { throws: 'limit', exceeded, size, limit, ...defined({ scope, key }) };
}

/** The same answer, about a session that ends. */
export function ending<Answer extends object>(
  answer: Answer,
  expires: EndsAt,
): Omit<Answer, 'expires'> & { readonly expires: EndsAt } {
  return { ...answer, expires };
}

/** Members of a loaded session. Values that are `undefined`, and `changed: null`, must be absent. */
export interface LoadedWith extends Partial<Omit<LoadedAnswer, 'pos' | 'state' | 'changed'>> {
  readonly pos?: Partial<Loaded['pos']>;
  readonly state?: { readonly [Scope in keyof Loaded['state']]?: Loaded['state'][Scope] | undefined };
  readonly changed?: Loaded['changed'] | null;
}

/** A loaded session: the usual one, just created, with these members. */
export function loaded({ pos = {}, state = {}, ...more }: LoadedWith = {}): LoadedAnswer {
  return {
    created: 'c',
    rev: more.events?.at(-1)?.rev ?? 0,
    time: TIME,
    pos: { app: 0, user: 0, ...pos },
    state: { session: {}, app: {}, user: {}, ...state },
    events: [],
    ...more,
  } as LoadedAnswer;
}

/** A row of the usual session, just created, with these members. */
export function row(more: Partial<ListedRow> = {}): ListedRow {
  return { key: KEY, created: 'c', rev: 0, time: TIME, state: {}, ...more };
}
