// The option to share one connection among the tabs of an origin.

import { admitString, checkObject, checkOptions, invalid } from '../../../checks/arguments.js';

/** Options for sharing one connection among the tabs of an origin. */
export interface TabSharing {
  /**
   * The owner of the connection: tabs whose sources have the same `url` and the same `key` share one, and all of them
   * get the server's messages for any of them. It must differ for every user: the user's id, for example, or a name
   * of the login. Others see only a hash of it.
   */
  readonly key: string;
}

/** Checks the option. Throws `INVALID_ARGUMENT`. */
export function checkSharing(sharing: TabSharing): void {
  checkObject(sharing, 'shareTabs');
  checkOptions(sharing, ['key'], 'shareTabs');
  if (admitString(sharing.key, 'shareTabs.key') === '') {
    invalid('shareTabs.key', 'must identify the user of the connection: it is empty');
  }
}
