// The lease of the session: who runs it, and for how long.

import { css, html, nothing, type TemplateResult } from 'lit';
import { durationText } from '../ui/amounts.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { clock } from '../timeline/moment.js';

/** The time between two steps of the countdown, in ms. */
const STEP = 1000;

/** The holder of the session's lease, with the time that it has left. Empty where nobody holds it. */
export class StatepadLease extends InspectorElement {
  static override styles = [
    base,
    css`
      p {
        display: flex;
        align-items: center;
        gap: 0.5em;
        border-block-end: 1px solid var(--line);
        padding: var(--sp-space-2) var(--sp-space-3);
        color: var(--quiet);
        font-size: var(--sp-text-sm);
        font-variant-numeric: tabular-nums;
        overflow-wrap: anywhere;
      }

      b {
        color: var(--text);
      }
    `,
  ];
  #stop: (() => void) | undefined;
  #followed: unknown;
  #steps: ReturnType<typeof setInterval> | undefined;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#unfollow();
  }

  protected override updated(): void {
    const { inspection } = this;
    const session = inspection?.session?.id;
    if (this.isConnected && this.#followed !== session) {
      this.#unfollow();
      this.#followed = session;
      this.#stop = session === undefined ? undefined : inspection?.followLease();
    }
    const counts = this.isConnected && inspection?.lease !== undefined;
    if (counts && this.#steps === undefined) {
      this.#steps = setInterval(() => this.requestUpdate(), STEP);
    } else if (!counts) {
      clearInterval(this.#steps);
      this.#steps = undefined;
    }
  }

  #unfollow(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#followed = undefined;
    clearInterval(this.#steps);
    this.#steps = undefined;
  }

  protected override render(): TemplateResult | typeof nothing {
    const lease = this.inspection?.lease;
    if (lease === undefined) {
      return nothing;
    }
    const { holder, until } = lease;
    const left = until - Date.now();
    return html`<p>
      ${icon('lock')}<span
        >${left > 0 ? 'Held' : 'Was held'}${holder === '' ? nothing : html` by <b dir="auto">${holder}</b>`} until ${clock(until)}${
          left > 0 ? ` (${durationText(Math.ceil(left / STEP) * STEP)})` : nothing
        }</span
      >
    </p>`;
  }
}

customElements.define('statepad-lease', StatepadLease);
