// The operations that a server of a service needs. Loaded at the first call.

import { Outcomes, isRefusal } from './requests/outcomes.js';
import { checkWrite, isSingle, valuesThen, writeState, type WritePlan } from './requests/write.js';
import { derivedId } from './requests/derived-id.js';
import { ForkRequest, forkKey } from './requests/fork.js';
import { createAs } from './create-as.js';
import { fork } from './fork.js';
import { redo, rewind } from './rewind.js';
import { isAtToken, requestLease } from './lease.js';
import { checkedTtl } from '../lease/options.js';
import { admitString, checkCount, invalid } from '../checks/arguments.js';
import { admitEvent } from '../input/event-draft.js';
import { checkKey, checkSession } from '../input/requests.js';
import { admitCreation, sessionIdFrom } from '../input/creation.js';
import { foreignHandle } from '../session/other-services.js';
import { leaseLost, type LeaseHold } from '../lease/lease-hold.js';
import { makeHandle, type View } from '../session/handle.js';
import { throwNotFound } from '../session/append.js';
import { StatepadError, isStatepadError, type ErrorCode } from '../model/errors.js';
import { keyReused, type Once } from '../model/once.js';
import { isStoreError } from '../store/store-error.js';
import type { BackendAccess, CreationTime, EventPage, StoredRequests } from '../backend/backend-access.js';
import type { Lifetime } from './lifetime.js';
import type { RequestComponents } from './current-log.js';
import type { Signal } from '../async/abort.js';
import type { CreationIdentity, LeaseProof, RemoteLeaseRequest, ServingAccess, StateWrite } from './serving-access.js';
import type { LeaseAnswer } from '../store/lease.js';
import type { Rewound } from '../model/rewind.js';
import type {
  Abortable,
  CreateSessionRequest,
  Json,
  Session,
  SessionKey,
  SessionName,
  UpdateStateTarget,
} from '../model/types.js';

/** See `SessionService.serving`. */
export function serving(lifetime: Lifetime, access: BackendAccess): ServingAccess {
  return new Serving(lifetime, access);
}

/** The record of a refused request. */
interface RefusalRecord {
  /** True when the store makes it itself, in the step that refuses. */
  readonly isMade: boolean;
  /** Makes it: see `StoredRequests.refuse`. */
  readonly make: (requests: StoredRequests) => Promise<boolean>;
}

/** The record of a request whose refusals are all those of one change. */
const MADE: RefusalRecord = { isMade: true, make: async () => false };

/** See `ServingAccess`. */
class Serving implements ServingAccess {
  readonly #lifetime: Lifetime;
  readonly #access: BackendAccess;
  readonly #outcomes: Outcomes;

  constructor(lifetime: Lifetime, access: BackendAccess) {
    this.#lifetime = lifetime;
    this.#access = access;
    this.#outcomes = new Outcomes(lifetime.now);
  }

  now(): number {
    return this.#lifetime.now();
  }

  get hasOwners(): boolean {
    return this.#access.hasOwners;
  }

  async owners(appName: string, sessionId: string, options: Abortable = {}): Promise<readonly string[]> {
    admitString(appName, 'appName');
    admitString(sessionId, 'sessionId');
    await this.#lifetime.begin(options);
    return await this.#access.owners(appName, sessionId, options.signal);
  }

  createdOf(session: Session): string {
    return this.#viewOf(session).record.created;
  }

