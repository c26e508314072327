// The needs of a case that a store does not meet.

import type { StoreCase, StoreHarness, StoreNeed } from './case.js';

/** The needs of a case that a harness, or its store, does not meet. */
export function missingNeeds({ needs }: Pick<StoreCase, 'needs'>, harness: StoreHarness): StoreNeed[] {
  const { guards = 'all', keeps = [], resolves = [], lacks = [] } = harness.store;
  const has = (need: StoreNeed): boolean => {
    switch (need) {
      case 'keys':
        return guards !== 'none';
      case 'revisions':
        return guards === 'all' && !lacks.includes(need);
      case 'order':
      case 'texts':
      case 'ids':
      case 'times':
      case 'clock':
      case 'created':
      case 'beginnings':
      case 'repeats':
      case 'scopes':
      case 'operators':
      case 'sizes':
        return !lacks.includes(need);
      case 'marks':
      case 'changed':
      case 'calls':
      case 'creations':
      case 'removals':
      case 'log':
      case 'digests':
      case 'limits':
      case 'expiry':
      case 'lifetime':
        return keeps.includes(need);
      case 'increment':
      case 'append':
      case 'setOnce':
      case 'compareAndSet':
        return resolves.includes(need);
      default:
        return (
          ((need in harness ? harness : harness.store) as Partial<Record<StoreNeed, unknown>>)[need] !== undefined
        );
    }
  };
  return needs.filter((need) => !has(need));
}
