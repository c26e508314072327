/**
 * A session in React: components show it, and are rendered anew when what they show has changed.
 *
 * @example
 * ```tsx
 * import { SessionProvider, useSessionState } from 'statepad/react';
 *
 * function Topic() {
 *   return <h1>{useSessionState((state) => state.topic)}</h1>;
 * }
 * ```
 *
 * @packageDocumentation
 */

export { SessionProvider, useSession, useSessionState, type SessionProviderProps } from './react/hooks.js';
export type { SessionSnapshot } from './react/session-view.js';
export type { SessionSource } from './model/watch.js';
