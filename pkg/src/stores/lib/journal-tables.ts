// The tables behind a log: records are put into them again, and what does not fit shows which of them have got lost.

import { newId } from '../../ids.js';
import { StoreError } from '../../store-error.js';
import { Tables, type Where } from './tables.js';
import type { Change, Committed, Delta, Hint, ListQuery, Loaded, LoadedScope, LoadQuery, Page, ScopeName } from '../../store.js';
import type { SessionKey } from '../../types.js';
import type { LogRecord } from './callbacks.js';

/** A record that cannot be read, or not all of it. */
export interface Damage {
  readonly kind: 'corrupt';
  readonly key: Hint;
  /** The session, user and app of which something is lost. */
  readonly lost: readonly Hint[];
  /** What can still be read of what it changes in its scopes; {@link LOST} where that is lost. */
  readonly delta: Pick<Change['delta'], 'app' | 'user'>;
}

/** Moves a scope on whose values are not known any more. */
export const LOST: Delta = { unset: [''] };

/** A name for a session, a user or an app. */
export function nameOf({ appName, userId, sessionId }: { appName: string; userId?: string | undefined; sessionId?: string | undefined }): string {
  return JSON.stringify([appName, userId, sessionId]);
}

/**
 * What is corrupt is neither read nor written until it is removed: a session; a user whose values are not known, with all
 * sessions; an app whose values are not known, with all users.
 */
export class LogTables extends Tables {
  /** Of a session with the revision that it should be at, as far as that is known. */
  readonly #corrupt = new Map<string, { readonly key: Hint; readonly rev: number }>();
  /** How many records are missing, as sessions tell. */
  missing = 0;

  /** Makes what a record says, unless it has been made before. */
  replay(record: LogRecord | Damage): void {
    const { kind, key } = record;
    const { appName, userId, sessionId } = key;
    if (kind === 'corrupt') {
      record.lost.forEach((lost) => this.#lose(lost, NaN));
      this.#share(key, record.delta);
      return;
    }
    const here = this.where(key);
    const { app = 0, user = 0 } = record.guard?.pos ?? {};
    this.#catchUp({ appName }, here.pos.app, app);
    if (userId !== undefined) {
      this.#catchUp({ appName, userId }, here.pos.user, user);
    }
    const isSound = sessionId === undefined || this.#follows(record, here);
    if (!('delta' in record)) {
      if (kind === 'remove') {
        this.remove(key as SessionKey);
      } else {
        this.removeScope({ app: appName, ...(userId !== undefined && { user: userId }) });
      }
    } else if (!isSound) {
      this.#share(key, record.delta);
    } else if (super.check({ ...record, guard: {} }) === undefined) {
      this.apply(record);
    }
  }

  /** Whether there is a session, be it a corrupt one. */
  has(key: Hint): boolean {
    return this.where(key).created !== undefined || this.#corrupt.has(nameOf(key));
  }

  override check(change: Change): Committed | undefined {
    this.#assertSound(change.key);
    return super.check(change);
  }

  override load(key: SessionKey, query: LoadQuery): Loaded | null {
    this.#assertSound(key);
    return super.load(key, query);
  }

  override list(query: ListQuery): Page {
    const { app, user, after, offset } = query;
    this.#assertSound({ appName: app, ...(user !== undefined && { userId: user }) });
    const { rows, users, total, ...page } = super.list(query);
    const isUserSound = (userId: string): boolean => !this.#corrupt.has(nameOf({ appName: app, userId }));
    const lost = [...this.#corrupt.values()]
      .map(({ key }) => key)
      .filter((key): key is SessionKey => key.sessionId !== undefined && key.appName === app && (user ?? key.userId) === key.userId);
    // Nobody knows where they stand: they are part of the first page.
    const corrupt = [
      ...(after === undefined && !offset ? lost : []),
      ...rows.map(({ key }) => key).filter(({ userId }) => !isUserSound(userId)),
    ];
    return {
      ...page,
      rows: rows.filter(({ key }) => isUserSound(key.userId)),
      users: new Map([...users].filter(([userId]) => isUserSound(userId))),
      total: total + lost.length,
      ...(corrupt.length > 0 && { corrupt }),
    };
  }

  override remove(key: SessionKey): boolean {
    return (this.#corrupt.size > 0 && this.#corrupt.delete(nameOf(key))) || super.remove(key);
  }

  override scope(scope: ScopeName): LoadedScope {
    this.#assertNot(homeOf(scope));
    return super.scope(scope);
  }

  override removeScope(scope: ScopeName): void {
    this.#corrupt.delete(nameOf(homeOf(scope)));
    super.removeScope(scope);
  }

  #assertSound({ appName, userId, sessionId }: Hint): void {
    if (this.#corrupt.size === 0) {
      return;
    }
    this.#assertNot({ appName });
    this.#assertNot({ appName, userId });
    this.#assertNot({ appName, userId, sessionId });
  }

  #assertNot(key: Parameters<typeof nameOf>[0]): void {
    if (this.#corrupt.has(nameOf(key))) {
      const { appName, userId, sessionId } = key;
      const what = sessionId !== undefined ? `session "${sessionId}"` : userId !== undefined ? `the state of user "${userId}"` : `the state of app "${appName}"`;
      throw new StoreError('corrupt', `${what} cannot be read: a record of it is damaged or missing`);
    }
  }

  #lose(key: Hint, rev: number): void {
    this.#corrupt.set(nameOf(key), { key, rev });
    if (key.sessionId !== undefined) {
      super.remove(key as SessionKey);
    }
  }

  /** Makes what a record changes in its scopes, whatever its session is. */
  #share({ appName, userId }: Hint, { app, user }: Change['delta']): void {
    const delta = { ...(app && { app }), ...(user && { user }) };
    this.apply({ id: newId(), kind: 'update', key: { appName, ...(userId !== undefined && { userId }) }, time: 0, delta });
  }

  /** A scope that is further than the records before say has lost some of them. */
  #catchUp(scope: Hint, actual: number, expected: number): void {
    if (actual < expected) {
      this.#lose(scope, NaN);
      for (let pos = actual; pos < expected; pos++) {
        this.#share(scope, scope.userId === undefined ? { app: LOST } : { user: LOST });
      }
    }
  }

  /** Whether a session is whole up to a record, and can take it. */
  #follows({ id, kind, key, guard = {} }: LogRecord, { created, rev }: Where): boolean {
    const lost = this.#corrupt.size === 0 ? undefined : this.#corrupt.get(nameOf(key));
    const isSame = created === (kind === 'create' ? id : (guard.created ?? created));
    // Counted from its creation, which is 0: none is -1, another one -2 as its end is missing as well.
    const actual = lost?.rev ?? (created === undefined ? -1 : isSame ? rev : -2);
    const expected = kind === 'create' ? -1 : (guard.rev ?? actual);
    const isGap = expected > actual;
    if (isGap) {
      this.missing += expected - actual;
    }
    if (lost === undefined && !isGap && (kind !== 'append' || created !== undefined)) {
      return true;
    }
    this.#lose(key, Math.max(actual || 0, expected + 1));
    return false;
  }
}

function homeOf({ app, user }: ScopeName): Hint {
  return { appName: app, ...(user !== undefined && { userId: user }) };
}
