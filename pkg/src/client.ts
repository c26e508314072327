/**
 * Sessions behind a server of `statepad/serve`, for programs and pages: reading, writing and watching them as those of
 * a `SessionService`. It loads no WebAssembly.
 *
 * @example
 * ```js
 * import { applyChange, connect } from 'statepad/client';
 *
 * const client = connect({ url: 'https://example.com/agents', token });
 * const session = await client.createSession({ appName: 'tutor', userId: 'ana' });
 * await client.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { topic: 'tides' } } } });
 * ```
 *
 * @packageDocumentation
 */

export { connect } from './client/connect.js';
export { SessionClient } from './client/session-client.js';
export type { ConnectOptions } from './client/options.js';
export type { TabSharing } from './client/watch/tabs/sharing.js';
export { applyChange } from './model/apply-change.js';
export { Deleted, DELETED } from './model/deletion.js';
export { StatepadError, isStatepadError, type ErrorCode, type ErrorDetails } from './model/errors.js';
export { append, compareAndSet, increment, setOnce } from './input/operators.js';
export { createEvent, createEventActions, isFinalResponse } from './input/event.js';
export { plainSession } from './input/plain-session.js';
export type { SessionOperations } from './model/operations.js';
export type { SessionSource } from './model/watch.js';
