// The calls of the API, over data in memory.

import { describeSession, expiryOf, firstExpiryOf, newEvent } from './stored.ts';
import {
  checkLabels,
  checkRequired,
  readEmpty,
  readMask,
  typeOf,
} from '../../../pkg/src/serve/agent-engine/wire/bodies.ts';
import {
  ApiError,
  invalidArgument,
  invalidFields,
  notFound,
} from '../../../pkg/src/serve/agent-engine/wire/errors.ts';
import { readFilter } from '../../../pkg/src/serve/agent-engine/wire/filter.ts';
import { pageOf } from '../../../pkg/src/serve/agent-engine/wire/lists.ts';
import { eventTest, sessionTest } from '../../../pkg/src/serve/agent-engine/wire/matches.ts';
import { readMessage, type Message } from '../../../pkg/src/serve/agent-engine/wire/message.ts';
import { Operations } from './operations.ts';
import { isSessionId, nameOf, type Target, type VertexCall } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';
import { hash } from './shuffle.ts';
import { Engine, type StoredEvent, type StoredSession } from './sessions.ts';
import { formatTime } from '../../../pkg/src/serve/agent-engine/wire/time.ts';
import type { Clock } from './clock.ts';
import type { Query } from '../../../pkg/src/serve/agent-engine/wire/query.ts';

/** A call, as its path, its parameters and its body say it. */
export interface Call {
  readonly target: Target;
  readonly query: Query;
  readonly body: unknown;
  /** For how many polls the operation that it starts is undone. */
  readonly polls: number;
}

/** The options of a service. */
export interface ServiceOptions {
  /** The numbers of projects, by their ids. */
  readonly projects: Readonly<Record<string, string>>;
  /** The engines that exist; all do when it is not said. */
  readonly engines: readonly string[] | undefined;
  /** The time that the creation of a session takes, in milliseconds. */
  readonly creationDelay: number;
}

/** The largest number of items on a page, and the default. */
const MAX_PAGE_SIZE = 100;

const TIMES = {
  createTime: (one: StoredSession) => one.createTime,
  updateTime: (one: StoredSession) => one.updateTime,
};

/** A service with its engines. */
export class Service {
  readonly #clock: Clock;
  readonly #options: ServiceOptions;
  readonly #operations: Operations;
  readonly #engines = new Map<string, Engine>();
  readonly #calls: Readonly<Record<VertexCall, (call: Call) => object>>;
  #created = 0;

