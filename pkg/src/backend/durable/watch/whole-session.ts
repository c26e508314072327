// The source of a whole session over a store: one read of the session has the positions of its app and its user as
// well.

import { ALL } from '../cache/event-range.js';
import { loadHead, sharedOf, WatchedSession, type Head } from './watched-session.js';
import { notFound } from '../../../session/append.js';
import type { StoreComponents } from '../operations/components.js';
import type { SessionRecord } from '../../../session/record.js';
import type { Session, SessionKey } from '../../../model/types.js';
import type { ChangeSource, WholePlan } from '../../../watch/change-source.js';
import type { Topic, Topics } from '../../../watch/topics.js';
import type { WholeSessionSource, WholeMoment } from '../../../watch/whole-session.js';

type Components = Pick<StoreComponents, 'cache' | 'loader'>;

/** A session over a store, for a reader of all of it. */
export class StoredWholeSession implements WholeSessionSource {
  readonly #components: Components;
  readonly #topics: Topics;
  readonly #plan: WholePlan;
  readonly #key: SessionKey;
  readonly #topic: Topic;

  constructor(components: Components, topics: Topics, plan: WholePlan) {
    this.#components = components;
    this.#topics = topics;
    this.#plan = plan;
    this.#key = plan.target;
    this.#topic = topics.enterWhole(plan.target);
  }

  get isClosed(): boolean {
    return this.#topics.isClosed;
  }

  async check(): Promise<void> {
    await this.#topic.refresh(this.#plan.pace.poll, this.#load);
  }

  async moment(): Promise<WholeMoment | undefined> {
    return this.#cached() ?? this.#fromHead() ?? (await this.#loaded());
  }

  /** The cached session, if it is not known to have changed. */
  #cached(): WholeMoment | undefined {
    const { cache } = this.#components;
    const record = cache.registry.find(this.#key);
    return record !== undefined && cache.isCurrent(record) ? this.#momentOf(record) : undefined;
  }

  /** The last loaded session, if it is not known to have changed. */
  #fromHead(isLoaded = false): WholeMoment | undefined {
    const head = this.#topic.head as Head | undefined;
    if (head === undefined || head === 'deleted' || head.shared === undefined) {
      return undefined;
    }
    const { created, rev: revision, last, shared, scopeMoves } = head;
    return isLoaded || scopeMoves === this.#topic.scopeMoves ? { created, revision, last, ...shared } : undefined;
  }

  async #loaded(): Promise<WholeMoment | undefined> {
    this.#topic.expire();
    await this.check();
    return this.#cached() ?? this.#fromHead(true);
  }

  readonly #load = async (): Promise<void> => await loadHead(this.#components, this.#topic, this.#key);

  async read(): Promise<{ readonly session: Session; readonly moment: WholeMoment } | undefined> {
    const { cache, loader } = this.#components;
    return await loader.load(this.#key, ALL, (record) => ({
      session: cache.registry.read(record),
      moment: this.#momentOf(record),
    }));
  }

  #momentOf(record: SessionRecord): WholeMoment {
    const { created, revision, last } = record;
    return { created, revision, last, ...sharedOf(this.#components.cache, record) };
  }

  events(since: number, session: Session | undefined): ChangeSource {
    const view = this.#components.cache.registry.view(session);
    const shown = view && { record: view.record, revision: view.revision };
    return new WatchedSession(this.#components, this.#topics, { ...this.#plan, since, shown });
  }

  notFound(): never {
    throw notFound(this.#key.sessionId);
  }

  close(): void {
    this.#topics.leaveWhole(this.#key, this.#topic, this);
  }
}
