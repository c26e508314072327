// Rewinding a session: options and answers.

import type { Abortable, Event, SessionEnd } from './types.js';

/** Options of `redo`. */
export interface RedoOptions extends Abortable {
  /**
   * @internal Restores artifacts to their versions after the first `to` of the events. Answers the `artifactDelta` of
   * the marker. It is called again when another writer intervenes.
   */
  readonly artifacts?:
    ((events: readonly Event[], to: number) => Promise<Readonly<Record<string, number>>>) | undefined;
}

/** Options of `rewind`. */
export interface RewindOptions extends RedoOptions {
  /** The invocation before which the session's own keys are restored. */
  readonly before: string;
}

/** The result of a rewind, or of its undoing. */
export interface Rewound {
  /** The marker that was appended: its delta restores the session's own keys. */
  readonly event: Event;
  /** The revision of the session after it. */
  readonly revision: number;
  /**
   * The `app:` and `user:` keys that the affected turns wrote, in the order of their first writes. They stay as they
   * are, because others share them.
   */
  readonly shared: readonly string[];
}

/**
 * Options of `fork`. Without an end of its own the fork has the default of the service, and never that of its source.
 */
export interface ForkOptions extends Abortable, SessionEnd {
  /** The revision up to which the log is copied; by default the current one. */
  readonly at?: number | undefined;
  /** The id of the new session: generated (a UUID) when absent or blank. */
  readonly sessionId?: string | undefined;
}
