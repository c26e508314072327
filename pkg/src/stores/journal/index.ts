/**
 * A store that is a list of lines, of which none is ever changed: in a file, in the storage of a browser, or wherever
 * lines can be appended and read back. All sessions are in memory, too, and read from there; opening reads all lines.
 *
 * Each line has checksums. A line that can only be read in part makes its session `corrupt`, and no other. Its changes
 * to the state of its app or user have a checksum of their own: only when that part is damaged is the app or user
 * corrupt, with all sessions that need its values. A corrupt part is neither read nor written; removing it (`remove`,
 * `removeScope`) helps. A line that was not written to its end was never acknowledged and is passed over.
 *
 * A journal only grows, with each change by about the size of the event and 300 bytes. Deleted data is no longer read,
 * and stays among the lines; {@link FileJournalOptions.compact} takes it out of a file.
 *
 * @packageDocumentation
 */

import {
  checkFileArguments,
  checkLogOptions,
  checkMedium,
  checkStorageArguments,
  type FileJournalOptions,
  type StorageOptions,
} from './options.js';
import { JournalFile } from './file/journal-file.js';
import { lineStore, type JournalMedium } from './line-store.js';
import { JournalStorage } from './web-storage/journal-storage.js';
import type { LogOptions } from './log-record.js';
import type { SessionStore } from '../../store/contract.js';

export { StoreError } from '../../store/store-error.js';
export { callbackStore } from './callback-store.js';
export type * from './callback-store.js';
export type { JournalMedium } from './line-store.js';
export type { FileJournalOptions, StorageOptions } from './options.js';
export type { StorageArea, StorageLocks } from './web-storage/area.js';
export type { Durability, Migrate, SessionStore } from '../../store/contract.js';
export type { StoreErrorCode, StoreErrorDetails } from '../../store/store-error.js';

/**
 * Makes a store over lines that the medium keeps. Changes that wait are appended together. Nothing else may write to
 * the same lines while it is open.
 *
 * @example
 * const store = journalStore({
 *   append: async (lines) => await bucket.append(lines.map((line) => `${line}\n`).join('')),
 *   read: async () => (await bucket.text()).split('\n'),
 * });
 */
export function journalStore(medium: JournalMedium, options: LogOptions = {}): SessionStore {
  checkMedium(medium);
  checkLogOptions(options);
  return lineStore(medium, options);
}

/**
 * Makes a store in a file, for Node. It is made when it is not there; its folder must be. `${path}.lock` keeps others
 * out as long as the store is open: the process that made it has to close the store or die. A change that finds no
 * room on the disk is `unavailable`, and the file is as it was before. When not even that can be reached, the journal
 * closes itself: it can be opened anew.
 *
 * `open` throws `rejected` when another store has the journal open, or when there can be no such file; `unavailable`
 * when there is no room for the lock; `corrupt` when a line is damaged in such a way that it cannot be known whose it
 * is.
 */
export function fileJournal(path: string, options: FileJournalOptions = {}): SessionStore {
  checkFileArguments(path, options);
  const file = new JournalFile(path, options.sync ?? true, options.compact ?? false);
  const store = journalStore(file, logOf(options));
  return {
    ...store,
    open: async (how, context) => {
      await store.open?.(how, context);
      if (how.migrate !== 'check') {
        await file.trim();
      }
    },
  };
}

/**
 * Makes a store in `localStorage`, or another `Storage`: an item for each batch of lines, under `${name}:0000001` and
 * so on. Changes that find no room are `unavailable`. When it is acknowledged, a change is with the browser, which
 * writes it to the disk when it likes (`os`).
 *
 * One page at a time: `open` throws `rejected` when another one has it open. That is known by a lock of the browser
 * (`navigator.locks`). A page that does not come by https, nor from localhost, has none: `open` throws `rejected`, as
 * nothing else keeps a page that was stopped for a while from overwriting what another one has written meanwhile. When
 * the items are deleted while it is open, all later changes are `rejected`.
 */
export function localStorageJournal(name: string, options: StorageOptions = {}): SessionStore {
  checkStorageArguments(name, options);
  return journalStore(new JournalStorage(name, options), logOf(options));
}

function logOf({ log }: LogOptions): LogOptions {
  return { log };
}
