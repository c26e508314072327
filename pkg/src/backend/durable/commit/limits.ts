// The limits of changes for a store, and the caller's error for what it refuses.

import { defined } from '../../../model/defined.js';
import { limitExceeded, type Limits } from '../../../model/limits.js';
import { StatepadError } from '../../../model/errors.js';
import { fullKey } from '../../../model/scope.js';
import type { StoreError } from '../../../store/store-error.js';
import type { Change, SessionStore, StoreLimits } from '../../../store/contract.js';
import type { UpdateStateTarget } from '../../../model/types.js';

/** The limits of one service over a store. */
export interface ServiceLimits {
  /** All limits. */
  readonly all: Limits;
  /** The members of an append, and of other changes, for the store. */
  readonly ofAppend: Pick<Change, 'limits'>;
  readonly ofOther: Pick<Change, 'limits'>;
  /** True when the service resolves all operators, as the store would not compare their results with `value`. */
  readonly resolvesHere: boolean;
}

/**
 * The limits that a store compares: none where it cannot, as those that were named are refused before. `isValueNamed`:
 * the options name a limit of values.
 */
export function serviceLimits(
  { keeps = [] }: Pick<SessionStore, 'keeps'>,
  all: Limits,
  isValueNamed: boolean,
): ServiceLimits {
  const { value, state, keys, events } = all;
  const isKept = keeps.includes('limits');
  const members = (limits: StoreLimits): Pick<Change, 'limits'> => {
    const finite = Object.entries(limits).filter(([, limit]) => limit !== Infinity);
    return isKept && finite.length > 0 ? { limits: Object.freeze(Object.fromEntries(finite)) } : {};
  };
  return {
    all,
    ofAppend: members({ value, state, keys, events }),
    ofOther: members({ value, state, keys }),
    resolvesHere: !isKept && isValueNamed && value !== Infinity,
  };
}

/**
 * The error for a change that a store refuses because of a limit; `undefined` for other refusals. Without the name of
 * the limit the store has one of its own, and says in its own words what to do.
 */
export function limitRefusal(error: StoreError, target: UpdateStateTarget): StatepadError | undefined {
  const { code, exceeded, size, limit, scope, key: name, message } = error;
  if (code !== 'limit') {
    return undefined;
  }
  const key = name === undefined || scope === undefined ? undefined : fullKey(scope, name);
  if (exceeded === undefined || size === undefined || limit === undefined) {
    const { sessionId: id } = target;
    return new StatepadError('LIMIT_EXCEEDED', message, defined({ exceeded, size, limit, key, id, cause: error }));
  }
  return limitExceeded(target, { exceeded, size, limit, ...defined({ key, scope }) }, undefined, error);
}
