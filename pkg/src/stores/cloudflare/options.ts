// The options of the stores of Cloudflare, and the checks of their arguments.

import { checkChoice, checkClient, checkOptionsObject } from '../shared/options.js';

/** Options of `durableObjectStore`. */
export interface DurableObjectStoreOptions {
  /**
   * Says that only one service uses the object's sessions. Values that it has read stay true then, and are not read
   * again. Several services must not say so.
   */
  readonly exclusive?: boolean | undefined;
  /** True (the default) keeps a log of app and user values: their past is exact then, across sessions. */
  readonly log?: boolean | undefined;
}

/** Options of `d1Store`. */
export interface D1StoreOptions {
  /**
   * True (the default) keeps a log of app and user values: their past is exact then, across sessions. Each value that
   * is written is one more row that is written.
   */
  readonly log?: boolean | undefined;
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
  checkChoice('log', options.log, [true, false]);
}

/** Throws `INVALID_ARGUMENT` for a binding or options that cannot be used. */
export function checkD1Arguments(database: unknown, options: D1StoreOptions): void {
  const needs = 'd1Store needs a D1 binding, such as env.DB with "d1_databases" in the configuration of the worker';
  checkClient(database, ['prepare', 'batch'], needs);
  checkOptionsObject(options);
  checkChoice('log', options.log, [true, false]);
}
