// The operations that look back in the log of a session, and those that continue from a moment of it.

import { checkCount, checkObject, checkOptions, admitString } from '../checks/arguments.js';
import { OPTIONS, checkDetailed, checkSession, isSharedKey } from '../input/requests.js';
import { withWholeCore } from '../engine/wasm.js';
import type { SessionBackend } from '../backend/backend.js';
import type { Lifetime } from './lifetime.js';
import type { ForkOptions, RedoOptions, RewindOptions, Rewound } from '../model/rewind.js';
import type { Abortable, HistoryOptions, HistoryStep, Json, Session, SessionName } from '../model/types.js';
import type {
  DetailedHistory,
  DetailedState,
  SessionHistoryOptions,
  SharedHistory,
  SharedKey,
  StateAtOptions,
  TrimOptions,
} from '../model/past.js';

/** The methods of a service for the past of its sessions. The code of each is loaded at its first call. */
export abstract class SessionPast {
  readonly #lifetime: Lifetime;

  /** @internal */
  constructor(lifetime: Lifetime) {
    this.#lifetime = lifetime;
  }

  /**
   * Returns the state of a session at a revision: from 0, the creation, to the revision of the handle. Under full
   * keys, frozen, without `temp:` keys.
   *
   * The session's own keys are exact. So are `app:` and `user:` keys, right after the event, where their writes are
   * retained: without a store, and over a store with a log, as far back as that reaches. Elsewhere they have the
   * values of this session's own log, and keys that it never wrote those of the handle. With `detailed` the answer is
   * `{ state, exact }`.
   *
   * Throws `INVALID_ARGUMENT` for a revision that the handle does not have, `SESSION_NOT_FOUND`.
   */
  stateAt(
    session: SessionName,
    revision: number,
    options: StateAtOptions & { readonly detailed: true },
  ): Promise<DetailedState>;
  stateAt(
    session: SessionName,
    revision: number,
    options?: Abortable & { readonly detailed?: false | undefined },
  ): Promise<Readonly<Record<string, Json>>>;
  async stateAt(
    session: SessionName,
    revision: number,
    options: StateAtOptions = {},
  ): Promise<Readonly<Record<string, Json>> | DetailedState> {
    checkDetailed(options, OPTIONS.stateAt);
    checkSession(session);
    const [past, sessions] = await this.#load(options);
    const answer = await past.stateAt(sessions, session, revision, options.signal);
    return options.detailed ? answer : answer.state;
  }

  /**
   * Returns the writes of a key, oldest first: the revision, the event, the time, and the values before and after. Of
   * an `app:` or `user:` key these are the writes of this session; `from` is the value before, where the writes of all
   * sessions are retained, and elsewhere the one that this session wrote before. With `detailed` the answer is `{
   * exact, steps }`. The history ends at the revision of the handle.
   *
   * With `{ appName, userId, key }` in place of a session: all writes of an `app:` or `user:` key, by any session, as
   * `{ exact, steps }`; `until` is a position. `exact` is false where some are unknown.
   *
   * Throws `INVALID_ARGUMENT`, `SESSION_NOT_FOUND`.
   *
   * @example
   * for (const { revision, event, from, to } of await service.history(session, 'topic')) {
   *   console.log(revision, event?.author, from, to);
   * }
   */
  history(target: SharedKey, options?: HistoryOptions): Promise<SharedHistory>;
  history(
    session: SessionName,
    key: string,
    options: SessionHistoryOptions & { readonly detailed: true },
  ): Promise<DetailedHistory>;
  history(
    session: SessionName,
    key: string,
    options?: HistoryOptions & { readonly detailed?: false | undefined },
  ): Promise<readonly HistoryStep[]>;
  async history(
    session: SessionName | SharedKey,
    key?: string | HistoryOptions,
    detail: SessionHistoryOptions = {},
  ): Promise<readonly HistoryStep[] | DetailedHistory | SharedHistory> {
    if (isSharedKey(session)) {
      const [past, sessions] = await this.#load({});
      return await past.sharedHistory(sessions, session, (key ?? {}) as HistoryOptions);
    }
    const name = admitString(key, 'key');
    checkDetailed(detail, OPTIONS.sessionHistory);
    checkSession(session);
    const [past, sessions] = await this.#load(detail);
    const answer = await past.history(sessions, session, name, detail);
    return detail.detailed ? answer : answer.steps;
  }

