// Going back in a session: what is asked and what is answered.

import type { Abortable, Event } from './types.js';

/** Options of `redo`. */
export interface RedoOptions extends Abortable {
  /**
   * @internal Restores what is kept outside of the session as it was after the first `to` of its events. Answers the
   * `artifactDelta` of the marker. It is asked again when another writer comes between.
   */
  readonly artifacts?:
    ((events: readonly Event[], to: number) => Promise<Readonly<Record<string, number>>>) | undefined;
}

/** Options of `rewind`. */
export interface RewindOptions extends RedoOptions {
  /** The invocation before which the session's own keys are restored. */
  readonly before: string;
}

/** What a rewind, or its undoing, has come to. */
export interface Rewound {
  /** The marker that was appended: its delta restores the session's own keys. */
  readonly event: Event;
  /** The revision that the session came to with it. */
  readonly revision: number;
  /**
   * The `app:` and `user:` keys that the turns concerned had written, in the order in which they were first written.
   * They stay as they are, because others share them.
   */
  readonly shared: readonly string[];
}

/** Options of `fork`. */
export interface ForkOptions extends Abortable {
  /** The revision up to which the log is taken over; the session's present one unless told otherwise. */
  readonly at?: number | undefined;
  /** The id of the new session: generated (a UUID) when absent or blank. */
  readonly sessionId?: string | undefined;
}
