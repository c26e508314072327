// The sizes of a write, which are compared before anything is written.

import { withDeletions } from '../model/deletion.js';
import { jsonBound, jsonSize, utf8Length } from '../model/json-size.js';
import { limitExceeded, type Limits } from '../model/limits.js';
import { withOperators } from '../model/operator-write.js';
import { isTemp, withoutTemp } from '../model/scope.js';
import type { AdmittedDelta } from './admit.js';
import type { EventDraft } from './event-draft.js';
import type { Json, UpdateStateTarget } from '../model/types.js';

/** Throws `LIMIT_EXCEEDED` for an event, a delta or a value that is too large. */
export function checkEventSize(limits: Limits, draft: EventDraft, target: UpdateStateTarget): void {
  checkDeltaSize(limits, { ...draft, bound: draft.deltaBound }, target, 'actions.stateDelta');
  const { event: limit } = limits;
  if (draft.bound > limit) {
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
  let total = 0;
  for (const key of Object.keys(delta).filter((name) => !isTemp(name))) {
    const operator = operators !== undefined && Object.hasOwn(operators, key) ? operators[key] : undefined;
    const written = operator === undefined ? (delta[key] as Json) : (operator as unknown as Json);
    const size = deleted.includes(key) ? 0 : jsonSize(written);
    if (operator === undefined && size > limits.value) {
      const what = { exceeded: 'value', key, size, limit: limits.value } as const;
      throw limitExceeded(target, what, `${path}[${JSON.stringify(key)}]`);
    }
    total += utf8Length(key) + size;
  }
  if (total > limits.delta) {
    throw limitExceeded(target, { exceeded: 'delta', size: total, limit: limits.delta }, path);
  }
}

/** Throws `LIMIT_EXCEEDED` for a result of an operator that is too large. Returns a bound of the size of all. */
export function checkResultSizes(
  { value: limit }: Pick<Limits, 'value'>,
  results: Readonly<Record<string, Json>>,
  target: UpdateStateTarget,
): number {
  let total = 0;
  for (const key of Object.keys(results)) {
    const value = results[key] as Json;
    const bound = jsonBound(value);
    const size = isTemp(key) || bound <= limit ? 0 : jsonSize(value);
    if (size > limit) {
      throw limitExceeded(target, { exceeded: 'value', key, size, limit });
    }
    total += bound;
  }
  return total;
}
