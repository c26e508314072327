// Hints for the writes of other connections: SQLite does not name them, but says that there were some, at the price of
// a few microseconds. Then the earlier requests of this store are looked at, as far as it remembers them.

import { numberIn, textIn } from '../sqlite-core/rows.js';
import * as sql from '../sqlite-core/statements.js';
import { toColumn } from '../shared/column-text.js';
import { isStoreError } from '../../store/store-error.js';
import { hintOf } from '../shared/keys.js';
import type { SqliteClient } from '../sqlite-core/client.js';
import type { SqliteCore } from '../sqlite-core/core.js';
import type { Change, Committed, Hint, Loaded, LoadedScope, ScopeName, SessionStore } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The least number of remembered sessions and scopes: those that were asked for last. Twice as many at most. */
const REMEMBERED = 1_000;

/** The revision of a session, or the position of a scope. */
interface Place {
  /** Its revision or its position; {@link NOWHERE} for a session that is not there. */
  readonly at: number;
  /** The creation of a session, the mark of a scope; absent where that is not known. */
  readonly by?: string | undefined;
}

/** A session or a scope that was asked for, and where it was then. */
interface Interest {
  readonly hint: Hint;
  at: number;
  by: string | undefined;
}

const NOWHERE = -1;

/** The number of writes to each connection by the stores on it. */
const written = new WeakMap<object, { count: number }>();

/** Watches a file for one store. Its members are to be called with the store's answers. */
export class Hints {
  readonly #client: SqliteClient;
  readonly #pollMs: number;
  readonly #watchers = new Set<(hint: Hint) => void>();
  /** Those that were asked for, and those before them. */
  #recent = new Map<string, Interest>();
  #older = new Map<string, Interest>();
  #timer: ReturnType<typeof setInterval> | undefined;
  /** A number that changes when other connections have written. */
  #version: unknown;
  /** The count of writes by all stores on this connection: SQLite's number does not tell. */
  readonly #shared: { count: number };
  #lastCount = 0;
  /** Its file is not where it was. */
  #isMoved = false;

  constructor(database: object, client: SqliteClient, pollMs: number) {
    this.#client = client;
    this.#pollMs = pollMs;
    this.#shared = written.get(database) ?? { count: 0 };
    written.set(database, this.#shared);
  }

  /** See `SessionStore.watch`. */
  watch(onHint: (hint: Hint) => void): () => void {
    // The same function may be given twice.
    const watcher = (hint: Hint): void => onHint(hint);
    this.#watchers.add(watcher);
    if (this.#timer === undefined && this.#pollMs !== Infinity) {
      this.#version = this.#read();
      this.#lastCount = this.#shared.count;
      this.#timer = setInterval(() => this.#poll(), Math.min(this.#pollMs, 2 ** 31 - 1));
      // A program ends although it watches. Hosts that are not Node have numbers for timers.
      (this.#timer as { unref?: () => void }).unref?.();
    }
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    };
  }

  /** A session was read, or was missing. */
  loaded(key: SessionKey, loaded: Loaded | null): void {
    if (loaded === null) {
      this.#remember(key, NOWHERE);
      return;
    }
    const { rev, created, pos, marks } = loaded;
    this.#remember(key, rev, created);
    this.#remember({ appName: key.appName }, pos.app, marks?.app);
    this.#remember({ appName: key.appName, userId: key.userId }, pos.user, marks?.user);
  }

  /** A scope was read. */
  loadedScope(scope: ScopeName, { pos, mark }: Pick<LoadedScope, 'pos' | 'mark'>): void {
    this.#remember(hintOf(scope), pos, mark);
  }

  /** A change was committed. */
  committed({ key, kind }: Change, { rev, pos }: Committed): void {
    const { appName, userId } = key;
    this.wrote();
    if (kind !== 'update') {
      this.#remember(key, rev);
    }
    this.#remember({ appName }, pos.app);
    if (userId !== undefined) {
      this.#remember({ appName, userId }, pos.user);
    }
  }

  /** A session, or the values of a scope, were deleted. Their positions are looked up when others have written. */
  removed(hint: Hint): void {
    this.wrote();
    this.#remember(hint, NOWHERE);
  }

  /** Something was written. Other stores on the connection will look; this one knows. */
  wrote(): void {
    this.#lastCount += this.#lastCount === this.#shared.count ? 1 : 0;
    this.#shared.count += 1;
  }

  /** Sessions and values may have been removed, it is not known which: this store looks for them as the others do. */
  swept(): void {
    this.#shared.count += 1;
  }

  #remember(hint: Hint, at: number, by?: string): void {
    if (this.#watchers.size === 0) {
      return;
    }
    const text = textOf(hint);
    const interest = this.#recent.get(text);
    if (interest !== undefined) {
      interest.at = at;
      interest.by = by;
      return;
    }
    if (this.#recent.size >= REMEMBERED) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(text, { hint, at, by });
  }

  #read(): unknown {
    try {
      return this.#client.value('PRAGMA data_version');
    } catch {
      // The connection is closed, or busy: nothing is known, and the next look may tell.
      return this.#version;
    }
  }

