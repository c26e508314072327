// The notices of the page: a file is open, storage is refused or full, a file is broken.

import { LitElement, css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { base } from './page-style.js';

/** One notice. */
export interface Notice {
  readonly id: string;
  readonly kind: 'info' | 'bad';
  readonly text: string;
  /** Details, one a line. */
  readonly lines?: readonly string[];
  /** The progress, with a share from 0 to 1, or `undefined` if it is unknown. Absent when nothing is under way. */
  readonly progress?: { readonly share: number | undefined };
  /** The text and the action of a button; without it, there is one that closes the notice. */
  readonly action?: string;
  readonly act?: () => void;
}

/** The notices on show. */
export class Notices {
  #notices: readonly Notice[] = [];
  readonly #changed: (notices: readonly Notice[]) => void;

  /** `changed` gets all notices whenever they change. */
  constructor(changed: (notices: readonly Notice[]) => void) {
    this.#changed = changed;
  }

  /** Shows a notice in place of an earlier one of the same id, or removes that. */
  tell(id: string, notice: Omit<Notice, 'id'> | undefined): void {
    const others = this.#notices.filter((other) => other.id !== id);
    if (notice !== undefined || others.length < this.#notices.length) {
      this.#notices = notice === undefined ? others : [...others, { id, ...notice }];
      this.#changed(this.#notices);
    }
  }
}

/** Shows notices. Fires `dismiss` with the id of one that the user closes. */
export class StatepadNotices extends LitElement {
  static override properties: PropertyDeclarations = { notices: { attribute: false } };
  static override styles = [
    base,
    css`
      .notice {
        display: flex;
        align-items: start;
        gap: 0.75rem;
        border-block-end: 1px solid var(--line);
        border-inline-start: 4px solid var(--accent);
        padding: 0.5rem 1rem;
        background: var(--paper);
      }

      .notice[data-kind='bad'] {
        border-inline-start-color: var(--bad);
        background: var(--bad-ground);
      }

      .text {
        flex: 1 1 auto;
        min-width: 0;
        overflow-wrap: anywhere;
      }

      ul {
        max-height: 12rem;
        overflow: auto;
        margin-block-start: 0.25rem;
      }

      button {
        flex: none;
      }

      progress {
        display: block;
        width: min(100%, 24rem);
        accent-color: var(--accent);
      }
    `,
  ];
  declare notices: readonly Notice[];

  constructor() {
    super();
    this.notices = [];
  }

  protected override render(): TemplateResult {
    const told = (kind: Notice['kind']): TemplateResult[] =>
      this.notices.filter((notice) => notice.kind === kind).map((notice) => this.#notice(notice));
    return html`<div role="status">${told('info')}</div>
      <div role="alert">${told('bad')}</div>`;
  }

  #notice({ id, kind, text, lines = [], progress, action = 'Dismiss', act }: Notice): TemplateResult {
    const dismiss = (): boolean => this.dispatchEvent(new CustomEvent('dismiss', { detail: id }));
    return html`<div class="notice" data-kind=${kind}>
      <div class="text">
        <p>${text}</p>
        ${progress === undefined ? nothing : html`<progress aria-label=${text} value=${progress.share ?? nothing}></progress>`}
        ${lines.length === 0 ? nothing : html`<ul class="mono" tabindex="0" aria-label="What is wrong">${lines.map((line) => html`<li>${line}</li>`)}</ul>`}
      </div>
      <button @click=${act ?? dismiss}>${action}</button>
    </div>`;
  }
}

customElements.define('statepad-notices', StatepadNotices);
