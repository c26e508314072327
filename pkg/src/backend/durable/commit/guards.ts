// The guards that a store can compare. A guard that it cannot compare is an error, never omitted silently.

import { defined } from '../../../model/defined.js';
import { StatepadError } from '../../../model/errors.js';
import type { Guard, SessionStore } from '../../../store/contract.js';

/**
 * The guard of a change for a store. Throws `INVALID_ARGUMENT` for a guard of the caller that it cannot compare.
 * `created`, which the service adds by itself, is sent to every store, and a lease's token to the store that has
 * issued it.
 */
export function guardOf({ guards = 'all' }: Pick<SessionStore, 'guards'>, guard: Guard): { readonly guard?: Guard } {
  const { created, keys, rev, pos, fence } = guard;
  if (guards !== 'all' && (rev !== undefined || pos !== undefined)) {
    throw keys === undefined
      ? refused('expectedRevision is not supported: the store does not compare revisions', 'expectedRevision')
      : refused(`updateState has read all keys, but the store does not compare revisions: ${ADVICE}`);
  }
  if (guards === 'none' && keys !== undefined && Object.keys(keys).length > 0) {
    const why = 'the store compares neither values nor revisions';
    throw refused(`updateState cannot protect the writes of others: ${why}`);
  }
  if (guards !== 'none') {
    return { guard };
  }
  const remaining = defined({ created, fence });
  return Object.keys(remaining).length > 0 ? { guard: remaining } : {};
}

const ADVICE = 'read only the needed keys in the function, by their names';

function refused(message: string, path?: string): StatepadError {
  return new StatepadError('INVALID_ARGUMENT', message, defined({ path }));
}
