// The sessions of any address, for a command that reads them, or also writes.

import { openedLines } from './lines.js';
import { openedServer } from './server.js';
import { openedService, type GrowthOptions } from './service.js';
import { isStore, shownAddress, type Address } from '../addresses.js';
import { CommandError, UsageError } from '../errors.js';
import type { Secrets } from '../secrets.js';
import type { OpenOptions } from '../stores/opened.js';
import type { SessionOperations } from '../../client.js';
import type { SessionService } from '../../index.js';

/** The options of a source. */
export interface SourceOptions extends Omit<OpenOptions, 'migrate' | 'write'> {
  /**
   * The changes that the layout of a store may be given: `'check'` by default, which changes nothing, and makes no
   * missing file.
   */
  readonly migrate?: OpenOptions['migrate'] | undefined;
  /** The approximate number of events that stay in memory: a few, for a command that sees each session once. */
  readonly cachedEvents?: number | undefined;
  /** True for a command that also writes; by default a file is opened for reading alone. */
  readonly write?: boolean | undefined;
  /** The expiry and the limits of a service of this process. */
  readonly growth?: GrowthOptions | undefined;
  /** The file with the token for a server; by default it comes from the environment. */
  readonly tokenFile?: string | undefined;
  /** Learns the token. */
  readonly secrets: Secrets;
}

/** Sessions that are open. */
export interface OpenedSource {
  readonly source: SessionOperations;
  /** The service of this process over them; absent for a server. */
  readonly service: SessionService | undefined;
  readonly kind: Address['kind'];
  /** The address for people, without secrets. */
  readonly name: string;
  /** True when writes are refused, or go nowhere. */
  readonly isReadOnly: boolean;
  /** Closes the store and its connections. */
  readonly close: () => Promise<void>;
}

/**
 * Opens the sessions of an address. Throws `CommandError`, with the name of the address, when it cannot be used: also
 * for a database of a newer version or of something else.
 */
export async function openedSource(address: Address, options: SourceOptions): Promise<OpenedSource> {
  const { tokenFile, secrets, migrate = 'check', write = false } = options;
  const name = shownAddress(address);
  const { kind } = address;
  if (tokenFile !== undefined && kind !== 'server') {
    throw new UsageError('--token-file is for the address of a server, https://HOST');
  }
  if (isStore(address)) {
    const { service, isReadOnly, close } = await openedService(address, { ...options, migrate, write });
    return { source: service, service, kind, name, isReadOnly, close };
  }
  if (address.kind === 'server') {
    const source = await openedServer(address.url, { tokenFile, secrets }).catch((error: unknown) =>
      unusable(name, error),
    );
    return { source, service: undefined, kind, name, isReadOnly: !write, close: async () => await source.close() };
  }
  const service = await openedLines(address.path).catch((error: unknown) => unusable(name, error));
  return { source: service, service, kind, name, isReadOnly: true, close: async () => await service.close() };
}

/** Throws an error that names the address; one of the command line as it is. */
function unusable(name: string, error: unknown): never {
  throw error instanceof UsageError ? error : new CommandError(`${name} cannot be read`, { cause: error });
}
