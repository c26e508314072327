// Appends whose operators are resolved here: tried until no other write has come between the reading of the values
// and the commit.

import { lanesOfKeys } from './lanes.js';
import { mergeGuardedKeys, resolveLocally } from '../commit/operators.js';
import { sleep } from '../../../async/sleep.js';
import { resolveNow } from '../../../session/append.js';
import { tempBefore } from '../../../session/temp-values.js';
import { StatepadError } from '../../../model/errors.js';
import { isTemp, nameOf } from '../../../model/scope.js';
import { isStoreError } from '../../../store/store-error.js';
import { eventWith, type EventDraft } from '../../../input/event-draft.js';
import type { KeyedOperators } from '../../../model/operator-write.js';
import type { PreparedChange } from '../../../engine/sessions.js';
import type { View } from '../../../session/handle.js';
import type { SessionRecord } from '../../../session/record.js';
import type { SessionRegistry } from '../../../session/registry.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { Guard } from '../../../store/contract.js';
import type { Event, SessionKey } from '../../../model/types.js';

/** How often an append is tried. */
const MAX_ATTEMPTS = 100;
/** The longest pause between two tries, in milliseconds. */
const MAX_PAUSE_MS = 50;

/** What a store is sent of an append. */
export interface ToSend {
  readonly event: Event;
  readonly prepared: PreparedChange;
  readonly guard: Guard;
  /** Why it cannot be written: the guard never holds, and all that can come of it is that the store has the event. */
  readonly misfit?: Error;
}

/** The tries of one append. */
export class OperatorAttempts {
  readonly #operators: KeyedOperators;
  #count = 0;

  constructor(operators: KeyedOperators) {
    this.#operators = operators;
  }

  /**
   * Resolves the operators against the cached values. Answers `undefined`, and the change is discarded, when one does
   * not fit, and the values may be old: they are loaded before the next try.
   */
  resolve(cache: SessionCache, record: SessionRecord, unresolved: ToSend, isCurrent: boolean): ToSend | undefined {
    const { registry } = cache;
    try {
      const { results, keys } = resolveLocally(this.#operators, (key) => registry.valueOf(record, key));
      const event = eventWith(unresolved.event, results);
      const prepared = { ...unresolved.prepared, delta: event.actions.stateDelta as PreparedChange['delta'] };
      return { event, prepared, guard: { ...unresolved.guard, keys: mergeGuardedKeys(unresolved.guard.keys, keys) } };
    } catch (misfit) {
      if (isCurrent) {
        return {
          ...unresolved,
          guard: { ...unresolved.guard, keys: neverHolds((misfit as StatepadError).key) },
          misfit: misfit as Error,
        };
      }
      registry.engine.discard(unresolved.prepared);
      cache.markStale(record);
      return undefined;
    }
  }

  /**
   * Whether a try was refused because others have come between: after a pause that is longer each time, and by chance,
   * so that writers that met do not meet again. Throws `STATE_CONFLICT` when it was tried often enough.
   */
  async canTryAgain(cache: SessionCache, record: SessionRecord, error: unknown): Promise<boolean> {
    if (!isStoreError(error) || error.code !== 'conflict' || error.actual !== undefined) {
      return false;
    }
    cache.markStale(record);
    this.#count += 1;
    if (this.#count >= MAX_ATTEMPTS) {
      const { sessionId: id } = record.key;
      const message = `the values of the operators changed under each of ${MAX_ATTEMPTS} tries`;
      throw new StatepadError('STATE_CONFLICT', message, { id, cause: error });
    }
    await sleep(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** Math.min(this.#count, 6)));
    return true;
  }
}

/** A guard that a key must have a value, and must not be there. */
function neverHolds(key = ''): NonNullable<Guard['keys']> {
  const [scope, name] = nameOf(key);
  return { [scope]: { set: { [name]: null }, unset: [name] } };
}

/** The operators of an event that are stored, if it has any. */
export function storedOperators({ operators }: EventDraft): KeyedOperators | undefined {
  const stored = Object.entries(operators ?? {}).filter(([key]) => !isTemp(key));
  return stored.length > 0 ? Object.fromEntries(stored) : undefined;
}

/**
 * The lanes that an append takes whose operators are resolved here: those of all shared scopes that it writes. None
 * where its operators are of the session alone, whose appends take turns anyway.
 */
export function lanesOfAppend(key: SessionKey, { delta }: EventDraft, operators: KeyedOperators): string[] {
  const isShared = lanesOfKeys(key, Object.keys(operators)).length > 0;
  return isShared ? lanesOfKeys(key, Object.keys(delta)) : [];
}

/** Resolves the operators of `temp:` keys against what the handle shows. When that fails, the change is discarded. */
export function resolveTempKeys(
  registry: SessionRegistry,
  { delta, deleted, operators = {}, event }: EventDraft,
  change: PreparedChange,
  view: View | undefined,
): void {
  const temp = Object.fromEntries(Object.entries(operators).filter(([key]) => isTemp(key)));
  const shown = tempBefore(view, event as unknown as Event);
  resolveNow(registry, { delta, deleted, operators: temp }, change, (key) => shown?.get(key));
}
