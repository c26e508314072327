// All components of the inspector in one.

import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { tokens } from '../ui/tokens.js';
import '../events/event.js';
import '../events/events.js';
import '../state/history.js';
import '../events/search.js';
import '../sessions/sessions.js';
import '../state/state.js';
import '../timeline/timeline.js';

/**
 * The whole inspector: sessions, search, state, events, timeline. With `docked` it fills its box where that is large
 * enough: each component scrolls by itself, and the timeline stays at the bottom.
 */
export class StatepadInspector extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    docked: { type: Boolean, reflect: true },
  };
  static override styles = [
    tokens,
    base,
    css`
      :host {
        font-family: var(--sans);
      }

      .parts {
        display: grid;
        gap: 0.75rem;
      }

      .tools {
        display: flex;
        flex-wrap: wrap;
        align-items: start;
        justify-content: space-between;
        gap: 0.5rem 1rem;
        min-height: 2rem;
      }

      statepad-search {
        flex: 1 1 13rem;
        max-width: 26rem;
      }

      .middle,
      .side {
        display: grid;
        gap: 0.75rem;
        min-width: 0;
      }

      .details {
        display: grid;
        align-content: start;
        gap: 1rem;
      }

      .timeline {
        position: sticky;
        z-index: 2;
        inset-block-end: 0;
      }

      @media (max-width: 67.99rem), (max-height: 43.99rem) {
        .details[data-empty] {
          display: none;
        }
      }

      @media (min-width: 68rem) and (min-height: 44rem) {
        :host([docked]) {
          height: 100%;
        }

        :host([docked]) .parts {
          grid-template-rows: auto minmax(0, 1fr) auto;
          height: 100%;
        }

        :host([docked]) .middle {
          grid-template: minmax(0, 1fr) / minmax(0, 1.15fr) minmax(0, 1fr);
        }

        :host([docked]) .side {
          grid-template-rows: minmax(0, 9fr) minmax(0, 11fr);
        }

        :host([docked]) :is(.state, .list, .details) {
          overflow: hidden auto;
          overscroll-behavior: contain;
        }

        :host([docked]) .list {
          display: grid;
          overflow: hidden;
          grid-template-rows: auto minmax(0, 1fr);
        }

        :host([docked]) .timeline {
          position: static;
          height: 13.75rem;
        }

        :host([docked]) statepad-timeline {
          height: 100%;
        }
      }
    `,
  ];
  /** True to fill its box. */
  declare docked: boolean;
  /** The selection that was brought into view last. */
  #shown: { readonly selected: number | undefined; readonly traced: string | undefined } | undefined;

  constructor() {
    super();
    this.docked = false;
  }

  /** Brings a new selection into view, and moves nothing else. */
  protected override updated(): void {
    const { selected, traced } = this.inspection ?? {};
    const before = this.#shown;
    this.#shown = { selected, traced };
    const part =
      traced !== undefined && traced !== before?.traced
        ? 'statepad-history'
        : selected !== undefined && selected !== before?.selected
          ? 'statepad-event'
          : undefined;
    if (before !== undefined && part !== undefined) {
      void this.#bringIntoView(part);
    }
  }

  async #bringIntoView(name: 'statepad-history' | 'statepad-event'): Promise<void> {
    const part = this.renderRoot.querySelector<InspectorElement>(name);
    const details = this.renderRoot.querySelector<HTMLElement>('.details');
    if (part === null || details === null) {
      return;
    }
    await part.updateComplete;
    if (getComputedStyle(details).overflowY === 'auto') {
      details.scrollTop += part.getBoundingClientRect().top - details.getBoundingClientRect().top - PADDING;
    } else {
      details.style.scrollMarginBlockEnd = `${this.#dockHeight() + PADDING}px`;
      details.scrollIntoView({ block: 'nearest' });
    }
  }

  /** The height of the window that the timeline covers, in px. */
  #dockHeight(): number {
    const dock = this.renderRoot.querySelector<HTMLElement>('.timeline');
    return dock === null || getComputedStyle(dock).position !== 'sticky' ? 0 : dock.offsetHeight;
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
      <div class="middle">
        <section class="panel state" id="state-part" tabindex="-1" aria-labelledby="state">
          <h2 id="state">State</h2>
          <statepad-state .inspection=${inspection}></statepad-state>
        </section>
        <div class="side">
          <section class="panel list" id="events-part" tabindex="-1" aria-labelledby="events">
            <h2 id="events">Events</h2>
            <statepad-events .inspection=${inspection} ?filling=${this.docked}></statepad-events>
          </section>
          ${
            isOpen
              ? html`<div class="details panel" role="region" aria-label="Details" tabindex="0">
                ${traced === undefined ? nothing : html`<statepad-history .inspection=${inspection}></statepad-history>`}
                ${selected === undefined ? nothing : html`<statepad-event .inspection=${inspection}></statepad-event>`}
              </div>`
              : html`<div class="details panel" data-empty>
                <p class="empty">Select an event to see all of it, or a key to see its history.</p>
              </div>`
          }
        </div>
      </div>
      <section class="panel timeline" id="timeline-part" tabindex="-1" aria-labelledby="timeline">
        <statepad-timeline .inspection=${inspection}><h2 id="timeline" slot="title">Timeline</h2></statepad-timeline>
      </section>
    </div>`;
  }
}

/** Room above an element that is brought into view, in px. */
const PADDING = 12;

customElements.define('statepad-inspector', StatepadInspector);
