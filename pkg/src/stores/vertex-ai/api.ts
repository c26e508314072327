// The calls of the sessions API, and its answers. https://cloud.google.com/vertex-ai/generative-ai/docs/reference
// /rest/v1beta1/projects.locations.reasoningEngines.sessions

import { StoreError } from '../../store/store-error.js';
import { unreadable } from '../../store/refusals.js';
import { isObject } from '../../model/value-types.js';
import { operationError, type Outcome } from './answers.js';
import { quoted } from './names.js';
import type { ApiClient } from './client.js';
import type { Engine } from './names.js';
import type { ApiState } from './state.js';
import type { StoreContext } from '../../store/contract.js';

/** A session as the API has it. */
export interface ApiSession {
  readonly name: string;
  readonly userId: string;
  readonly createTime: string;
  readonly updateTime: string;
  /** The time of its end, which no append moves. The API states it for every session. */
  readonly expireTime?: string;
  /** The state of the app and the user, too. */
  readonly sessionState?: ApiState;
  readonly labels?: Readonly<Record<string, string>>;
}

/** An event as the API has it. */
export interface ApiEvent {
  readonly name: string;
  readonly author?: string;
  readonly invocationId?: string;
  readonly timestamp: string;
  readonly content?: Readonly<Record<string, unknown>>;
  readonly actions?: Readonly<Record<string, unknown>>;
  readonly errorCode?: string;
  readonly errorMessage?: string;
  readonly eventMetadata?: Readonly<Record<string, unknown>>;
  readonly rawEvent?: Readonly<Record<string, unknown>>;
}

/** The target of a request: an engine, and what is in it. */
export interface Resource extends StoreContext {
  readonly engine: Engine;
  readonly name: string;
}

/** One page of something, and the token for the next. */
export interface ApiPage<T> {
  readonly items: readonly T[];
  readonly next: string | undefined;
}

/** An operation that takes its time. */
interface Operation {
  readonly name: string;
  readonly done?: boolean;
  readonly error?: unknown;
}

/** The most sessions and events that the API gives at a time. */
export const PAGE_SIZE = 100;

/** The most looks for whether a slow operation is done: for about 20 seconds, by the usual pauses. */
export const MAX_LOOKS = 12;

/** Makes the calls. */
export class SessionsApi {
  readonly client: ApiClient;

  constructor(client: ApiClient) {
    this.client = client;
  }

  /** A session; `undefined` when there is none. */
  async get(of: Resource): Promise<ApiSession | undefined> {
    const body = await this.client.read({ location: of.engine.location, path: of.name }, of);
    return body === undefined ? undefined : sessionIn(body);
  }

  /** A page of the sessions of an engine, or of one of its users. */
  async list(
    of: Resource,
    user: string | undefined,
    page: { readonly size?: number; readonly token?: string | undefined } = {},
  ): Promise<ApiPage<ApiSession>> {
    const { size = PAGE_SIZE, token: pageToken } = page;
    const filter = user === undefined ? undefined : `user_id=${quoted(user)}`;
    const query = { filter, pageSize: String(size), pageToken };
    const { engine, name } = of;
    const body = await this.client.read({ location: engine.location, path: `${name}/sessions`, query }, of);
    if (body === undefined) {
      throw new StoreError('rejected', `there is no engine ${engine.name}`);
    }
    const { sessions = [], nextPageToken } = body as { sessions?: readonly unknown[]; nextPageToken?: string };
    return { items: sessions.map(sessionIn), next: nextPageToken === '' ? undefined : nextPageToken };
  }

  /** A page of the events of a session; `undefined` when there is no session. */
  async events(
    of: Resource,
    query: {
      readonly filter?: string | undefined;
      readonly orderBy?: string;
      readonly pageToken?: string | undefined;
    },
  ): Promise<ApiPage<ApiEvent> | undefined> {
    const path = `${of.name}/events`;
    const body = await this.client.read(
      { location: of.engine.location, path, query: { ...query, pageSize: String(PAGE_SIZE) } },
      of,
    );
    if (body === undefined) {
      return undefined;
    }
    const { sessionEvents = [], nextPageToken } = body as {
      sessionEvents?: readonly ApiEvent[];
      nextPageToken?: string;
    };
    return { items: sessionEvents, next: nextPageToken === '' ? undefined : nextPageToken };
  }

  /** Creates a session, and waits until that is over. */
  async create(of: Resource, sessionId: string, session: object): Promise<Outcome> {
    const { engine } = of;
    const path = `${engine.name}/sessions`;
    const request = { method: 'POST', location: engine.location, path, query: { sessionId }, body: session } as const;
    return await this.#untilDone(of, await this.client.send(request, of));
  }

  /** Appends an event. */
  async append(of: Resource, event: object): Promise<Outcome> {
    const path = `${of.name}:appendEvent`;
    return await this.client.send({ method: 'POST', location: of.engine.location, path, body: event }, of);
  }

  /** Deletes a session, and waits until that is over. */
  async remove(of: Resource): Promise<Outcome> {
    const outcome = await this.client.send({ method: 'DELETE', location: of.engine.location, path: of.name }, of);
    return await this.#untilDone(of, outcome);
  }

  /** `undefined`: it is not known, or cannot be asked for. */
  async #operationAfter(look: number, of: Resource, path: string): Promise<Operation | undefined> {
    await this.client.pauseAfter(look, 0, of);
    try {
      return (await this.client.read({ location: of.engine.location, path }, of)) as Operation | undefined;
    } catch {
      of.signal.throwIfAborted();
      return undefined;
    }
  }

  /**
   * Asks for an operation, with growing pauses, until it has ended. An operation that is not done by then may still
   * be.
   */
  async #untilDone(of: Resource, outcome: Outcome): Promise<Outcome> {
    if (outcome.kind !== 'done') {
      return outcome;
    }
    let operation = outcome.body as Operation;
    for (let look = 1; operation.done !== true; look++) {
      const next = look > MAX_LOOKS ? undefined : await this.#operationAfter(look, of, operation.name);
      if (next === undefined) {
        // Its effect, if any, is to be looked at.
        const cause = new Error(`the operation "${operation.name}" has not ended, or cannot be followed`);
        return { kind: 'unclear', cause, isOver: false, wait: 0 };
      }
      operation = next;
    }
    return operation.error === undefined
      ? { kind: 'done', body: operation }
      : { kind: 'refused', error: operationError(operation.error) };
  }
}

function sessionIn(body: unknown): ApiSession {
  const { name, userId, createTime, updateTime } = (isObject(body) ? body : {}) as Partial<ApiSession>;
  if ([name, createTime, updateTime].some((text) => typeof text !== 'string')) {
    throw unreadable('a session in an answer of the API');
  }
  return userId === undefined ? { ...(body as ApiSession), userId: '' } : (body as ApiSession);
}
