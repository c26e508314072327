// An app, a user and a session that a call is about, as they are now.

import { defined } from '../../model/defined.js';
import { Scope } from './scope.js';
import { callOf } from '../shared/keys.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import type { Remembered } from './remembered.js';
import type { Session } from './session.js';
import type { ScopeSizes, Size } from '../shared/growth.js';
import type { CallRecord, CommitFacts, CommitContent } from '../shared/decide.js';
import type { Change, Committed, Delta, Known, Pos } from '../../store/contract.js';
import type { LeaseRow } from '../../store/lease.js';
import type { SharedScope, StoredScope } from '../../model/scope.js';
import type { Json } from '../../model/types.js';

/** The leases of sessions, by the changes that created them. */
export type Leases = Map<string, LeaseRow>;

/** Facts of a store that outlive sessions, or belong to no scope. */
export interface Ledger {
  readonly leases: Leases;
  /** The creations of sessions that have been removed. */
  readonly tombstones: Remembered<CallRecord>;
  /** The calls that were refused when an earlier try of theirs may have been on its way. */
  readonly refusals: Remembered<CallRecord>;
  /** The leases of names. */
  readonly claims: Map<string, LeaseRow>;
}

/** A scope that was never written to. */
export const UNTOUCHED = new Scope(false);
/** A session, or a name, that was never leased. */
export const UNLEASED: LeaseRow = { fence: 0 };

/** The app, the user and the session of a key. A scope that is not there has no values. */
export class Target implements CommitFacts, ScopeSizes {
  readonly app: Scope;
  readonly user: Scope;
  readonly session: Session | undefined;
  readonly #ledger: Ledger;
  /** A session that has expired, under the key of the call. */
  readonly expired: Session | undefined;

  /** `now`: from this time on a session that has expired is not there. */
  constructor(ledger: Ledger, app: Scope = UNTOUCHED, user: Scope = UNTOUCHED, session?: Session, now = -Infinity) {
    this.#ledger = ledger;
    this.app = app;
    this.user = user;
    [this.session, this.expired] = session?.hasExpired(now) ? [undefined, session] : [session, undefined];
  }

  contentOf({ id, kind, key }: Change): CommitContent | undefined {
    if (kind === 'append') {
      const event = this.session?.find(id);
      return event && defined({ data: event.data, results: event.results });
    }
    const { updates } = key.userId === undefined ? this.app : this.user;
    return updates.get(id);
  }

  creationOf(): CallRecord {
    return defined({ digest: this.session?.digest });
  }

  tombstoneOf({ id }: Change): CallRecord | undefined {
    const { created, digest } = this.expired ?? {};
    return created === id ? defined({ digest }) : this.#ledger.tombstones.get(id);
  }

  refusalOf(change: Change): CallRecord | undefined {
    return this.#ledger.refusals.get(callOf(change));
  }

  /** The lease of the session. */
  get lease(): LeaseRow {
    return (this.session && this.#ledger.leases.get(this.session.created)) ?? UNLEASED;
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

  get sizes(): ScopeSizes {
    return this;
  }

  size(scope: StoredScope): Size {
    return (this[scope] ?? UNTOUCHED).values.size;
  }

  bytesOf(scope: StoredScope, name: string): number | undefined {
    return this[scope]?.values.bytesOf(name);
  }

  /** The part of the answer to a duplicate about the end of the session, if the change belongs to that one. */
  endOf({ id, kind }: Change): Pick<Committed, 'expires'> {
    const { created, expires } = this.session ?? {};
    return expires === undefined || (kind === 'create' && created !== id) ? {} : { expires };
  }

  /** The positions of the scopes. */
  get positions(): Pos {
    return { app: this.app.pos, user: this.user.pos };
  }

  /** The part of the answer to a change about the scopes before it. */
  history({ known }: Change): Pick<Committed, 'before' | 'changed'> {
    return { ...this.changed(known), before: beforeOf(this.app.mark, this.user.mark, this.session?.last) };
  }

  /** The changes of the scopes since the positions of a caller, as far as they are known for sure. */
  changed(known: Pick<Known, 'pos' | 'marks'> = {}): Pick<Committed, 'changed'> {
    return changedOf(this.app.since('app', known), this.user.since('user', known));
  }
}
