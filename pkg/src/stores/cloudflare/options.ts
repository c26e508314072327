// The options of the stores of Cloudflare, and the checks of what these are given.

import { checkChoice, checkClient, checkOptionsObject } from '../shared/options.js';

/** Options of `durableObjectStore`. */
export interface DurableObjectStoreOptions {
  /**
   * Says that only one service uses the object's sessions. What it has read stays true then, and is not read again.
   * Several services must not say so.
   */
  readonly exclusive?: boolean | undefined;
}

/** Throws `INVALID_ARGUMENT` for a storage or options that cannot be used. */
export function checkObjectArguments(storage: unknown, options: DurableObjectStoreOptions): void {
  checkClient(
    storage,
    ['transactionSync'],
    'durableObjectStore needs the storage of a Durable Object, this.ctx.storage',
  );
  checkOptionsObject(options);
  checkChoice('exclusive', options.exclusive, [true, false]);
}

/** Throws `INVALID_ARGUMENT` for a binding that cannot be used. */
export function checkD1Arguments(database: unknown): void {
  const needs = 'd1Store needs a D1 binding, say env.DB with "d1_databases" in the configuration of the worker';
  checkClient(database, ['prepare', 'batch'], needs);
}