  constructor(clock: Clock, options: ServiceOptions) {
    this.#clock = clock;
    this.#options = options;
    this.#operations = new Operations(clock);
    this.#calls = {
      createSession: (call) => this.#create(call),
      getSession: (call) => this.#get(call),
      listSessions: (call) => this.#list(call),
      updateSession: (call) => this.#update(call),
      deleteSession: (call) => this.#delete(call),
      listEvents: (call) => this.#listEvents(call),
      appendEvent: (call) => this.#append(call),
      getOperation: (call) => this.#poll(call),
    };
  }

  /** Answers a call, or throws an {@link ApiError}. */
  answer(call: Call): object {
    this.#operations.settle();
    return this.#calls[call.target.call](call);
  }

  #create({ target, query, body, polls }: Call): object {
    const message = readMessage('Session', body, 'session', target.version);
    checkRequired(message, 'session', { userId: 'user_id' });
    checkLabels(message['labels']);
    const engine = this.#engineOf(target);
    const id = this.#newSessionId(engine, target, query['sessionId']);
    const session = this.#newSession(id, message);
    engine.add(session);
    const name = this.#nameOf(target, id);
    return this.#operations.start({
      parent: name,
      metadata: typeOf(target.version, 'CreateSessionOperationMetadata'),
      result: typeOf(target.version, 'Session'),
      polls,
      delay: BigInt(this.#options.creationDelay) * 1_000_000n,
      finish: () => {
        engine.write(session, (message['sessionState'] ?? new Map()) as Map<string, unknown>);
        session.isReady = true;
        return this.#createdOf(session, name, message);
      },
    });
  }

  /** An id that is free, the given one if there is one. */
  #newSessionId(engine: Engine, target: Target, given: string | undefined): string {
    if (!given) {
      return this.#clock.newId();
    }
    if (!isSessionId(given)) {
      throw invalidFields(['session_id', 'Invalid Session ID.']);
    }
    if (engine.isTaken(given)) {
      const name = this.#nameOf(target, given);
      throw new ApiError('INVALID_ARGUMENT', `Session with user-provided ID '${name}' already exists.`);
    }
    return given;
  }

  #newSession(id: string, message: Message): StoredSession {
    const expireTime = firstExpiryOf(message, this.#clock.tick());
    const goneTime = firstExpiryOf(message, this.#clock.now());
    const time = this.#clock.tick();
    const { userId, displayName, labels } = message as { userId: string } & Message;
    const number = (this.#created += 1);
    const times = { createTime: time, updateTime: time, expireTime, goneTime };
    return { id, userId, number, displayName, labels, own: new Map(), ...times, isReady: false, events: [] };
  }

  /** The answer of a creation: the requested state, and times that differ slightly from those of the session. */
  #createdOf({ userId, displayName, labels }: StoredSession, name: string, { sessionState }: Message): object {
    const time = formatTime(this.#clock.tick());
    return { name, createTime: time, updateTime: time, displayName, sessionState, labels, userId };
  }

  #get({ target, body }: Call): object {
    readEmpty(body);
    const engine = this.#engineOf(target);
    return this.#describe(engine, this.#find(engine, target, invalidName), target);
  }

  #update({ target, query, body }: Call): object {
    const message = readMessage('Session', body, 'session', target.version);
    checkLabels(message['labels']);
    const engine = this.#engineOf(target);
    const session = this.#find(engine, target, invalidName);
    const names = readMask(query['updateMask'], message);
    const time = this.#clock.tick();
    const written = pick(message, names);
    const [expireTime, goneTime] = [expiryOf(written, time), expiryOf(written, this.#clock.now())];
    if (names.includes('displayName')) {
      session.displayName = message['displayName'];
    }
    if (names.includes('labels')) {
      session.labels = message['labels'];
    }
    if (names.includes('sessionState')) {
      session.own.clear();
      engine.write(session, (message['sessionState'] ?? new Map()) as Map<string, unknown>);
    }
    session.expireTime = expireTime ?? session.expireTime;
    session.goneTime = goneTime ?? session.goneTime;
    session.updateTime = time;
    return this.#describe(engine, session, target);
  }

  #delete({ target, body, polls }: Call): object {
    readEmpty(body);
    const engine = this.#engineOf(target);
    const session = this.#find(engine, target, invalidName);
    return this.#operations.start({
      parent: nameOf({ ...this.#numbered(target), engine: '', session: '' }),
      metadata: typeOf(target.version, 'DeleteOperationMetadata'),
      result: 'type.googleapis.com/google.protobuf.Empty',
      polls,
      finish: () => {
        engine.remove(session);
        return {};
      },
    });
  }

  #list({ target, query, body }: Call): object {
    readEmpty(body);
    const engine = this.#engineOf(target);
    const comparisons = readFilter(query['filter'] ?? '').map(sessionTest);
    const { items, nextPageToken } = pageOf({
      title: `sessions of ${this.#nameOf(target)}`,
      items: engine.all().filter((session) => comparisons.every((test) => test(session))),
      query,
      times: TIMES,
      orderBy: 'create_time desc',
      number: (session) => session.number,
      maxSize: MAX_PAGE_SIZE,
    });
    const sessions = items.map((session) => this.#describe(engine, session, target));
    return { ...(sessions.length > 0 && { sessions }), nextPageToken };
  }

  #append({ target, body }: Call): object {
    const message = readMessage('SessionEvent', body, 'event', target.version);
    checkRequired(message, 'event', { author: 'author', invocationId: 'invocation_id', timestamp: 'timestamp' });
    const engine = this.#engineOf(target);
    const session = this.#find(engine, target, invalidArgument);
    const name = `${this.#nameOf(target, session.id)}/events/${this.#clock.newId()}`;
    session.events.push(newEvent(message, name, session.events.length + 1));
    const { stateDelta = new Map() } = (message['actions'] ?? {}) as Message;
    engine.write(session, stateDelta as Map<string, unknown>);
    session.updateTime = this.#clock.tick();
    return {};
  }

  #listEvents({ target, query, body }: Call): object {
    readEmpty(body);
    const session = this.#find(this.#engineOf(target), target, invalidArgument);
    const comparisons = readFilter(query['filter'] ?? '').map(eventTest);
    const { items, nextPageToken } = pageOf({
      title: `events of ${this.#nameOf(target, session.id)}`,
      items: session.events.filter((event) => comparisons.every((test) => test(event))),
      query,
      times: { timestamp: (event: StoredEvent) => event.time },
      orderBy: 'timestamp',
      number: (event) => event.number,
      maxSize: MAX_PAGE_SIZE,
    });
    const sessionEvents = items.map(({ message }) => message);
    return { ...(sessionEvents.length > 0 && { sessionEvents }), nextPageToken };
  }

  #poll({ target, body }: Call): object {
    readEmpty(body);
    return this.#operations.poll(`${nameOf(this.#numbered(target))}/operations/${target.operation}`);
  }

  /** The engine of a target, with nothing in it when nothing was. */
  #engineOf(target: Target): Engine {
    const { engines } = this.#options;
    if (engines !== undefined && !engines.includes(target.engine)) {
      throw new ApiError('NOT_FOUND', 'The ReasoningEngine does not exist.');
    }
    const name = nameOf({ ...this.#numbered(target), session: '' });
    const engine = this.#engines.get(name) ?? new Engine(() => this.#clock.now());
    this.#engines.set(name, engine);
    return engine;
  }

  #find(engine: Engine, { session: id, name }: Target, illFormed: () => ApiError): StoredSession {
    if (!isSessionId(id)) {
      throw illFormed();
    }
    const session = engine.find(id);
    if (session === undefined) {
      throw notFound('Session', name);
    }
    return session;
  }

  #describe(engine: Engine, session: StoredSession, target: Target): object {
    return describeSession(session, this.#nameOf(target, session.id), engine.stateOf(session));
  }

  /** A target with the number of its project. */
  #numbered(target: Target): Target {
    const { project } = target;
    const { projects } = this.#options;
    const number = /^\d+$/.test(project) ? project : Object.hasOwn(projects, project) ? projects[project] : undefined;
    return { ...target, project: number ?? String(100_000_000_000 + hash(project)) };
  }

  /** The name of an engine or a session of it in answers. */
  #nameOf(target: Target, session = ''): string {
    return nameOf({ ...this.#numbered(target), session });
  }
}

function invalidName(): ApiError {
  return invalidFields(['name', 'Invalid Session resource name.']);
}

function pick(message: Message, names: readonly string[]): Message {
  return Object.fromEntries(names.map((name) => [name, message[name]]));
}