  async create(request: CreateSessionRequest, once?: Once): Promise<Session> {
    const admitted = admitCreation(request, this.#lifetime);
    const sessions = await this.#lifetime.begin(request);
    if (once === undefined) {
      return await sessions.create(admitted, request.signal);
    }
    const { isNew } = sessionIdFrom(request.sessionId);
    const home = { ...admitted.key, sessionId: await derivedId(once.id) };
    const creation = { ...admitted, key: isNew ? home : admitted.key };
    return await this.#once(once, MADE, async () => {
      const own = isNew ? once : await this.#claimed(home, once);
      try {
        return await sessions.create({ ...creation, once: own }, request.signal);
      } catch (error) {
        // A store that does not keep creations cannot tell; but nobody else knows the id.
        const isOwn = isNew && sessions.lacks?.includes('created') === true && hasCode(error, 'SESSION_EXISTS');
        const session = isOwn ? await sessions.get(home, undefined, request.signal) : undefined;
        if (session === undefined) {
          throw error;
        }
        once.onRepeated?.(false);
        return session;
      }
    });
  }

  async append(request: Parameters<ServingAccess['append']>[0]): ReturnType<ServingAccess['append']> {
    const { session: named, created, event, expectedRevision, signal } = request;
    checkSession(named);
    checkCount(expectedRevision, 'expectedRevision');
    const draft = admitEvent(event, this.#lifetime.now, {});
    const sessions = await this.#lifetime.begin(request);
    const session = created === undefined ? named : await this.#createdBy(created, named, signal);
    const appended = await sessions.append({ session, draft, expectedRevision }, signal);
    if (sessions.view(session) !== undefined) {
      return { event: appended, session: session as Session };
    }
    const key = { appName: session.appName, userId: session.userId, sessionId: session.id };
    const current = this.#access.current(key) ?? (await sessions.get(key, { numRecentEvents: 1 }, signal));
    return { event: appended, session: current ?? throwNotFound(key) };
  }

  /** A handle of the session that a change created. Throws `SESSION_NOT_FOUND` for another one under its key. */
  async #createdBy(created: string, session: SessionName, signal: Signal | undefined): Promise<Session> {
    const key = { appName: session.appName, userId: session.userId, sessionId: session.id };
    const isIt = (handle: unknown): handle is Session => this.#lifetime.view(handle)?.record.created === created;
    const sessions = await this.#lifetime.begin({ signal });
    const known = sessions.view(session) === undefined ? this.#access.current(key) : session;
    if (isIt(known)) {
      return known;
    }
    const current = await sessions.get(key, { numRecentEvents: 1 }, signal);
    return isIt(current) ? current : throwNotFound(key);
  }

  /**
   * The identity of a creation under an id that its caller has chosen. Another request of the same key would create
   * another session, and the store would not notice: so the key itself is claimed first.
   */
  async #claimed(home: SessionKey, once: Once): Promise<Once> {
    const first = await this.#access.requests?.claim(home, once.id, once.digest);
    if (first !== undefined && first !== once.digest) {
      throw keyReused();
    }
    return { ...once, id: `${once.id}/named` };
  }

  async createAs(request: CreateSessionRequest, identity: CreationIdentity): Promise<Session> {
    return await createAs(await this.#components(undefined, request), request, identity);
  }

  async creation(key: SessionKey, options: Abortable = {}): Promise<CreationTime | undefined> {
    const checked = checkKey(key);
    await this.#lifetime.begin(options);
    return await this.#access.creation(checked, options.signal);
  }

  async write(
    target: UpdateStateTarget | Session,
    write: StateWrite,
    once?: Once,
  ): Promise<Readonly<Record<string, Json>>> {
    const plan = checkWrite(target, write);
    const components = await this.#components(target, write);
    if (once === undefined) {
      return await writeState(components, this.#access, plan, undefined);
    }
    const record = { ...this.#recordIn(plan.target, once), isMade: isSingle(this.#access, plan) };
    return await this.#once(once, record, () => this.#writeOnce(components, plan, once));
  }

  async #writeOnce(
    components: RequestComponents,
    plan: WritePlan,
    once: Once,
  ): Promise<Readonly<Record<string, Json>>> {
    const { appName, userId, sessionId } = plan.target;
    let isKnown: boolean | undefined;
    const noted = { ...once, onRepeated: (known: boolean) => (isKnown = known) };
    const state = await writeState(components, this.#access, plan, noted);
    if (isKnown === undefined) {
      return state;
    }
    const then =
      userId === undefined || sessionId === undefined
        ? undefined
        : await valuesThen(components, { appName, userId, sessionId }, once.id);
    once.onRepeated?.(isKnown || then !== undefined);
    return then ?? state;
  }

  async rewind(session: SessionName, options: Parameters<ServingAccess['rewind']>[1], once?: Once): Promise<Rewound> {
    const { before, marker, artifactDelta, signal } = options;
    admitString(before, 'before');
    const components = await this.#lifetime.components(session, options);
    const artifacts = artifactDelta && (async () => artifactDelta);
    const run = (): Promise<Rewound> => rewind(components, session, { before, signal, artifacts }, { once, marker });
    return once === undefined || marker !== undefined
      ? await run()
      : await this.#once(once, this.#recordIn(targetOf(session), once), run);
  }

  async redo(session: SessionName, options: Abortable, once?: Once): Promise<Rewound> {
    const components = await this.#lifetime.components(session, options);
    const run = (): Promise<Rewound> => redo(components, session, { signal: options.signal }, { once });
    return once === undefined ? await run() : await this.#once(once, this.#recordIn(targetOf(session), once), run);
  }

  async fork(session: SessionName, options: Parameters<ServingAccess['fork']>[1], once?: Once): Promise<Session> {
    const { at, sessionId, ttl, expireTime, signal } = options;
    checkCount(at, 'at');
    const end = { ttl, expireTime };
    const components = await this.#lifetime.components(session, options);
    if (once === undefined) {
      return await fork(components, session, { at, sessionId, signal, ...end });
    }
    const { requests } = this.#access;
    if (requests === undefined) {
      const key = await forkKey(session, options, once);
      return await this.#once(once, MADE, () =>
        fork(components, session, { at, sessionId: key.sessionId, signal, ...end }),
      );
    }
    const request = await ForkRequest.of(requests, session, options, once);
    const record = { isMade: true, make: () => request.refuse() };
    return await this.#once(once, record, () => request.run(components, session, { at, signal, ...end }));
  }

  async lease(key: SessionKey, request: RemoteLeaseRequest): Promise<LeaseAnswer & { readonly created: string }> {
    const { holder, ttl, proof, signal } = request;
    admitString(holder, 'holder');
    if (ttl !== 0 || proof === undefined) {
      checkedTtl(ttl);
    }
    const view = (await this.#current(key, request)) ?? throwNotFound(checkKey(key));
    const { created } = view.record;
    if (proof !== undefined && proof.created !== created) {
      throw leaseLost(view.record.key.sessionId);
    }
    const wanted = proof === undefined ? { holder, ttl } : { holder: proof.holder, ttl, fence: proof.token };
    const components = await this.#components(undefined, request);
    return { ...(await requestLease(components, view, wanted, signal)), created };
  }

  underLease(session: Session, proof: LeaseProof): Session {
    const view = this.#viewOf(session);
    if (!this.#access.hasLeases) {
      throw new StatepadError('INVALID_ARGUMENT', 'the session cannot be leased: the store does not support leases');
    }
    if (proof.created !== view.record.created) {
      throw leaseLost(session.id);
    }
    return makeHandle({ ...view, lease: this.#holdOf(view, proof) });
  }

  async remove(key: SessionKey, options: Parameters<ServingAccess['remove']>[1] = {}): Promise<void> {
    const { created, proof, signal } = options;
    const checked = checkKey(key);
    const sessions = await this.#lifetime.begin(options);
    if (proof === undefined) {
      await sessions.remove(checked, signal, created === undefined ? undefined : { created });
      return;
    }
    if (created !== undefined && created !== proof.created) {
      return;
    }
    const view = await this.#current(checked, options);
    if (view?.record.created === proof.created) {
      await sessions.remove(checked, signal, { created: proof.created, lease: this.#holdOf(view, proof) });
    }
  }

  async events(key: SessionKey, range: Parameters<ServingAccess['events']>[1]): Promise<EventPage | undefined> {
    const { from, limit, signal } = range;
    const checked = checkKey(key);
    checkCount(from, 'from');
    checkCount(limit, 'limit');
    if (from < 1) {
      invalid('from', 'is counted from 1');
    }
    await this.#lifetime.begin(range);
    return await this.#access.events(checked, { from, limit }, signal);
  }

  /** Runs a request once: see `ServingAccess`. */
  async #once<T>(once: Once, { isMade, make }: RefusalRecord, run: () => Promise<T>): Promise<T> {
    const { requests } = this.#access;
    if (requests === undefined) {
      return await this.#outcomes.run(once, run, (answer) => this.#copied(answer));
    }
    try {
      return await run();
    } catch (error) {
      const isOfStore = isStatepadError(error) && isStoreError(error.cause);
      if (!isRefusal(error) || (isMade && isOfStore)) {
        throw error;
      }
      if (await make(requests)) {
        // An earlier attempt was carried out meanwhile: it is the answer.
        return await run();
      }
      throw error;
    }
  }

  /** The record of a refused write to a target. */
  #recordIn(target: UpdateStateTarget, once: Once): RefusalRecord {
    const make = async (requests: StoredRequests): Promise<boolean> => {
      const { appName, userId, sessionId } = target;
      if (userId === undefined || sessionId === undefined) {
        return await requests.refuse(target, 'update', once);
      }
      const current = await this.#current({ appName, userId, sessionId }, {});
      return await requests.refuse(target, 'append', once, current?.record.created);
    };
    return { isMade: false, make };
  }

  /** A handle that shows the same as another one, and does not move with it; any other answer as it is. */
  #copied<T>(answer: T): T {
    const view = this.#lifetime.view(answer);
    return view === undefined ? answer : (makeHandle({ ...view }) as T);
  }

  /** The view of the current session, without events. */
  async #current(key: SessionKey, { signal }: Abortable): Promise<View | undefined> {
    const sessions = await this.#lifetime.begin({ signal });
    return sessions.view(await sessions.get(checkKey(key), { numRecentEvents: 0 }, signal));
  }

  async #components(session: unknown, options: Abortable): Promise<RequestComponents> {
    const sessions = await this.#lifetime.begin(options);
    return { ...this.#lifetime.componentsOf(sessions), lease: this.#lifetime.view(session)?.lease };
  }

  #viewOf(session: Session): View {
    checkSession(session);
    const view = this.#lifetime.view(session);
    if (view === undefined) {
      throw foreignHandle(session);
    }
    return view;
  }

  /** The side of writes under the lease of a remote holder. */
  #holdOf({ record }: View, { token }: LeaseProof): LeaseHold {
    const { sessionId } = record.key;
    const isInMemory = this.#access.requests === undefined;
    let loss: StatepadError | undefined;
    return {
      token,
      get loss() {
        return loss;
      },
      markLost: (error) => (loss ??= error),
      ...(isInMemory && { refusal: () => (isAtToken(record, token) ? undefined : leaseLost(sessionId)) }),
    };
  }
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return isStatepadError(error) && error.code === code;
}

function targetOf({ appName, userId, id }: SessionName): UpdateStateTarget {
  return { appName, userId, sessionId: id };
}
