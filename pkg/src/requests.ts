// Checks what comes in with a request.

import { admitString } from './admit.js';
import { StatepadError } from './errors.js';
import type { GetSessionConfig, ListSessionsRequest, SessionKey } from './types.js';

/** Checks that something is an object at all. */
export function checkObject(given: unknown, path: string): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    invalid(path, 'must be an object');
  }
}

/** Checks the three parts of a key. */
export function checkKey({ appName, userId, sessionId }: SessionKey): SessionKey {
  return { appName: admitString(appName, 'appName'), userId: admitString(userId, 'userId'), sessionId: admitString(sessionId, 'sessionId') };
}

/** Checks a window over the events. */
export function checkConfig(config: GetSessionConfig | undefined): GetSessionConfig | undefined {
  checkCount(config?.numRecentEvents, 'config.numRecentEvents');
  const after = config?.afterTimestamp;
  if (after !== undefined && (typeof after !== 'number' || Number.isNaN(after))) {
    invalid('config.afterTimestamp', 'must be a number of milliseconds');
  }
  return config && { numRecentEvents: config.numRecentEvents, afterTimestamp: after };
}

/** A list request, understood: adk-js's meaning of `limit`, `offset` and `page`. */
export interface ListPlan {
  readonly appName: string;
  readonly userId: string | undefined;
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly cursor: string | undefined;
  /** The page's number where no limit tells it. */
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

/** Checks a count: a whole number, not negative. */
export function checkCount(count: number | undefined, path: string): void {
  if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0)) {
    invalid(path, 'must be a whole number that is not negative');
  }
}

function invalid(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
