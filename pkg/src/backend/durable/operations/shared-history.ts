// The past of app and user values over a store.

import { defined } from '../../../model/defined.js';
import { StatepadError } from '../../../model/errors.js';
import { put } from '../../../model/json.js';
import { APP_PREFIX, USER_PREFIX, mergeRecords } from '../../../model/scope.js';
import type { StoreComponents } from './components.js';
import type { ScopeKey } from '../../../engine/sessions.js';
import type { View } from '../../../session/handle.js';
import type { SharedPast, Values } from '../../../past/shared-past.js';
import type { LogEntry, LogQuery, Pos, ScopeLog, ScopeName, SessionStore } from '../../../store/contract.js';
import type { Json } from '../../../model/types.js';
import type { SharedHistory, SharedStep, TrimOptions } from '../../../model/past.js';
import type { Signal } from '../../../async/abort.js';

/** The number of log entries in one read. */
const PAGE_SIZE = 1000;

/** True when a store keeps a log of app and user values. */
export function keepsLog(store: SessionStore): boolean {
  return store.keeps?.includes('log') === true && typeof store.readLog === 'function';
}

/** Reads a part of a log from a store that keeps one. */
export async function readLog(
  { connection }: Pick<StoreComponents, 'connection'>,
  scope: ScopeName,
  query: LogQuery,
  signal?: Signal,
): Promise<ScopeLog> {
  return await connection.ask(
    async (store, context) => await (store.readLog as NonNullable<SessionStore['readLog']>)(scope, query, context),
    signal,
  );
}

/** An app, or a user in it, as stores name it. */
export function scopeName({
  appName: app,
  userId: user,
}: {
  appName: string;
  userId?: string | undefined;
}): ScopeName {
  return defined({ app, user });
}

/** The past by the logs of a store. */
export class StoredPast implements SharedPast {
  readonly #components: StoreComponents;

  constructor(components: StoreComponents) {
    this.#components = components;
  }

  get #hasLog(): boolean {
    return keepsLog(this.#components.connection.store);
  }

  async at({ record }: View, revision: number, sessionState: Values, signal?: Signal): Promise<Values | undefined> {
    const { appName, userId } = record.key;
    const pos = this.#hasLog ? await this.#positionsAt(record, revision, signal) : undefined;
    if (pos === undefined) {
      return undefined;
    }
    const [app, user] = await Promise.all([
      this.#valuesAt({ appName, userId: undefined }, pos.app, signal),
      this.#valuesAt({ appName, userId }, pos.user, signal),
    ]);
    return app && user && mergeRecords([inOrderOf(sessionState, app), inOrderOf(sessionState, user)]);
  }

  async steps(scope: ScopeKey, key: string, signal?: Signal): Promise<SharedHistory> {
    if (!this.#hasLog) {
      return { exact: false, steps: [] };
    }
    const name = key.slice(prefixOf(scope).length);
    const steps: SharedStep[] = [];
    let base = 0;
    for await (const log of this.#pages(scope, { name }, signal)) {
      base = log.base;
      steps.push(...log.entries.flatMap((entry) => stepOf(entry, name)));
    }
    return { exact: base === 0, steps };
  }

  async trim(
    scope: ScopeKey,
    { before, upTo }: Pick<TrimOptions, 'before' | 'upTo'>,
    signal?: Signal,
  ): Promise<number> {
    const { connection } = this.#components;
    if (!this.#hasLog || connection.store.trimLog === undefined) {
      throw new StatepadError(
        'INVALID_ARGUMENT',
        'the store keeps no log of app and user values that can be trimmed',
        {
          path: 'store',
        },
      );
    }
    const end = upTo ?? (await this.#lastBefore(scope, before as number, signal));
    return await connection.ask(
      async (store, context) =>
        await (store.trimLog as NonNullable<SessionStore['trimLog']>)(scopeName(scope), end, context),
      signal,
    );
  }

  /** The positions of a session's scopes right after a revision, if the store reports them. */
  async #positionsAt(
    { key, created }: View['record'],
    revision: number,
    signal: Signal | undefined,
  ): Promise<Pos | undefined> {
    const { cache, loader } = this.#components;
    const events = { from: revision, to: revision };
    const known = cache.known(key, cache.registry.find(key));
    const loaded = await loader.loadRange(key, { events, known }, signal);
    const [stored] = loaded?.events ?? [];
    return loaded?.created === created && stored?.rev === revision ? stored.pos : undefined;
  }

  /** The values of a scope at a position: the current ones, with the first `from` of each key written since. */
  async #valuesAt(scope: ScopeKey, pos: number, signal: Signal | undefined): Promise<Values | undefined> {
    const now = await this.#components.loader.loadScope(scope, signal);
    const before = new Map<string, Json | undefined>();
    let at = pos;
    for await (const { base, entries } of this.#pages(scope, { after: pos, to: now.pos }, signal)) {
      if (base > pos) {
        return undefined;
      }
      for (const { name, from } of entries.flatMap(({ writes }) => writes)) {
        if (!before.has(name)) {
          before.set(name, from);
        }
      }
      at = entries.at(-1)?.pos ?? at;
    }
    return at === now.pos ? withBefore(prefixOf(scope), now.state, before) : undefined;
  }

  /** The position of the last entry before the first one that is not older than a time. */
  async #lastBefore(scope: ScopeKey, before: number, signal: Signal | undefined): Promise<number> {
    let last = 0;
    for await (const { entries } of this.#pages(scope, {}, signal)) {
      for (const { pos, time } of entries) {
        if (time >= before) {
          return last;
        }
        last = pos;
      }
    }
    return last;
  }

  /** The pages of a log, at least one. */
  async *#pages(
    scope: ScopeKey,
    query: Omit<LogQuery, 'limit'>,
    signal: Signal | undefined,
  ): AsyncGenerator<ScopeLog> {
    let { after = 0 } = query;
    for (;;) {
      const log = await readLog(this.#components, scopeName(scope), { ...query, after, limit: PAGE_SIZE }, signal);
      yield log;
      const last = log.entries.at(-1);
      if (last === undefined || log.entries.length < PAGE_SIZE) {
        return;
      }
      after = last.pos;
    }
  }
}

function prefixOf({ userId }: ScopeKey): string {
  return userId === undefined ? APP_PREFIX : USER_PREFIX;
}

/** Values under full keys, with the entries of `before` in place of the current ones. */
function withBefore(prefix: string, now: Values, before: ReadonlyMap<string, Json | undefined>): Values {
  const values: Record<string, Json> = {};
  for (const name of Object.keys(now)) {
    if (!before.has(name)) {
      put(values, prefix + name, now[name] as Json);
    }
  }
  before.forEach((value, name) => value !== undefined && put(values, prefix + name, value));
  return values;
}

/** Values in the order of others; keys that those lack come last. */
function inOrderOf(others: Values, values: Values): Values {
  const ordered: Record<string, Json> = {};
  for (const key of [...Object.keys(others), ...Object.keys(values)]) {
    if (Object.hasOwn(values, key)) {
      put(ordered, key, values[key] as Json);
    }
  }
  return ordered;
}

function stepOf({ pos: position, time: timestamp, by, writes }: LogEntry, key: string): SharedStep[] {
  return writes
    .filter(({ name }) => name === key)
    .map(({ from, to }) => defined({ position, timestamp, by, from, to }));
}
