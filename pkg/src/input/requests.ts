// Checks of whole requests.

import { StatepadError } from '../model/errors.js';
import { describe, isObject } from '../model/value-types.js';
import {
  checkCount,
  checkNames,
  checkObject,
  checkOptionalString,
  checkOptions,
  checkSignal,
  invalid,
  admitString,
} from '../checks/arguments.js';
import { ACTION_NAMES, EVENT_NAMES, likelyName, namesOf, type Names } from '../checks/names.js';
import type {
  GetSessionConfig,
  ListSessionsRequest,
  SessionKey,
  SessionName,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../model/types.js';
import type { SharedKey } from '../model/past.js';
import type { WatchOptions, WatchTarget, WholePlace, WholeSessionKey, WholeWatchOptions } from '../model/watch.js';

/** The members of a session and of its key: any request may be one, with further members beside them. */
const SESSION = [
  'id',
  'sessionId',
  'appName',
  'userId',
  'state',
  'events',
  'lastUpdateTime',
  'revision',
  'expireTime',
];

const requestOf = (what: string, ...known: readonly string[]): Names =>
  namesOf(`the request of ${what}`, [...known, 'signal'], { others: SESSION });

/** The members that each request may have. */
export const REQUESTS = {
  createSession: requestOf('createSession', 'appName', 'userId', 'state', 'sessionId', 'ttl', 'expireTime'),
  getSession: requestOf('getSession', 'appName', 'userId', 'sessionId', 'config'),
  listSessions: requestOf('listSessions', 'appName', 'userId', 'limit', 'offset', 'page', 'order', 'cursor'),
  deleteSession: requestOf('deleteSession', 'appName', 'userId', 'sessionId'),
  appendEvent: requestOf('appendEvent', 'session', 'event', 'expectedRevision'),
  getAppState: requestOf('getAppState', 'appName'),
  getUserState: requestOf('getUserState', 'appName', 'userId'),
  listApps: requestOf('listApps', 'limit', 'cursor'),
  listUsers: requestOf('listUsers', 'appName', 'limit', 'cursor'),
  sweep: requestOf('sweep', 'appName', 'limit', 'dryRun'),
  target: namesOf('the target', ['appName', 'userId', 'sessionId', 'whole'], { others: SESSION }),
} as const;

/** The members that the options of each operation may have. */
export const OPTIONS = {
  service: [
    'now',
    'store',
    'persist',
    'restore',
    'migrate',
    'timeout',
    'retry',
    'cachedEvents',
    'log',
    'limits',
    'ttl',
    'userTtl',
    'sweepEvery',
    'admit',
  ],
  limits: ['value', 'delta', 'event', 'state', 'keys', 'events'],
  abortable: ['signal'],
  history: ['until', 'last', 'signal'],
  invocation: ['invocationId', 'author'],
  updateState: ['attempts', 'author', 'invocationId', 'signal'],
  sessionHistory: ['until', 'last', 'detailed', 'signal'],
  stateAt: ['detailed', 'signal'],
  trim: ['before', 'upTo', 'signal'],
  watch: ['since', 'initial', 'poll', 'background', 'buffer', 'signal'],
  config: ['numRecentEvents', 'afterTimestamp'],
  lease: ['ttl', 'signal'],
  withLease: ['ttl', 'wait', 'signal'],
  rewind: ['before', 'signal', 'artifacts'],
  redo: ['signal', 'artifacts'],
  fork: ['at', 'sessionId', 'ttl', 'expireTime', 'signal'],
  retry: ['attempts', 'pause'],
  render: ['state', 'artifact'],
} as const;

/** Checks a request: its type, near misses of known names, and its `signal`. */
export function checkRequest(input: unknown, names: Names): void {
  checkObject(input, 'request');
  checkRequestNames(input as object, names);
  checkSignal((input as { readonly signal?: unknown }).signal);
}

/** Accepts any members of a session that is passed as a request. */
function checkRequestNames(input: object, names: Names): void {
  if (!isSession(input)) {
    checkNames(Object.keys(input), names);
  }
}

/** Checks the names of an event's members, and of those of its actions. */
export function checkEventNames(names: readonly string[], actionNames: readonly string[]): void {
  checkNames(names, EVENT_NAMES, inActions);
  checkNames(actionNames, ACTION_NAMES);
}

/** A hint for a delta that was put beside the actions. */
function inActions(name: string): string | undefined {
  return likelyName(name, ['stateDelta']) && 'actions.stateDelta';
}

/** True for a session in the place of a key: its `id` is the session's. */
function isSession(input: object): input is { readonly id: string } {
  const { id, sessionId } = input as { readonly id?: unknown; readonly sessionId?: unknown };
  return typeof id === 'string' && sessionId === undefined;
}

/** The id of the session that a request names, or that it is. */
export function sessionIdOf(input: object): unknown {
  return isSession(input) ? input.id : (input as { readonly sessionId?: unknown }).sessionId;
}

/** Checks the three parts of a key, or of a session in the place of a key. */
export function checkKey(input: SessionKey | SessionName): SessionKey {
  const { appName, userId } = input;
  return {
    appName: admitString(appName, 'appName'),
    userId: admitString(userId, 'userId'),
    sessionId: admitString(sessionIdOf(input), 'sessionId'),
  };
}

/** Checks the target of an update: a key, a part of one, or a session. */
export function checkTarget(input: UpdateStateTarget | SessionName): UpdateStateTarget {
  checkObject(input, 'target');
  checkRequestNames(input, REQUESTS.target);
  const { appName, userId } = input;
  const sessionId = sessionIdOf(input);
  checkOptionalString(userId, 'userId');
  checkOptionalString(sessionId, 'sessionId');
  if (sessionId !== undefined && userId === undefined) {
    invalid('userId', 'is missing: a sessionId needs one');
  }
  return { appName: admitString(appName, 'appName'), userId, sessionId: sessionId as string | undefined };
}

/** Checks the options of an update. */
export function checkUpdateOptions(input: UpdateStateOptions): UpdateStateOptions {
  checkOptions(input, OPTIONS.updateState);
  const { attempts, author, invocationId } = input;
  if (attempts !== undefined && !(Number.isSafeInteger(attempts) && attempts >= 1)) {
    invalid('attempts', `must be a whole number from 1, not ${describe(attempts)}`);
  }
  checkOptionalString(author, 'author');
  checkOptionalString(invocationId, 'invocationId');
  return input;
}

/** True for the `app:` or `user:` key of a history without a session. */
export function isSharedKey(input: unknown): input is SharedKey {
  return isObject(input) && 'key' in input && !('id' in input);
}

/** Checks options with the member `detailed`. */
export function checkDetailed(input: { readonly detailed?: unknown }, known: readonly string[]): void {
  checkOptions(input, known);
  if (input.detailed !== undefined && typeof input.detailed !== 'boolean') {
    invalid('detailed', `must be true or false, not ${describe(input.detailed)}`);
  }
}

/** True when the target of a watch is a whole session. Its key was checked. */
export function isWhole(input: WatchTarget): input is WholeSessionKey {
  const { whole } = input as { readonly whole?: unknown };
  if (whole !== undefined && typeof whole !== 'boolean') {
    invalid('whole', `must be true or false, not ${describe(whole)}`);
  }
  if (whole === true && sessionIdOf(input) === undefined) {
    invalid('whole', 'is for a session: sessionId is missing');
  }
  return whole === true;
}

/** Checks the options of a watch of a whole session. */
export function checkWholeOptions(input: WholeWatchOptions): WholeWatchOptions {
  checkPace(input);
  const { since, initial } = input;
  if (since !== undefined) {
    checkObject(since, 'since');
    for (const name of ['revision', 'user', 'app'] as const) {
      const count: number | undefined = (since as Partial<WholePlace>)[name];
      if (count === undefined) {
        invalid(`since.${name}`, 'is missing');
      }
      checkCount(count, `since.${name}`);
    }
    checkOptionalString(since.mark, 'since.mark');
  }
  if (initial && since !== undefined) {
    invalid('initial', 'cannot go together with since');
  }
  return input;
}

/** Checks the options of a watch. */
export function checkWatchOptions(input: WatchOptions, { sessionId }: UpdateStateTarget): WatchOptions {
  checkPace(input);
  const { since, initial } = input;
  checkCount(since, 'since');
  if (initial && (sessionId !== undefined || since !== undefined)) {
    invalid('initial', 'is only for an app or a user, without since: for a session use whole: true');
  }
  return input;
}

/** Checks the options that all watches share, and their names. */
function checkPace(input: WatchOptions | WholeWatchOptions): void {
  checkOptions(input, OPTIONS.watch);
  const { initial, background, poll = 1, buffer = 1 } = input;
  for (const [name, flag] of Object.entries({ initial, background })) {
    if (flag !== undefined && typeof flag !== 'boolean') {
      invalid(name, `must be true or false, not ${describe(flag)}`);
    }
  }
  if (!(typeof poll === 'number' && poll >= 1)) {
    invalid('poll', `must be a number of milliseconds from 1, not ${describe(poll)}`);
  }
  if (!(Number.isSafeInteger(buffer) && buffer >= 1)) {
    invalid('buffer', `must be a whole number from 1, not ${describe(buffer)}`);
  }
}

/** Checks the name of a session: a handle, or any object with its `id`, `appName` and `userId`. */
export function checkSession(input: unknown): void {
  checkObject(input, 'session');
  const { appName, userId, id } = input as Record<string, unknown>;
  admitString(appName, 'session.appName');
  admitString(userId, 'session.userId');
  admitString(id, 'session.id');
}

/** Checks a window over the events. */
export function checkConfig(config: GetSessionConfig | undefined): GetSessionConfig | undefined {
  checkOptions(config, OPTIONS.config, 'config');
  checkCount(config?.numRecentEvents, 'config.numRecentEvents');
  const after = config?.afterTimestamp;
  if (after !== undefined && (typeof after !== 'number' || Number.isNaN(after))) {
    invalid('config.afterTimestamp', `must be a number of milliseconds, not ${describe(after)}`);
  }
  return config && { numRecentEvents: config.numRecentEvents, afterTimestamp: after };
}

/** Checks a revision of a session that is at `actual`. `path` names it in the error. Throws `INVALID_ARGUMENT`. */
export function checkRevisionUpTo(actual: number, id: string, revision: number, path: string): void {
  if (!Number.isSafeInteger(revision) || revision < 0 || revision > actual) {
    const message = `session "${id}" has the revisions 0 to ${actual} here, and not ${describe(revision)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { id, path, actual });
  }
}

/** Checks the limit of a list of apps or users, or of a sweep. */
export function checkNameLimit(limit: number | undefined): void {
  checkCount(limit, 'limit');
  if (limit === 0) {
    invalid('limit', 'must be at least 1');
  }
}

/** A checked list request, with adk-js's meaning of `limit`, `offset` and `page`. */
export interface ListPlan {
  readonly appName: string;
  readonly userId: string | undefined;
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly cursor: string | undefined;
  /** The page's number when no limit determines it. */
  readonly page: number;
}

const ORDERS: readonly unknown[] = [undefined, 'asc', 'desc'];

/** Checks a list request. */
export function checkList(request: ListSessionsRequest): ListPlan {
  const { appName, userId, limit, offset, page, order, cursor } = request;
  checkCount(limit, 'limit');
  checkCount(offset, 'offset');
  checkCount(page, 'page');
  if (page !== undefined && (limit === undefined || page < 1)) {
    invalid('page', limit === undefined ? 'needs a limit' : 'is counted from 1');
  }
  if (!ORDERS.includes(order)) {
    invalid('order', "must be 'asc' or 'desc'");
  }
  if (cursor !== undefined && (page !== undefined || offset !== undefined)) {
    invalid('cursor', 'cannot go together with page or offset');
  }
  return {
    appName: admitString(appName, 'appName'),
    userId: userId === undefined ? undefined : admitString(userId, 'userId'),
    descending: order === 'desc',
    limit,
    offset: page !== undefined && limit !== undefined ? (page - 1) * limit : (offset ?? 0),
    cursor: cursor === undefined ? undefined : admitString(cursor, 'cursor'),
    page: page ?? 1,
  };
}
