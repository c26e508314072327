// The event of the timeline under the pointer, with its tooltip.

import { html, nothing, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import type { Inspection } from '../model/inspection.js';
import { tipOf } from './tip.js';

/** The distance of the tooltip from the timeline, and from the edges of the window, in px. */
const GAP = 8;

type Host = ReactiveControllerHost &
  HTMLElement & { readonly inspection: Inspection | undefined; readonly renderRoot: HTMLElement | DocumentFragment };

/** Tells all panes which event is pointed at, and shows it in a tooltip above the timeline. */
export class Hover implements ReactiveController {
  readonly #host: Host;
  #revision: number | undefined;
  #x = 0;

  constructor(host: Host) {
    this.#host = host;
    host.addController(this);
  }

  /** The pointer is over an event, or over none. */
  over(revision: number | undefined, x: number): void {
    if (revision !== this.#revision) {
      this.#revision = revision;
      this.#x = x;
      this.#host.inspection?.point(revision === undefined ? undefined : { revision });
      this.#host.requestUpdate();
    }
  }

  /** True while the pointer is over an event. */
  get isOver(): boolean {
    return this.#revision !== undefined;
  }

  /** The pointer is elsewhere. */
  leave(): void {
    this.over(undefined, 0);
  }

  hostDisconnected(): void {
    this.#revision = undefined;
  }

  hostUpdated(): void {
    const tip = this.#host.renderRoot.querySelector<HTMLElement>('.tip');
    if (tip === null) {
      return;
    }
    // In the top layer no part of the page cuts it off.
    tip.showPopover();
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(Math.max(this.#x - width / 2, GAP), window.innerWidth - width - GAP);
    tip.style.left = `${left}px`;
    tip.style.top = `${this.#host.getBoundingClientRect().top - height - GAP}px`;
  }

  /** The tooltip; nothing while no event is pointed at. */
  tip({ log }: Inspection): TemplateResult | typeof nothing {
    return this.#revision === undefined
      ? nothing
      : html`<div class="tip" popover="manual" role="tooltip">${tipOf(log, this.#revision)}</div>`;
  }
}