  #poll(): void {
    const isMoved = this.#client.moved() !== undefined;
    if (isMoved && !this.#isMoved) {
      // A watcher that looks again learns of it; without this nobody would hear, as nothing changes in the old file
      // any more.
      this.#interests().forEach(({ hint }) => this.#tell(hint));
    }
    this.#isMoved = isMoved;
    if (isMoved) {
      return;
    }
    const [version, count] = [this.#read(), this.#shared.count];
    if (version === this.#version && count === this.#lastCount) {
      return;
    }
    try {
      const moved = this.#client.snapshot(() => this.#moved());
      [this.#version, this.#lastCount] = [version, count];
      moved.forEach((hint) => this.#tell(hint));
    } catch {
      // It is looked at once more.
    }
  }

  #tell(hint: Hint): void {
    this.#watchers.forEach((watcher) => watcher(hint));
  }

  #interests(): Interest[] {
    return [...new Map([...this.#older, ...this.#recent]).values()];
  }

  /** Those that are not where they were; that they are there now is remembered. */
  #moved(): Hint[] {
    return this.#interests()
      .filter((interest) => {
        const { at, by } = this.#placeOf(interest.hint);
        const isMoved = at !== interest.at || (by !== interest.by && by !== undefined && interest.by !== undefined);
        interest.at = at;
        interest.by = by;
        return isMoved;
      })
      .map(({ hint }) => hint);
  }

  #placeOf({ appName, userId, sessionId }: Hint): Place {
    if (userId === undefined || sessionId === undefined) {
      const [row] = this.#client.all(sql.FIND_SCOPE, [sql.scopeColumn(appName, userId)]);
      return row === undefined
        ? { at: 0 }
        : { at: numberIn(row, 'pos'), by: row['mark'] === null ? undefined : textIn(row, 'mark') };
    }
    const [row] = this.#client.all(sql.FIND_SESSION, [appName, userId, sessionId].map(toColumn));
    const expires = row?.['expires'];
    return row === undefined || (typeof expires === 'number' && expires <= Date.now())
      ? { at: NOWHERE }
      : { at: numberIn(row, 'rev'), by: textIn(row, 'created') };
  }
}

/** The operations of a store, which report reads and writes to the hints. */
export function withHints({ readLog, ...core }: SqliteCore, hints: Hints): SqliteCore & Pick<SessionStore, 'watch'> {
  return {
    ...core,
    commit: async (change, context) => {
      const committed = await core.commit(change, context);
      hints.committed(change, committed);
      return committed;
    },
    commitMany: async (changes, context) => {
      const outcomes = await core.commitMany(changes, context);
      outcomes.forEach(
        (outcome, index) => isStoreError(outcome) || hints.committed(changes[index] as Change, outcome),
      );
      return outcomes;
    },
    load: async (key, query, context) => {
      const loaded = await core.load(key, query, context);
      hints.loaded(key, loaded);
      return loaded;
    },
    loadScope: async (scope, context) => {
      const loaded = await core.loadScope(scope, context);
      hints.loadedScope(scope, loaded);
      return loaded;
    },
    ...(readLog && {
      readLog: async (scope, query, context) => {
        const log = await readLog(scope, query, context);
        hints.loadedScope(scope, log);
        return log;
      },
    }),
    remove: async (key, context, guard) => {
      await core.remove(key, context, guard);
      hints.removed(key);
    },
    removeScope: async (scope, context) => {
      await core.removeScope(scope, context);
      hints.removed(hintOf(scope));
    },
    sweep: async (query, context) => {
      try {
        return await core.sweep(query, context);
      } finally {
        if (query.dry !== true) {
          hints.swept();
        }
      }
    },
    watch: (onHint) => hints.watch(onHint),
  };
}

/** Identifies the subject of a hint, at little cost: each commit asks for it. */
function textOf({ appName, userId, sessionId }: Hint): string {
  const user = userId === undefined ? '' : `${userId.length} ${userId}`;
  return `${appName.length} ${appName}${user}${sessionId === undefined ? '' : ` ${sessionId}`}`;
}
