// What keeps the sessions of a service: the process alone, or a store. The service calls it once a request is
// understood.

import { admitDelta, type AdmittedDelta } from '../input/admit.js';
import { isBlank, newId } from '../model/ids.js';
import { REQUESTS, checkRequest, type ListPlan } from '../input/requests.js';
import { admitString } from '../checks/arguments.js';
import type { EventDraft } from '../input/event-draft.js';
import type { View } from '../session/handle.js';
import type {
  CreateSessionRequest,
  Event,
  GetSessionConfig,
  ListSessionsResponse,
  Session,
  SessionKey,
  SessionName,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../model/types.js';
import type { Signal } from '../async/abort.js';
import type { Reservation, UpdateTarget } from './update-target.js';
import type { SharedPast } from '../past/source.js';
import type { ChangeSource, WatchPlan } from '../watch/source.js';

/** A request to create a session, understood. */
export interface Creation {
  readonly key: SessionKey;
  readonly state: AdmittedDelta;
}

/** Checks and copies a request to create a session. */
export function admitCreation(request: CreateSessionRequest): Creation {
  checkRequest(request, REQUESTS.createSession);
  const { appName, userId, sessionId, state } = request;
  const isNamed = sessionId !== undefined && !isBlank(admitString(sessionId, 'sessionId'));
  const key = {
    appName: admitString(appName, 'appName'),
    userId: admitString(userId, 'userId'),
    sessionId: isNamed ? sessionId : newId(),
  };
  return { key, state: admitDelta(state, 'state') };
}

export type { SessionName };

/** An event to append, understood. */
export interface AppendPlan {
  readonly session: SessionName;
  readonly draft: EventDraft;
  readonly expectedRevision: number | undefined;
}

type Soon<T> = T | Promise<T>;

/** Keeps sessions. What needs no waiting is done at once, in the call itself. */
export interface SessionBackend {
  create(creation: Creation, signal?: Signal): Soon<Session>;
  get(key: SessionKey, config: GetSessionConfig | undefined, signal?: Signal): Soon<Session | undefined>;
  list(plan: ListPlan, signal?: Signal): Soon<ListSessionsResponse>;
  remove(key: SessionKey, signal?: Signal): Soon<void>;
  append(plan: AppendPlan, signal?: Signal): Soon<Event>;
  /** The values of an app, or of a user in it, under their names: a record of the caller's own. */
  scope(appName: string, userId: string | undefined, signal?: Signal): Soon<Record<string, unknown>>;
  /** What `updateState` reads and writes for a target. */
  target(target: UpdateStateTarget, options: UpdateStateOptions): UpdateTarget;
  /** The turn that an update may have among all who use the store; `undefined` where there are none. */
  reservation?(target: UpdateStateTarget, signal?: Signal): Reservation | undefined;
  /** The view of a handle, or of a session as it is now, with its creation and all its events. */
  loadHistory(session: SessionName, signal?: Signal): Soon<View>;
  /** The past of app and user values. */
  past(): Promise<SharedPast>;
  /** The changes of a target, for one reader, who has to close it. */
  watch(plan: WatchPlan): Promise<ChangeSource>;
  /** The view behind a handle that this backend gave. */
  view(session: unknown): View | undefined;
  /** Resolves when every write that was accepted is durable or has failed. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** One page, with adk-js's meaning of each number. */
export function pageOf(
  plan: ListPlan,
  offset: number,
  total: number,
  sessions: Session[],
  cursor: string | undefined,
): ListSessionsResponse {
  const { limit } = plan;
  const answer = {
    sessions,
    page: limit ? Math.floor((plan.cursor === undefined ? plan.offset : offset) / limit) + 1 : plan.page,
    limit: limit ?? total,
    totalItems: total,
    totalPages: limit === undefined ? Math.min(total, 1) : limit === 0 ? 0 : Math.ceil(total / limit),
  };
  return cursor === undefined ? answer : { ...answer, cursor };
}
