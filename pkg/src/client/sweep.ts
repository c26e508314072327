// Sweeping over HTTP.

import { pathTo, PATHS } from '../http/paths.js';
import { checkOptionalString } from '../checks/arguments.js';
import { checkNameLimit, checkRequest, REQUESTS } from '../input/requests.js';
import type { Calls } from './calls.js';
import type { SweepAnswer, SweepRequest } from '../model/sweep.js';

/** Checks a request to sweep. */
export function checkSweep(request: SweepRequest): void {
  checkRequest(request, REQUESTS.sweep);
  checkOptionalString(request.appName, 'appName');
  if (request.limit !== Infinity) {
    checkNameLimit(request.limit);
  }
}

/** The most that one request of a sweep removes: it is answered well within the time of an attempt. */
const SWEPT_AT_ONCE = 500;

/**
 * Removes what has expired, request by request. One that is repeated because its answer was lost finds the rest, and
 * does not count again what the lost one has removed.
 */
export async function sweep(
  calls: Calls,
  { appName, limit = Infinity, dryRun = false, signal }: SweepRequest,
): Promise<SweepAnswer> {
  const path = appName === undefined ? PATHS.sweep : pathTo(PATHS.sweepApp, { appName });
  const swept = { sessions: 0, users: 0 };
  for (let isMore = true, left = limit; isMore && left > 0;) {
    const atOnce = dryRun ? limit : Math.min(left, SWEPT_AT_ONCE);
    const body = { ...(Number.isFinite(atOnce) && { limit: atOnce }), ...(dryRun && { dryRun }) };
    const call = { method: 'POST', path, body, repeats: 'by content', signal } as const;
    const { sessions, users, more } = (await calls.write<SweepAnswer & { readonly more: boolean }>(call)).json;
    swept.sessions += sessions;
    swept.users += users;
    left -= sessions + users;
    isMore = more && !dryRun;
  }
  return swept;
}
