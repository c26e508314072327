// The writes to the values of apps and users in memory, in their order: the past of the shared scopes.

import { isDeletion, scopeOfWord } from '../engine/keys.js';
import { applyDelta } from '../model/delta.js';
import { put } from '../model/json.js';
import type { PreparedChange, ScopeKey } from '../engine/sessions.js';
import type { SessionRecord } from './record.js';
import type { Json, SessionKey } from '../model/types.js';

/** One change of an app's values, or of a user's, with the values of its event. */
export interface SharedEntry {
  /** The moment of the service, see {@link SharedLogs}. */
  readonly moment: number;
  /** In milliseconds since the epoch. */
  readonly time: number;
  /** The session that wrote it, if one did. */
  readonly key: SessionKey | undefined;
  /** The id of the event, unless it was a creation. */
  readonly eventId: string | undefined;
  /** The values that it set, under full keys. */
  readonly delta: Readonly<Record<string, Json>>;
  /** The keys that it deleted, before it set any. */
  readonly deleted: readonly string[];
}

/** The changes of an app's values, or of a user's. */
export interface SharedLog {
  /** The number of changes. */
  position: number;
  /** The number of changes that were removed from `entries`. */
  base: number;
  /** The moment of the last removed change, and the values there, under full keys, in the order of writing. */
  baseMoment: number;
  baseValues: Map<string, Json>;
  readonly entries: SharedEntry[];
}

/** The changes to retain: all, none, or of each app and each user at least the last {@link MIN_RETAINED}. */
export type LogRetention = boolean | 'last';

const MIN_RETAINED = 1000;

const NONE: readonly string[] = Object.freeze([]);

/**
 * The logs of all apps and users of one service. A moment is counted for each change of such values: moments order
 * these changes and those of sessions.
 */
export class SharedLogs {
  /** True when changes are retained; positions are counted in any case. */
  readonly isRetained: boolean;
  readonly #maxEntries: number;
  readonly #apps = new Map<string, { readonly app: SharedLog; readonly users: Map<string, SharedLog> }>();
  #moment = 0;

  constructor(retention: LogRetention) {
    this.isRetained = retention !== false;
    this.#maxEntries = retention === true ? Infinity : 2 * MIN_RETAINED;
  }

  /** Records the moment at which a session reached its revision: it saw the writes before that. */
  recordMoment(record: Pick<SessionRecord, 'moments' | 'revision'>): void {
    if (this.isRetained && this.#moment !== (record.moments?.at(-1) ?? 0)) {
      (record.moments ??= []).push(record.revision, this.#moment);
    }
  }

  /** The log of an app, or of a user in it, if it has any change. */
  find({ appName, userId }: ScopeKey): SharedLog | undefined {
    const logs = this.#apps.get(appName);
    return userId === undefined ? logs?.app : logs?.users.get(userId);
  }

  /** The apps with a change of their values or of a user's, in no order; the users of an app with one of theirs. */
  names(appName?: string): Iterable<string> {
    return (appName === undefined ? this.#apps : this.#apps.get(appName)?.users)?.keys() ?? [];
  }

  /** Adds a change that was applied. `key` has a `sessionId` when a session has made it. */
  add(key: ScopeKey | SessionKey, change: PreparedChange, time: number, eventId: string | undefined): void {
    const { app, user } = change.scopes;
    if (app || user) {
      this.#moment += 1;
      const session = 'sessionId' in key ? key : undefined;
      const logs = this.#logsOf(key.appName);
      if (app) {
        this.#addEntry(logs.app, change, 'app', time, session, eventId);
      }
      if (user && key.userId !== undefined) {
        let log = logs.users.get(key.userId);
        if (log === undefined) {
          log = newLog();
          logs.users.set(key.userId, log);
        }
        this.#addEntry(log, change, 'user', time, session, eventId);
      }
    }
  }

  #addEntry(
    log: SharedLog,
    change: PreparedChange,
    scope: 'app' | 'user',
    time: number,
    key: SessionKey | undefined,
    eventId: string | undefined,
  ): void {
    log.position += 1;
    if (this.isRetained) {
      log.entries.push({ moment: this.#moment, time, key, eventId, ...writesTo(change, scope) });
      if (log.entries.length >= this.#maxEntries) {
        foldOldest(log);
      }
    } else {
      log.base = log.position;
    }
  }

  #logsOf(appName: string): { readonly app: SharedLog; readonly users: Map<string, SharedLog> } {
    let logs = this.#apps.get(appName);
    if (logs === undefined) {
      logs = { app: newLog(), users: new Map() };
      this.#apps.set(appName, logs);
    }
    return logs;
  }
}

function newLog(): SharedLog {
  return { position: 0, base: 0, baseMoment: 0, baseValues: new Map(), entries: [] };
}

/** Moves the oldest entries into the base values. */
function foldOldest(log: SharedLog): void {
  const oldest = log.entries.splice(0, MIN_RETAINED);
  for (const { delta, deleted } of oldest) {
    applyDelta(log.baseValues, { set: delta, unset: deleted });
  }
  log.base += oldest.length;
  log.baseMoment = oldest.at(-1)?.moment ?? log.baseMoment;
}

/** The writes of a change to a scope. A delta of this scope alone is shared. */
function writesTo(
  { keys, words, delta, hasTemp }: PreparedChange,
  scope: 'app' | 'user',
): Pick<SharedEntry, 'delta' | 'deleted'> {
  const isAll = !hasTemp && words.every((word) => scopeOfWord(word) === scope && !isDeletion(word));
  if (isAll) {
    return { delta, deleted: NONE };
  }
  const deleted: string[] = [];
  const own: Record<string, Json> = {};
  for (let index = 0; index < keys.length; index++) {
    const word = words[index] as number;
    const key = keys[index] as string;
    if (scopeOfWord(word) === scope && isDeletion(word)) {
      deleted.push(key);
    } else if (scopeOfWord(word) === scope) {
      put(own, key, delta[key] as Json);
    }
  }
  return { delta: own, deleted: deleted.length === 0 ? NONE : deleted };
}
