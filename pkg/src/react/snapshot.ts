// The state of a session, as components see it.

import type { Session } from '../model/types.js';

/** A view of a session, discriminated by `status`. Frozen, and the same object until it changes. */
export type SessionSnapshot = LoadingSession | ReadySession | MissingSession | FailedSession;

/** A view for `useSuspenseSession`: a session that is loading suspends, and an error without a session is thrown. */
export type SettledSession = ReadySession | MissingSession | (FailedSession & { readonly session: Session });

/** Nothing has been read yet. */
export interface LoadingSession {
  readonly status: 'loading';
  readonly session?: undefined;
  /**
   * With `keepPrevious`: the session of the same user that the provider showed before its `sessionId` changed. It is
   * not the session that is loading.
   */
  readonly previous?: Session;
  readonly error?: undefined;
}

/** The session was read, and is kept up to date. */
export interface ReadySession {
  readonly status: 'ready';
  /** Its state and its events belong together. Writes in flight show in the state: `useSessionWrite`. */
  readonly session: Session;
  readonly previous?: undefined;
  readonly error?: undefined;
}

/** There is no such session, or it was deleted. One that is created later is shown. */
export interface MissingSession {
  readonly status: 'missing';
  readonly session?: undefined;
  readonly previous?: undefined;
  readonly error?: undefined;
}

/** The session cannot be read. An unavailable source (`STORE_UNAVAILABLE`) is tried again. */
export interface FailedSession {
  readonly status: 'error';
  /** The session as it was read last, or passed as `initial`. */
  readonly session?: Session;
  readonly previous?: undefined;
  readonly error: unknown;
}