  /**
   * Deletes the oldest writes to an app's values, or to a user's, from the log: their past is not exact any more
   * before that. The values stay. Returns the number of deleted changes. Throws `INVALID_ARGUMENT`, also where there
   * is no log to trim.
   *
   * @example
   * await service.trimHistory({ appName: 'tutor' }, { before: Date.now() - 30 * 24 * 3600 * 1000 });
   */
  async trimHistory(
    target: { readonly appName: string; readonly userId?: string | undefined },
    options: TrimOptions,
  ): Promise<number> {
    const [past, sessions] = await this.#load({});
    return await past.trimHistory(sessions, target, options);
  }

  /**
   * Goes back in a session: its own keys get their values right before the first event of an invocation, those of its
   * creation included. Nothing is removed from the log: one more event, the marker, says so
   * (`actions.rewindBeforeInvocationId`), as ADK's readers understand it. `app:` and `user:` keys stay as they are,
   * because others share them; the answer names those that the undone turns had written.
   *
   * It starts again over concurrent writes of others. Throws `INVALID_ARGUMENT` when no event of the
   * invocation stands, and over a store that compares no revisions; `SESSION_NOT_FOUND`, `STATE_CONFLICT`.
   *
   * @example
   * const { shared } = await service.rewind(session, { before: invocationId });
   */
  async rewind(session: SessionName, options: RewindOptions): Promise<Rewound> {
    checkObject(options, 'options');
    checkOptions(options, OPTIONS.rewind);
    const components = await this.#lifetime.components(session, options);
    const { rewind } = await withWholeCore(import('./rewind.js'));
    return await rewind(components, session, options);
  }

  /**
   * Undoes the last rewind that is not undone yet, as long as no other event was appended since: the session's own
   * keys get their values before it. Throws `INVALID_ARGUMENT` when there is nothing to undo; otherwise as `rewind`.
   */
  async redo(session: SessionName, options: RedoOptions = {}): Promise<Rewound> {
    checkOptions(options, OPTIONS.redo);
    const components = await this.#lifetime.components(session, options);
    const { redo } = await withWholeCore(import('./rewind.js'));
    return await redo(components, session, options);
  }

  /**
   * Creates a session that continues from a moment of another one: with its creation and its events up to a revision,
   * ids and times included, and its own keys at that revision. The two share nothing that comes later but the `app:`
   * and `user:` keys, which a fork does not write: they keep their current values. The last event names the source:
   * `customMetadata.statepad.forkedFrom`, `{ sessionId, revision }`.
   *
   * A fork is invisible until it is complete. After a failure midway, another call with the same `sessionId` continues
   * it; until then the id is taken for all else. A fork with a generated id is removed again.
   *
   * Throws `INVALID_ARGUMENT` for a revision that the session does not have, `SESSION_NOT_FOUND`, `SESSION_EXISTS`.
   */
  async fork(session: SessionName, options: ForkOptions = {}): Promise<Session> {
    checkOptions(options, OPTIONS.fork);
    checkCount(options.at, 'at');
    const components = await this.#lifetime.components(session, options);
    const { fork } = await withWholeCore(import('./fork.js'));
    return await fork(components, session, options);
  }

  async #load(options: Abortable): Promise<[typeof import('./past.js'), SessionBackend]> {
    const sessions = await this.#lifetime.begin(options);
    return [await withWholeCore(import('./past.js')), sessions];
  }
}
