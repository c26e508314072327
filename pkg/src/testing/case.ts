// The type of a store case: a name and steps, all of it plain data.

import type {
  Change,
  Committed,
  Hint,
  LeaseRequest,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  LogEntry,
  LogQuery,
  Migrate,
  NamePage,
  NameQuery,
  OperatorName,
  Page,
  ScopeLog,
  Row,
  ScopeName,
  SessionStore,
  StoreFeature,
  StoreLack,
  StoreLimit,
  SweepQuery,
  Swept,
} from '../store/contract.js';
import type { StoreErrorCode } from '../store/store-error.js';
import type { SessionKey } from '../model/types.js';

/**
 * The needs of a case beyond those that every store meets: to open the storage again, another store on the same
 * storage, an optional member of the store, an operator named by its `resolves`, a feature named by its `keeps`, the
 * comparison of values (`keys`), or of revisions and positions too (`revisions`), named by its `guards`, or the
 * absence of a name in its `lacks`.
 */
export type StoreNeed =
  | 'reopen'
  | 'another'
  | 'removeScope'
  | 'commitMany'
  | 'watch'
  | 'lease'
  | 'readLease'
  | 'sweep'
  | 'claim'
  | 'trimLog'
  | 'owners'
  | 'listApps'
  | 'listUsers'
  | 'keys'
  | 'revisions'
  | OperatorName
  | StoreFeature
  | StoreLack;

/** A store over fresh and empty storage, with further operations on that storage. */
export interface StoreHarness {
  readonly store: SessionStore;
  /**
   * Makes a store over the same storage after the store before has been closed, as a restarted process would. The
   * storage must be unchanged.
   */
  readonly reopen?: () => SessionStore | Promise<SessionStore>;
  /** Makes one more store over the same storage, as a second process would. The first stays open. */
  readonly another?: () => SessionStore | Promise<SessionStore>;
  /** Called at the end, after every store has been closed: deletes the storage, closes clients. */
  readonly dispose?: () => void | Promise<void>;
}

/** Opens fresh and empty storage at each call. */
export type OpenHarness = () => StoreHarness | Promise<StoreHarness>;

/**
 * The end of a session: a time in milliseconds since the epoch; `some`: any time; `same`: the one of the last answer
 * that had an end; `after`, of a call that sets it: so many milliseconds after that one, and at most as many more as
 * have passed since the call began that set that one.
 */
export type EndsAt = number | 'some' | 'same' | { readonly after: number };

/** The part of an answer about the end of a session: absent where it does not end. */
export interface Ending {
  readonly expires?: EndsAt;
}

/** A loaded session. */
export type LoadedAnswer = Omit<Loaded, 'expires'> & Ending;

/** One session of a list. */
export type ListedRow = Omit<Row, 'expires'> & Ending;

/**
 * A refusal: the code of the `StoreError`, its `actual` if the case has one, the name and scope of an operator that
 * does not fit, the digest of an earlier attempt, and the limit that was exceeded: if they are absent, the error has
 * none.
 */
export interface Refused {
  readonly throws: StoreErrorCode;
  readonly actual?: number;
  readonly key?: string;
  readonly scope?: 'app' | 'user' | 'session';
  readonly digest?: string;
  readonly exceeded?: StoreLimit;
  /** With `exceeded`: the size that there would be, and the limit. */
  readonly size?: number;
  readonly limit?: number;
}

/** The answer to a durable change. `changed: null`: no changes of others may be reported. */
export type CommittedAnswer = Omit<Committed, 'changed' | 'expires'> &
  Ending & { readonly changed?: Committed['changed'] | null };

/** The outcome of a change. */
export type Outcome = CommittedAnswer | Refused;

/** A page whose `users` are a record. A store may give the place of its end, which must be that of its last row. */
export interface ListedPage extends Omit<Page, 'rows' | 'users' | 'corrupt' | 'next'> {
  readonly rows: readonly ListedRow[];
  readonly users: Readonly<Record<string, Page['app']>>;
}

/** The options of every step. */
interface StepOptions {
  /** The store that makes the step: by default the first, or the other one on the same storage. */
  readonly by?: 'another';
}

/** Commits. Without an outcome, any success will do. */
export interface CommitStep extends StepOptions {
  readonly commit: Change;
  readonly outcome?: Outcome;
}

/** Commits many at once. */
export interface CommitManyStep extends StepOptions {
  readonly commitMany: readonly Change[];
  readonly outcomes: readonly Outcome[];
}

/** Loads a session. The order of names and of the members of values counts. */
export interface LoadStep extends StepOptions {
  readonly load: SessionKey;
  readonly query?: LoadQuery;
  readonly answer: LoadedAnswer | null;
  /** Alternative answers, because another store writes at the same time. */
  readonly or?: readonly (LoadedAnswer | null)[];
  /** Names may be in any order: several writers set them at once. */
  readonly namesInAnyOrder?: true;
}

/** Lists sessions. */
export interface ListStep extends StepOptions {
  readonly list: ListQuery;
  readonly answer: ListedPage;
  /** Alternative answers, because another store writes at the same time. */
  readonly or?: readonly ListedPage[];
}

