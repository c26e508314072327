// The sessions of one service in the core: objects go in and come out, the core's numbers stay here.

import { coreError } from './core-error.js';
import {
  isDeletion,
  releaseKeys,
  releaseRefused,
  scopeOfWord,
  withRoom,
  wordOf,
  wordsOf,
  writeWords,
} from './keys.js';
import { MAX_COUNT } from './limits.js';
import {
  answerOf,
  currentWords,
  readRevisions,
  wordsFor,
  writeFloats,
  writeText,
  writeTexts,
} from './transfer-buffers.js';
import { Absent, Answer, Core, ErrorText, Outcome, PageWords, ScopeBit, Shift, Words } from './wasm.js';
import type { DeltaWords, KeyedDelta } from './keys.js';
import type { PreparedChange, ScopeSet } from './prepared-change.js';
import type { Json, SessionKey } from '../model/types.js';

export { scopedDelta, type PreparedChange, type ScopeSet } from './prepared-change.js';
export type { KeyedDelta } from './keys.js';

/** All stored scopes. */
export const ALL_SCOPES: ScopeSet = { session: true, app: true, user: true };

/** The index of the event that the session has under this id. */
export interface DuplicateEvent {
  readonly duplicateOf: number;
}

/** The delta of an event or of an update, with the members that the core needs. */
export interface IdentifiedDelta extends KeyedDelta {
  readonly id: string;
  readonly timestamp: number;
}

/** The expected versions of a change. Absent ones are not compared. */
export interface ExpectedVersions {
  readonly revision?: number | undefined;
  readonly app?: number | undefined;
  readonly user?: number | undefined;
}

/** An app, or a user in it. */
export interface ScopeKey {
  readonly appName: string;
  readonly userId: string | undefined;
}

/** A query for a page of the sessions of an app, or of a user in it. */
export interface SessionPageQuery extends ScopeKey {
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly cursor: string | undefined;
}

/** A page of sessions, by their numbers. */
export interface SessionPage {
  readonly sessions: readonly number[];
  /** The number of sessions before the page. */
  readonly offset: number;
  /** The number of sessions in all. */
  readonly total: number;
  /** The cursor of the next page; absent for the last one. */
  readonly cursor: string | undefined;
}

/** The numbers of the scopes that a session reads: its own, its app's, its user's. */
export type SessionScopes = readonly [number, number, number];

/** The numbers of a session and its scopes. */
export interface SessionNumbers {
  readonly number: number;
  readonly scopes: SessionScopes;
}

/** The shared scopes that were removed with a session: their numbers name other scopes from then on. */
export interface DroppedScopes {
  readonly app: boolean;
  readonly user: boolean;
}

/** The values of a scope, in the slots that the core assigns to their keys. */
export interface SlotValues {
  /** Sets the value of a slot, which may be the next new one; `undefined` empties it. */
  put(slot: number, key: string, value: Json | undefined): void;
  /** Ends the writes of a change. `isCompacted`: slots are assigned anew, in order and without the empty ones. */
  close(isCompacted: boolean): void;
}

/** The values of each scope, by number. */
export interface ScopeSource {
  /** The values of a scope; of a new scope they are empty. */
  valuesOf(scope: number): SlotValues;
  /** Removes a scope: its number names another one from now on. */
  remove(scope: number): void;
}

/** The bits of the selected scopes of a change. */
const SESSION: number = ScopeBit.Session;
const APP: number = ScopeBit.App;
const USER: number = ScopeBit.User;
const TEMP: number = ScopeBit.Temp;
/** The bits of the outcome of a call. */
const COMPACTED_SESSION: number = Outcome.CompactedSession;
const COMPACTED_APP: number = Outcome.CompactedApp;
const COMPACTED_USER: number = Outcome.CompactedUser;
const KEYS_DUE: number = Outcome.KeysDue;
const FAILED: number = Outcome.Failed;
const DROPPED_APP: number = Outcome.DroppedApp;
const DROPPED_USER: number = Outcome.DroppedUser;
/** The indexes of an answer's numbers. */
const SESSION_AT: number = Words.Session;
const SCOPES_AT: number = Words.Scopes;
const SLOTS_AT: number = Words.Places;
const OFFSET_AT: number = PageWords.Offset;
const TOTAL_AT: number = PageWords.Total;
const SESSIONS_AT: number = PageWords.Sessions;
const NONE: number = Absent.Number;
/** The numbers in the answer of `prepare_…`. */
const REFUSED: number = Answer.Refused;
const TOKEN_SHIFT: number = Shift.Token;
/** The texts of an error, in this order. */
const ERROR_TEXTS: readonly number[] = [ErrorText.Code, ErrorText.Message, ErrorText.Key, ErrorText.Id];

