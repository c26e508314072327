// The search for keys, values, authors and messages.

import { css, html, type TemplateResult } from 'lit';
import { InspectorElement } from '../ui/inspector-element.js';
import { isFound } from '../model/rows.js';
import { base } from '../ui/style.js';

/** The search field of an inspection. The other components show the matches. */
export class StatepadSearch extends InspectorElement {
  static override styles = [
    base,
    css`
      search {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.3rem 0.6rem;
      }

      input {
        flex: 1 1 10rem;
      }
    `,
  ];

  protected override render(): TemplateResult {
    const { inspection } = this;
    return html`<search>
      <input
        type="search"
        placeholder="Search keys, values, events"
        aria-label="Search keys, values and events"
        .value=${inspection?.query ?? ''}
        ?disabled=${inspection?.session === undefined}
        @input=${(event: InputEvent) => inspection?.search((event.target as HTMLInputElement).value.trim())}
      />
      <span class="quiet" role="status">${this.#count()}</span>
    </search>`;
  }

  #count(): string {
    const { matches, query, rows } = this.inspection ?? {};
    if (matches === undefined || query === undefined || rows === undefined) {
      return '';
    }
    const keys = rows.filter((row) => isFound(row, query)).length;
    return `${String(keys)} ${keys === 1 ? 'key' : 'keys'}, ${String(matches.length)} ${matches.length === 1 ? 'event' : 'events'}`;
  }
}

customElements.define('statepad-search', StatepadSearch);
