// The past of app and user values without a store. The core answers, once it has the entries of the log.

import { defined } from '../model/defined.js';
import { HistoryEngine } from '../engine/history.js';
import { StatepadError } from '../model/errors.js';
import { put } from '../model/json.js';
import type { SharedPast, Values } from './shared-past.js';
import type { KeyedDelta, ScopeKey } from '../engine/sessions.js';
import type { SharedEntry, SharedLog, SharedLogs } from '../session/shared-logs.js';
import type { View } from '../session/handle.js';
import type { Json } from '../model/types.js';
import type { SharedHistory, SharedStep, TrimOptions } from '../model/past.js';

/** The part of a log that the core has: the entries count from 1 there, and 0 holds the values before them. */
interface LoadedLog {
  readonly engine: HistoryEngine;
  readonly base: number;
}

/** The past that the logs of a service retain. */
export class MemoryPast implements SharedPast {
  readonly #logs: SharedLogs;
  readonly #loaded = new WeakMap<SharedLog, LoadedLog>();

  constructor(logs: SharedLogs) {
    this.#logs = logs;
  }

  async at({ record }: View, revision: number): Promise<Values | undefined> {
    const moment = momentAt(record.moments, revision);
    const { appName, userId } = record.key;
    const merged: Record<string, Json> = {};
    for (const scope of [
      { appName, userId: undefined },
      { appName, userId },
    ]) {
      const log = this.#logs.find(scope);
      const values = log === undefined ? {} : this.#valuesAt(log, moment);
      if (values === undefined) {
        return undefined;
      }
      Object.keys(values).forEach((key) => put(merged, key, values[key] as Json));
    }
    return merged;
  }

  async steps(scope: ScopeKey, key: string): Promise<SharedHistory> {
    const log = this.#logs.find(scope);
    if (log === undefined) {
      return { exact: true, steps: [] };
    }
    const { base, entries, position } = log;
    const steps = this.#history(log)
      .steps(key, position - base)
      // The values before the log are no write, and neither is the deletion of a missing key.
      .filter(({ revision, from, to }) => revision > 0 && (from !== undefined || to !== undefined))
      .map(({ revision, ...values }) => {
        return { ...stepOf(base + revision, entries[revision - 1] as SharedEntry), ...values };
      });
    return { exact: base === 0, steps };
  }

  async trim(scope: ScopeKey, { before, upTo = Infinity }: Pick<TrimOptions, 'before' | 'upTo'>): Promise<number> {
    if (!this.#logs.isRetained) {
      throw new StatepadError('INVALID_ARGUMENT', 'this service keeps no log of app and user values: log is false', {
        path: 'log',
      });
    }
    const log = this.#logs.find(scope);
    if (log === undefined) {
      return 0;
    }
    const young = before === undefined ? -1 : log.entries.findIndex(({ time }) => time >= before);
    const old = young < 0 ? log.entries.length : young;
    const count = Math.max(0, Math.min(old, upTo - log.base));
    if (count > 0) {
      const baseValues = this.#history(log).stateAt(count, log.position - log.base, {});
      log.baseValues = new Map<string, Json>(Object.entries(baseValues));
      log.baseMoment = (log.entries[count - 1] as SharedEntry).moment;
      log.entries.splice(0, count);
      log.base += count;
    }
    return count;
  }

  /** The values of a scope at a moment; `undefined` where the log does not reach back so far. */
  #valuesAt(log: SharedLog, moment: number): Values | undefined {
    const { base, entries, position } = log;
    if (!this.#logs.isRetained || moment < log.baseMoment) {
      return undefined;
    }
    return this.#history(log).stateAt(countUpTo(entries, moment), position - base, {});
  }

  /** The core's copy of a log, brought up to date. */
  #history(log: SharedLog): HistoryEngine {
    let loaded = this.#loaded.get(log);
    if (loaded?.base !== log.base) {
      loaded?.engine.free();
      loaded = { engine: new HistoryEngine(), base: log.base };
      this.#loaded.set(log, loaded);
      loaded.engine.push(log.baseValues.size === 0 ? undefined : { delta: recordOf(log.baseValues), deleted: [] });
    }
    const { engine } = loaded;
    for (let index = engine.next; index <= log.entries.length; index++) {
      engine.push(keyedDelta(log.entries[index - 1] as SharedEntry));
    }
    return engine;
  }
}

function recordOf(values: ReadonlyMap<string, Json>): Record<string, Json> {
  const record: Record<string, Json> = {};
  values.forEach((value, key) => put(record, key, value));
  return record;
}

/**
 * The moment of the service at which a session reached a revision. The list has pairs of both, one for each new
 * moment.
 */
function momentAt(moments: readonly number[] | undefined, revision: number): number {
  let latest = 0;
  for (let low = 0, high = (moments?.length ?? 0) / 2; low < high;) {
    const middle = (low + high) >>> 1;
    if (((moments as readonly number[])[2 * middle] as number) <= revision) {
      latest = (moments as readonly number[])[2 * middle + 1] as number;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return latest;
}

/** The number of entries up to a moment. */
function countUpTo(entries: readonly SharedEntry[], moment: number): number {
  let low = 0;
  for (let high = entries.length; low < high;) {
    const middle = (low + high) >>> 1;
    if ((entries[middle] as SharedEntry).moment <= moment) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** The delta as an event has it, with the deleted keys. */
function keyedDelta({ delta, deleted }: SharedEntry): KeyedDelta {
  if (deleted.length === 0) {
    return { delta, deleted };
  }
  const written: Record<string, Json> = {};
  deleted.forEach((key) => put(written, key, null));
  Object.keys(delta).forEach((key) => put(written, key, delta[key] as Json));
  return { delta: written, deleted };
}

function stepOf(position: number, { time: timestamp, key, eventId }: SharedEntry): SharedStep {
  if (key === undefined) {
    return { position, timestamp };
  }
  const { userId, sessionId } = key;
  return { position, timestamp, by: defined({ userId, sessionId, eventId }) };
}
