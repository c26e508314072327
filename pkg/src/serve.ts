/**
 * A session service over HTTP, for clients in every language: Agent Engine's sessions API, which ADK's own clients
 * speak, and JSON routes for everything that the service can do.
 *
 * @example
 * ```js
 * import { createServer } from 'node:http';
 * import { SessionService } from 'statepad';
 * import { nodeListener, serve } from 'statepad/serve';
 *
 * const ana = { id: 'ana', apps: ['tutor'], users: ['ana'] };
 * const authorize = (request) => (request.headers.get('authorization') === 'Bearer s3cret' ? ana : undefined);
 * createServer(nodeListener(serve(new SessionService(), { authorize }))).listen(8080);
 * ```
 *
 * @packageDocumentation
 */

export { serve } from './serve/serve.js';
export type { ServeHandler } from './serve/handler.js';
export type { InspectorFile, InspectorFiles } from './serve/inspector/files.js';
export type { RequestLine, ServeLimits, ServeOptions } from './serve/options.js';
export type { StreamPace } from './serve/watch/streams.js';
export { nodeListener, type FetchHandler, type NodeListenerOptions } from './http/node-listener.js';
export type { NodeRequest, NodeResponse } from './http/node-http.js';
export type { StoredScope } from './model/scope.js';
export type { Authorize, Authorized, Granted, Principal, StorageWork } from './http/principal.js';
export type { ErrorContext, OnError } from './http/answers.js';
export type { CorsOptions } from './http/cors.js';
