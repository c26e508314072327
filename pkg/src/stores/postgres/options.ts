// The options of `postgresStore`, and the checks of its arguments.

import { StatepadError } from '../../model/errors.js';
import type { PostgresListener } from './hints.js';

/** Options of `postgresStore`. */
export interface PostgresStoreOptions {
  /** The schema that everything lies in: `statepad` by default. 1 to 63 bytes, without NUL and `$`. */
  readonly schema?: string | undefined;
  /**
   * True prepares statements under names, which is faster: the default with the clients of `pg` and those made like
   * them.
   */
  readonly prepare?: boolean | undefined;
  /**
   * A connected client for nothing but listening (not a pool): with it the store has `watch`, and tells other stores
   * that have one, at most every 20 ms and never within a commit, what it has changed. It stays open, too.
   */
  readonly listen?: PostgresListener | undefined;
  /**
   * True (the default) keeps a log of writes to app and user values: it grows until it is trimmed
   * (`SessionStore.trimLog`). All stores over one schema should agree: writes of a store without a log are missing in
   * it, and so is all that came before.
   */
  readonly log?: boolean | undefined;
}

const OPTIONS = ['schema', 'prepare', 'listen', 'log'];

/** Throws `INVALID_ARGUMENT` for a client or options that cannot be used. */
export function checkArguments(client: unknown, options: unknown): void {
  checkClient(client);
  checkOptions(options);
}

function checkClient(client: unknown): void {
  if (hasMethods(client, ['query'])) {
    return;
  }
  const help = 'pass a pool or a connected client, such as new Pool({ connectionString }) of pg, or new PGlite()';
  throw new StatepadError(
    'INVALID_ARGUMENT',
    `postgresStore takes a client that has a query method, not ${nameOf(client)}: ${help}`,
    {
      path: 'client',
    },
  );
}

function checkOptions(options: unknown): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid('options', `the options of postgresStore are an object, not ${nameOf(options)}`);
  }
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    throw invalid(unknown, `postgresStore has no option "${unknown}": it has ${OPTIONS.join(', ')}`);
  }
  const { schema, prepare, listen, log } = options as Partial<Record<string, unknown>>;
  if (schema !== undefined && typeof schema !== 'string') {
    throw invalid('schema', `the option schema is the name of a schema, not ${nameOf(schema)}`);
  }
  if (prepare !== undefined && typeof prepare !== 'boolean') {
    throw invalid('prepare', `the option prepare is true or false, not ${nameOf(prepare)}`);
  }
  if (log !== undefined && typeof log !== 'boolean') {
    throw invalid('log', `the option log is true or false, not ${nameOf(log)}`);
  }
  const isPool = typeof (listen as { totalCount?: unknown } | null | undefined)?.totalCount === 'number';
  if (listen !== undefined && (isPool || !hasMethods(listen, ['query', 'on', 'removeListener']))) {
    const what = isPool ? 'a pool' : nameOf(listen);
    throw invalid(
      'listen',
      `the option listen is a separate connected client, such as new Client() of pg, not ${what}`,
    );
  }
}

function invalid(path: string, message: string): StatepadError {
  return new StatepadError('INVALID_ARGUMENT', message, { path });
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  const isOwner = (typeof value === 'object' && value !== null) || typeof value === 'function';
  return isOwner && names.every((name) => typeof (value as Partial<Record<string, unknown>>)[name] === 'function');
}

/** Describes a value without its content: a URL may have a password. */
function nameOf(value: unknown): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (typeof value === 'function') {
    return `the ${/^class\b/.test(Function.prototype.toString.call(value)) ? 'class' : 'function'} ${value.name || 'without a name'}`;
  }
  if (typeof value === 'object') {
    return Array.isArray(value) ? 'an array' : 'an object without one';
  }
  return `a ${typeof value}`;
}
