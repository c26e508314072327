// Watching without a store: all changes are in memory, and those that a reader has not read yet cost nothing.

import { defined } from '../model/defined.js';
import { coalescedChange, reloadAt } from './shared-changes.js';
import { SESSION_DELETED, eventChange, type ChangeSource, type WatchPlan, type WholePlan } from './change-source.js';
import { WatchedWholeSession, type SharedMoment, type WholeSessionSource, type WholeMoment } from './whole-session.js';
import { Topics, type Topic } from './topics.js';
import { DELETED, type Deleted } from '../model/deletion.js';
import { put } from '../model/json.js';
import { entriesOf } from '../session/scope-version.js';
import { notFoundInMemory } from '../session/other-services.js';
import type { SharedEntry, SharedLog, SharedLogs } from '../session/shared-logs.js';
import type { SessionRecord } from '../session/record.js';
import type { SessionRegistry } from '../session/registry.js';
import type { ScopeKey } from '../engine/sessions.js';
import type { Json, Session, SessionKey } from '../model/types.js';
import type { SessionChange, SharedChange, WatchedChange, WholeSessionChange } from '../model/watch.js';

export { Topics };

/** The memory of a service, as watching uses it. */
export interface WatchedMemory {
  /** The sessions that have not expired. */
  readonly sessions: () => Pick<SessionRegistry, 'find' | 'read' | 'valuesOf' | 'view'>;
  readonly logs: Pick<SharedLogs, 'find' | 'isRetained'>;
  readonly topics: Topics;
}

/** The changes of a whole session, for one reader. */
export function watchWholeInMemory(memory: WatchedMemory, plan: WholePlan): ChangeSource<WholeSessionChange> {
  return new WatchedWholeSession(new MemoryWholeSource(memory, plan), plan);
}

/** The changes of a target, for one reader. Throws `SESSION_NOT_FOUND`. */
export function watchMemory(memory: WatchedMemory, plan: WatchPlan): ChangeSource {
  if (plan.target.sessionId !== undefined) {
    return new WatchedSession(memory, plan);
  }
  return new (memory.logs.isRetained ? WatchedLog : WatchedValues)(memory, plan);
}

abstract class MemorySource implements ChangeSource {
  protected readonly memory: WatchedMemory;
  protected readonly plan: WatchPlan;
  protected readonly topic: Topic;
  #wakes = 0;

  constructor(memory: WatchedMemory, plan: WatchPlan) {
    this.memory = memory;
    this.plan = plan;
    this.topic = memory.topics.enter(plan.target);
  }

  get isClosed(): boolean {
    return this.memory.topics.isClosed;
  }

  async read(limit: number): Promise<readonly WatchedChange[]> {
    this.#wakes = this.topic.wakes;
    // What has expired is removed, and wakes its readers.
    this.memory.sessions();
    return this.next(limit);
  }

  async wait(): Promise<void> {
    await this.topic.wait(this, this.#wakes, this.plan.pace);
  }

  close(): void {
    this.memory.topics.leave(this.plan.target, this.topic, this);
  }

  protected abstract next(limit: number): readonly WatchedChange[];
}

class WatchedSession extends MemorySource {
  #record: SessionRecord | undefined;
  #revision = 0;

  protected next(limit: number): readonly SessionChange[] {
    const record = (this.#record ??= this.#begin());
    if (record.deleted) {
      return [SESSION_DELETED];
    }
    if (record.expires !== undefined) {
      this.topic.readAgain();
    }
    const before = this.#revision;
    if (before > record.revision) {
      this.#revision = record.revision;
      return [Object.freeze({ type: 'reload', revision: record.revision })];
    }
    const events = record.events.slice(before, before + limit);
    this.#revision += events.length;
    return events.map((event, index) => eventChange(before + 1 + index, event, record.expires));
  }

  #begin(): SessionRecord {
    const { target, shown, since } = this.plan;
    const key = target as SessionKey;
    const record = shown?.record ?? this.memory.sessions().find(key);
    if (record === undefined) {
      throw notFoundInMemory(key);
    }
    this.#revision = since ?? shown?.revision ?? record.revision;
    return record;
  }
}

/** Reads a whole session in memory. */
class MemoryWholeSource implements WholeSessionSource {
  readonly #memory: WatchedMemory;
  readonly #plan: WholePlan;
  readonly #topic: Topic;

  constructor(memory: WatchedMemory, plan: WholePlan) {
    this.#memory = memory;
    this.#plan = plan;
    this.#topic = memory.topics.enterWhole(plan.target);
  }

  get isClosed(): boolean {
    return this.#memory.topics.isClosed;
  }

  async check(): Promise<void> {
    // Nobody else can change it.
  }

  async moment(): Promise<WholeMoment | undefined> {
    return this.#momentOf(this.#memory.sessions().find(this.#plan.target));
  }

