/**
 * A session in React: components show it, render again when the shown part changes, and write to it.
 *
 * @example
 * ```tsx
 * import { SessionProvider, useSessionState } from 'statepad/react';
 *
 * function Topic() {
 *   return <h1>{useSessionState((state) => String(state.topic))}</h1>;
 * }
 * ```
 *
 * @packageDocumentation
 */

export { SessionProvider, useSession, useSessionState, useSuspenseSession } from './react/hooks.js';
export { useSessionWrite } from './react/write.js';
export type { SessionProviderProps } from './react/hooks.js';
export type { Refetching, UseSessionResult, UseSuspenseSessionResult } from './react/provided-session.js';
export type { StateChange, StateDelta, StateRecord } from './react/pending-writes.js';
export type {
  FailedSession,
  LoadingSession,
  MissingSession,
  ReadySession,
  SessionSnapshot,
  SettledSession,
} from './react/snapshot.js';
export type { SessionWriter, UseSessionWriteResult } from './react/write.js';
export type { SessionSource } from './model/watch.js';
