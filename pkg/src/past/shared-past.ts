// What the past of app and user values is read from.

import type { ScopeKey } from '../engine/sessions.js';
import type { View } from '../session/handle.js';
import type { Json } from '../model/types.js';
import type { SharedHistory, TrimOptions } from '../model/past.js';
import type { Signal } from '../async/abort.js';

/** Values under full keys. */
export type Values = Readonly<Record<string, Json>>;

/** The past of app and user values, as far as it is kept. */
export interface SharedPast {
  /**
   * The values of the app and the user of a session just after one of its revisions, under full keys; `undefined`
   * where that is not known. `sessionState` is the state as the session's own log has it: keys have its order where no other
   * one is known.
   */
  at(view: View, revision: number, sessionState: Values, signal?: Signal): Promise<Values | undefined>;
  /** The writes of a key. */
  steps(scope: ScopeKey, key: string, signal?: Signal): Promise<SharedHistory>;
  /** Deletes the oldest entries. Answers how many. Throws `INVALID_ARGUMENT` where no log is kept. */
  trim(scope: ScopeKey, options: Pick<TrimOptions, 'before' | 'upTo'>, signal?: Signal): Promise<number>;
}