  async read(): Promise<{ readonly session: Session; readonly moment: WholeMoment } | undefined> {
    const sessions = this.#memory.sessions();
    const record = sessions.find(this.#plan.target);
    const moment = this.#momentOf(record);
    return record && moment && { session: sessions.read(record), moment };
  }

  #momentOf(record: SessionRecord | undefined): WholeMoment | undefined {
    if (record?.values === undefined) {
      return undefined;
    }
    const [, app, user] = record.values;
    const { appName, userId } = record.key;
    const at = (scope: ScopeKey): Pick<SharedMoment, 'position' | 'mark'> => ({
      position: this.#memory.logs.find(scope)?.position ?? 0,
      mark: undefined,
    });
    return {
      created: record.created,
      revision: record.revision,
      last: record.events.at(-1)?.id,
      app: { version: app.head, ...at({ appName, userId: undefined }) },
      user: { version: user.head, ...at({ appName, userId }) },
    };
  }

  events(since: number, session: Session | undefined): ChangeSource {
    const view = this.#memory.sessions().view(session);
    const shown = view && { record: view.record, revision: view.revision };
    return new WatchedSession(this.#memory, { ...this.#plan, since, shown });
  }

  notFound(): never {
    throw notFoundInMemory(this.#plan.target);
  }

  close(): void {
    this.#memory.topics.leaveWhole(this.#plan.target, this.#topic, this);
  }
}

type Values = Readonly<Record<string, Json>>;

const NO_VALUES: Values = Object.freeze({});
const UNWRITTEN: Pick<SharedLog, 'position' | 'base' | 'entries'> = { position: 0, base: 0, entries: [] };

/** One reader of an app's values, or a user's, with a log of each change. */
class WatchedLog extends MemorySource {
  /** The position of the reader; absent until it has begun. */
  #position: number | undefined;

  protected next(limit: number): readonly SharedChange[] {
    const { since, initial } = this.plan;
    const { position, base, entries } = logOf(this.memory, this.plan);
    const hasBegun = this.#position !== undefined;
    const from = (this.#position ??= since ?? position);
    if (!hasBegun && (initial || (since === 0 && base > 0))) {
      this.#position = position;
      return [coalescedChange('', 0, NO_VALUES, position, valuesOf(this.memory, this.plan))];
    }
    if (from > position || from < base) {
      this.#position = position;
      return [reloadAt(position)];
    }
    const written = entries.slice(from - base, from - base + limit);
    this.#position = from + written.length;
    return written.map((entry, index) => changeOf(entry, from + index));
  }
}

/** One reader of an app's values, or a user's, without a log: only the current values are known. */
class WatchedValues extends MemorySource {
  /** The last values that the reader received; absent until it has begun. */
  #previous: { readonly position: number; readonly values: Values } | undefined;

  protected next(): readonly SharedChange[] {
    const { since, initial } = this.plan;
    const { position } = logOf(this.memory, this.plan);
    const previous = this.#previous;
    if (previous?.position === position) {
      return [];
    }
    const values = valuesOf(this.memory, this.plan);
    this.#previous = { position, values };
    if (previous !== undefined) {
      return [coalescedChange('', previous.position, previous.values, position, values)];
    }
    if (initial || (since === 0 && position > 0)) {
      return [coalescedChange('', 0, NO_VALUES, position, values)];
    }
    return since === undefined || since === position ? [] : [reloadAt(position)];
  }
}

function scopeOf({ target: { appName, userId } }: WatchPlan): ScopeKey {
  return { appName, userId };
}

function logOf({ logs }: WatchedMemory, plan: WatchPlan): typeof UNWRITTEN {
  return logs.find(scopeOf(plan)) ?? UNWRITTEN;
}

/** The current values under full keys. */
function valuesOf({ sessions }: WatchedMemory, plan: WatchPlan): Values {
  const values: Record<string, Json> = {};
  for (const [key, value] of entriesOf(sessions().valuesOf(scopeOf(plan)))) {
    put(values, key, value);
  }
  return values;
}

/** The change of a log entry, from the position before it. */
function changeOf({ key, eventId, delta, deleted }: SharedEntry, from: number): SharedChange {
  const written: Record<string, Json | Deleted> = {};
  deleted.forEach((name) => put(written, name, DELETED));
  Object.keys(delta).forEach((name) => put(written, name, delta[name] as Json));
  return Object.freeze({
    type: 'values',
    position: from + 1,
    from,
    delta: Object.freeze(written),
    ...writerOf(key, eventId),
  });
}

function writerOf(
  key: SessionKey | undefined,
  eventId: string | undefined,
): Pick<SharedChange & { type: 'values' }, 'by'> {
  if (key === undefined) {
    return {};
  }
  const { userId, sessionId } = key;
  return { by: Object.freeze(defined({ userId, sessionId, eventId })) };
}
