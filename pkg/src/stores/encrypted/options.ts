// The options of `encryptedStore`, and the checks of its arguments.

import { invalid } from '../../checks/arguments.js';
import { checkChoice } from '../shared/options.js';
import type { FindKey, KeyMaterial, NamedKey } from './keys.js';
import type { SessionStore } from '../../store/contract.js';

const OPTIONS: readonly string[] = ['keys', 'current', 'names', 'nameKey', 'plaintext'];

/** The options of an encrypted store. */
export interface EncryptedStoreOptions {
  /**
   * The keys: all that the data has been encrypted with. A new key is added to the old ones and named as the
   * current one; stored data stays as it is until it is written again, events for ever. At most 2^32 values and
   * events should be encrypted with one key.
   *
   * A function is asked for each id once. It answers `undefined` for a key that there is not; when it throws, the
   * operation throws `unavailable`, or the function's own `StoreError`.
   */
  readonly keys: readonly NamedKey[] | FindKey;
  /** The id of the key that encrypts. It need not be said when there is one key. */
  readonly current?: string;
  /**
   * The names of values that the inner store sees: their own (`visible`, the default) or tokens in their place
   * (`encrypted`). It has to be decided before the first value is written: values under the other kind of name are
   * `corrupt`.
   */
  readonly names?: 'visible' | 'encrypted';
  /**
   * The key that makes the tokens: 32 random bytes or more, or a `CryptoKey` for HKDF. It stays the same when the
   * other keys change: with another one no name would be found again, and reading throws `rejected`. It is for `names:
   * 'encrypted'` alone.
   */
  readonly nameKey?: KeyMaterial;
  /**
   * The treatment of values and events that are not encrypted, because they are older than the encryption. They are
   * `corrupt` (`refuse`, the default) or taken as they are (`read`): then a writer to the inner store can also put
   * plain text in the place of anything. Not together with `names: 'encrypted'`.
   */
  readonly plaintext?: 'refuse' | 'read';
}

/**
 * Throws `INVALID_ARGUMENT` for a store or options that cannot be used. The keys are looked at when they are taken.
 */
export function checkArguments(inner: SessionStore, options: EncryptedStoreOptions): void {
  if (typeof (inner as SessionStore | null)?.commit !== 'function') {
    invalid('inner', 'must be a store, as in encryptedStore(sqliteStore(database), { keys })');
  }
  if ((inner.guards ?? 'all') !== 'all') {
    invalid('inner', 'must compare revisions: events are encrypted for one revision');
  }
  if (typeof options !== 'object' || (options as object | null) === null) {
    invalid('options', 'must be an object with keys');
  }
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown !== undefined) {
    invalid(unknown, `is not an option of an encrypted store, which has ${OPTIONS.join(', ')}`);
  }
  const { names = 'visible', nameKey, plaintext = 'refuse' } = options;
  checkChoice('names', names, ['visible', 'encrypted']);
  checkChoice('plaintext', plaintext, ['refuse', 'read']);
  if ((names === 'encrypted') !== (nameKey !== undefined)) {
    invalid('nameKey', 'is required for encrypted names, and allowed only for them');
  }
  if (names === 'encrypted' && plaintext === 'read') {
    invalid('names', 'cannot be encrypted where values in plain text are read: those have their names in plain text');
  }
}
