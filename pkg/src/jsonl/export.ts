// From a service to JSON lines.

import { notFound } from '../session/append.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { isObject } from '../model/value-types.js';
import { checkFunction, checkOptions, invalid } from '../checks/arguments.js';
import { checkTarget } from '../input/requests.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import { VERSION, type Line, type ScopeLine, type SessionLine } from './format.js';
import { defined } from '../model/defined.js';
import { put } from '../model/json.js';
import { inAdvance } from '../async/in-advance.js';
import type { Beginning } from '../service/log-reader.js';
import type { SessionService } from '../service/session-service.js';
import type { Signal } from '../async/abort.js';
import type { SessionOperations } from '../model/operations.js';
import type { Abortable, Event, Json, Session, SessionKey, SessionName, UpdateStateTarget } from '../model/types.js';

/** The number of sessions on a page of the list. */
const PAGE = 500;
/** The number of sessions that are read while the lines of another one are taken. */
const AHEAD = 8;

/** Options of `exportLines`. */
export interface ExportOptions extends Abortable {
  /** Only sessions whose last event has this time or a later one, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only the sessions for which this is true. */
  readonly only?: ((session: SessionKey) => boolean) | undefined;
  /**
   * Called for each session that the store cannot read, with its error. Without it the first of these errors is thrown
   * after the last line.
   */
  readonly onUnreadable?: ((session: SessionKey, error: StatepadError) => void) | undefined;
}

/**
 * The content of an app, of a user in it, or of one session, as JSON lines without line ends: the sessions by the
 * time of their last event, each as it was created and with its events; then the current values of the app and of
 * each user concerned: of an app also those who have no session. `temp:` keys are never among them. Equal sessions
 * always give equal lines.
 *
 * Concurrent writes may be in the lines or not; each session is consistent at one moment.
 *
 * `service` may be a client of a server, too. A few sessions are read ahead, and no more are held in memory.
 *
 * Throws `INVALID_ARGUMENT` for a `sessionId` without a `userId`, `SESSION_NOT_FOUND` for a missing session, and the
 * errors of the service. A session that the store cannot read does not prevent the export of the others:
 * `STORE_CORRUPT` is thrown after the last line, or all of them go to `onUnreadable`.
 *
 * @example
 * for await (const line of exportLines(service, { appName: 'tutor', userId: 'ana' })) {
 *   await file.write(`${line}\n`);
 * }
 */
export async function* exportLines(
  service: SessionOperations,
  target: UpdateStateTarget | SessionName,
  options: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  checkService(service);
  const { appName, userId, sessionId } = checkTarget(target);
  checkExportOptions(options);
  const { signal, onUnreadable } = options;
  const users = new Set(userId === undefined ? [] : [userId]);
  let unread: StatepadError | undefined;

  yield write({ kind: 'statepad', version: VERSION });
  const keys = keysOf(service, { appName, userId, sessionId }, options);
  const read = async (key: SessionKey): Promise<Read> => ({ key, lines: await sessionLines(service, key, options) });
  for await (const { key, lines } of inAdvance(keys, AHEAD, read)) {
    if (!isStatepadError(lines)) {
      users.add(key.userId);
      yield* lines;
    } else if (lines.code === 'STORE_CORRUPT') {
      unread ??= lines;
      onUnreadable?.(key, lines);
    } else if (sessionId !== undefined) {
      throw lines;
    }
  }

  yield write({ kind: 'scope', appName, state: await service.getAppState({ appName, signal }) });
  const scopeOf = async (user: string): Promise<ScopeLine> => {
    const state = await service.getUserState({ appName, userId: user, signal });
    return { kind: 'scope', appName, userId: user, state };
  };
  for await (const line of inAdvance(users, AHEAD, scopeOf)) {
    yield write(line);
  }
  if (userId === undefined && options.only === undefined && options.since === undefined) {
    for await (const line of inAdvance(otherUsers(service, appName, users, signal), AHEAD, scopeOf)) {
      if (Object.keys(line.state).length > 0) {
        yield write(line);
      }
    }
  }
  if (unread !== undefined && onUnreadable === undefined) {
    throw unread;
  }
}

/** The users of an app who have values and no session; none over a store that cannot list users. */
async function* otherUsers(
  service: SessionOperations,
  appName: string,
  known: ReadonlySet<string>,
  signal: Signal | undefined,
): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await service.listUsers({ appName, limit: PAGE, cursor, signal }).catch((error: unknown) => {
      if (isStatepadError(error) && error.code === 'INVALID_ARGUMENT') {
        return { users: [], cursor: undefined };
      }
      throw error;
    });
    yield* page.users.filter((user) => !known.has(user));
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** A session that was read. */
interface Read {
  readonly key: SessionKey;
  readonly lines: Iterable<string> | StatepadError;
}

function checkExportOptions(options: ExportOptions): void {
  checkOptions(options, ['signal', 'since', 'only', 'onUnreadable']);
  if (options.since !== undefined && !Number.isFinite(options.since)) {
    invalid('since', 'must be a number of milliseconds');
  }
  for (const name of ['only', 'onUnreadable'] as const) {
    if (options[name] !== undefined) {
      checkFunction(options[name], name);
    }
  }
}

