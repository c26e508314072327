// The store's demands on its server, and the server's way with a commit: looked at when the store is opened.

import { StoreError } from '../../store/store-error.js';
import type { PostgresClient } from './client.js';
import type { Durability, Migrate } from '../../store/contract.js';

/** The statement that asks. Its one row is a {@link Server}. */
export const SERVER_STATEMENT = `select
  current_user::text as role,
  current_database()::text as database,
  (select setting from pg_settings where name = 'default_transaction_isolation') as isolation,
  (select source from pg_settings where name = 'default_transaction_isolation') as isolation_source,
  pg_is_in_recovery()::text as is_replica,
  current_setting('default_transaction_read_only') as read_only,
  current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as synchronous_commit,
  current_setting('synchronous_standby_names') as standbys`;

/** The report of the server about itself. */
export interface Server {
  readonly role: string;
  readonly database: string;
  readonly isolation: string;
  readonly isolation_source: string;
  readonly is_replica: string;
  readonly read_only: string;
  readonly fsync: string;
  readonly synchronous_commit: string;
  readonly standbys: string;
}

/** A statement sees all commits before it began: every function of the store relies on that. */
const ISOLATIONS = ['read committed', 'read uncommitted'];

/**
 * The reason why the store cannot be used with a server, if there is one. One that cannot be written to can be looked
 * at (`check`): it may be written to later, when the replica has become the primary.
 */
export function objectionTo(server: Server, migrate: Migrate): StoreError | undefined {
  const { role, database, isolation, isolation_source: source, is_replica: isReplica, read_only: readOnly } = server;
  if (!ISOLATIONS.includes(isolation)) {
    const whose = `${quoted(role)}${source === 'database user' ? ` in database ${quoted(database)}` : ''}`;
    const help = ['client', 'session'].includes(source)
      ? "take default_transaction_isolation out of the connection's options"
      : `alter role ${whose} set default_transaction_isolation = 'read committed', and reconnect`;
    return new StoreError(
      'rejected',
      `postgres: transactions begin with the isolation "${isolation}", in which writers fail: ${help}`,
    );
  }
  if (migrate !== 'check' && (isReplica === 'true' || readOnly === 'on')) {
    const why =
      isReplica === 'true'
        ? 'the server is a replica, which only reads: connect to the primary'
        : `the role "${role}" has default_transaction_read_only = on here: nothing can be written`;
    return new StoreError('unavailable', `postgres: ${why}`);
  }
  return undefined;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * The durability of a commit. Without `fsync` the operating system has it. Without `synchronous_commit` it is in the
 * server's memory for a moment. With standbys that are waited for it is on several machines, whatever this one does
 * with its disk. `isVolatile`: all of the server is in memory.
 */
export function durabilityOf(
  { fsync, synchronous_commit: synchronous, standbys }: Server,
  isVolatile: boolean,
): Durability {
  if (isVolatile || synchronous === 'off') {
    return 'memory';
  }
  if (standbys !== '' && synchronous !== 'local') {
    return 'replicated';
  }
  return fsync === 'off' ? 'os' : 'disk';
}

/** True if a client is PGlite with nothing but memory behind it. */
export function isInMemory(client: PostgresClient): boolean {
  const { waitReady, dataDir } = client as Partial<Record<string, unknown>> & PostgresClient;
  return waitReady !== undefined && (typeof dataDir !== 'string' || dataDir === '' || dataDir.startsWith('memory://'));
}
