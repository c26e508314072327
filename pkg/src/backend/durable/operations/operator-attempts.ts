// Appends whose operators are resolved here: repeated until no other write comes between the read of the values and
// the commit.

import { lanesOfKeys } from './lanes.js';
import { mergeGuardedKeys, resolveLocally } from '../commit/operators.js';
import { checkResultSizes } from '../../../input/sizes.js';
import { conflictPause } from '../../../async/conflict-pause.js';
import { resolveNow } from '../../../session/append.js';
import { tempBefore } from '../../../input/temp-values.js';
import { StatepadError } from '../../../model/errors.js';
import { isTemp, nameOf } from '../../../model/scope.js';
import { isStoreError } from '../../../store/store-error.js';
import { eventWith, type EventDraft } from '../../../input/event-draft.js';
import type { Limits } from '../../../model/limits.js';
import type { KeyedOperators } from '../../../model/operator-write.js';
import type { PreparedChange } from '../../../engine/sessions.js';
import type { View } from '../../../session/handle.js';
import type { SessionRecord } from '../../../session/record.js';
import type { SessionRegistry } from '../../../session/registry.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { Guard } from '../../../store/contract.js';
import type { Event, Json, SessionKey } from '../../../model/types.js';

/** The most attempts of an append. */
const MAX_ATTEMPTS = 100;

/** The content of an append for the store. */
export interface ToSend {
  readonly event: Event;
  readonly prepared: PreparedChange;
  readonly guard: Guard;
  /**
   * The reason that it cannot be written, an operator that does not fit or a limit: its guard never holds, and it only
   * finds out if the store has the event.
   */
  readonly misfit?: Error;
}

/** The attempts of one append. */
export class OperatorAttempts {
  readonly #operators: KeyedOperators;
  readonly #key: SessionKey;
  readonly #limits: Limits;
  #count = 0;

  constructor(operators: KeyedOperators, key: SessionKey, limits: Limits) {
    this.#operators = operators;
    this.#key = key;
    this.#limits = limits;
  }

  /**
   * Resolves the operators against the cached values. Returns `undefined`, with the change discarded, when one is
   * refused and the values may be outdated: they are loaded before the next attempt.
   */
  resolve(cache: SessionCache, record: SessionRecord, unresolved: ToSend, isCurrent: boolean): ToSend | undefined {
    const { registry } = cache;
    try {
      const valueOf = (key: string): Json | undefined => registry.valueOf(record, key);
      const { results, keys } = resolveLocally(this.#operators, valueOf);
      checkResultSizes(this.#limits, { results, valueOf }, this.#key);
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
   * Returns true if an attempt was refused because of the writes of others, after a pause that grows, with jitter, so
   * that the writers drift apart. Throws `STATE_CONFLICT` after the last attempt.
   */
  async canTryAgain(cache: SessionCache, record: SessionRecord, error: unknown): Promise<boolean> {
    if (!isStoreError(error) || error.code !== 'conflict' || error.actual !== undefined) {
      return false;
    }
    cache.markStale(record);
    this.#count += 1;
    if (this.#count >= MAX_ATTEMPTS) {
      const { sessionId: id } = record.key;
      const message = `the values of the operators changed under each of ${MAX_ATTEMPTS} attempts`;
      throw new StatepadError('STATE_CONFLICT', message, { id, cause: error });
    }
    await conflictPause(this.#count);
    return true;
  }
}

/** A guard that requires a key both to have a value and to be missing. */
function neverHolds(key = ''): NonNullable<Guard['keys']> {
  const [scope, name] = nameOf(key);
  return { [scope]: { set: { [name]: null }, unset: [name] } };
}

/** The operators of an event without those of `temp:` keys, if there are any. */
export function storedOperators({ operators }: EventDraft): KeyedOperators | undefined {
  const stored = Object.entries(operators ?? {}).filter(([key]) => !isTemp(key));
  return stored.length > 0 ? Object.fromEntries(stored) : undefined;
}

/**
 * The lanes of an append whose operators are resolved here: those of all shared scopes that it writes. None when its
 * operators are of the session alone, whose appends are queued anyway.
 */
export function lanesOfAppend(key: SessionKey, { delta }: EventDraft, operators: KeyedOperators): string[] {
  const isShared = lanesOfKeys(key, Object.keys(operators)).length > 0;
  return isShared ? lanesOfKeys(key, Object.keys(delta)) : [];
}

/** Resolves the operators of `temp:` keys against the values of the handle. Discards the change on failure. */
export function resolveTempKeys(
  registry: SessionRegistry,
  { delta, operators = {}, event }: EventDraft,
  change: PreparedChange,
  view: View | undefined,
): void {
  const temp = Object.fromEntries(Object.entries(operators).filter(([key]) => isTemp(key)));
  const shown = tempBefore(view, event as unknown as Event);
  resolveNow(registry, { delta, operators: temp }, change, (key) => shown?.get(key));
}
