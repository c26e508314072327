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
import { Absent, Answer, Core, ErrorText, Outcome, PageWords, Part, Shift, Words } from './wasm.js';
import type { DeltaWords, KeyedDelta } from './keys.js';
import type { PreparedChange, ScopeSet } from './prepared-change.js';
import type { Json, SessionKey } from '../model/types.js';

export { scopedDelta, type PreparedChange, type ScopeSet } from './prepared-change.js';
export type { KeyedDelta } from './keys.js';

/** All stored scopes. */
export const ALL_SCOPES: ScopeSet = { session: true, app: true, user: true };

/** The session has an event of this id: its slot in the log, from 0. */
export interface DuplicateEvent {
  readonly duplicateOf: number;
}

/** The delta of an event, or of an update, as far as the core needs that. */
export interface IdentifiedDelta extends KeyedDelta {
  readonly id: string;
  readonly timestamp: number;
}

/** The versions that a change expects. Absent ones are not compared. */
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

/** Which page of the sessions of an app, or of a user in it. */
export interface SessionPageQuery extends ScopeKey {
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly cursor: string | undefined;
}

/** A page of sessions, by their numbers. */
export interface SessionPage {
  readonly sessions: readonly number[];
  /** How many sessions stand before the page. */
  readonly offset: number;
  /** How many there are in all. */
  readonly total: number;
  /** Where the next page begins; absent for the last one. */
  readonly cursor: string | undefined;
}

/** The scopes that a session reads, by number: its own, its app's, its user's. */
export type SessionScopes = readonly [number, number, number];

/** A session in the core. */
export interface SessionNumbers {
  readonly number: number;
  readonly scopes: SessionScopes;
}

/** Whether the app of a session that is gone, and its user, went with it: their numbers name others from then on. */
export interface DroppedScopes {
  readonly app: boolean;
  readonly user: boolean;
}

/** The values of a scope, by the places that the core gives to their keys. */
export interface SlotValues {
  /** Sets the value at a slot, which may be the next new one; `undefined` empties it. */
  put(slot: number, key: string, value: Json | undefined): void;
  /** All writes of a change are made. `isCompacted`: places are given anew, in order and without the empty ones. */
  close(isCompacted: boolean): void;
}

/** Where the values of each scope are. */
export interface ScopeSource {
  /** The values of a scope by its number; of a new scope they are empty. */
  valuesOf(scope: number): SlotValues;
  /** A scope is gone: its number names another one from now on. */
  remove(scope: number): void;
}

/** The bits of the selected of a change. */
const SESSION: number = Part.Session;
const APP: number = Part.App;
const USER: number = Part.User;
const TEMP: number = Part.Temp;
/** What has happened in a call. */
const COMPACTED_SESSION: number = Outcome.CompactedSession;
const COMPACTED_APP: number = Outcome.CompactedApp;
const COMPACTED_USER: number = Outcome.CompactedUser;
const KEYS_DUE: number = Outcome.KeysDue;
const FAILED: number = Outcome.Failed;
const DROPPED_APP: number = Outcome.DroppedApp;
const DROPPED_USER: number = Outcome.DroppedUser;
/** Where the answer of a call has its numbers. */
const SESSION_AT: number = Words.Session;
const SCOPES_AT: number = Words.Scopes;
const SLOTS_AT: number = Words.Places;
const OFFSET_AT: number = PageWords.Offset;
const TOTAL_AT: number = PageWords.Total;
const SESSIONS_AT: number = PageWords.Sessions;
const NONE: number = Absent.Number;
/** In what `prepare_…` answers. */
const REFUSED: number = Answer.Refused;
const TOKEN_SHIFT: number = Shift.Token;
/** What the core says of an error, in this order. */
const ERROR_TEXTS: readonly number[] = [ErrorText.Code, ErrorText.Message, ErrorText.Key, ErrorText.Id];

/** By their bits: the sets of scopes. */
const SCOPE_SETS: readonly ScopeSet[] = Array.from({ length: (SESSION | APP | USER) + 1 }, (_, bits) => ({
  session: (bits & SESSION) !== 0,
  app: (bits & APP) !== 0,
  user: (bits & USER) !== 0,
}));

/**
 * The core's sessions. Sessions and scopes go by numbers, which name others once theirs is gone. Every method throws
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

  /** Prepares an append, unless the session has an event of that id. Throws `SESSION_STALE`, `STATE_CONFLICT`. */
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

  /** Applies the creation of a session that is stored, as {@link SessionEngine.apply}. Returns its slot. */
  applyCreate(change: PreparedChange, selected: ScopeSet, source: ScopeSource): SessionNumbers {
    this.apply(change, selected, source);
    return sessionNumbersIn(currentWords());
  }

  /**
   * Applies a change that is stored, in these selected: its values go where `source` says. Throws when nothing has
   * changed.
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

  /** Forgets a change that is not stored. */
  discard({ token }: PreparedChange): void {
    this.#core.discard(token);
  }

  /** The scope of an app, or of a user in it, once anything has been there. */
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
   * Replaces the values of a scope: they have the places of these keys, from 0. Throws `VALUE_NOT_JSON` for a key that
   * UTF-8 could not hold.
   */
  replaceScope(scope: number, keys: readonly string[]): void {
    withRoom(() => {
      const count = writeWords(keys.map(wordOf));
      this.#checked(this.#core.replace(scope, count));
    });
  }

  /** Takes over a session that a store has, at a revision. */
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

  /** Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here. */
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

  /** Throws why the core has refused the last call. */
  #refuse(): never {
    releaseRefused();
    throw coreError(
      ERROR_TEXTS.map((part) => this.#core.error_text(part)),
      ...readRevisions(),
    );
  }
}

/** The session of an answer, and its scopes. */
function sessionNumbersIn(answer: Uint32Array): SessionNumbers {
  const [own, app, user] = [answer[SCOPES_AT], answer[SCOPES_AT + 1], answer[SCOPES_AT + 2]] as [
    number,
    number,
    number,
  ];
  return { number: answer[SESSION_AT] as number, scopes: [own, app, user] };
}

/** Puts the values of a change where the core says. What has no slot was not there, or is not to be applied. */
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

/** The core says when so many keys have come and gone that a sweep is worth its time. */
function sweepIfDue(outcome: number): void {
  if ((outcome & KEYS_DUE) !== 0) {
    releaseKeys();
  }
}