/** Finds the users that have a session with an id. */
export interface OwnersStep extends StepOptions {
  readonly owners: { readonly app: string; readonly sessionId: string };
  readonly answer: readonly string[];
}

/** Lists apps. */
export interface ListAppsStep extends StepOptions {
  readonly listApps: NameQuery;
  readonly answer: NamePage;
  /** Alternative answers, because an app that has lost everything may be listed or not. */
  readonly or?: readonly NamePage[];
}

/** Lists the users in an app. */
export interface ListUsersStep extends StepOptions {
  readonly listUsers: NameQuery & { readonly app: string };
  readonly answer: NamePage;
  /** Alternative answers, because a user who has lost everything may be listed or not. */
  readonly or?: readonly NamePage[];
}

/**
 * Deletes a session; with `created` only the one that this change created, with `fence` only while it is at this
 * token. `throws` and `actual`: the refusal.
 */
export interface RemoveStep extends StepOptions, Partial<Pick<Refused, 'throws' | 'actual'>> {
  readonly remove: SessionKey;
  readonly created?: string;
  readonly fence?: number;
}

/** Reads the values of an app or a user. */
export interface LoadScopeStep extends StepOptions {
  readonly loadScope: ScopeName;
  readonly answer: LoadedScope;
  /** Names may be in any order: several writers set them at once. */
  readonly namesInAnyOrder?: true;
}

/** Deletes the values of an app or a user. */
export interface RemoveScopeStep extends StepOptions {
  readonly removeScope: ScopeName;
}

/** Acquires, extends or releases a lease. */
export interface LeaseStep extends StepOptions {
  readonly lease: SessionKey;
  readonly request: LeaseRequest;
  /** The token in the answer, or the refusal. Without it, any success will do. */
  readonly answer?: { readonly fence: number } | Refused;
  /** `later`: it ends later than the lease of the previous answer. `same`: the refusal has the end of that lease. */
  readonly until?: 'later' | 'same';
}

/** Looks at the lease of a session. */
export interface ReadLeaseStep extends StepOptions {
  readonly readLease: SessionKey;
  /** The token, and the holder of a lease, whose end is that of the previous answer; `null` without a session. */
  readonly answer: { readonly fence: number; readonly holder?: string } | null;
}

/** Removes what has expired. `more` is compared if the case has it. */
export interface SweepStep extends StepOptions {
  readonly sweep: SweepQuery;
  readonly answer: Pick<Swept, 'sessions' | 'users'> & Partial<Pick<Swept, 'more'>>;
}

/** Acquires, extends or gives back the lease of a name. */
export interface ClaimStep extends StepOptions, Pick<LeaseStep, 'answer' | 'until'> {
  readonly claim: string;
  readonly request: Omit<LeaseRequest, 'created'>;
}

/** An entry of a log. `time: null`: by the store's clock, and the writes may be in any order. */
export interface LoggedEntry extends Omit<LogEntry, 'time'> {
  readonly time: number | null;
}

/** Reads a part of a log. */
export interface ReadLogStep extends StepOptions {
  readonly readLog: ScopeName;
  readonly query?: LogQuery;
  readonly answer: Omit<ScopeLog, 'entries'> & { readonly entries: readonly LoggedEntry[] };
}

/** Deletes the entries of a log up to a position. */
export interface TrimLogStep extends StepOptions {
  readonly trimLog: ScopeName;
  readonly upTo: number;
  /** The number of deleted entries. */
  readonly answer: number;
}

/** Lets at least this time pass by every clock, in milliseconds. */
export interface WaitStep {
  readonly wait: number;
}

/** Closes the first store and opens its storage again. */
export interface ReopenStep {
  readonly reopen: Migrate;
}

/** Makes all steps at once. */
export interface ParallelStep {
  readonly parallel: readonly StoreStep[];
  /** The outcomes of the commits that have none of their own, and of the leases that have no answer, in any order. */
  readonly outcomes?: readonly (Outcome | { readonly fence: number })[];
}

/** Begins to watch (`true`), or stops: no hint may come after that. */
export interface WatchStep extends StepOptions {
  readonly watch: boolean;
}

/**
 * Makes a change by the other store, repeatedly under further ids, until the watching store gets the hint; gives up
 * after ten seconds.
 */
export interface HintedStep {
  readonly hinted: Hint;
  readonly change: Change;
}

/** A step of one store. */
export type OneStoreStep =
  | CommitStep
  | CommitManyStep
  | LoadStep
  | ListStep
  | OwnersStep
  | ListAppsStep
  | ListUsersStep
  | RemoveStep
  | LoadScopeStep
  | RemoveScopeStep
  | LeaseStep
  | ReadLeaseStep
  | SweepStep
  | ClaimStep
  | ReadLogStep
  | TrimLogStep
  | WatchStep;

/** One step of a case. */
export type StoreStep = OneStoreStep | ReopenStep | ParallelStep | HintedStep | WaitStep;

/** A law for every store, as data: operations on fresh storage, and their results. */
export interface StoreCase {
  /** A sentence. */
  readonly name: string;
  readonly needs: readonly StoreNeed[];
  readonly steps: readonly StoreStep[];
}
