// The sizes of a write, which are compared before anything is written.

import { withDeletions } from '../model/deletion.js';
import { jsonBound, jsonSize } from '../model/json-size.js';
import { limitExceeded, type Limits } from '../model/limits.js';
import { withOperators } from '../model/operator-write.js';
import { isTemp, nameOf, withoutTemp, type StoredScope } from '../model/scope.js';
import { utf8Length } from '../model/utf8.js';
import type { AdmittedDelta } from './admit.js';
import type { EventDraft } from './event-draft.js';
import type { Json, UpdateStateTarget } from '../model/types.js';

/** Throws `LIMIT_EXCEEDED` for an event, a delta or a value that is too large. */
export function checkEventSize(limits: Limits, draft: EventDraft, target: UpdateStateTarget): void {
  const { bound, delta, deleted, operators, deltaBound } = draft;
  const { value, delta: ofDelta, event: limit } = limits;
  if (bound <= limit && bound <= value && bound <= ofDelta) {
    return;
  }
  checkDeltaSize(limits, { delta, deleted, operators, bound: deltaBound }, target, 'actions.stateDelta');
  if (bound > limit) {
    const size = eventSize(draft);
    if (size > limit) {
      throw limitExceeded(target, { exceeded: 'event', size, limit }, 'event');
    }
  }
}

/** The size of an event as it is stored, without the results of its operators. */
function eventSize({ event, actions, delta, deleted, operators = {} }: EventDraft): number {
  const stored = Object.entries(operators).filter(([key]) => !isTemp(key));
  const removed = deleted.filter((key) => !isTemp(key));
  let metadata: unknown = event['customMetadata'];
  metadata = removed.length > 0 ? withDeletions(metadata, removed) : metadata;
  metadata = stored.length > 0 ? withOperators(metadata, Object.fromEntries(stored)) : metadata;
  const whole = { ...event, actions: { ...actions, stateDelta: withoutTemp(delta) }, customMetadata: metadata };
  return utf8Length(JSON.stringify(whole));
}

/** Throws `LIMIT_EXCEEDED` for a delta or a value that is too large. `temp:` keys are not stored. */
export function checkDeltaSize(
  limits: Limits,
  { delta, deleted, operators, bound }: Pick<AdmittedDelta, 'delta' | 'deleted' | 'operators' | 'bound'>,
  target: UpdateStateTarget,
  path: string,
): void {
  if (bound <= limits.value && bound <= limits.delta) {
    return;
  }
  const removed = new Set(deleted);
  let total = 0;
  for (const key of Object.keys(delta).filter((name) => !isTemp(name))) {
    if (operators !== undefined && Object.hasOwn(operators, key)) {
      // Its result is a value of the state, and compared where it is known.
      total += utf8Length(key) + jsonSize(operators[key] as Json);
      continue;
    }
    const size = removed.has(key) ? 0 : jsonSize(delta[key] as Json);
    if (size > limits.value) {
      const what = { exceeded: 'value', key, size, limit: limits.value } as const;
      throw limitExceeded(target, what, `${path}[${JSON.stringify(key)}]`);
    }
    total += utf8Length(key) + size;
  }
  if (total > limits.delta) {
    throw limitExceeded(target, { exceeded: 'delta', size: total, limit: limits.delta }, path);
  }
}

/** The scopes in the order in which their limits are compared. */
export const LIMIT_SCOPES = ['app', 'user', 'session'] as const;

/** The result of operators, and the values before them. */
interface OperatorResults {
  /** Under full keys. */
  readonly results: Readonly<Record<string, Json>>;
  readonly valueOf: (key: string) => Json | undefined;
}

/**
 * Throws `LIMIT_EXCEEDED` for a result of an operator that is too large; by default in any scope. One that is no
 * larger than the value before is never refused.
 */
export function checkResultSizes(
  { value: limit }: Pick<Limits, 'value'>,
  { results, valueOf }: OperatorResults,
  target: UpdateStateTarget,
  scopes: readonly StoredScope[] = LIMIT_SCOPES,
): void {
  const large = Object.keys(results).filter((key) => !isTemp(key) && jsonBound(results[key] as Json) > limit);
  for (const scope of scopes) {
    for (const key of large.filter((name) => nameOf(name)[0] === scope)) {
      const size = jsonSize(results[key] as Json);
      const before = size > limit ? valueOf(key) : undefined;
      if (size > limit && (before === undefined || size > jsonSize(before))) {
        throw limitExceeded(target, { exceeded: 'value', key, size, limit });
      }
    }
  }
}
