// The changes of an app's values over a store, or of a user's, for one reader: one by one over a store with a log, and
// combined over one that has only the current values.

import { differ } from '../cache/continuity.js';
import { readLog, scopeName } from '../operations/shared-history.js';
import { sameJson } from '../../../model/json.js';
import { coalescedChange, entryChange, prefixOf, reloadAt } from '../../../watch/shared-changes.js';
import type { ChangeSource, WatchPlan } from '../../../watch/change-source.js';
import type { StoreComponents } from '../operations/components.js';
import type { LoadedScope, LogEntry, LogQuery, ScopeLog } from '../../../store/contract.js';
import type { SharedChange } from '../../../model/watch.js';
import type { Topic, Topics } from '../../../watch/topics.js';

type Components = Pick<StoreComponents, 'connection' | 'loader'>;

const NOTHING = Object.freeze({});

/** The common part of all readers of a scope. */
abstract class WatchedScope<Head> implements ChangeSource {
  protected readonly components: Components;
  protected readonly plan: WatchPlan;
  protected readonly prefix: string;
  readonly #topics: Topics;
  readonly #topic: Topic;
  #wakes = 0;

  constructor(components: Components, topics: Topics, plan: WatchPlan) {
    this.components = components;
    this.plan = plan;
    this.prefix = prefixOf(plan.target);
    this.#topics = topics;
    this.#topic = topics.enter(plan.target);
  }

  get isClosed(): boolean {
    return this.#topics.isClosed;
  }

  async wait(): Promise<void> {
    await this.#topic.wait(this, this.#wakes, this.plan.pace);
  }

  close(): void {
    this.#topics.leave(this.plan.target, this.#topic, this);
  }

  async read(limit: number): Promise<readonly SharedChange[]> {
    this.#wakes = this.#topic.wakes;
    return await this.next(limit);
  }

  /** The last read, for all readers, if it is recent enough. */
  protected async current(): Promise<Head> {
    const load = async (): Promise<void> => {
      this.#topic.head = await this.load(this.#topic.head as Head | undefined);
    };
    await this.#topic.refresh(this.plan.pace.poll, load);
    return this.#topic.head as Head;
  }

  /** Expires the last read. */
  protected expire(): void {
    this.#topic.expire();
  }

  /** Reads from the store. */
  protected abstract load(before: Head | undefined): Promise<Head>;

  protected abstract next(limit: number): Promise<readonly SharedChange[]>;

  protected async values(): Promise<LoadedScope> {
    const { appName, userId } = this.plan.target;
    return await this.components.loader.loadScope({ appName, userId });
  }

  /** All values, for a reader that has none. */
  protected all({ pos, state }: LoadedScope): SharedChange {
    return coalescedChange(this.prefix, 0, NOTHING, pos, state);
  }
}

/** One reader of a scope over a store that has only the current values. */
export class WatchedValues extends WatchedScope<LoadedScope> {
  /** The last values that the reader received. */
  #previous: LoadedScope | undefined;

  protected async load(before: LoadedScope | undefined): Promise<LoadedScope> {
    const now = await this.values();
    // All readers share the same values.
    return before?.pos === now.pos && !differ(before.mark, now.mark) ? before : now;
  }

  protected async next(): Promise<readonly SharedChange[]> {
    const now = await this.current();
    const previous = this.#previous;
    this.#previous = now;
    if (previous === undefined) {
      return this.#begin(now);
    }
    const isBack = now.pos < previous.pos || (now.pos === previous.pos && differ(now.mark, previous.mark));
    if (isBack) {
      return [reloadAt(now.pos)];
    }
    return now.pos === previous.pos
      ? []
      : [coalescedChange(this.prefix, previous.pos, previous.state, now.pos, now.state)];
  }

  #begin(now: LoadedScope): readonly SharedChange[] {
    const { since, initial } = this.plan;
    if (initial || (since === 0 && now.pos > 0)) {
      return [this.all(now)];
    }
    // The values at `since` are unknown.
    return since === undefined || since === now.pos ? [] : [reloadAt(now.pos)];
  }
}

/** The last read of a log. */
interface LogHead {
  readonly pos: number;
  readonly base: number;
  /** The last entries, up to `pos`: readers that are not far behind need no read of their own. */
  readonly tail: readonly LogEntry[];
  /** Counts the times that the store has gone back. */
  readonly epoch: number;
}

/** The most entries of a log that stay in memory for its readers. */
const TAIL = 100;

/** One reader of a scope over a store with a log. */
export class WatchedLog extends WatchedScope<LogHead> {
  /** The place of the reader; absent until it has begun. */
  #place: { pos: number; last: LogEntry | undefined; epoch: number } | undefined;

