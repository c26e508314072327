// The options of journals, and their checks.

import { checkMethods, checkOptions } from '../../checks/arguments.js';
import { checkChoice, checkText } from '../shared/options.js';
import type { LogOptions } from './log-record.js';
import type { StorageArea, StorageLocks } from './web-storage/area.js';

/** Options of `fileJournal`. */
export interface FileJournalOptions extends LogOptions {
  /**
   * True, which is the default, when a change is on the disk before it is acknowledged. Otherwise it is with the
   * operating system: it survives the end of the process, and not that of the machine.
   */
  readonly sync?: boolean | undefined;
  /**
   * True to take sessions that have been removed out of the file when it is opened: it is written anew without them,
   * and takes the place of the old one as a whole. That needs room for both, and is left alone as long as something is
   * damaged. Deleted data stays in the file until then.
   */
  readonly compact?: boolean | undefined;
}

/** Options of `localStorageJournal`. */
export interface StorageOptions extends LogOptions {
  /** The storage. Default: `globalThis.localStorage`. */
  readonly storage?: StorageArea | undefined;
  /**
   * Locks that all users of the storage share. Default for `localStorage`: those of the browser (`navigator.locks`). A
   * storage without them is refused, but for `sessionStorage`, which each page has for itself.
   */
  readonly locks?: StorageLocks | undefined;
}

/** Throws `INVALID_ARGUMENT` for a medium that cannot be used. */
export function checkMedium(medium: unknown): void {
  checkMethods(medium, 'medium', ['append', 'read'], ['open', 'close']);
}

/** Throws `INVALID_ARGUMENT` for options of a log that cannot be used. */
export function checkLogOptions(options: LogOptions): void {
  checkOptions(options, ['log']);
  checkLog(options);
}

/** Throws `INVALID_ARGUMENT` for a path or options that cannot be used. */
export function checkFileArguments(path: unknown, options: FileJournalOptions): void {
  checkText('path', path, "fileJournal('sessions.journal')");
  checkOptions(options, ['sync', 'compact', 'log']);
  checkLog(options);
  checkChoice('options.sync', options.sync, [true, false]);
  checkChoice('options.compact', options.compact, [true, false]);
}

/** Throws `INVALID_ARGUMENT` for a name or options that cannot be used. */
export function checkStorageArguments(name: unknown, options: StorageOptions): void {
  checkText('name', name, "localStorageJournal('sessions')");
  checkOptions(options, ['storage', 'locks', 'log']);
  checkLog(options);
  if (options.storage !== undefined) {
    checkMethods(options.storage, 'options.storage', ['key', 'getItem', 'setItem', 'removeItem']);
  }
  if (options.locks !== undefined) {
    checkMethods(options.locks, 'options.locks', ['request']);
  }
}

function checkLog({ log }: LogOptions): void {
  checkChoice('options.log', log, [true, false]);
}
