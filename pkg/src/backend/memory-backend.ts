// Sessions without a store. Nothing waits, so no other call can intervene.

import { MemoryExpiry } from './memory-expiry.js';
import { UserTimes } from './user-times.js';
import { beginAppend, finishAppend, type PendingAppend } from '../session/append.js';
import { creationEvent } from '../session/creation-event.js';
import { notFoundInMemory, registerService } from '../session/other-services.js';
import { cloneMutable, put } from '../model/json.js';
import { SessionRegistry } from '../session/registry.js';
import { SharedLogs, type LogRetention } from '../session/shared-logs.js';
import { entriesOf } from '../session/scope-version.js';
import { checkDeltaSize, checkEventSize } from '../input/sizes.js';
import { windowOf } from '../session/event-window.js';
import { checkKey, type ListPlan } from '../input/requests.js';
import { newId } from '../model/ids.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import { isWhole, wholeCore, withWholeCore } from '../engine/wasm.js';
import {
  pageOf,
  type AppendPlan,
  type Creation,
  type RemovalTarget,
  type SessionName,
  type SessionBackend,
  type SweepPart,
} from './backend.js';
import type { Limits } from '../model/limits.js';
import type { ForkPlan } from './fork-plan.js';
import type { BackendAccess } from './backend-access.js';
import type { UpdateTarget, WriteConditions } from '../update/update-target.js';
import type { EventDraft } from '../input/event-draft.js';
import type { ExpectedVersions, PreparedChange, ScopeKey } from '../engine/sessions.js';
import type { View } from '../session/handle.js';
import type { LeaseHold } from '../lease/lease-hold.js';
import type { SessionRecord } from '../session/record.js';
import type { SharedPast } from '../past/shared-past.js';
import type { Signal } from '../async/abort.js';
import type { Swept } from '../store/contract.js';
import type { WatchedMemory } from '../watch/memory-sources.js';
import type { WholeSessionChange } from '../model/watch.js';
import type { ChangeSource, WatchPlan, WholePlan } from '../watch/change-source.js';
import type { Topics } from '../watch/topics.js';
import type {
  Event,
  GetSessionConfig,
  ListSessionsResponse,
  Session,
  SessionKey,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../model/types.js';

/** The limits of the sessions, and whether values of users end. */
export interface MemoryGrowth {
  readonly limits: Limits;
  readonly userTtl: number | undefined;
}

/** Sessions in the memory of one process. */
export class MemoryBackend implements SessionBackend {
  /** All sessions, also those that have expired since the last call. */
  readonly #sessions = new SessionRegistry();
  /** Distinguishes its sessions from those of other services. */
  #id: string | undefined;
  #creations = 0;
  readonly #logs: SharedLogs;
  /** The past by the logs, once it is requested. */
  #past: SharedPast | undefined;
  /** The watched targets, once there are any. */
  #topics: Topics | undefined;
  readonly #now: () => number;
  readonly #limits: Limits;
  readonly #expiry: MemoryExpiry;
  /** The times of user values, where they end. */
  readonly #userTimes: UserTimes | undefined;

  /** `log` is the retention of changes of app and user values. */
  constructor(now: () => number, log: LogRetention, { limits, userTtl }: MemoryGrowth) {
    this.#now = now;
    this.#logs = new SharedLogs(log);
    this.#limits = limits;
    this.#expiry = new MemoryExpiry(now, (record) => this.#remove(record));
    this.#userTimes = userTtl === undefined ? undefined : new UserTimes();
    registerService(this);
  }

  /** The sessions that have not expired. */
  get #registry(): SessionRegistry {
    this.#expiry.removeDue();
    return this.#sessions;
  }

  /** True when it has a session. Other services ask this for their error messages. */
  has(key: SessionKey): boolean {
    return this.#registry.find(key) !== undefined;
  }

  create(creation: Creation): Session {
    checkDeltaSize(this.#limits, creation.state, creation.key, 'state');
    return this.#create(creation);
  }

  #create({ key, state, id, time = this.#now(), expires }: Creation): Session {
    const registry = this.#registry;
    const change = registry.engine.prepareCreate(key, time, state);
    const growth = registry.checkGrowth(this.#limits, key, change, { bound: state.bound });
    this.#creations += 1;
    const created = id ?? `${(this.#id ??= newId())}/${this.#creations}`;
    const creationOfIt = creationEvent(time, state, expires?.ttl);
    const record = registry.applyCreate(key, creationOfIt, change, created);
    growth.note(registry.scopesOf(key, record));
    this.#expiry.begin(record, expires);
    this.#changeApplied(record.key, change, time);
    this.#logs.recordMoment(record);
    return this.#sessions.read(record);
  }

  get(key: SessionKey, config: GetSessionConfig | undefined): Session | undefined {
    const record = this.#registry.find(key);
    return record && this.#registry.read(record, windowOf(config));
  }

  list(plan: ListPlan): ListSessionsResponse | Promise<ListSessionsResponse> {
    return isWhole() ? this.#list(plan) : wholeCore().then(() => this.#list(plan));
  }

  #list(plan: ListPlan): ListSessionsResponse {
    const { sessions, offset, total, cursor } = this.#registry.list(plan);
    return pageOf(plan, offset, total, sessions, cursor);
  }

  remove(key: SessionKey, _signal?: Signal, only?: RemovalTarget): void {
    const record = this.#registry.find(key);
    if (record !== undefined && (only === undefined || only.created === record.created)) {
      const refusal = only?.lease?.refusal?.();
      if (refusal !== undefined) {
        throw only?.lease?.markLost(refusal) ?? refusal;
      }
      this.#remove(record);
      this.#expiry.deleted(record);
    }
  }

  #remove(record: SessionRecord): void {
    this.#sessions.remove(record);
    this.#topics?.movedSession(record.key);
  }

  append(plan: AppendPlan): Event {
    const { appName, userId, id: sessionId } = plan.session;
    checkEventSize(this.#limits, plan.draft, { appName, userId, sessionId });
    return this.#append(plan);
  }

  #append({ session, draft, expectedRevision, lease, shown }: AppendPlan): Event {
    const { appName, userId, id: sessionId } = session;
    const registry = this.#registry;
    const view = registry.view(session);
    const record = view?.record ?? registry.find(checkKey({ appName, userId, sessionId }));
    if (record === undefined) {
      throw notFoundInMemory({ appName, userId, sessionId }, session);
    }
    const pending = this.#begin(record, draft, { revision: expectedRevision }, view, lease ?? view?.lease);
    const event = this.#finishAppend(record, pending, view);
    shown?.();
    return event;
  }

  /** Runs in one step, so that nobody sees a partial fork. */
  fork({ key, unique, state, expires, revision, eventAt, lastEvent }: ForkPlan): Session {
    const session = this.#create({ key, state, id: unique, expires });
    try {
      for (let next = 1; next <= revision + 1; next++) {
        const draft = next <= revision ? eventAt(next) : lastEvent(revision);
        this.#append({ session, draft, expectedRevision: undefined });
      }
      return session;
    } catch (error) {
      this.remove(key);
      throw error;
    }
  }

  #finishAppend(record: SessionRecord, pending: PendingAppend, view: View | undefined): Event {
    const { expires } = record;
    const event = finishAppend(this.#sessions, record, pending, view, this.#expiry.afterWrite(record));
    if (pending.change !== undefined) {
      this.#expiry.moved(record, expires);
      this.#changeApplied(record.key, pending.change, event.timestamp, event.id);
      this.#logs.recordMoment(record);
    }
    return event;
  }

  /** Logs the writes of a committed change to app and user values, and wakes readers. */
  #changeApplied(key: ScopeKey | SessionKey, change: PreparedChange, time: number, eventId?: string): void {
    this.#logs.add(key, change, time, eventId);
    if (this.#userTimes !== undefined && change.scopes.user && key.userId !== undefined) {
      this.#userTimes.written(key.appName, key.userId, this.#now());
    }
    this.#topics?.written(key, change.scopes);
  }

  scope(appName: string, userId: string | undefined): Record<string, unknown> {
    const prefix = userId === undefined ? APP_PREFIX : USER_PREFIX;
    const record: Record<string, unknown> = {};
    for (const [key, value] of entriesOf(this.#registry.valuesOf({ appName, userId }))) {
      put(record, key.slice(prefix.length), cloneMutable(value));
    }
    return record;
  }

  async target(
    target: UpdateStateTarget,
    options: UpdateStateOptions,
    lease?: LeaseHold,
    conditions?: WriteConditions,
  ): Promise<UpdateTarget> {
    const { memoryTarget } = await withWholeCore(import('./memory-target.js'));
    const writer = {
      sessions: () => this.#registry,
      now: this.#now,
      limits: this.#limits,
      append: (record: SessionRecord, draft: EventDraft, expected: ExpectedVersions): void => {
        checkEventSize(this.#limits, draft, record.key);
        this.#finishAppend(record, this.#begin(record, draft, expected, undefined, lease), undefined);
      },
      updated: this.#changeApplied.bind(this),
    };
    return memoryTarget(writer, target, options, conditions?.once);
  }

  loadHistory(session: SessionName): View {
    const { appName, userId, id: sessionId } = session;
    const view =
      this.#registry.view(session) ?? this.view(this.get(checkKey({ appName, userId, sessionId }), undefined));
    if (view === undefined) {
      throw notFoundInMemory({ appName, userId, sessionId }, session);
    }
    this.#checkNotExpired(view.record);
    return view;
  }

  /** A handle of a deleted session still shows its past; one that has expired is not there for any call. */
  #checkNotExpired({ deleted, expires, key }: SessionRecord): void {
    if (deleted && expires !== undefined) {
      throw notFoundInMemory(key);
    }
  }

  refresh(view: View): void {
    this.#expiry.removeDue();
    if (view.record.deleted) {
      throw notFoundInMemory(view.record.key);
    }
    this.#registry.refresh(view);
  }

  async watch(plan: WatchPlan): Promise<ChangeSource> {
    const { watchMemory } = await import('../watch/memory-sources.js');
    return watchMemory(await this.#watchedMemory(), plan);
  }

  async watchWhole(plan: WholePlan): Promise<ChangeSource<WholeSessionChange>> {
    const { watchWholeInMemory } = await import('../watch/memory-sources.js');
    return watchWholeInMemory(await this.#watchedMemory(), plan);
  }

  async #watchedMemory(): Promise<WatchedMemory> {
    const { Topics } = await import('../watch/memory-sources.js');
    const topics = (this.#topics ??= new Topics(false));
    return { sessions: () => this.#registry, logs: this.#logs, topics };
  }

  async access(): Promise<BackendAccess> {
    const { memoryAccess } = await withWholeCore(import('./memory-access.js'));
    return memoryAccess(() => this.#registry, this.#logs);
  }

  async past(): Promise<SharedPast> {
    return (this.#past ??= new (await withWholeCore(import('../past/memory-past.js'))).MemoryPast(this.#logs));
  }

  view(session: unknown): View | undefined {
    return this.#registry.view(session);
  }

  async sweep(part: SweepPart): Promise<Swept> {
    const { sweepMemory } = await import('./memory-sweep.js');
    const memory = {
      registry: this.#registry,
      expiry: this.#expiry,
      users: this.#userTimes,
      now: this.#now,
      updated: this.#changeApplied.bind(this),
    };
    return sweepMemory(memory, part);
  }

  async flush(): Promise<void> {
    // Nothing waits.
  }

  async close(last?: () => Promise<void>): Promise<void> {
    this.#topics?.close();
    await last?.();
  }

  /** Begins an append. A duplicate writes nothing, so it needs no lease. */
  #begin(
    record: SessionRecord,
    draft: EventDraft,
    expected: ExpectedVersions,
    view: View | undefined,
    lease: LeaseHold | undefined,
  ): PendingAppend {
    const refusal = lease?.refusal?.();
    const [compared, limits] = refusal === undefined ? [expected, this.#limits] : [{}, undefined];
    const pending = beginAppend(this.#sessions, record, draft, compared, view, limits);
    if (refusal !== undefined && pending.change !== undefined) {
      this.#sessions.engine.discard(pending.change);
      throw lease?.markLost(refusal) ?? refusal;
    }
    return pending;
  }
}
