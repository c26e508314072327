// The options of `indexedDBStore`, and their checks.

import { checkMethods, checkOptions } from '../../checks/arguments.js';
import { checkChoice, checkText } from '../shared/options.js';

/** Options of `indexedDBStore`. */
export interface IndexedDBStoreOptions {
  /**
   * `strict`, the default: a change is on disk when `commit` resolves. `relaxed`: the operating system has it; that is
   * faster, and a loss of power may take the last changes, never a part of one.
   */
  readonly durability?: 'strict' | 'relaxed';
  /**
   * True to keep a log of app and user values, which is the default: a row for each change of theirs, until it is
   * trimmed (`SessionStore.trimLog`). All tabs should say the same: a change written without a log is not in it, and
   * it begins behind that.
   */
  readonly log?: boolean;
  /** Instead of the global one. */
  readonly indexedDB?: IDBFactory;
  /** The replacement of the global one. If there is none, `watch` hears nothing. */
  readonly BroadcastChannel?: new (name: string) => Pick<BroadcastChannel, 'onmessage' | 'postMessage' | 'close'>;
}

/** Throws `INVALID_ARGUMENT` for a name or options that cannot be used. */
export function checkArguments(name: unknown, options: IndexedDBStoreOptions): void {
  checkText('name', name, "indexedDBStore('sessions')");
  checkOptions(options, ['durability', 'log', 'indexedDB', 'BroadcastChannel']);
  checkChoice('options.log', options.log, [true, false]);
  checkChoice('options.durability', options.durability, ['strict', 'relaxed']);
  if (options.indexedDB !== undefined) {
    checkMethods(options.indexedDB, 'options.indexedDB', ['open']);
  }
}
