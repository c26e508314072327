// The source of the past of app and user values.

import type { ScopeKey } from '../engine/sessions.js';
import type { View } from '../session/handle.js';
import type { Json } from '../model/types.js';
import type { SharedHistory, TrimOptions } from '../model/past.js';
import type { Signal } from '../async/abort.js';

/** Values under full keys. */
export type Values = Readonly<Record<string, Json>>;

/** The past of app and user values, as far as it is retained. */
export interface SharedPast {
  /**
   * The values of the app and the user of a session right after one of its revisions, under full keys; `undefined`
   * where they are unknown. `sessionState` is the state by the session's own log: it gives the order of keys where no
   * other one is known.
   */
  at(view: View, revision: number, sessionState: Values, signal?: Signal): Promise<Values | undefined>;
  /** The writes of a key. */
  steps(scope: ScopeKey, key: string, signal?: Signal): Promise<SharedHistory>;
  /** Deletes the oldest entries. Returns their number. Throws `INVALID_ARGUMENT` where no log is kept. */
  trim(scope: ScopeKey, options: Pick<TrimOptions, 'before' | 'upTo'>, signal?: Signal): Promise<number>;
}
