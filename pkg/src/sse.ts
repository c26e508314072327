/**
 * Watching sessions over HTTP, as server-sent events: a handler for the Fetch API, and what reads from it.
 *
 * @example
 * ```js
 * import { sseHandler, sseSource, targetOf } from 'statepad/sse';
 *
 * // On the server:
 * export const GET = sseHandler(service, { target: (request) => ({ ...targetOf(request), userId: 'ana' }) });
 * // In the browser, or elsewhere:
 * for await (const change of sseSource({ url: '/session' }).watch({ appName: 'tutor', sessionId: 's1' })) {
 *   console.log(change);
 * }
 * ```
 *
 * @packageDocumentation
 */

export { sseHandler, targetOf, type SseHandlerOptions } from './sse/handler.js';
export { sseSource, type SseSourceOptions } from './sse/source.js';
export { applyChange } from './model/apply-change.js';
