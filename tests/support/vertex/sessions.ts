// The data of the service: engines, and in them the sessions with their events and their shared state.

import type { Message } from '../../../pkg/src/serve/agent-engine/wire/message.ts';

/** State, by keys with their prefixes. */
export type State = Map<string, unknown>;

/** An event as it was appended. */
export interface StoredEvent {
  /** Its place in the order of arrival, from 1. */
  readonly number: number;
  /** Nanoseconds since the epoch. */
  readonly time: bigint;
  readonly message: Message;
}

/** A session. Times are nanoseconds since the epoch. */
export interface StoredSession {
  readonly id: string;
  readonly userId: string;
  /** Its place in the order of creation, from 1. */
  readonly number: number;
  displayName: unknown;
  labels: unknown;
  /** The state that is its own. */
  own: State;
  createTime: bigint;
  updateTime: bigint;
  expireTime: bigint;
  /** The time when it is gone by the clock of the host, which may be less than a millisecond before. */
  goneTime: bigint;
  /** True when the operation that creates it is done. */
  isReady: boolean;
  readonly events: StoredEvent[];
}

/** The sessions of one engine, and the state of the app that it is and of its users. */
export class Engine {
  readonly #sessions = new Map<string, StoredSession>();
  readonly #app: State = new Map();
  readonly #users = new Map<string, State>();
  readonly #now: () => bigint;

  constructor(now: () => bigint) {
    this.#now = now;
  }

  /** A session that is there and has not expired. */
  find(id: string): StoredSession | undefined {
    const session = this.#standing(id);
    return session?.isReady === true ? session : undefined;
  }

  /** True when a new session cannot have an id, since another has it or is about to. */
  isTaken(id: string): boolean {
    return this.#standing(id) !== undefined;
  }

  /** All sessions that are there. */
  all(): StoredSession[] {
    return [...this.#sessions.keys()].flatMap((id) => this.find(id) ?? []);
  }

  add(session: StoredSession): void {
    this.#sessions.set(session.id, session);
  }

  /** Removes a session, but not another that has its id by now. What it shared stays. */
  remove(session: StoredSession): void {
    if (this.#sessions.get(session.id) === session) {
      this.#sessions.delete(session.id);
    }
  }

  /** Writes values where their keys belong. Those of `temp:` belong nowhere. */
  write(session: StoredSession, values: ReadonlyMap<string, unknown>): void {
    for (const [key, value] of values) {
      this.#stateOf(session, key)?.set(key, value);
    }
  }

  /** The state that a session sees: its own, that of its user, and that of the app. */
  stateOf(session: StoredSession): State {
    return new Map([...session.own, ...(this.#users.get(session.userId) ?? []), ...this.#app]);
  }

  #standing(id: string): StoredSession | undefined {
    const session = this.#sessions.get(id);
    if (session !== undefined && session.goneTime <= this.#now()) {
      this.#sessions.delete(id);
      return undefined;
    }
    return session;
  }

  #stateOf(session: StoredSession, key: string): State | undefined {
    if (key.startsWith('app:')) {
      return this.#app;
    }
    if (key.startsWith('user:')) {
      const state = this.#users.get(session.userId) ?? new Map<string, unknown>();
      this.#users.set(session.userId, state);
      return state;
    }
    return key.startsWith('temp:') ? undefined : session.own;
  }
}
