// Removing what has expired, in slices. Loaded at the first call.

import { checkOptionalString, invalid } from '../checks/arguments.js';
import { checkNameLimit, checkRequest, REQUESTS } from '../input/requests.js';
import type { SessionBackend, SweepPart } from '../backend/backend.js';
import type { Growth } from './growth-options.js';
import type { Abortable } from '../model/types.js';
import type { SweepAnswer, SweepRequest } from '../model/sweep.js';

/** The most sessions and users of a slice: writers never wait for more. */
const SLICE = 100;

/** The sessions of a service, and its options. */
export interface SweptService {
  readonly begin: (request: Abortable) => Promise<SessionBackend>;
  readonly growth: Pick<Growth, 'userTtl'>;
}

/** See `SessionService.sweep`. `onSlice` is called between two slices, and ends the sweep by answering false. */
export async function sweep(
  service: SweptService,
  request: SweepRequest,
  onSlice: () => Promise<boolean> = async () => true,
): Promise<SweepAnswer> {
  checkRequest(request, REQUESTS.sweep);
  const { appName, limit = Infinity, dryRun = false, signal } = request;
  checkOptionalString(appName, 'appName');
  if (typeof dryRun !== 'boolean') {
    invalid('dryRun', 'must be true or false');
  }
  if (limit !== Infinity) {
    checkNameLimit(limit);
  }
  const sessions = await service.begin(request);
  const { userTtl } = service.growth;
  if (dryRun) {
    const all = { appName, limit: Math.min(limit, Number.MAX_SAFE_INTEGER), userTtl, dry: true } as const;
    const { sessions: expired, users } = await sessions.sweep(all, signal);
    return { sessions: expired, users };
  }
  const removed = { sessions: 0, users: 0 };
  for (let left = limit; ;) {
    signal?.throwIfAborted();
    const part: SweepPart = { appName, limit: Math.min(left, SLICE), userTtl };
    const swept = await sessions.sweep(part, signal);
    removed.sessions += swept.sessions;
    removed.users += swept.users;
    left -= swept.sessions + swept.users;
    if (!swept.more || left <= 0 || !(await onSlice())) {
      return removed;
    }
  }
}
