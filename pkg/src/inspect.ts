/**
 * The inspector, served by a program: a page that shows the sessions of a service, their events, their state at every
 * moment, and follows what is written meanwhile. For Node.
 *
 * @example
 * ```js
 * import { SessionService } from 'statepad';
 * import { inspect } from 'statepad/inspect';
 *
 * const service = new SessionService();
 * await inspect(service);
 * ```
 *
 * @packageDocumentation
 */

export { inspect, type Inspection } from './inspect/inspect.js';
export { inspectorFiles, type InspectorFilesOptions } from './inspect/files.js';
export type { InspectedPart, InspectedServer, InspectOptions } from './inspect/options.js';
export type { InspectorFile, InspectorFiles } from './serve/inspector/files.js';
export type { ErrorContext, OnError } from './http/answers.js';
