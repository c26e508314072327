// All parts of the inspector together, for a page that wants them as one.

import { css, html, nothing, type TemplateResult } from 'lit';
import { InspectorPart } from './ui/part.js';
import { base } from './ui/style.js';
import './events/event.js';
import './events/events.js';
import './state/history.js';
import './events/search.js';
import './sessions.js';
import './state/state.js';
import './timeline/timeline.js';

/** The whole inspector: sessions, search, state, timeline, events. */
export class StatepadInspector extends InspectorPart {
  static override styles = [
    base,
    css`
      .parts {
        display: grid;
        gap: 1rem;
        container-type: inline-size;
      }

      .tools {
        display: flex;
        flex-wrap: wrap;
        align-items: start;
        justify-content: space-between;
        gap: 0.5rem 1.5rem;
      }

      statepad-search {
        flex: 1 1 17rem;
        max-width: 26rem;
      }

      .events {
        display: grid;
        gap: 1rem;
      }

      @container (min-width: 60rem) {
        .events[data-open] {
          grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
          align-items: start;
        }
      }

      .details {
        display: grid;
        gap: 1rem;
      }
    `,
  ];

  #wasOpen = false;

  /** What has been opened is brought into view for those who point; whoever uses the keyboard stays where they are. */
  protected override updated(): void {
    const details = this.renderRoot.querySelector('.details');
    const isOpen = this.inspection?.selected !== undefined;
    if (isOpen && !this.#wasOpen && !focused()?.matches(':focus-visible')) {
      details?.scrollIntoView({ block: 'nearest' });
    }
    this.#wasOpen = isOpen;
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const { selected, traced } = inspection ?? {};
    const isOpen = selected !== undefined || traced !== undefined;
    return html`<div class="parts">
      <div class="tools">
        <statepad-sessions .inspection=${inspection}></statepad-sessions>
        <statepad-search .inspection=${inspection}></statepad-search>
      </div>
      <section class="panel" aria-labelledby="state">
        <h2 id="state">State</h2>
        <statepad-state .inspection=${inspection}></statepad-state>
      </section>
      <section class="panel" aria-labelledby="timeline">
        <h2 id="timeline">Timeline</h2>
        <statepad-timeline .inspection=${inspection}></statepad-timeline>
      </section>
      <div class="events" ?data-open=${isOpen}>
        <section class="panel" aria-labelledby="events">
          <h2 id="events">Events</h2>
          <statepad-events .inspection=${inspection}></statepad-events>
        </section>
        ${
          isOpen
            ? html`<div class="details panel" role="region" aria-label="Details">
              ${traced === undefined ? nothing : html`<statepad-history .inspection=${inspection}></statepad-history>`}
              ${selected === undefined ? nothing : html`<statepad-event .inspection=${inspection}></statepad-event>`}
            </div>`
            : nothing
        }
      </div>
    </div>`;
  }
}

/** The element that has the focus, in whatever shadow tree. */
function focused(): Element | undefined {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) {
    element = element.shadowRoot.activeElement;
  }
  return element ?? undefined;
}

customElements.define('statepad-inspector', StatepadInspector);
