// A case is a name and steps; its needs are derived from them.

import type { StoreCase, StoreNeed, StoreStep } from '../case.js';
import { lackable } from './lackable.js';
import type { Guard, Operator, OperatorName, StoreFeature } from '../../store/contract.js';

/** Makes a case; its needs are derived from its steps. */
export function storeCase(name: string, ...steps: readonly StoreStep[]): StoreCase {
  return { name, needs: [...new Set([...steps.flatMap(needsOf), ...lackable(steps)])], steps };
}

/** Makes a case with one more need than its steps show. */
export function caseThatNeeds(need: StoreNeed, name: string, ...steps: readonly StoreStep[]): StoreCase {
  const { needs } = storeCase(name, ...steps);
  return { name, needs: [...new Set([need, ...needs])], steps };
}

/** Makes a case that only stores with a feature pass. */
export function featureCase(feature: StoreFeature, name: string, ...steps: readonly StoreStep[]): StoreCase {
  return caseThatNeeds(feature, name, ...steps);
}

/** The needs that are named as the steps that have them. */
const MEMBERS = [
  'reopen',
  'removeScope',
  'commitMany',
  'watch',
  'lease',
  'readLease',
  'sweep',
  'claim',
  'trimLog',
  'owners',
  'listApps',
  'listUsers',
] as const satisfies readonly StoreNeed[];

function needsOf(step: StoreStep): StoreNeed[] {
  const members = MEMBERS.filter((member) => member in step);
  const log: StoreNeed[] = 'readLog' in step || 'trimLog' in step ? ['log'] : [];
  const inner = 'parallel' in step ? step.parallel.flatMap(needsOf) : [];
  const another: StoreNeed[] = 'hinted' in step || 'by' in step ? ['another'] : [];
  const fenced: StoreNeed[] = 'remove' in step && step.fence !== undefined ? ['lease'] : [];
  const changes = 'commit' in step ? [step.commit] : 'commitMany' in step ? step.commitMany : [];
  return [
    ...members,
    ...log,
    ...another,
    ...fenced,
    ...changes.flatMap(({ operators = {} }) =>
      Object.values(operators).flatMap((ofScope: Readonly<Record<string, Operator>>) =>
        Object.values(ofScope).flatMap((operator) => Object.keys(operator) as OperatorName[]),
      ),
    ),
    ...changes.flatMap(({ limits }): StoreNeed[] => (limits === undefined ? [] : ['limits'])),
    ...changes.flatMap(({ expires }): StoreNeed[] => (expires === undefined ? [] : ['expiry'])),
    ...changes.flatMap(({ guard }) => (guard === undefined ? [] : guardNeeds(guard))),
    ...inner,
  ];
}

/** The comparisons that a guard needs. */
function guardNeeds({ created, rev, pos, keys, fence }: Guard): StoreNeed[] {
  return [
    ...(fence === undefined ? [] : (['lease'] as const)),
    ...(created === undefined && keys === undefined ? [] : (['keys'] as const)),
    ...(rev === undefined && pos === undefined ? [] : (['revisions'] as const)),
  ];
}

/** An array of this length; the index counts from 0. */
export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
