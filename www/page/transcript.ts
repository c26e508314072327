// The messages of a session, up to the moment on show.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Event as LoggedEvent, Session } from 'statepad';
import { InspectorElement } from '../inspector/ui/inspector-element.js';
import type { Inspection } from '../inspector/model/inspection.js';
import { base, label } from '../inspector/ui/style.js';
import { isSameSession } from '../inspector/model/session-name.js';
import { isError } from '../inspector/model/contents.js';
import { bubbleOf, sideOf } from './bubble.js';

/** The number of bubbles that are drawn at first, and added by each click. */
const BUBBLES = 200;
/** Closer to its end than this, in CSS pixels, the log follows new messages. */
const NEAR = 48;

/** The events of a session as a conversation. */
export class StatepadTranscript extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    bubbles: { state: true },
    focused: { state: true },
  };
  static override styles = [
    base,
    label,
    css`
      .log {
        /* The visually hidden texts are placed in it, not in the page. */
        position: relative;
        display: flex;
        overflow-y: auto;
        flex-direction: column;
        gap: 0.4rem;
        height: min(26rem, 60vh);
        border: 1px solid var(--line);
        border-radius: 8px;
        padding: 0.6rem;
        background: var(--ground);
        overscroll-behavior: contain;
      }

      /* In a column that is as high as the window it takes what the other parts leave. */
      @media (min-width: 68rem) and (min-height: 44rem) {
        :host {
          display: grid;
          grid-template-rows: minmax(0, 1fr);
        }

        .log {
          height: auto;
        }
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

      .item {
        display: grid;
        gap: 0.1rem;
      }

      .item .mono {
        font-size: 0.75rem;
        -webkit-line-clamp: 4;
        line-clamp: 4;
      }

      .item[data-kind='thought'] .said {
        color: var(--quiet);
        font-style: italic;
      }

      .bubble[data-error] {
        border: 1px solid var(--bad);
        background: var(--bad-ground);
      }

      .item[data-kind='error'] :is(.label, b, .said) {
        color: var(--bad);
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
  /** The number of bubbles that are drawn. */
  declare private bubbles: number;
  /** The revision of the bubble that had the focus last. */
  declare private focused: number | undefined;
  #shown: Session | undefined;
  #isAtEnd = true;

  constructor() {
    super();
    this.bubbles = BUBBLES;
  }

  /** Scrolls to the end, and stays there when messages are added. */
  follow(): void {
    this.#isAtEnd = true;
    this.requestUpdate();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const session = this.inspection?.session;
    if (session === undefined || this.#shown === undefined || !isSameSession(session, this.#shown)) {
      this.bubbles = BUBBLES;
      this.focused = undefined;
      this.#isAtEnd = true;
    }
    this.#shown = session;
  }

  protected override render(): TemplateResult {
    return html`<div class="log" role="log" aria-label="Conversation" @scroll=${this.#scrolled} @keydown=${this.#keyed} @focusin=${this.#focusIn}>
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
      return html`<p class="quiet">No messages yet.</p>`;
    }
    // All bubbles are one stop of the Tab key: the arrow keys go from one to the next.
    const stop = Math.min(Math.max(this.focused ?? selected ?? revision, from + 1), revision);
    const earlier = html`<button type="button" class="plain earlier" @click=${this.#showEarlier}>Show earlier (${from})</button>`;
    return html`${from === 0 ? nothing : earlier}
    ${repeat(
      log.events.slice(from, revision),
      ({ id }) => id,
      (event, place) => {
        const at = from + place + 1;
        const look = { isPressed: selected === at, isStop: at === stop };
        return guard([event, look.isPressed, look.isStop], () => this.#bubble(event, at, look, inspection));
      },
    )}`;
  }

  #bubble(
    event: LoggedEvent,
    revision: number,
    { isPressed, isStop }: { readonly isPressed: boolean; readonly isStop: boolean },
    inspection: Inspection,
  ): TemplateResult {
    return html`<button
      type="button"
      class="bubble"
      data-side=${sideOf(event)}
      data-revision=${revision}
      ?data-error=${isError(event)}
      tabindex=${isStop ? 0 : -1}
      aria-pressed=${String(isPressed)}
      @click=${() => inspection.select(isPressed ? undefined : revision)}
    >
      ${bubbleOf(event, inspection.log.author(revision))}
    </button>`;
  }

  readonly #scrolled = (): void => {
    const log = this.#log;
    this.#isAtEnd = log !== null && log.scrollHeight - log.scrollTop - log.clientHeight < NEAR;
  };

  readonly #focusIn = (event: FocusEvent): void => {
    // It may have been scrolled in this very frame, before any event: the target of a click must not move.
    this.#scrolled();
    const { revision } = (event.target as HTMLElement).dataset;
    this.focused = revision === undefined ? this.focused : Number(revision);
  };

  readonly #keyed = (event: KeyboardEvent): void => {
    const bubbles = Array.from(this.renderRoot.querySelectorAll<HTMLElement>('.bubble'));
    const place = bubbles.indexOf(event.target as HTMLElement);
    const target = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: bubbles.length - 1 }[event.key];
    if (place >= 0 && target !== undefined) {
      event.preventDefault();
      bubbles[Math.min(Math.max(target, 0), bubbles.length - 1)]?.focus();
    }
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

customElements.define('statepad-transcript', StatepadTranscript);