/** The sets of scopes, by their bits. */
const SCOPE_SETS: readonly ScopeSet[] = Array.from({ length: (SESSION | APP | USER) + 1 }, (_, bits) => ({
  session: (bits & SESSION) !== 0,
  app: (bits & APP) !== 0,
  user: (bits & USER) !== 0,
}));

/**
 * The core's sessions. Sessions and scopes go by numbers, which are reused after a removal. Every method throws
 * `CORE_FAILED` when the module has no memory for the call, or has ended.
 */
export class SessionEngine {
  readonly #core = new Core();

  /** Prepares a creation. Throws `SESSION_EXISTS`. */
  prepareCreate({ appName, userId, sessionId }: SessionKey, time: number, initial: KeyedDelta): PreparedChange {
    return withRoom(() => {
      const written = wordsOf(initial);
      const count = writeWords(written.words);
      writeTexts([appName, userId, sessionId], count);
      writeFloats(time);
      return this.#prepared(this.#core.prepare_create(count), written, initial);
    });
  }

  /** Prepares an append, unless the session has an event with that id. Throws `SESSION_STALE`, `STATE_CONFLICT`. */
  prepareAppend(
    session: number,
    event: IdentifiedDelta,
    { revision, app, user }: ExpectedVersions,
  ): PreparedChange | DuplicateEvent {
    return withRoom(() => {
      const written = wordsOf(event);
      const length = writeText(event.id);
      const count = writeWords(written.words);
      writeFloats(event.timestamp, revision, app, user);
      const code = this.#core.prepare_append(session, count, length);
      return code < 0 && code !== REFUSED ? { duplicateOf: -1 - code } : this.#prepared(code, written, event);
    });
  }

  /** Prepares a change of app and user state that belongs to no session. Throws `STATE_CONFLICT`. */
  prepareUpdate({ appName, userId }: ScopeKey, change: IdentifiedDelta, expected: ExpectedVersions): PreparedChange {
    return withRoom(() => {
      const written = wordsOf(change);
      const count = writeWords(written.words);
      writeTexts([appName, userId, change.id], count);
      writeFloats(change.timestamp, undefined, expected.app, expected.user);
      return this.#prepared(this.#core.prepare_update(count), written, change);
    });
  }

  /** Applies the creation of a stored session, as {@link SessionEngine.apply}. Returns its numbers. */
  applyCreate(change: PreparedChange, selected: ScopeSet, source: ScopeSource): SessionNumbers {
    this.apply(change, selected, source);
    return sessionNumbersIn(currentWords());
  }

  /**
   * Applies a stored change to the selected scopes, and puts its values into `source`. Nothing has changed when it
   * throws.
   */
  apply(change: PreparedChange, { session, app, user }: ScopeSet, source: ScopeSource): void {
    wordsFor(change.keys.length);
    const selected = (session ? SESSION : 0) | (app ? APP : 0) | (user ? USER : 0);
    const outcome = this.#core.apply(change.token, selected);
    if ((outcome & FAILED) !== 0) {
      this.#refuse();
    }
    putValues(currentWords(), change, selected, outcome, source);
    sweepIfDue(outcome);
  }

  /** Discards a change that is not stored. */
  discard({ token }: PreparedChange): void {
    this.#core.discard(token);
  }

  /** The scope of an app, or of a user in it, if it exists. */
  scopeOf(appName: string, userId?: string): number | undefined {
    writeTexts([appName, userId, undefined]);
    const scope = this.#core.scope() >>> 0;
    return scope === NONE ? undefined : scope;
  }

  /** The version of a scope: another number whenever its values may have changed. */
  scopeVersion(scope: number): number {
    return this.#core.scope_version(scope);
  }

  /**
   * Replaces the values of a scope: they have the slots of these keys, from 0. Throws `VALUE_NOT_JSON` for a key that
   * UTF-8 cannot encode.
   */
  replaceScope(scope: number, keys: readonly string[]): void {
    withRoom(() => {
      const count = writeWords(keys.map(wordOf));
      this.#checked(this.#core.replace(scope, count));
    });
  }

  /** Adds a session of a store, at a revision. */
  restore({ appName, userId, sessionId }: SessionKey, revision: number, time: number): SessionNumbers {
    withRoom(() => {
      writeTexts([appName, userId, sessionId]);
      this.#checked(this.#core.restore(revision, time));
    });
    return sessionNumbersIn(currentWords());
  }

