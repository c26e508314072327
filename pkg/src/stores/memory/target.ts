// An app, a user and a session that a call is about, as they are now.

import { Scope } from './scope.js';
import { callOf } from '../shared/keys.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import type { Remembered } from './remembered.js';
import type { Session } from './session.js';
import type { CommitFacts, Written } from '../shared/decide.js';
import type { Change, Committed, Delta, Known, Pos } from '../../store/contract.js';
import type { LeaseRow } from '../../store/lease.js';
import type { SharedScope, StoredScope } from '../../model/scope.js';
import type { Json } from '../../model/types.js';

/** The leases of sessions, by the changes that created them. */
export type Leases = Map<string, LeaseRow>;

/** What is kept beside sessions and scopes. */
export interface Kept {
  readonly leases: Leases;
  /** The creations of sessions that have been removed. */
  readonly creations: Remembered;
  /** The calls that were refused when an earlier try of theirs may have been on its way. */
  readonly refused: Remembered;
}

/** A scope that was never written to. */
export const UNTOUCHED = new Scope(false);
/** A session that was never leased. */
const UNLEASED: LeaseRow = { fence: 0 };

/** The app, the user and the session of a key. A scope that is not there has no values. */
export class Target implements CommitFacts {
  readonly app: Scope;
  readonly user: Scope;
  readonly session: Session | undefined;
  readonly #kept: Kept;

  constructor(kept: Kept, app: Scope = UNTOUCHED, user: Scope = UNTOUCHED, session?: Session) {
    this.#kept = kept;
    this.app = app;
    this.user = user;
    this.session = session;
  }

  written({ id, kind, key }: Change): Written | undefined {
    if (kind === 'append') {
      const event = this.session?.find(id);
      return event && { data: event.data, ...(event.results && { results: event.results }) };
    }
    const { updates } = key.userId === undefined ? this.app : this.user;
    const results = updates.get(id);
    return updates.has(id) ? { ...(results && { results }) } : undefined;
  }

  isOfRemoved({ id }: Change): boolean {
    return this.#kept.creations.has(id);
  }

  isRefused(change: Change): boolean {
    return this.#kept.refused.has(callOf(change));
  }

  /** The lease of the session. */
  get lease(): LeaseRow {
    return (this.session && this.#kept.leases.get(this.session.created)) ?? UNLEASED;
  }

  fence(): number {
    return this.lease.fence;
  }

  pos(scope: SharedScope): number {
    return this[scope].pos;
  }

  holds(scope: StoredScope, expected: Delta): boolean {
    return (this[scope] ?? UNTOUCHED).values.holds(expected);
  }

  value(scope: StoredScope, name: string): Json | undefined {
    return this[scope]?.values.get(name);
  }

  /** Where the scopes are. */
  get positions(): Pos {
    return { app: this.app.pos, user: this.user.pos };
  }

  /** What a change is told of what was there before it. */
  told({ known }: Change): Pick<Committed, 'before' | 'changed'> {
    return { ...this.changed(known), before: beforeOf(this.app.mark, this.user.mark, this.session?.last) };
  }

  /** What has happened to the scopes since the caller was there, as far as that is known for sure. */
  changed(known: Pick<Known, 'pos' | 'marks'> = {}): Pick<Committed, 'changed'> {
    return changedOf(this.app.since('app', known), this.user.since('user', known));
  }
}
