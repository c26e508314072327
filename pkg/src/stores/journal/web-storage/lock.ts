// One writer at a time for the storage of a browser.

import { StoreError } from '../../../store/store-error.js';
import { areaOfPage, locksOfPage, type StorageArea, type StorageLocks } from './area.js';

/** A lock that is held. */
export interface StorageLock {
  /** Throws when it is lost. */
  confirm(): void;
  release(): void;
}

/** The names of the locks that this page holds, by the `StorageLocks` or the storage that they belong to. */
const lockNames = new WeakMap<object, Set<string>>();

/**
 * Takes the lock of a journal in a storage. Throws `rejected` when it is held, and when there is nothing to lock with.
 *
 * Only locks that the browser itself takes back keep a second writer out: a page that was stopped (the machine slept)
 * goes on where it was, and nothing in the storage tells it that others have taken its place meanwhile.
 */
export async function lockStorage(
  storage: StorageArea,
  name: string,
  ownLocks: StorageLocks | undefined,
): Promise<StorageLock> {
  const isShared = storage === areaOfPage('localStorage');
  const locks = ownLocks ?? (isShared ? locksOfPage() : undefined);
  if (locks !== undefined) {
    return await browserLock(locks, `statepad:${name}`);
  }
  if (!isShared && storage === areaOfPage('sessionStorage')) {
    return pageLock(storage, name);
  }
  const why = isShared
    ? 'needs navigator.locks, which pages from https or localhost have: serve the page so, or use indexedDBStore'
    : 'needs locks that all users of its storage share: pass them as locks';
  throw new StoreError('rejected', `the journal "${name}" ${why}`);
}

/** Takes a lock of the browser, which goes with its page. Throws `rejected` when it is held. */
async function browserLock(locks: StorageLocks, name: string): Promise<StorageLock> {
  const ours = namesOf(locks);
  if (ours.has(name)) {
    throw alreadyOpen(name);
  }
  ours.add(name);
  try {
    return await new Promise((resolve, reject) => {
      let loss: unknown;
      const confirm = (): void => {
        if (loss !== undefined) {
          throw new StoreError('rejected', `another page has taken the lock "${name}": reload the page`, {
            cause: loss,
          });
        }
      };
      const request = locks.request(name, { mode: 'exclusive', ifAvailable: true }, async (lock) => {
        if (lock === null) {
          throw new StoreError('rejected', `another page has the journal open: it holds the lock "${name}"`);
        }
        await new Promise<void>((release) => {
          const end = (): void => {
            ours.delete(name);
            release();
          };
          resolve({ confirm, release: end });
        });
      });
      request.catch((error: unknown) => {
        loss = error;
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    });
  } catch (error) {
    ours.delete(name);
    throw error;
  }
}

/** Takes a lock of a storage that no other page has. Throws `rejected` when it is held. */
function pageLock(storage: StorageArea, name: string): StorageLock {
  const ours = namesOf(storage);
  if (ours.has(name)) {
    throw alreadyOpen(name);
  }
  ours.add(name);
  const release = (): void => {
    ours.delete(name);
  };
  return { confirm: () => undefined, release };
}

function namesOf(holder: object): Set<string> {
  const names = lockNames.get(holder) ?? new Set();
  lockNames.set(holder, names);
  return names;
}

function alreadyOpen(name: string): StoreError {
  return new StoreError(
    'rejected',
    `this page already has the journal open: it holds the lock "${name}"; close that store first`,
  );
}