  protected async load(before: LogHead | undefined): Promise<LogHead> {
    if (before === undefined) {
      return await this.#readEnd(await this.#ask({ after: Number.MAX_SAFE_INTEGER - 1, limit: 1 }), 0);
    }
    const last = before.tail.at(-1);
    const log = await this.#ask({ after: last === undefined ? before.pos : last.pos - 1, limit: TAIL + 1 });
    const { pos, base } = log;
    const entries = entriesAfter(log, before.pos, last);
    if (entries === undefined) {
      const isBack = pos < before.pos || base <= before.pos;
      return await this.#readEnd(log, before.epoch + (isBack ? 1 : 0));
    }
    const isWhole = before.pos + entries.length === pos;
    return isWhole
      ? { pos, base, tail: [...before.tail, ...entries].slice(-TAIL), epoch: before.epoch }
      : await this.#readEnd(log, before.epoch);
  }

  /** A log with its last entry alone, which later shows if the store has gone back. */
  async #readEnd({ pos, base }: ScopeLog, epoch: number): Promise<LogHead> {
    const { entries } = pos > base ? await this.#ask({ after: pos - 1, to: pos }) : { entries: [] };
    return { pos, base, tail: entries, epoch };
  }

  protected async next(limit: number): Promise<readonly SharedChange[]> {
    const head = await this.current();
    const place = this.#place;
    if (place === undefined) {
      return await this.#begin(head);
    }
    if (head.epoch !== place.epoch || head.pos < place.pos) {
      return this.#reload(head);
    }
    if (head.pos === place.pos) {
      return [];
    }
    const first = head.tail[0]?.pos ?? Infinity;
    if (first <= place.pos + 1) {
      return this.#deliver(head.tail.slice(place.pos + 1 - first).slice(0, limit));
    }
    return await this.#readPage(head, place, limit);
  }

  async #begin(head: LogHead): Promise<readonly SharedChange[]> {
    const { since = head.pos, initial } = this.plan;
    if (initial || (since === 0 && head.base > 0)) {
      const now = await this.values();
      this.#place = { pos: now.pos, last: undefined, epoch: head.epoch };
      this.expire();
      return [this.all(now)];
    }
    if (since > head.pos || since < head.base) {
      return this.#reload(head);
    }
    this.#place = { pos: since, last: head.tail.find(({ pos }) => pos === since), epoch: head.epoch };
    return since === head.pos ? [] : await this.next(this.plan.buffer);
  }

  /** Reads a page for this reader, with its last entry, which shows that it is still the same log. */
  async #readPage(
    head: LogHead,
    { pos, last }: { readonly pos: number; readonly last: LogEntry | undefined },
    limit: number,
  ): Promise<readonly SharedChange[]> {
    const more = last === undefined ? 0 : 1;
    const log = await this.#ask({ after: pos - more, to: head.pos, limit: limit + more });
    const entries = entriesAfter(log, pos, last);
    if (entries === undefined || entries.length === 0) {
      this.expire();
      return this.#reload({ ...head, pos: log.pos });
    }
    return this.#deliver(entries);
  }

  #deliver(entries: readonly LogEntry[]): readonly SharedChange[] {
    const last = entries.at(-1);
    if (this.#place !== undefined && last !== undefined) {
      this.#place.pos = last.pos;
      this.#place.last = last;
    }
    return entries.map((entry) => entryChange(this.prefix, entry));
  }

  #reload({ pos, epoch, tail }: LogHead): readonly SharedChange[] {
    this.#place = { pos, last: tail.at(-1)?.pos === pos ? tail.at(-1) : undefined, epoch };
    return [reloadAt(pos)];
  }

  async #ask(query: LogQuery): Promise<ScopeLog> {
    return await readLog(this.components, scopeName(this.plan.target), query);
  }
}

/**
 * The consecutive entries of a log after a position. `last` is the known entry at that position, which was read once
 * more. `undefined` when the log does not continue from there.
 */
function entriesAfter(
  { pos, base, entries }: ScopeLog,
  from: number,
  last: LogEntry | undefined,
): LogEntry[] | undefined {
  const before = entries.find((entry) => entry.pos === from);
  const isOther = last !== undefined && base < from && (before === undefined || !sameJson(before, last));
  const later = entries.filter((entry) => entry.pos > from);
  const isWhole = later.every((entry, index) => entry.pos === from + 1 + index);
  return pos < from || base > from || isOther || !isWhole ? undefined : later;
}
