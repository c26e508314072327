// The state of a session, as components see it.

import type { Session } from '../model/types.js';

/** What is known of a session: a union that `status` tells apart. Frozen, and the same object until it has changed. */
export type SessionSnapshot = LoadingSession | ReadySession | MissingSession | FailedSession;

/** What `useSuspenseSession` knows: a session that is loading suspends, and an error without a session is thrown. */
export type SettledSession = ReadySession | MissingSession | (FailedSession & { readonly session: Session });

/** Nothing has been read yet. */
export interface LoadingSession {
  readonly status: 'loading';
  readonly session?: undefined;
  /**
   * With `keepPrevious`: the session of the same user that the provider showed before its `sessionId` changed. It is
   * another one than the session that is loading.
   */
  readonly previous?: Session;
  readonly error?: undefined;
}

/** The session was read, and is kept up to date. */
export interface ReadySession {
  readonly status: 'ready';
  /** Its state and its events belong together. Writes that are on their way show in the state: `useSessionWrite`. */
  readonly session: Session;
  readonly previous?: undefined;
  readonly error?: undefined;
}

/** There is no such session, or none any more. One that is created later is shown. */
export interface MissingSession {
  readonly status: 'missing';
  readonly session?: undefined;
  readonly previous?: undefined;
  readonly error?: undefined;
}

/** The session cannot be read. A source that is not available (`STORE_UNAVAILABLE`) is tried again. */
export interface FailedSession {
  readonly status: 'error';
  /** The session as it was read last, or given as `initial`. */
  readonly session?: Session;
  readonly previous?: undefined;
  readonly error: unknown;
}
