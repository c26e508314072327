// The options of a service that concern its store.

import { defined } from '../model/defined.js';
import { StatepadError } from '../model/errors.js';
import { describe, isObject } from '../model/value-types.js';
import { checkFunction, checkOptions } from '../checks/arguments.js';
import { OPTIONS } from '../input/requests.js';
import { isThenable } from '../async/thenable.js';
import type { StoredOptions } from '../backend/durable/options.js';
import type { GrowthOptions } from './growth-options.js';
import type { Callbacks } from '../stores/journal/callback-store.js';
import type { Migrate, SessionStore } from '../store/contract.js';

/**
 * The place of the sessions, and the patience of a service with it. Without `store` or `persist` they are in memory.
 * With `persist` alone they are handed on, and never read back: a service begins empty.
 */
export interface StoreOptions extends Partial<Callbacks>, GrowthOptions {
  /** The store of the sessions: one of `statepad/stores/*`, or your own. */
  readonly store?: SessionStore | undefined;
  /** The changes allowed to the store's schema when it is opened; `'create'` by default. */
  readonly migrate?: Migrate | undefined;
  /** The time limit of one attempt at the store, or at `persist`, in milliseconds; 10,000 by default. */
  readonly timeout?: number | undefined;
  readonly retry?:
    | {
        /** The number of attempts in all; 6 by default. */
        readonly attempts?: number | undefined;
        /** The pause after the first attempt, in milliseconds, doubled after each further one; 50 by default. */
        readonly pause?: number | undefined;
      }
    | undefined;
  /**
   * The approximate number of events that stay in memory in sessions with no call in progress; 100,000 by default.
   * Unless it is 0, the session that was used last stays, however many it has.
   */
  readonly cachedEvents?: number | undefined;
  /**
   * The changes of app and user values that a service without a store retains for questions about their past: all
   * (`true`), none (`false`), or, by default, at least the last 1,000 of each app and each user. Stores have an option
   * of their own.
   */
  readonly log?: boolean | undefined;
}

/** Checks that all options of a service are known, and the clock. */
export function checkServiceOptions(options: StoreOptions & { readonly now?: unknown }): void {
  if (isObject(options) && isStore(options)) {
    refuse('options', 'must be options, not a store: pass it as { store }');
  }
  checkOptions(options, OPTIONS.service);
  if (options.now !== undefined) {
    checkFunction(options.now, 'now');
  }
  if (options.log !== undefined && typeof options.log !== 'boolean') {
    refuse('log', `must be true or false, not ${describe(options.log)}`);
  }
  if (options.log !== undefined && (options.store !== undefined || options.persist !== undefined)) {
    refuse('log', 'is for services without a store: use the option of the store');
  }
}

/** Checks the options of a store. `undefined`: everything is in memory. */
export function checkStoreOptions(
  options: StoreOptions,
  now: () => number,
): Omit<StoredOptions, 'limits' | 'isValueNamed'> | undefined {
  const {
    store,
    persist,
    restore,
    migrate = 'create',
    timeout = 10_000,
    retry = {},
    cachedEvents = 100_000,
  } = options;
  checkOptions(retry, OPTIONS.retry, 'retry');
  const { attempts = 6, pause = 50 } = retry;
  if (persist === undefined && restore !== undefined) {
    refuse('persist', 'is missing: restore returns the records that it stores');
  }
  if (store !== undefined && persist !== undefined) {
    refuse('store', 'cannot go together with persist');
  }
  if (store !== undefined) {
    checkStore(store, 'store');
  }
  if (persist !== undefined) {
    checkFunction(persist, 'persist');
  }
  if (restore !== undefined) {
    checkFunction(restore, 'restore');
  }
  if (!['create', 'upgrade', 'check'].includes(migrate)) {
    refuse('migrate', "must be 'create', 'upgrade' or 'check'");
  }
  for (const [path, number, least] of [
    ['timeout', timeout, 1],
    ['retry.attempts', attempts, 1],
    ['retry.pause', pause, 0],
    ['cachedEvents', cachedEvents, 0],
  ] as const) {
    if (!(typeof number === 'number' && number >= least && Number.isFinite(number))) {
      refuse(path, `must be a number from ${least}`);
    }
  }
  const target = store ?? (persist && defined({ persist, restore }));
  return target && { store: target, migrate, timeout, attempts, pause, cachedEvents, now };
}

/** The methods of every store. */
const METHODS = ['commit', 'load', 'list', 'remove', 'loadScope'] as const;

/** Checks that a value is a store, possibly one that wraps another. `path` names it in errors. */
export function checkStore(value: unknown, path: string): void {
  if (value === undefined) {
    refuse(path, 'is missing');
  }
  if (typeof value === 'function') {
    refuse(path, `must be a store, not a function: call it, as in ${path}: memoryStore()`);
  }
  if (typeof value === 'string') {
    refuse(
      path,
      `must be a store, not a string: pass it to a store of statepad/stores/*, as in ${path}: fileJournal('sessions.jsonl')`,
    );
  }
  if (!isObject(value)) {
    refuse(path, `must be a store, not ${describe(value)}`);
  }
  const missing = missingMethods(value);
  if (missing.length > 0) {
    const hint = isThenable(value) ? ': await it first' : `: it has no ${missing.join(', no ')}`;
    refuse(path, `must be a store, not ${describe(value)}${hint}`);
  }
}

function isStore(value: object): boolean {
  return missingMethods(value).length === 0;
}

/** The methods of a store that a value lacks. */
function missingMethods(value: object): readonly string[] {
  return METHODS.filter((name) => typeof (value as Partial<Record<string, unknown>>)[name] !== 'function');
}

function refuse(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
