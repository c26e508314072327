// Requests with an identity: what their changes say of it, and the answers of a store that knows them.

import { defined } from '../../../model/defined.js';
import { keyReused, refusedBefore, type Once } from '../../../model/once.js';
import type { StatepadError } from '../../../model/errors.js';
import type { StoreError } from '../../../store/store-error.js';
import type { Change, Committed, SessionStore } from '../../../store/contract.js';

/**
 * The members of a change that is the only one of a request. Each attempt of the request counts as a repeated one, so
 * that a store that remembers refused calls does so in the step that refuses. (For others `attempt` would be a reason
 * to doubt what they find, and nothing more.)
 */
export function requestMembers(
  { keeps = [] }: Pick<SessionStore, 'keeps'>,
  once: Pick<Once, 'digest'> | undefined,
): Pick<Change, 'digest' | 'attempt'> {
  return once === undefined ? {} : defined({ digest: once.digest, attempt: keeps.includes('calls') ? 2 : undefined });
}

/** The error for a change of a request that was refused because an earlier one was; `undefined` for other refusals. */
export function requestRefusal(error: StoreError, once: Pick<Once, 'digest'> | undefined): StatepadError | undefined {
  const { code, digest } = error;
  if (once === undefined || code !== 'conflict' || digest === undefined) {
    return undefined;
  }
  return digest === once.digest ? refusedBefore(error) : keyReused(error);
}

/** Checks that an earlier attempt was one of the same request. Throws `KEY_REUSED`. */
export function checkRequest({ digest }: Committed, once: Pick<Once, 'digest'>): void {
  if (digest !== undefined && digest !== once.digest) {
    throw keyReused();
  }
}
