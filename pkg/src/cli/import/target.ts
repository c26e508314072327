// The store that sessions are imported into. None is upgraded, and no database of others gets tables.

import { stat } from 'node:fs/promises';
import { SessionService } from '../../index.js';
import { isStore, type Address, type StoreAddress } from '../addresses.js';
import { UsageError } from '../errors.js';
import { openedService, type OpenedService } from '../sources/service.js';
import type { Secrets } from '../secrets.js';
import { CACHED_EVENTS } from '../work/exported.js';

/** The surroundings in which a target is opened. */
export interface TargetOptions {
  readonly folder: string;
  readonly secrets: Secrets;
  /** True when nothing will be written: a store that is not there is not made. */
  readonly dryRun: boolean;
  readonly onError: (error: unknown) => void;
}

/** A store, and whether it was there before. */
export interface Target extends Pick<OpenedService, 'service' | 'close'> {
  readonly isNew: boolean;
}

/** The address of a target. Throws `UsageError` for one that takes no import. */
export function targetOf(address: Address): StoreAddress {
  if (address.kind === 'server') {
    throw new UsageError(
      'a server sets the time of a creation by its own clock, so an import through it would not be exact: ' +
        'import where the store is, by the address of the store',
    );
  }
  if (!isStore(address)) {
    throw new UsageError('lines are written by statepad export: statepad export FROM --out FILE');
  }
  if (address.kind === 'memory') {
    throw new UsageError('memory: keeps nothing: try an import by --dry-run, with the store that it is for');
  }
  return address;
}

/** Opens a target. A file that is not there is made. Throws `CommandError`, also for the database of an ADK. */
export async function openedTarget(address: StoreAddress, options: TargetOptions): Promise<Target> {
  const { folder, secrets, dryRun, onError } = options;
  const isNew = await isMissing(address);
  if (isNew && dryRun) {
    const service = new SessionService({ log: false });
    return { service, isNew, close: async () => await service.close() };
  }
  const isFile = address.kind === 'sqlite' || address.kind === 'journal';
  const migrate = dryRun || (isFile && !isNew) ? 'check' : 'create';
  const write = !dryRun;
  const { service, close } = await openedService(address, {
    folder,
    secrets,
    migrate,
    write,
    cachedEvents: CACHED_EVENTS,
    onError,
  });
  return { service, close, isNew };
}

/** True for a file that is not there, or is empty. */
async function isMissing(address: StoreAddress): Promise<boolean> {
  if (address.kind !== 'sqlite' && address.kind !== 'journal') {
    return false;
  }
  return await stat(address.path).then(
    ({ size }) => size === 0,
    () => true,
  );
}
