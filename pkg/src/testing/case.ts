// What a store case is: a name and steps, all of it plain data.

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
  OperatorName,
  Page,
  ScopeLog,
  ScopeName,
  SessionStore,
  StoreFeature,
  StoreLack,
} from '../store/contract.js';
import type { StoreErrorCode } from '../store/store-error.js';
import type { SessionKey } from '../model/types.js';

/**
 * What a case needs besides what every store has: to open the storage again, another store on the same storage, a
 * member that a store need not have, an operator that its `resolves` names, a feature that its `keeps` names, to
 * compare values (`keys`), revisions and positions too (`revisions`), which its `guards` say, or what its `lacks` does
 * not name.
 */
export type StoreNeed =
  | 'reopen'
  | 'another'
  | 'removeScope'
  | 'commitMany'
  | 'watch'
  | 'lease'
  | 'trimLog'
  | 'keys'
  | 'revisions'
  | OperatorName
  | StoreFeature
  | StoreLack;

/** A store over storage that is fresh and empty, and what else can be done with that storage. */
export interface StoreHarness {
  readonly store: SessionStore;
  /**
   * Makes a store over the same storage after the store before has been closed, as a process that starts anew would.
   * The storage has to be what it was.
   */
  readonly reopen?: () => SessionStore | Promise<SessionStore>;
  /** Makes one more store over the same storage, as a second process would. The first stays open. */
  readonly another?: () => SessionStore | Promise<SessionStore>;
  /** Called at the end, after every store has been closed: deletes the storage, closes clients. */
  readonly dispose?: () => void | Promise<void>;
}

/** Opens storage that is fresh and empty at each call. */
export type OpenHarness = () => StoreHarness | Promise<StoreHarness>;

/**
 * A refusal: the code of the `StoreError`, its `actual` where that is looked at, and the name of an operator that does
 * not fit, with its scope: where they are absent, the error has none.
 */
export interface Refused {
  readonly throws: StoreErrorCode;
  readonly actual?: number;
  readonly key?: string;
  readonly scope?: 'app' | 'user' | 'session';
}

/** What became of a change. `changed: null`: nothing may be told of what others have done. */
export type Outcome = (Omit<Committed, 'changed'> & { readonly changed?: Committed['changed'] | null }) | Refused;

/**
 * A page whose `users` are a record. A store may say where it ends, but only as it is: at the place of its last row.
 */
export interface ListedPage extends Omit<Page, 'users' | 'corrupt' | 'next'> {
  readonly users: Readonly<Record<string, Page['app']>>;
}

/** What every step may say. */
interface StepOptions {
  /** The store that makes the step: the first unless it is the other one on the same storage. */
  readonly by?: 'another';
}

/** Commits. Without an outcome, all that matters is that the store takes it. */
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
  readonly answer: Loaded | null;
  /** Answers that are right as well: another store writes at the same time. */
  readonly or?: readonly (Loaded | null)[];
  /** Names may be in any order: several wrote them at once. */
  readonly namesInAnyOrder?: true;
}

/** Lists sessions. */
export interface ListStep extends StepOptions {
  readonly list: ListQuery;
  readonly answer: ListedPage;
  /** Answers that are right as well: another store writes at the same time. */
  readonly or?: readonly ListedPage[];
}

/**
 * Deletes a session; with `created` only the one that this change created, with `fence` only while it is at this
 * token. `throws` and `actual`: why it is not.
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
  /** Names may be in any order: several wrote them at once. */
  readonly namesInAnyOrder?: true;
}

/** Deletes the values of an app or a user. */
export interface RemoveScopeStep extends StepOptions {
  readonly removeScope: ScopeName;
}

/** Asks for a lease, makes it last longer or gives it back. */
export interface LeaseStep extends StepOptions {
  readonly lease: SessionKey;
  readonly request: LeaseRequest;
  /** The token that is answered, or why there is none. Without it, all that matters is that the store takes it. */
  readonly answer?: { readonly fence: number } | Refused;
  /**
   * `later`: it ends later than the lease that was answered before. `same`: the refusal tells the end of the lease
   * that was answered before.
   */
  readonly until?: 'later' | 'same';
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
  /** How many there were. */
  readonly answer: number;
}

/** Lets time pass, in milliseconds: so much by every clock, and more. */
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
  /**
   * What the commits that have no outcome of their own come to, and the leases that have no answer, whichever of them
   * comes to which.
   */
  readonly outcomes?: readonly (Outcome | { readonly fence: number })[];
}

/** Begins to watch (`true`), or ends it: no hint may come after that. */
export interface WatchStep extends StepOptions {
  readonly watch: boolean;
}

/**
 * Makes a change by the other store, again and again under further ids, until the store that watches gets the hint;
 * gives up after ten seconds.
 */
export interface HintedStep {
  readonly hinted: Hint;
  readonly change: Change;
}

/** A step that one store makes. */
export type OneStoreStep =
  | CommitStep
  | CommitManyStep
  | LoadStep
  | ListStep
  | RemoveStep
  | LoadScopeStep
  | RemoveScopeStep
  | LeaseStep
  | ReadLogStep
  | TrimLogStep
  | WatchStep;

/** One step of a case. */
export type StoreStep = OneStoreStep | ReopenStep | ParallelStep | HintedStep | WaitStep;

/** One thing that holds for every store, as data: what is done to fresh storage and what has to come of it. */
export interface StoreCase {
  /** A sentence. */
  readonly name: string;
  readonly needs: readonly StoreNeed[];
  readonly steps: readonly StoreStep[];
}
