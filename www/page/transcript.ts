// What was said in a session, up to the moment that is shown.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Event as LoggedEvent, Session } from 'statepad';
import { InspectorPart } from '../inspector/ui/part.js';
import type { Inspection } from '../inspector/model/inspection.js';
import { deltaOf, splitKey, textOf } from '../inspector/model/log.js';
import { base } from '../inspector/ui/style.js';
import { isSameSession } from '../inspector/model/session-name.js';

/** So many bubbles are drawn, and so many more at each asking. */
const BUBBLES = 200;
/** So many keys are named in a bubble. */
const CHIPS = 6;
/** Nearer to its end than this, in CSS pixels, the log follows what is said. */
const NEAR = 48;

/** The events of a session as a conversation. */
export class StatepadTranscript extends InspectorPart {
  static override properties: PropertyDeclarations = { ...InspectorPart.properties, bubbles: { state: true } };
  static override styles = [
    base,
    css`
      .log {
        /* What only screen readers see is placed in it, not in the page. */
        position: relative;
        display: flex;
        overflow-y: auto;
        flex-direction: column;
        gap: 0.4rem;
        min-height: 8rem;
        max-height: min(26rem, 60vh);
        border: 1px solid var(--line);
        border-radius: 8px;
        padding: 0.6rem;
        background: var(--ground);
        overscroll-behavior: contain;
      }

      .log > * {
        flex: none;
      }

      .earlier {
        align-self: center;
      }

      .bubble {
        align-self: start;
        max-width: min(88%, 40rem);
        border-color: var(--line);
        border-radius: 4px 12px 12px;
        padding: 0.35rem 0.65rem;
        overflow-wrap: anywhere;
        text-align: start;
      }

      .bubble[data-side='user'] {
        align-self: end;
        border-radius: 12px 4px 12px 12px;
        background: color-mix(in srgb, var(--accent) 12%, var(--paper));
      }

      .bubble[data-side='note'] {
        border-style: dashed;
        background: none;
      }

      .bubble[aria-pressed='true'] {
        border-color: var(--accent);
        box-shadow: inset 0 0 0 1px var(--accent);
      }

      .author {
        display: block;
        color: var(--quiet);
        font-size: 0.75rem;
      }

      .said {
        display: -webkit-box;
        overflow: hidden;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 14;
        line-clamp: 14;
        white-space: pre-wrap;
      }

      .chips {
        display: flex;
        flex-wrap: wrap;
        gap: 0.2rem;
        margin-block-start: 0.15rem;
      }

      .chips > * {
        font-size: 0.75rem;
      }

      .key[data-deleted] {
        text-decoration: line-through;
      }
    `,
  ];
  /** As many are drawn. */
  declare private bubbles: number;
  #shown: Session | undefined;
  #isAtEnd = true;

  constructor() {
    super();
    this.bubbles = BUBBLES;
  }

  /** Goes to the end, and stays there while more is said. */
  follow(): void {
    this.#isAtEnd = true;
    this.requestUpdate();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const session = this.inspection?.session;
    if (session === undefined || this.#shown === undefined || !isSameSession(session, this.#shown)) {
      this.bubbles = BUBBLES;
      this.#isAtEnd = true;
    }
    this.#shown = session;
  }

  protected override render(): TemplateResult {
    return html`<div class="log" role="log" aria-label="Conversation" @scroll=${this.#scrolled}>
      ${this.inspection?.session === undefined ? nothing : this.#said(this.inspection)}
    </div>`;
  }

  protected override updated(): void {
    const log = this.#log;
    if (log !== null && this.#isAtEnd) {
      log.scrollTop = log.scrollHeight;
    }
  }

  #said(inspection: Inspection): TemplateResult {
    const { log, revision, selected } = inspection;
    const from = Math.max(0, revision - this.bubbles);
    if (revision === 0) {
      return html`<p class="quiet">Nothing has been said yet.</p>`;
    }
    const earlier = html`<button type="button" class="plain earlier" @click=${this.#showEarlier}>Show earlier (${from})</button>`;
    return html`${from === 0 ? nothing : earlier}
    ${repeat(
      log.events.slice(from, revision),
      ({ id }) => id,
      (event, place) => {
        const isPressed = selected === from + place + 1;
        return guard([event, isPressed], () => this.#bubble(event, from + place + 1, isPressed, inspection));
      },
    )}`;
  }

  #bubble(event: LoggedEvent, revision: number, isPressed: boolean, inspection: Inspection): TemplateResult {
    const author = inspection.log.author(revision);
    const text = textOf(event);
    const side = author === 'user' ? 'user' : author === 'agent' ? 'agent' : 'note';
    return html`<button
      type="button"
      class="bubble"
      data-side=${side}
      aria-pressed=${String(isPressed)}
      @click=${() => inspection.select(isPressed ? undefined : revision)}
    >
      <span class="author">${author}</span>
      ${text === '' ? nothing : html`<span class="said">${text}</span>`} ${chips(event)}
    </button>`;
  }

  readonly #scrolled = (): void => {
    const log = this.#log;
    this.#isAtEnd = log !== null && log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
  };

  readonly #showEarlier = async (): Promise<void> => {
    const before = this.#log?.scrollHeight ?? 0;
    this.bubbles += BUBBLES;
    this.#isAtEnd = false;
    await this.updateComplete;
    const log = this.#log;
    if (log !== null) {
      log.scrollTop += log.scrollHeight - before;
      log.querySelector<HTMLElement>('.earlier, .bubble')?.focus({ preventScroll: true });
    }
  };

  get #log(): HTMLElement | null {
    return this.renderRoot.querySelector('.log');
  }
}

function chips(event: LoggedEvent): TemplateResult | typeof nothing {
  const { delta, deleted } = deltaOf(event);
  const keys = Object.keys(delta);
  if (keys.length === 0) {
    return nothing;
  }
  const more = keys.length - CHIPS;
  return html`<span class="chips">
    ${keys.slice(0, CHIPS).map((key) => chip(key, deleted.has(key)))}
    ${more > 0 ? html`<span class="quiet" title=${keys.slice(CHIPS).join(', ')}>and ${more} more</span>` : nothing}
  </span>`;
}

function chip(key: string, isDeleted: boolean): TemplateResult {
  const { scope } = splitKey(key);
  return isDeleted
    ? html`<span class="key" data-scope=${scope} data-deleted title="deleted">${key}<span class="hidden"> deleted</span></span>`
    : html`<span class="key" data-scope=${scope}>${key}</span>`;
}

customElements.define('statepad-transcript', StatepadTranscript);
