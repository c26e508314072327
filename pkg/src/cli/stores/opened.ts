// A store that a command has opened, and what it needs for that.

import type { Secrets } from '../secrets.js';
import type { SessionStore } from '../../store.js';

/** A store, and the connections under it. */
export interface OpenedStore {
  /** `undefined`: the sessions are in memory. */
  readonly store: SessionStore | undefined;
  /** True for a store that never takes writes; absent when that depends on how it was opened. */
  readonly isReadOnly?: true;
  /** True for a store that may be encrypted. */
  readonly isEncryptable?: true;
  /** Closes the connections, after the store. */
  readonly close: () => Promise<void>;
}

/** The surroundings in which a store is opened. */
export interface OpenOptions {
  /** The folder whose packages are used. */
  readonly folder: string;
  /** The changes that the store's layout may be given. With `'check'` no missing file is made. */
  readonly migrate: 'create' | 'upgrade' | 'check';
  /** True when the command writes; a file is opened for reading alone otherwise. */
  readonly write: boolean;
  /** Learns the keys of an encrypted store. */
  readonly secrets: Secrets;
  /** Receives errors of connections that are made again. */
  readonly onError: (error: unknown) => void;
}
