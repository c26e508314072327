// A case is a name and steps; what a store needs for it is read from them.

import type { StoreCase, StoreNeed, StoreStep } from '../case.js';
import type { Guard, StoreFeature } from '../../store/contract.js';

/** Makes a case; what it needs is read from its steps. */
export function storeCase(name: string, ...steps: readonly StoreStep[]): StoreCase {
  return { name, needs: [...new Set(steps.flatMap(needsOf))], steps };
}

/** Makes a case that only stores with a feature pass. */
export function featureCase(feature: StoreFeature, name: string, ...steps: readonly StoreStep[]): StoreCase {
  return { name, needs: [...new Set([feature, ...steps.flatMap(needsOf)])], steps };
}

function needsOf(step: StoreStep): StoreNeed[] {
  const members = (['reopen', 'removeScope', 'commitMany', 'watch'] as const).filter((member) => member in step);
  const inner = 'parallel' in step ? step.parallel.flatMap(needsOf) : [];
  const another: StoreNeed[] = 'hinted' in step || 'by' in step ? ['another'] : [];
  const changes = 'commit' in step ? [step.commit] : 'commitMany' in step ? step.commitMany : [];
  return [
    ...members,
    ...another,
    ...changes.flatMap(({ guard }) => (guard === undefined ? [] : guardNeeds(guard))),
    ...inner,
  ];
}

/** What a store has to compare. */
function guardNeeds({ created, rev, pos, keys }: Guard): StoreNeed[] {
  return [
    ...(created === undefined && keys === undefined ? [] : (['keys'] as const)),
    ...(rev === undefined && pos === undefined ? [] : (['revisions'] as const)),
  ];
}

/** So many, from 0. */
export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
