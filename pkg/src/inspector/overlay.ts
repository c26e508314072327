// The inspector beside a program that is being written: a button in a corner of its page, and a docked panel.

import { css, html, LitElement, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { mountInto } from './mount.js';
import type { InspectorOptions, InspectorOverlay, MountedInspector } from './options.js';
import { keepChoice, keptChoice } from './ui/kept.js';
import { icon } from './ui/icons.js';
import { reasonOf } from './ui/reason.js';
import { base } from './ui/style.js';
import { tokens } from './ui/tokens.js';
import './shell/divider.js';

/** The name under which the height of the panel is kept. */
const HEIGHT = 'overlay-height';

/** The least height of the panel, and the least room above it, in px. */
const LEAST = 240;

/** Keys of the inspector are no keys of the page. */
const KEYS = ['keydown', 'keyup', 'keypress'] as const;

/** The button and the panel. The styles of the page do not reach them. */
export class StatepadOverlay extends LitElement {
  static override properties: PropertyDeclarations = {
    open: { type: Boolean, reflect: true },
    height: { state: true },
    problem: { state: true },
  };
  static override styles = [
    tokens,
    base,
    css`
      /* Important rules of a shadow tree win over those of the page. */
      :host {
        all: initial !important;
        direction: ltr !important;
        --sp-rem: 16px !important;
        position: fixed !important;
        z-index: 2147483000 !important;
        inset: auto 0 0 !important;
        display: block !important;
        height: 0 !important;
        color-scheme: inherit !important;
        color: var(--text) !important;
        font-family: var(--sans) !important;
        font-size: var(--sp-text-md) !important;
        line-height: 1.45 !important;
      }

      .opener {
        position: absolute;
        inset: auto 16px 16px auto;
        width: 40px;
        height: 40px;
        border: 0;
        border-radius: 50%;
        padding: 0;
        background: none;
        box-shadow: var(--sp-shadow-lg);
        transition: transform var(--sp-fast) var(--sp-ease);
      }

      .opener:hover {
        transform: scale(1.06);
      }

      .opener svg {
        width: 40px;
        height: 40px;
      }

      .opener circle {
        fill: var(--accent);
      }

      .opener path {
        fill: none;
        stroke: var(--on-accent);
        stroke-width: 1.6;
        stroke-linecap: round;
      }

      section {
        position: absolute;
        inset: auto 0 0;
        display: grid;
        grid-template: 1px minmax(0, 1fr) / minmax(0, 1fr);
        background: var(--paper);
        box-shadow: var(--sp-shadow-lg);
        animation: rise var(--sp-slow) var(--sp-ease);
      }

      section[hidden] {
        display: none;
      }

      .place {
        min-height: 0;
      }

      .close {
        position: absolute;
        z-index: 4;
        inset: -32px 12px auto auto;
        border: 1px solid var(--line);
        border-block-end: 0;
        border-radius: var(--sp-radius-md) var(--sp-radius-md) 0 0;
        height: 32px;
        padding-inline: 10px;
        background: var(--paper);
        font-size: 12px;
      }

      .problem {
        padding: 24px;
        color: var(--bad);
      }

      @keyframes rise {
        from {
          opacity: 0;
          transform: translateY(24px);
        }
      }
    `,
  ];
  /** True while the panel is shown. */
  declare open: boolean;
  declare private height: number | undefined;
  declare private problem: string | undefined;
  /** The options of its inspector, which is made when the panel is opened first. */
  options: InspectorOptions | undefined;
  /** The inspector, once the panel was opened. */
  mounted: Promise<MountedInspector | undefined> | undefined;

  constructor() {
    super();
    const kept = Number(keptChoice(HEIGHT) ?? Number.NaN);
    this.open = false;
    this.height = Number.isFinite(kept) ? kept : undefined;
    KEYS.forEach((name) => this.addEventListener(name, (event) => event.stopPropagation()));
  }

  /** Opens the panel. Resolves when its inspector is on show. */
  async show(): Promise<void> {
    this.open = true;
    await this.updateComplete;
    this.mounted ??= this.#mount();
    const mounted = await this.mounted;
    mounted?.element.focus();
  }

  /** Closes the panel. Its inspector stays as it is. */
  async hide(): Promise<void> {
    this.open = false;
    await this.updateComplete;
    this.renderRoot.querySelector<HTMLElement>('.opener')?.focus();
  }

  async #mount(): Promise<MountedInspector | undefined> {
    const place = this.renderRoot.querySelector('.place');
    try {
      return place === null || this.options === undefined ? undefined : await mountInto(place, this.options);
    } catch (error) {
      this.problem = reasonOf(error);
      return undefined;
    }
  }

  protected override render(): TemplateResult {
    const most = Math.max(window.innerHeight - LEAST / 2, LEAST);
    const height = Math.min(Math.max(this.height ?? window.innerHeight * 0.62, LEAST), most);
    return html`${
      this.open
        ? nothing
        : html`<button class="opener" aria-label="Open the statepad inspector" @click=${() => void this.show()}>
            <svg viewBox="0 0 16 16" aria-hidden="true">
              <circle cx="8" cy="8" r="8" /><path d="M4.8 5.6h6.4M4.8 8h4M4.8 10.4h6.4" />
            </svg>
          </button>`
    }
      <section aria-label="statepad inspector" ?hidden=${!this.open} style="height: ${height}px" @keydown=${this.#pressed}>
        <statepad-divider
          .side=${'below'}
          .label=${'the inspector'}
          .size=${height}
          @resize=${(event: CustomEvent<number | null>) => this.#resize(event.detail)}
        ></statepad-divider>
        <div class="place">
          ${this.problem === undefined ? nothing : html`<p class="problem" role="alert">${this.problem}</p>`}
        </div>
        <button class="close" @click=${() => void this.hide()}>${icon('close')} Close</button>
      </section>`;
  }

  #resize(height: number | null): void {
    this.height = height ?? undefined;
    keepChoice(HEIGHT, height === null ? undefined : String(Math.round(height)));
  }

  /** Escape closes the panel, unless a field or a dialog in it needs the key. */
  readonly #pressed = (event: KeyboardEvent): void => {
    const path = event.composedPath();
    const isTaken =
      event.defaultPrevented ||
      path.some((one) => one instanceof HTMLDialogElement || (one instanceof HTMLElement && one.matches(FIELDS)));
    if (event.key === 'Escape' && !isTaken) {
      void this.hide();
    }
  };
}

const FIELDS = 'input:not([type="range"]), textarea, select, [contenteditable]';

customElements.define('statepad-overlay', StatepadOverlay);

/** See `overlay` of `statepad/inspector`. */
export function overlayFor(options: InspectorOptions): InspectorOverlay {
  const element = new StatepadOverlay();
  element.options = options;
  document.body.append(element);
  return {
    element,
    open: async () => await element.show(),
    close: () => void element.hide(),
    dispose: () => {
      void element.mounted?.then((mounted) => mounted?.dispose());
      element.remove();
    },
  };
}
