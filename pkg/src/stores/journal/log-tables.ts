// The tables of a log: they are filled from its records, and find by gaps which records are missing.

import { defined } from '../../model/defined.js';
import { newId } from '../../model/ids.js';
import { isStoreError, StoreError } from '../../store/store-error.js';
import { readableVersion, type VersionStatement, type LogFormat } from './version.js';
import type { Numbered, Refusal, Remainder, Removal, Timed, Trimming, VersionRecord } from './log-record.js';
import { writerOf } from '../shared/log-entries.js';
import { callOf, hintOf, keyText } from '../shared/keys.js';
import { placeOf } from '../shared/list-order.js';
import { namePage, sortedNames } from '../shared/name-page.js';
import { otherLayout, scopeTitle, sessionTitle } from '../../store/refusals.js';
import type { Expired } from '../memory/expired.js';
import { Tables, type RemovalGuard, type TableOptions, type Where } from '../memory/tables.js';
import type {
  Change,
  Committed,
  Delta,
  Hint,
  LeaseAnswer,
  LeaseRequest,
  LeaseRow,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  LogQuery,
  NamePage,
  NameQuery,
  Page,
  ScopeLog,
  ScopeName,
  SweepQuery,
} from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** A record that cannot be read, or not all of it. */
export interface Damage {
  readonly kind: 'corrupt';
  readonly key: Hint;
  /** The session, user and app of which something is lost. */
  readonly targets: readonly Hint[];
  /** The readable part of its changes to its scopes; {@link LOST_DELTA} if that is lost. */
  readonly delta: Pick<Change['delta'], 'app' | 'user'>;
}

/** A record as it was read, or the remainder of one. */
export type LogItem = Numbered | Damage | (VersionStatement & Pick<VersionRecord, 'kind'>);

/** A delta that moves a scope by one position, in place of one that is lost. */
export const LOST_DELTA: Delta = { unset: [''] };

/** A change as a log has it, or as it is requested. */
export type LoggedChange = (Change & Timed) | Trimming | Remainder;

/** The options of a log's tables. */
export interface LogTableOptions extends TableOptions {
  /** The name of the log in messages. */
  readonly name: string;
  readonly format: LogFormat;
}

/**
 * The tables of a log. A corrupt part is neither read nor written until it is removed: a session; a user whose values
 * are not known, with all sessions; an app whose values are not known, with all users.
 */
export class LogTables extends Tables {
  /** The corrupt parts, by name; for a session with the revision that it should be at, NaN where that is unknown. */
  readonly #corrupt = new Map<
    string,
    { readonly key: Hint; readonly rev: number; readonly created: string | undefined }
  >();
  readonly #name: string;
  readonly #format: LogFormat;
  /** The latest version that the records say they have. */
  #version: number | undefined;
  /** The ids of the `remove-scope` records that were made: one may be there twice. */
  readonly #cleared = new Set<string>();
  /** The time at which something is done, in place of that of the clock. */
  #time: number | undefined;
  /** The number of missing records, by the revisions of sessions. */
  missing = 0;

  constructor({ name, format, ...options }: LogTableOptions) {
    super(options);
    this.#name = name;
    this.#format = format;
  }

  /** The version of the records; `undefined` when there are none. */
  get version(): number | undefined {
    return this.#version;
  }

