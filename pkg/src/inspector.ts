/**
 * The inspector: sessions of agents in a page, with their conversation, their state at every moment, and the prompt
 * that the model saw. It needs no other package, and defines custom elements whose names begin with `statepad-`.
 *
 * @example
 * ```js
 * import { SessionService } from 'statepad';
 * import { mount } from 'statepad/inspector';
 *
 * const service = new SessionService();
 * await mount(document.body, { source: service });
 * ```
 *
 * @packageDocumentation
 */

export { mount, type InspectorOptions, type MountedInspector, type Send } from './inspector/mount.js';
export type { InspectorView } from './inspector/view.js';
export type { InspectorSource } from './inspector/model/source.js';