  /** Deletes a session. */
  remove(session: number): DroppedScopes {
    return droppedIn(this.#core.remove(session));
  }

  /**
   * Removes a session that a store keeps; its user and its app as well, when no other session of theirs is in the
   * core.
   */
  unload(session: number): DroppedScopes {
    return droppedIn(this.#core.forget(session));
  }

  /** One page of sessions, in the order of lists. Throws `INVALID_ARGUMENT` for a cursor that it has not made. */
  list({ appName, userId, descending, limit, offset, cursor }: SessionPageQuery): SessionPage {
    const most = Math.min(limit ?? MAX_COUNT, MAX_COUNT);
    const count = withRoom(() => {
      writeTexts([appName, userId, cursor]);
      const answered = this.#core.list(descending, most, Math.min(offset, MAX_COUNT));
      return answered === REFUSED ? this.#refuse() : answered;
    });
    const answer = answerOf(SESSIONS_AT + count);
    const before = answer[OFFSET_AT] as number;
    const total = answer[TOTAL_AT] as number;
    const sessions = Array.from(answer.subarray(SESSIONS_AT, SESSIONS_AT + count));
    const last = sessions.at(-1);
    const isLast = last === undefined || before + count >= total;
    return { sessions, offset: before, total, cursor: isLast ? undefined : this.#core.cursor(last) };
  }

  #prepared(code: number, { keys, words }: DeltaWords, { delta }: KeyedDelta): PreparedChange {
    if (code === REFUSED) {
      this.#refuse();
    }
    const scopes = SCOPE_SETS[code & (SESSION | APP | USER)] as ScopeSet;
    return { token: code >>> TOKEN_SHIFT, scopes, hasTemp: (code & TEMP) !== 0, keys, words, delta };
  }

  #checked(outcome: number): void {
    if ((outcome & FAILED) !== 0) {
      this.#refuse();
    }
    sweepIfDue(outcome);
  }

  /** Throws the reason that the core has refused the last call. */
  #refuse(): never {
    releaseRefused();
    throw coreError(
      ERROR_TEXTS.map((part) => this.#core.error_text(part)),
      ...readRevisions(),
    );
  }
}

/** The numbers of the session in an answer, and of its scopes. */
function sessionNumbersIn(answer: Uint32Array): SessionNumbers {
  const [own, app, user] = [answer[SCOPES_AT], answer[SCOPES_AT + 1], answer[SCOPES_AT + 2]] as [
    number,
    number,
    number,
  ];
  return { number: answer[SESSION_AT] as number, scopes: [own, app, user] };
}

/** Puts the values of a change into their slots. A key without a slot was missing, or is not selected. */
function putValues(
  answer: Uint32Array,
  { scopes: { session, app, user }, keys, words, delta }: PreparedChange,
  selected: number,
  outcome: number,
  source: ScopeSource,
): void {
  const own = session && (selected & SESSION) !== 0 ? source.valuesOf(answer[SCOPES_AT] as number) : undefined;
  const ofApp = app && (selected & APP) !== 0 ? source.valuesOf(answer[SCOPES_AT + 1] as number) : undefined;
  const ofUser = user && (selected & USER) !== 0 ? source.valuesOf(answer[SCOPES_AT + 2] as number) : undefined;
  for (let index = 0; index < keys.length; index++) {
    const slot = answer[SLOTS_AT + index] as number;
    if (slot !== NONE) {
      const word = words[index] as number;
      const scope = scopeOfWord(word);
      const key = keys[index] as string;
      const values = scope === 'session' ? own : scope === 'app' ? ofApp : ofUser;
      values?.put(slot, key, isDeletion(word) ? undefined : delta[key]);
    }
  }
  own?.close((outcome & COMPACTED_SESSION) !== 0);
  ofApp?.close((outcome & COMPACTED_APP) !== 0);
  ofUser?.close((outcome & COMPACTED_USER) !== 0);
  if ((outcome & DROPPED_APP) !== 0) {
    source.remove(answer[SCOPES_AT + 1] as number);
  }
  if ((outcome & DROPPED_USER) !== 0) {
    source.remove(answer[SCOPES_AT + 2] as number);
  }
}

function droppedIn(outcome: number): DroppedScopes {
  sweepIfDue(outcome);
  return { app: (outcome & DROPPED_APP) !== 0, user: (outcome & DROPPED_USER) !== 0 };
}

/** Releases keys when the core reports that a sweep is worth its time. */
function sweepIfDue(outcome: number): void {
  if ((outcome & KEYS_DUE) !== 0) {
    releaseKeys();
  }
}
