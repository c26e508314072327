// The text of a message: Markdown, or as it was written; the beginning of a long one, and all of it on demand.

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { directionOf } from '../ui/direction.js';
import { base } from '../ui/style.js';
import { textStyle } from './text-style.js';

/** The length of the part of a long text that is drawn first, in characters. */
const CUT = 4000;
/** The length up to which a text is parsed as Markdown, in characters: parsing more takes too long. */
const PARSED = 60_000;
/** The length up to which the browser finds the direction of a text, in characters. */
const DIRECTED = 2000;

type Render = (text: string) => HTMLElement;

let renderer: Render | undefined;
let loading: Promise<void> | undefined;

/** Loads the renderer of Markdown, once. Without it texts stay as they were written. */
async function load(): Promise<void> {
  loading ??= import('./markdown.js').then(
    ({ markdownOf }) => {
      renderer = markdownOf;
    },
    () => undefined,
  );
  await loading;
}

/** A text of a message. */
export class StatepadText extends LitElement {
  static override properties = {
    text: { attribute: false },
    raw: { type: Boolean },
    isOpen: { state: true },
  };
  static override styles = [base, textStyle];
  /** The text. */
  declare text: string;
  /** True to show it as it was written. */
  declare raw: boolean;
  declare protected isOpen: boolean;
  /** The elements of the text that was parsed last. */
  #parsed: { readonly text: string; readonly elements: HTMLElement } | undefined;

  constructor() {
    super();
    this.text = '';
    this.raw = false;
    this.isOpen = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (renderer === undefined) {
      void load().then(() => this.requestUpdate());
    }
  }

  protected override render(): TemplateResult {
    const { text, isOpen } = this;
    const isLong = text.length > CUT;
    const shown = isLong && !isOpen ? `${text.slice(0, CUT).toWellFormed()}…` : text;
    return html`${this.#body(shown)}${
      isLong
        ? html`<button class="link" aria-expanded=${String(isOpen)} @click=${() => (this.isOpen = !isOpen)}>
            ${isOpen ? 'Show less' : `Show all (${text.length.toLocaleString('en')} characters)`}
          </button>`
        : nothing
    }`;
  }

  #body(shown: string): unknown {
    const isScrolled = this.isOpen && shown.length > CUT;
    if (this.raw || renderer === undefined || shown.length > PARSED) {
      const direction = shown.length > DIRECTED ? directionOf(shown) : 'auto';
      // It can be scrolled, so a keyboard must reach it.
      return html`<div
        class=${isScrolled ? 'plain whole' : 'plain'}
        dir=${direction}
        tabindex=${isScrolled ? 0 : nothing}
        role=${isScrolled ? 'group' : nothing}
        aria-label=${isScrolled ? 'whole text' : nothing}
        .textContent=${shown}
      ></div>`;
    }
    if (this.#parsed?.text !== shown) {
      this.#parsed = { text: shown, elements: renderer(shown) };
    }
    return this.#parsed.elements;
  }
}

customElements.define('statepad-text', StatepadText);
