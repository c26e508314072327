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

import type { InspectorOptions, InspectorOverlay, MountedInspector } from './inspector/options.js';

export type { InspectorOptions, InspectorOverlay, MountedInspector, Send } from './inspector/options.js';
export type { InspectorSource } from './inspector/model/source.js';
export type { InspectorView } from './inspector/view.js';

/**
 * Mounts an inspector: it fills the element, and follows its source live. Resolves when the first session is on show,
 * or when there is none. Throws `INVALID_ARGUMENT` for a source without the methods to read, and the errors of the
 * source.
 *
 * @example
 * import { mount } from 'statepad/inspector';
 *
 * await mount(document.querySelector('#inspector'), { source: service });
 */
export async function mount(element: Element, options: InspectorOptions): Promise<MountedInspector> {
  // The elements need a document: a server that renders a page may import this module, and never mounts.
  const { mountInto } = await import('./inspector/mount.js');
  return await mountInto(element, options);
}

/**
 * Puts a button into a corner of the page, which opens an inspector in a panel at the bottom: for the development of
 * a program that has its sessions in the page, or a client of them. Escape closes the panel; its upper edge can be
 * moved. The inspector is made when the panel is opened first. The styles of the page do not reach it, but for its
 * `--sp-*` properties. Resolves when the button is there; the panel shows the errors of the source.
 *
 * @example
 * import { overlay } from 'statepad/inspector';
 *
 * await overlay({ source: service });
 */
export async function overlay(options: InspectorOptions): Promise<InspectorOverlay> {
  const { overlayFor } = await import('./inspector/overlay.js');
  return overlayFor(options);
}
