// The search in the session: the field, the number of matches, the way from one to the next.

import { css, html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { icon } from '../ui/icons.js';
import { base } from '../ui/style.js';
import { lowerBound } from './layout.js';

/** The search field of a session. The panes and the timeline mark the matches. */
export class StatepadFind extends InspectorElement {
  static override styles = [
    base,
    css`
      search {
        display: flex;
        align-items: center;
        gap: 2px;
        height: 24px;
        border: 1px solid var(--edge);
        border-radius: var(--sp-radius-sm);
        padding-inline-start: 0.5em;
        color: var(--quiet);
        background: var(--sunken);
        font-size: var(--sp-text-sm);
      }

      search:focus-within {
        border-color: var(--accent);
      }

      input {
        width: 144px;
        border: 0;
        padding: 0 0.3em;
        color: var(--text);
        background: none;
      }

      input:focus-visible {
        outline: 0;
      }

      input::-webkit-search-cancel-button {
        display: none;
      }

      span {
        padding-inline: 0.3em;
        font-variant-numeric: tabular-nums;
        white-space: nowrap;
      }

      button {
        width: 22px;
        min-width: 0;
        min-height: 0;
        height: 20px;
        padding: 0;
      }
    `,
  ];

  /** Moves the focus into the field. */
  override focus(): void {
    this.renderRoot.querySelector('input')?.select();
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const { matches, query = '' } = inspection ?? {};
    return html`<search>
      ${icon('search')}
      <input
        type="search"
        placeholder="Find"
        aria-label="Find in this session"
        title="Find keys, values, authors and words (/)"
        .value=${live(query)}
        ?disabled=${inspection?.session === undefined}
        @input=${(event: InputEvent) => inspection?.search((event.target as HTMLInputElement).value.trim())}
        @keydown=${this.#pressed}
      />
      <span role="status">${matches === undefined ? nothing : this.#count(matches)}</span>
      ${matches === undefined ? html`<kbd>/</kbd>&nbsp;` : this.#steps(matches)}
    </search>`;
  }

  #count(matches: readonly number[]): string {
    const { selected } = this.inspection ?? {};
    const place = selected === undefined ? -1 : matches.indexOf(selected);
    const all = matches.length.toLocaleString('en');
    return place >= 0 ? `${(place + 1).toLocaleString('en')} of ${all}` : matches.length === 0 ? 'none' : all;
  }

  #steps({ length }: readonly number[]): TemplateResult {
    return html`<button class="plain" aria-label="Previous match" ?disabled=${length === 0} @click=${() => this.#toMatch(-1)}>
        ${icon('up')}
      </button>
      <button class="plain" aria-label="Next match" ?disabled=${length === 0} @click=${() => this.#toMatch(1)}>
        ${icon('down')}
      </button>
      <button class="plain" aria-label="End the search" @click=${() => this.inspection?.search('')}>${icon('close')}</button>`;
  }

  readonly #pressed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') {
      this.#toMatch(event.shiftKey ? -1 : 1);
    } else if (event.key === 'Escape') {
      this.inspection?.search('');
      this.renderRoot.querySelector('input')?.blur();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  #toMatch(direction: 1 | -1): void {
    const { matches = [], selected, revision = 0 } = this.inspection ?? {};
    const from = selected ?? revision;
    const place = direction > 0 ? lowerBound(matches, from + 1) : lowerBound(matches, from) - 1;
    const match = matches.at(place % Math.max(matches.length, 1));
    if (match !== undefined) {
      this.inspection?.select(match);
      this.inspection?.travel(match);
    }
  }
}

customElements.define('statepad-find', StatepadFind);