  /**
   * Applies a record, unless it has been applied before. Throws `rejected` when another layout or a later version has
   * written it: the record of the version comes before all others.
   */
  replay(record: LogItem): void {
    // What was there when a record was written is there when it is read, whatever has expired since.
    this.at(-Infinity, () => this.#replay(record));
  }

  #replay(record: LogItem): void {
    if (record.kind === 'version') {
      const { version } = readableVersion(this.#name, record, this.#format);
      this.#version = Math.max(this.#version ?? 0, version);
      return;
    }
    if (this.#version === undefined) {
      throw otherLayout(this.#name, undefined, this.#format.layout);
    }
    const { kind, key } = record;
    const { appName, userId, sessionId } = key;
    if (kind === 'corrupt') {
      record.targets.forEach((target) => this.#lose(target, NaN));
      this.#share(key, record.delta);
      // The time and the event of the write are lost: the logs begin behind it.
      if (record.delta.app !== undefined) {
        this.#trim({ appName });
      }
      if (record.delta.user !== undefined) {
        this.#trim(defined({ appName, userId }));
      }
      return;
    }
    if (kind === 'refusal') {
      this.refuse(record);
      return;
    }
    const current = this.where(key);
    const { app = 0, user = 0 } = record.guard?.pos ?? {};
    this.#catchUp({ appName }, current.pos.app, app);
    if (userId !== undefined) {
      this.#catchUp({ appName, userId }, current.pos.user, user);
    }
    const isSound = sessionId === undefined || this.#follows(record, current);
    if (!('delta' in record)) {
      this.#replayRemoval(record);
    } else if (!isSound) {
      this.#share(key, record.delta, record);
    } else if (!this.#isMade(record)) {
      this.apply(record);
    }
  }

  /** Makes a change. One that trims a log also says how many entries there were. */
  override apply(change: LoggedChange, { ends, written }: Timed = change): Committed & { readonly trimmed?: number } {
    const by = 'by' in change ? change.by : undefined;
    // The time of an earlier write that nobody has noted is that of its reading: nothing is too old too early.
    const committed = super.apply(change, defined({ by, ends, now: written ?? Date.now() }));
    return 'trim' in change ? { ...committed, trimmed: this.#trim(change.key, change.trim) } : committed;
  }

  protected override now(): number {
    return this.#time ?? super.now();
  }

  /** Does something as if it took no time: until it is done, nothing expires after `time`. */
  at<T>(time: number, run: () => T): T {
    const before = this.#time;
    this.#time = time;
    try {
      return run();
    } finally {
      this.#time = before;
    }
  }

  #trim({ appName, userId }: Hint, upTo = Infinity): number {
    return super.trimLog(defined({ app: appName, user: userId }), upTo);
  }

  #replayRemoval({ id, kind, key, guard, digest, time }: Removal): void {
    const { appName, userId } = key;
    if (kind === 'remove') {
      this.remove(key as SessionKey);
      // Of one that was removed before the log was compacted, there is nothing else.
      if (guard?.created !== undefined) {
        this.forget(guard.created, defined({ digest }));
      }
    } else if (!this.#cleared.has(id)) {
      this.#cleared.add(id);
      this.removeScope(defined({ app: appName, user: userId }), time);
    }
  }

  /** True when a change was made before. A remembered refusal does not count: refused changes have no record. */
  #isMade(record: Change): boolean {
    const { id, kind, key, guard } = record;
    const { created, pos } = this.where(key);
    if (kind === 'create') {
      return created === id;
    }
    // An update may be made anew when it is remembered no more; then the scopes are where it found them.
    const isNew =
      kind === 'update' && guard?.pos?.app === pos.app && (key.userId === undefined || guard.pos.user === pos.user);
    try {
      return !isNew && super.check({ ...record, guard: {} }) !== undefined;
    } catch (error) {
      if (isStoreError(error) && error.code === 'conflict') {
        return false;
      }
      throw error;
    }
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
    this.#assertSound(defined({ appName: app, userId: user }));
    const { rows, users, total, ...page } = super.list(query);
    const last = rows.at(-1);
    const isUserSound = (userId: string): boolean => !this.#corrupt.has(keyText({ appName: app, userId }));
    const corruptKeys = [...this.#corrupt.values()]
      .map(({ key }) => key)
      .filter(
        (key): key is SessionKey =>
          key.sessionId !== undefined && key.appName === app && (user ?? key.userId) === key.userId,
      );
    // Their place in the list is unknown: they are part of the first page.
    const corrupt = [
      ...(after === undefined && !offset ? corruptKeys : []),
      ...rows.map(({ key }) => key).filter(({ userId }) => !isUserSound(userId)),
    ];
    return {
      rows: rows.filter(({ key }) => isUserSound(key.userId)),
      ...page,
      users: new Map([...users].filter(([userId]) => isUserSound(userId))),
      total: total + corruptKeys.length,
      ...(corrupt.length > 0 && { corrupt }),
      ...(corrupt.length > 0 && last !== undefined && { next: placeOf(last) }),
    };
  }

  override owners(app: string, sessionId: string): readonly string[] {
    const lost = this.#lostNames(({ key }) =>
      key.appName === app && key.sessionId === sessionId ? key.userId : undefined,
    );
    const users = super.owners(app, sessionId);
    return lost.length === 0 ? users : sortedNames([...users, ...lost]);
  }

  override listApps(query: NameQuery): NamePage {
    return this.#pageWith(
      this.#lostNames(({ key }) => key.appName),
      query,
      (all) => super.listApps(all),
    );
  }

  override listUsers(app: string, query: NameQuery): NamePage {
    const lost = this.#lostNames(({ key }) => (key.appName === app ? key.userId : undefined));
    return this.#pageWith(lost, query, (all) => super.listUsers(app, all));
  }

  /** Names of corrupt parts: what cannot be read is still there. */
  #lostNames(nameOf: (damage: { readonly key: Hint }) => string | undefined): string[] {
    return [...this.#corrupt.values()].map(nameOf).filter((name) => name !== undefined);
  }

