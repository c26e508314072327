// Sessions over a store: every write waits for it, and the cache follows it.

import { defined } from '../../model/defined.js';
import { appendStored } from './operations/append.js';
import { showCurrent } from './operations/append-target.js';
import { Connection } from './commit/connection.js';
import { serviceLimits } from './commit/limits.js';
import { createStored } from './operations/create.js';
import { forkStored } from './operations/fork.js';
import { leaseStored, readLeaseStored } from './operations/lease.js';
import { loadFullLog } from './operations/full-log.js';
import { listPage } from './operations/list.js';
import { SessionLoader } from './cache/loader.js';
import { removeStored } from './operations/remove.js';
import { Reservations } from './update/reservations.js';
import { OpenAttempts } from './commit/retry.js';
import { SessionCache } from './cache/session-cache.js';
import { scopeTarget } from './update/scope-target.js';
import { sessionTarget } from './update/session-target.js';
import { ChangeWriter } from './operations/writer.js';
import { checkKey, type ListPlan } from '../../input/requests.js';
import { StatepadError } from '../../model/errors.js';
import { cloneMutable } from '../../model/json.js';
import { keepsExpiry } from '../../store/keeps-expiry.js';
import { recordStore } from '../../stores/journal/callback-store.js';
import {
  isSessionTarget,
  type UpdateReservation,
  type UpdateTarget,
  type WriteConditions,
} from '../../update/update-target.js';
import type { StoreComponents } from './operations/components.js';
import type { StoredOptions } from './options.js';
import type { ForkPlan } from '../fork-plan.js';
import type { AppendPlan, Creation, RemovalTarget, SessionBackend, SessionName, SweepPart } from '../backend.js';
import type { BackendAccess } from '../backend-access.js';
import type { View } from '../../session/handle.js';
import type { LeaseHold } from '../../lease/lease-hold.js';
import type { LeaseAnswer, LeaseRequest, LeaseRow } from '../../store/lease.js';
import type { Swept } from '../../store/contract.js';
import type { StoreLack } from '../../store/lacks.js';
import type {
  Event,
  GetSessionConfig,
  ListSessionsResponse,
  Session,
  SessionKey,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../../model/types.js';
import type { SharedPast } from '../../past/shared-past.js';
import { orAborted, type Signal } from '../../async/abort.js';
import type { WholeSessionChange } from '../../model/watch.js';
import type { ChangeSource, WatchPlan, WholePlan } from '../../watch/change-source.js';
import type { Topics } from '../../watch/topics.js';

const NOTHING: Swept = Object.freeze({ sessions: 0, users: 0, more: false });

/** The sessions of a store. */
export class StoreBackend implements SessionBackend {
  readonly #components: StoreComponents;
  readonly #openAttempts = new OpenAttempts();
  readonly #reservations: Reservations | undefined;
  /** The watched targets, once there are any. */
  #topics: Topics | undefined;

  constructor(options: StoredOptions) {
    const store = 'persist' in options.store ? recordStore(options.store) : options.store;
    const cache = new SessionCache(options.cachedEvents, options.now);
    const retry = { ...options, isTotal: store.asksAgain === true, openAttempts: this.#openAttempts };
    const connection = new Connection(store, retry, options.migrate, (hints) =>
      loader.handleHints(hints, this.#topics),
    );
    const loader = new SessionLoader(connection, cache);
    this.#components = {
      connection,
      cache,
      loader,
      writer: new ChangeWriter(connection, cache, retry),
      limits: serviceLimits(store, options.limits, options.isValueNamed),
      now: options.now,
    };
    this.#reservations = store.reserve && new Reservations(connection);
  }

  get lacks(): readonly StoreLack[] | undefined {
    return this.#components.connection.store.lacks;
  }

  async create(creation: Creation, signal?: Signal): Promise<Session> {
    this.#checkExpiry(creation);
    return await createStored(this.#components, creation, signal);
  }

  async get(key: SessionKey, config: GetSessionConfig | undefined, signal?: Signal): Promise<Session | undefined> {
    return await this.#components.loader.read(key, config, signal);
  }

  async list(plan: ListPlan, signal?: Signal): Promise<ListSessionsResponse> {
    return await listPage(this.#components, plan, signal);
  }

  async remove(key: SessionKey, signal?: Signal, only?: RemovalTarget): Promise<void> {
    await removeStored(this.#components, key, signal, only);
  }

  async append({ session, draft, expectedRevision, lease, shown }: AppendPlan, signal?: Signal): Promise<Event> {
    const guard = defined({ rev: expectedRevision });
    return (await appendStored(this.#components, { session, draft, guard, lease, shown, signal })).event;
  }

  async scope(appName: string, userId: string | undefined, signal?: Signal): Promise<Record<string, unknown>> {
    const { state } = await this.#components.loader.loadScope({ appName, userId }, signal);
    return cloneMutable(state) as Record<string, unknown>;
  }

  target(
    target: UpdateStateTarget,
    options: UpdateStateOptions,
    lease?: LeaseHold,
    conditions?: WriteConditions,
  ): UpdateTarget {
    return isSessionTarget(target)
      ? sessionTarget(this.#components, checkKey(target), options, lease, conditions)
      : scopeTarget(this.#components, target, options.signal, conditions);
  }

  reservation(target: UpdateStateTarget, signal?: Signal): UpdateReservation | undefined {
    return this.#reservations?.forUpdate(target, signal);
  }

  view(session: unknown): View | undefined {
    return this.#components.cache.registry.view(session);
  }

  async refresh(view: View, signal?: Signal): Promise<void> {
    await orAborted(showCurrent(this.#components, view), signal);
  }

  async fork(plan: ForkPlan, signal?: Signal): Promise<Session> {
    this.#checkExpiry(plan);
    return await forkStored(this.#components, plan, signal);
  }

  #checkExpiry({ expires }: Pick<Creation, 'expires'>): void {
    if (expires !== undefined && !keepsExpiry(this.#components.connection.store)) {
      const path = expires.ttl === undefined ? 'expireTime' : 'ttl';
      const message = `${path} cannot be kept: the store does not keep expiry`;
      throw new StatepadError('INVALID_ARGUMENT', message, { path });
    }
  }

  async lease(view: View, request: LeaseRequest, signal?: Signal, onDone?: () => void): Promise<LeaseAnswer> {
    return await leaseStored(this.#components, view, request, { signal, onDone });
  }

  async readLease({ record: { key } }: View, signal?: Signal): Promise<LeaseRow | null> {
    return await readLeaseStored(this.#components, key, signal);
  }

  async loadHistory(session: SessionName, signal?: Signal): Promise<View> {
    return await loadFullLog(this.#components, session, signal);
  }

  async access(): Promise<BackendAccess> {
    const { StoreAccess } = await import('./store-access.js');
    return new StoreAccess(this.#components);
  }

  async past(): Promise<SharedPast> {
    return new (await import('./operations/shared-history.js')).StoredPast(this.#components);
  }

  async watch(plan: WatchPlan): Promise<ChangeSource> {
    const { watchStored } = await import('./watch/watch.js');
    return watchStored(this.#components, await this.#loadTopics(), plan);
  }

  async watchWhole(plan: WholePlan): Promise<ChangeSource<WholeSessionChange>> {
    const { watchWholeStored } = await import('./watch/watch.js');
    return watchWholeStored(this.#components, await this.#loadTopics(), plan);
  }

  async #loadTopics(): Promise<Topics> {
    const { Topics } = await import('./watch/watch.js');
    const { cache, connection } = this.#components;
    return (this.#topics ??= cache.topics = new Topics(connection.store.exclusive !== true));
  }

  async sweep({ appName, limit, userTtl, dry }: SweepPart, signal?: Signal): Promise<Swept> {
    const { connection } = this.#components;
    if (connection.store.sweep === undefined) {
      throw new StatepadError('INVALID_ARGUMENT', 'nothing can be swept: the store has no sweep');
    }
    const ttl = userTtl === Infinity ? undefined : userTtl;
    const query = { limit, ...defined({ app: appName, userTtl: ttl, dry }) };
    return await connection.ask(async (store, context) => (await store.sweep?.(query, context)) ?? NOTHING, signal);
  }

  get claim(): SessionBackend['claim'] {
    const { connection } = this.#components;
    const claim = connection.store.claim?.bind(connection.store);
    return claim && (async (name, request) => await connection.ask((_, context) => claim(name, request, context)));
  }

  async flush(): Promise<void> {
    await this.#components.writer.idle();
  }

  async close(last?: () => Promise<void>): Promise<void> {
    this.#topics?.close();
    this.#openAttempts.close();
    await Promise.all([this.flush(), last?.()]);
    await this.#components.connection.close();
  }
}
