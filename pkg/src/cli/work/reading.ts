// The sessions that a command reads: opened for reading alone, with faults of connections told on standard error.

import { openedSource, type OpenedSource, type SourceOptions } from '../sources/source.js';
import { tellError } from '../tell.js';
import type { Address } from '../addresses.js';
import type { Surroundings } from '../command.js';

/** Opens the sessions of an address to read them. Throws as `openedSource`. */
export async function openedToRead(
  address: Address,
  surroundings: Surroundings,
  options: Pick<SourceOptions, 'tokenFile' | 'cachedEvents'>,
): Promise<OpenedSource> {
  const { folder, secrets } = surroundings;
  return await openedSource(address, {
    ...options,
    folder,
    secrets,
    onError: (error) => tellError(surroundings, error),
  });
}