  /** A page of names with those of corrupt parts. */
  #pageWith(lost: readonly string[], query: NameQuery, read: (query: NameQuery) => NamePage): NamePage {
    return lost.length === 0 ? read(query) : namePage(sortedNames([...read({}).names, ...lost]), query);
  }

  override remove(key: SessionKey, guard: RemovalGuard = {}): boolean {
    return (this.#corrupt.size > 0 && this.#corrupt.delete(keyText(key))) || super.remove(key, guard);
  }

  /**
   * True when there is a session to be removed, if need be one that a change has created, and is at a token. Throws
   * `corrupt` when that cannot be known, and `fenced`.
   */
  isRemovable(key: Hint, guard: RemovalGuard = {}): boolean {
    const { created } = guard;
    // One that has expired is not there for its caller, and its records are still there.
    const expired = this.expiredUnder(key);
    if (expired !== undefined) {
      return (created ?? expired) === expired;
    }
    const damage = this.#corrupt.get(keyText(key));
    if (damage !== undefined && created !== undefined && damage.created === undefined) {
      this.#assertNot(key);
    }
    const actual = damage === undefined ? this.where(key).created : (damage.created ?? created ?? '');
    if (actual === undefined || (created ?? actual) !== actual) {
      return false;
    }
    this.checkFenceOf(actual, guard);
    return true;
  }

  override scope(scope: ScopeName): LoadedScope {
    this.#assertNot(hintOf(scope));
    return super.scope(scope);
  }

  override lease(key: SessionKey, request: LeaseRequest, now: number): LeaseAnswer {
    this.#assertSound(key);
    return super.lease(key, request, now);
  }

  override readLease(key: SessionKey): LeaseRow | null {
    this.#assertSound(key);
    return super.readLease(key);
  }

  /** A user of whom something is lost keeps all values. */
  override expired(query: SweepQuery): readonly Expired[] {
    const isLost = ({ appName, userId }: Hint): boolean =>
      [...this.#corrupt.values()].some(
        ({ key }) => key.appName === appName && (key.userId === undefined || key.userId === userId),
      );
    const expired = super.expired(query);
    return this.#corrupt.size === 0
      ? expired
      : expired.filter(({ key }) => key.sessionId !== undefined || !isLost(key));
  }

  override removeScope(scope: ScopeName, time: number): void {
    const isLost = this.#corrupt.delete(keyText(hintOf(scope)));
    super.removeScope(scope, time);
    if (isLost) {
      this.#trim(hintOf(scope));
    }
  }

  override readLog(scope: ScopeName, query: LogQuery): ScopeLog {
    this.#assertNot(hintOf(scope));
    return super.readLog(scope, query);
  }

  #assertSound({ appName, userId, sessionId }: Hint): void {
    if (this.#corrupt.size === 0) {
      return;
    }
    this.#assertNot({ appName });
    this.#assertNot({ appName, userId });
    this.#assertNot({ appName, userId, sessionId });
  }

  #assertNot(key: Parameters<typeof keyText>[0]): void {
    if (this.#corrupt.has(keyText(key))) {
      const { appName, userId, sessionId } = key;
      const what =
        sessionId === undefined
          ? `the state of ${scopeTitle(defined({ app: appName, user: userId }))}`
          : sessionTitle({ sessionId });
      throw new StoreError('corrupt', `${what} cannot be read: a record of it is damaged or missing`);
    }
  }

  #lose(key: Hint, rev: number): void {
    const created = this.where(key).created ?? this.#corrupt.get(keyText(key))?.created;
    this.#corrupt.set(keyText(key), { key, rev, created });
    if (key.sessionId !== undefined) {
      super.remove(key as SessionKey);
    }
  }

  /** Makes a record's changes to its scopes, when its session is corrupt. */
  #share({ appName, userId }: Hint, { app, user }: Change['delta'], written?: Change & Timed): void {
    const delta = defined({ app, user });
    const key = defined({ appName, userId });
    const id = newId();
    const update = { id, call: written === undefined ? id : callOf(written), kind: 'update' as const, key, delta };
    const by = written && writerOf(written);
    this.apply({ ...update, time: written?.time ?? 0, ...defined({ by, written: written?.written }) });
  }

  /** A scope whose position is behind the one that a record tells has lost records before it: it is corrupt. */
  #catchUp(scope: Hint, actual: number, expected: number): void {
    if (actual < expected) {
      this.#lose(scope, NaN);
      for (let pos = actual; pos < expected; pos++) {
        this.#share(scope, scope.userId === undefined ? { app: LOST_DELTA } : { user: LOST_DELTA });
      }
    }
  }

  /** True when a session has all records before this one, so that it can be made. */
  #follows({ id, kind, key, guard = {} }: Exclude<Numbered, Refusal>, { created, rev }: Where): boolean {
    const damage = this.#corrupt.size === 0 ? undefined : this.#corrupt.get(keyText(key));
    const isSame = created === (kind === 'create' ? id : (guard.created ?? created));
    // The revision that the session is at: -1 when there is none, -2 for another session, whose removal is missing,
    // too.
    const actual = damage?.rev ?? (created === undefined ? -1 : isSame ? rev : -2);
    const expected = kind === 'create' ? -1 : (guard.rev ?? actual);
    const isGap = expected > actual;
    if (isGap) {
      this.missing += expected - actual;
    }
    if (damage === undefined && !isGap && (kind !== 'append' || created !== undefined)) {
      return true;
    }
    this.#lose(key, Math.max(actual || 0, expected + 1));
    return false;
  }
}
