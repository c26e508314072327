// The rules of adk-python for whole models, besides those for each of their members.

import type { Json } from '../../model/types.js';

type Stored = Readonly<Record<string, Json>>;

/** The rules by model: true if adk-python takes one with these members, each of which it takes. */
export const RULES: Readonly<Partial<Record<string, (stored: Stored) => boolean>>> = {
  CacheMetadata({ cache_name: name, expire_time: end, invocations_used: used, contents_count: count }) {
    const isActive = [name, end, used].map((member) => member !== undefined);
    return new Set(isActive).size === 1 && isCount(used) && isCount(count);
  },
  ServiceAccount({ use_default_credential: isDefault, service_account_credential: credential, ...stored }) {
    const needsAudience = stored['use_id_token'] === true;
    return (isDefault === true || credential !== undefined) && (!needsAudience || Boolean(stored['audience']));
  },
};

function isCount(value: Json | undefined): boolean {
  return value === undefined || (value as number) >= 0;
}
