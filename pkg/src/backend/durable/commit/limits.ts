// The limits of changes for a store, and the caller's error for what it refuses.

import { defined } from '../../../model/defined.js';
import { limitExceeded, type Limits } from '../../../model/limits.js';
import { fullKey } from '../../../model/scope.js';
import type { StatepadError } from '../../../model/errors.js';
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
}

/** The limits that a store compares: none where it cannot, as those that were named are refused before. */
export function serviceLimits({ keeps = [] }: Pick<SessionStore, 'keeps'>, all: Limits): ServiceLimits {
  const { value, state, keys, events } = all;
  const members = (limits: StoreLimits): Pick<Change, 'limits'> => {
    const finite = Object.entries(limits).filter(([, limit]) => limit !== Infinity);
    return keeps.includes('limits') && finite.length > 0 ? { limits: Object.freeze(Object.fromEntries(finite)) } : {};
  };
  return { all, ofAppend: members({ value, state, keys, events }), ofOther: members({ value, state, keys }) };
}

/** The error for a change that a store refuses because of a limit; `undefined` for other refusals. */
export function limitRefusal(error: StoreError, target: UpdateStateTarget): StatepadError | undefined {
  const { code, exceeded, size = 0, limit = 0, scope, key: name } = error;
  if (code !== 'limit' || exceeded === undefined) {
    return undefined;
  }
  const key = name === undefined || scope === undefined ? undefined : fullKey(scope, name);
  return limitExceeded(target, { exceeded, size, limit, ...defined({ key, scope }) }, undefined, error);
}