/** Checks the methods of a service, which may be of another copy of the package. */
function checkService(service: unknown): void {
  const methods = ['getSession', 'listSessions', 'stateAt', 'history', 'getAppState', 'getUserState'];
  if (
    !isObject(service) ||
    !methods.every((name) => typeof (service as Partial<Record<string, unknown>>)[name] === 'function')
  ) {
    throw new StatepadError('INVALID_ARGUMENT', 'service must be a SessionService, or a client of one', {
      path: 'service',
    });
  }
}

function write(line: Line): string {
  return JSON.stringify(line);
}

/** The requested sessions, each once. */
async function* keysOf(
  service: SessionOperations,
  target: UpdateStateTarget,
  { signal, since = -Infinity, only = () => true }: ExportOptions,
): AsyncGenerator<SessionKey> {
  const { appName, userId, sessionId } = target;
  if (sessionId !== undefined && userId !== undefined) {
    yield { appName, userId, sessionId };
    return;
  }
  // A session that gets an event in the meantime comes again, on a later page.
  const exported = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await service.listSessions({ appName, userId, limit: PAGE, cursor, signal });
    // Sessions that the list cannot show throw when they are read.
    const recent = page.sessions.filter(({ lastUpdateTime }) => lastUpdateTime >= since);
    for (const key of [...recent.map(keyOf), ...(page.corrupt ?? [])]) {
      const name = JSON.stringify([key.userId, key.sessionId]);
      if (!exported.has(name) && only(key)) {
        exported.add(name);
        yield key;
      }
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}

function keyOf({ appName, userId, id }: Session): SessionKey {
  return { appName, userId, sessionId: id };
}

/** The lines of a session; or the reason for their absence: it cannot be read, or it was deleted. */
async function sessionLines(
  service: SessionOperations,
  key: SessionKey,
  options: Abortable,
): Promise<Iterable<string> | StatepadError> {
  const { sessionId: id } = key;
  try {
    const session = await service.getSession({ ...key, signal: options.signal });
    return session === undefined
      ? notFound(id)
      : written(await sessionLine(service, session, options), session.events);
  } catch (error) {
    if (isStatepadError(error) && (error.code === 'STORE_CORRUPT' || error.code === 'SESSION_NOT_FOUND')) {
      return error;
    }
    throw error;
  }
}

/** Generates the lines one by one: all events as text at once would be large. */
function* written(session: SessionLine, events: readonly Event[]): Generator<string, void, undefined> {
  yield write(session);
  for (const event of events) {
    yield write({ kind: 'event', event: inOrder(event) });
  }
}

/** A session as it was created, as far as its log has that. */
async function sessionLine(service: SessionOperations, session: Session, { signal }: Abortable): Promise<SessionLine> {
  const { appName, userId, id, events, lastUpdateTime, expireTime } = session;
  const {
    timestamp,
    ttl,
    state: values,
  } = hasLogReader(service)
    ? await (await service.logReader({ signal })).beginning(session, signal)
    : await toldBeginning(service, session, signal);
  const state: Record<string, Json> = {};
  for (const key of inOneOrder(Object.keys(values))) {
    put(state, key, values[key] as Json);
  }
  return {
    kind: 'session',
    appName,
    userId,
    id,
    timestamp: timestamp ?? events[0]?.timestamp ?? lastUpdateTime,
    ...(expireTime !== undefined && defined({ expireTime, ttl })),
    state,
  };
}

/** True for a service, which reads its logs itself; a client of a server does not. */
function hasLogReader(service: object): service is Pick<SessionService, 'logReader'> {
  return typeof (service as { readonly logReader?: unknown }).logReader === 'function';
}

/** The beginning by the operations that every service and client has. */
async function toldBeginning(
  service: SessionOperations,
  session: Session,
  signal: Signal | undefined,
): Promise<Beginning> {
  const before = await service.stateAt(session, 0, { signal });
  const state: Record<string, Json> = {};
  let timestamp: number | undefined;
  for (const key of Object.keys(before)) {
    if (timestamp !== undefined && !isShared(key)) {
      // The log has the creation, and with it all of the session's own keys.
      put(state, key, before[key] as Json);
      continue;
    }
    const [step] = await service.history(session, key, { until: 0, signal });
    timestamp ??= step?.timestamp;
    if (step?.to !== undefined) {
      put(state, key, step.to);
    } else if (!isShared(key)) {
      // The store does not know its beginning: no event can have written this key.
      put(state, key, before[key] as Json);
    }
  }
  return { ...defined({ timestamp }), state };
}

/** The session's own keys in the order of writing; the others in an order that does not depend on other sessions. */
function inOneOrder(keys: readonly string[]): string[] {
  return [...keys.filter((key) => !isShared(key)), ...keys.filter(isShared).sort()];
}

/** True when other sessions may have written it, too. */
function isShared(key: string): boolean {
  return key.startsWith(APP_PREFIX) || key.startsWith(USER_PREFIX);
}

/** An event with its actions after its other members, as they are when it is appended again. */
function inOrder({ actions, ...members }: Event): Event {
  return { ...members, actions };
}
