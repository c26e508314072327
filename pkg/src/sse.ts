/**
 * Watching sessions over HTTP, as server-sent events: a handler for the Fetch API, a client for it, and an adapter to
 * Node's servers.
 *
 * @example
 * ```js
 * import { nodeListener, sseHandler, sseSource } from 'statepad/sse';
 *
 * // On the server:
 * const authorize = () => ({ apps: ['tutor'], users: ['ana'] });
 * createServer(nodeListener(sseHandler(service, { authorize })));
 * // In the browser, or elsewhere:
 * const source = sseSource({ url: '/session' });
 * for await (const change of source.watch({ appName: 'tutor', userId: 'ana', sessionId: 's1', whole: true })) {
 *   session = applyChange(session, change);
 * }
 * ```
 *
 * @packageDocumentation
 */

export { applyChange } from './model/apply-change.js';
export { sseSource } from './client/watch/source.js';
export type { SseSourceOptions } from './client/request.js';
export type { TabSharing } from './client/watch/tabs/share.js';
export { nodeListener, type NodeListenerOptions, type NodeRequest, type NodeResponse } from './http/node-listener.js';
export type { StoredScope } from './model/scope.js';
export type { Authorize, Authorized, Granted, Principal } from './http/principal.js';
export type { ErrorContext, OnError } from './http/answers.js';
export type { CorsOptions } from './http/cors.js';
