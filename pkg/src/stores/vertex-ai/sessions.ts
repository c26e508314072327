// Sessions of the API as this store knows them: the cached reading of each, brought up to date before it is used.

import { Queues } from '../../async/queues.js';
import { keyText } from '../shared/keys.js';
import { CREATION_LABEL, idIn } from './labels.js';
import { engineFinder, sessionName, type Engine } from './names.js';
import { Positions } from '../shared/positions.js';
import { readAll, readLast, readSince, type Unfinished } from './read-events.js';
import { Recent } from '../shared/recent.js';
import { SessionLog, type ReadPart } from './session-log.js';
import { splitState, type ScopedState } from './state.js';
import { fromRfc3339, timeOf } from './times.js';
import type { ApiSession, Resource, SessionsApi } from './api.js';
import type { Settings } from './options.js';
import type { Committed, Pos, StoreContext } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The number of events that are remembered by their ids. */
const MAX_EVENTS = 200_000;
/** The number of events retained from abandoned readings, and for how long, in milliseconds. */
const MAX_UNFINISHED = 20_000;
const MAX_UNFINISHED_MS = 120_000;

/** The part of a log to read: all of it, its last events, or those from a time on. */
export type LogRange = 'all' | { readonly last: number } | { readonly since: number };

/** The sessions of one store. */
export class Sessions {
  readonly api: SessionsApi;
  readonly positions = new Positions();
  readonly engineOf: (app: string) => Engine;
  readonly #clockSkew: number;
  readonly #queues = new Queues();
  readonly #unfinished = new Recent<Unfinished>(MAX_UNFINISHED, ({ events }) => events.length);
  readonly #logs = new Recent<SessionLog>(MAX_EVENTS, ({ events }) => 1 + events.length);

  constructor(api: SessionsApi, { engineOf, place, clockSkew }: Settings) {
    this.api = api;
    this.engineOf = engineFinder(engineOf, place);
    this.#clockSkew = clockSkew;
  }

  /** Runs a task of a session after all earlier ones. Throws `rejected` for a key that the API cannot keep. */
  async run<T>(key: SessionKey, caller: StoreContext, task: (of: Resource) => Promise<T>): Promise<T> {
    const engine = this.engineOf(key.appName);
    const of = resource(engine, sessionName(engine, key), caller);
    return await this.#queues.run(keyText(key), async () => {
      of.signal.throwIfAborted();
      return await task(of);
    });
  }

  /** An engine, to ask for its sessions. */
  engine(app: string, caller: StoreContext): Resource {
    const engine = this.engineOf(app);
    return resource(engine, engine.name, caller);
  }

  /** A session, if there is one and it is the user's. */
  async get(key: SessionKey, of: Resource): Promise<ApiSession | undefined> {
    const session = await this.api.get(of);
    if (session?.userId === key.userId && !hasEnded(session)) {
      return session;
    }
    this.forget(key);
    return undefined;
  }

  /** The known part of a session's log. */
  log(key: SessionKey): SessionLog | undefined {
    return this.#logs.get(keyText(key));
  }

  /** Remembers a log, or that it has grown. */
  keep(key: SessionKey, log: SessionLog): void {
    this.#logs.set(keyText(key), log);
  }

  forget(key: SessionKey): void {
    this.#logs.delete(keyText(key));
  }

  /** True when a log is that of a session as it was read. */
  isCurrent(log: SessionLog, { updateTime, createTime }: ApiSession): boolean {
    const isUntouched = log.isWhole && log.events.length === 0 && updateTime === createTime;
    const isOld = log.readAt !== undefined && fromRfc3339(updateTime) < log.readAt - this.#clockSkew;
    return log.updateTime === updateTime || isUntouched || isOld;
  }

  /** From when on a log that has moved is read again. */
  tailOf({ lastAt }: SessionLog): number {
    return lastAt === undefined ? -Infinity : lastAt - this.#clockSkew;
  }

  /** Reads a part of a log: `undefined` when there is no session. */
  async read(of: Resource, range: LogRange): Promise<ReadPart | undefined> {
    if (range === 'all') {
      const giveUp = (unfinished: Unfinished): void => this.#unfinished.set(of.name, unfinished);
      return await readAll(this.api, of, await this.#begun(of), giveUp);
    }
    return 'last' in range ? await readLast(this.api, of, range.last) : await readSince(this.api, of, range.since);
  }

  /**
   * The part of a long log that an earlier try has read before its caller waited no more: it is used once, and soon,
   * and not for a session that may have been made since.
   */
  async #begun(of: Resource): Promise<Unfinished | undefined> {
    const begun = this.#unfinished.get(of.name);
    this.#unfinished.delete(of.name);
    if (begun === undefined || Date.now() - begun.begunAt > MAX_UNFINISHED_MS) {
      return undefined;
    }
    const session = await this.api.get(of);
    const isOlder = session !== undefined && fromRfc3339(session.createTime) < begun.begunAt - this.#clockSkew;
    return isOlder ? begun : undefined;
  }

  /** Reads a log that is not known. */
  async readFirst(of: Resource, range: LogRange): Promise<readonly [SessionLog, ReadPart] | undefined> {
    const part = await this.read(of, range);
    return part && [SessionLog.read(part), part];
  }

  /** The number of changes by this store to what a session shares. */
  writes({ appName: app, userId: user }: SessionKey): number {
    return this.positions.writes(scopeText(app)) + this.positions.writes(scopeText(app, user));
  }

  /** The positions of the values in a session's state. */
  positionsOf({ appName: app, userId: user }: SessionKey, state: ScopedState): Pos {
    return {
      app: this.positions.positionOf(scopeText(app), state.app),
      user: this.positions.positionOf(scopeText(app, user), state.user),
    };
  }
}

function resource(engine: Engine, name: string, caller: StoreContext): Resource {
  return { engine, name, signal: caller.signal, answered: () => caller.answered?.() };
}

/** The name of a scope among positions. */
export function scopeText(app: string, user?: string): string {
  return JSON.stringify([app, user]);
}

/** See `Row.created`: the change that the label names, or the time of a creation that has none. */
export function createdOf({ labels, createTime }: ApiSession): string {
  const label = labels?.[CREATION_LABEL];
  return label === undefined ? createTime : idIn(label);
}

/** The end of a session, as answers have it. */
export function endOf({ expireTime }: ApiSession): Pick<Committed, 'expires'> {
  return expireTime === undefined ? {} : { expires: timeOf(expireTime) };
}

/**
 * True when a session is not there any more, although the API has it. The end is in the API's time, and compared by
 * this machine's clock: no answer states the time.
 */
export function hasEnded(session: ApiSession): boolean {
  const { expires = Infinity } = endOf(session);
  return expires <= Date.now();
}

/** The values of a session by scope. */
export function stateOf({ sessionState }: ApiSession): ScopedState {
  return splitState(sessionState);
}
