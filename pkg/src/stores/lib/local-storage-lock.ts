// One writer at a time for the storage of a browser.

import { newId } from '../../ids.js';
import { StoreError } from '../../store-error.js';
import type { StorageArea, StorageLocks } from './local-storage.js';

/** How often the item that stands for a lock is brought up to date, when it is as good as gone, and how long others have
 * to see it; in milliseconds. A page in the background comes to it once a minute. */
const BEAT = 5_000;
const STALE = 90_000;
const SEEN = 50;

/** A lock that is held. */
export interface StorageLock {
  /** Throws when somebody else has taken it. */
  confirm(): void;
  release(): void;
}

/** Takes a lock of the browser, which goes with its page. Throws `rejected` when another page has it. */
export async function browserLock(locks: StorageLocks, name: string): Promise<StorageLock> {
  return await new Promise((resolve, reject) => {
    const request = locks.request(name, { mode: 'exclusive', ifAvailable: true }, async (lock) => {
      if (lock === null) {
        throw taken(name);
      }
      await new Promise<void>((release) => resolve({ confirm: () => undefined, release }));
    });
    request.catch(reject);
  });
}

/** Takes a lock that is an item of the storage. Throws `rejected` when somebody looks after it. */
export async function itemLock(storage: StorageArea, item: string): Promise<StorageLock> {
  const id = newId();
  const read = (): { readonly id?: unknown; readonly time?: unknown } => {
    try {
      return JSON.parse(storage.getItem(item) ?? '{}') as object;
    } catch {
      return {};
    }
  };
  const beat = (): void => storage.setItem(item, JSON.stringify({ id, time: Date.now() }));
  const { time } = read();
  if (typeof time === 'number' && Math.abs(Date.now() - time) < STALE) {
    throw taken(item);
  }
  beat();
  // Of two that take it at the same time the later one has it.
  await new Promise((done) => setTimeout(done, SEEN));
  if (read().id !== id) {
    throw taken(item);
  }
  const confirm = (): void => {
    if (read().id !== id) {
      throw new Error(`another page has taken the lock "${item}"`);
    }
  };
  const timer = setInterval(() => {
    try {
      if (read().id === id) {
        beat();
      }
    } catch {
      // There will be room, or whoever needs the lock takes it.
    }
  }, BEAT);
  (timer as { unref?(): void }).unref?.();
  return {
    confirm,
    release: () => {
      clearInterval(timer);
      if (read().id === id) {
        storage.removeItem(item);
      }
    },
  };
}

function taken(name: string): StoreError {
  return new StoreError('rejected', `another page has the journal open: it holds the lock "${name}"`);
}
