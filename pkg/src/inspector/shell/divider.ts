// The line between two columns, which can be moved.

import { css, html, LitElement, type PropertyDeclarations, type TemplateResult } from 'lit';
import { base } from '../ui/style.js';

/** The way of one key press, in px. */
const STEP = 24;

/**
 * A line between two parts of the inspector. Fires `resize`, a `CustomEvent` with the wanted size of its part as
 * `detail`, in px; or `null` for the usual one, at a double click.
 */
export class StatepadDivider extends LitElement {
  static override properties: PropertyDeclarations = {
    label: { attribute: false },
    size: { attribute: false },
    side: { reflect: true },
  };
  static override styles = [
    base,
    css`
      :host {
        position: relative;
        z-index: 1;
        background: var(--line);
        touch-action: none;
      }

      div {
        position: absolute;
        inset: 0 -4px;
        cursor: col-resize;
      }

      :host([side='above']) div,
      :host([side='below']) div {
        inset: -4px 0;
        cursor: row-resize;
      }

      div::after {
        position: absolute;
        inset: 0 3px;
        background: var(--accent);
        opacity: 0;
        transition: opacity var(--sp-fast);
        content: '';
      }

      :host([side='above']) div::after,
      :host([side='below']) div::after {
        inset: 3px 0;
      }

      div:hover::after,
      div:active::after,
      div:focus-visible::after {
        opacity: 1;
      }

      div:focus-visible {
        outline: 0;
      }

      @media (forced-colors: active) {
        div:focus-visible {
          outline: 2px solid Highlight;
        }
      }
    `,
  ];
  /** The name of the part that it resizes. */
  declare label: string;
  /** The size of that part, in px. */
  declare size: number;
  /** The place of that part, seen from the line. */
  declare side: 'before' | 'after' | 'above' | 'below';
  #from: { readonly place: number; readonly size: number } | undefined;

  protected override render(): TemplateResult {
    const isUpright = this.side === 'before' || this.side === 'after';
    return html`<div
      role="separator"
      tabindex="0"
      aria-label="Size of ${this.label}"
      aria-orientation=${isUpright ? 'vertical' : 'horizontal'}
      aria-valuenow=${Math.round(this.size)}
      aria-valuemin="0"
      aria-valuemax="4000"
      @pointerdown=${this.#grab}
      @pointermove=${this.#drag}
      @pointerup=${() => (this.#from = undefined)}
      @dblclick=${() => this.#resize(null)}
      @keydown=${this.#press}
    ></div>`;
  }

  /** The direction in which the part grows: 1 for right or down. */
  get #direction(): 1 | -1 {
    return this.side === 'before' || this.side === 'above' ? 1 : -1;
  }

  #placeOf({ clientX, clientY }: PointerEvent): number {
    return this.side === 'before' || this.side === 'after' ? clientX : clientY;
  }

  readonly #grab = (event: PointerEvent): void => {
    if (event.button === 0) {
      event.preventDefault();
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      (event.currentTarget as HTMLElement).focus({ preventScroll: true });
      this.#from = { place: this.#placeOf(event), size: this.size };
    }
  };

  readonly #drag = (event: PointerEvent): void => {
    if (this.#from !== undefined && (event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) {
      this.#resize(this.#from.size + this.#direction * (this.#placeOf(event) - this.#from.place));
    }
  };

  readonly #press = (event: KeyboardEvent): void => {
    const isUpright = this.side === 'before' || this.side === 'after';
    const way = (isUpright ? WAYS.upright : WAYS.level)[event.key];
    if (way !== undefined) {
      event.preventDefault();
      event.stopPropagation();
      this.#resize(this.size + way * this.#direction * STEP);
    }
  };

  #resize(size: number | null): void {
    this.dispatchEvent(new CustomEvent('resize', { detail: size }));
  }
}

const WAYS: Readonly<Record<'upright' | 'level', Readonly<Record<string, 1 | -1>>>> = {
  upright: { ArrowLeft: -1, ArrowRight: 1 },
  level: { ArrowUp: -1, ArrowDown: 1 },
};

customElements.define('statepad-divider', StatepadDivider);
