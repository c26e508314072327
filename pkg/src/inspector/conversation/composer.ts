// The field for messages.

import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Inspection } from '../model/inspection.js';
import { isSameSession } from '../model/session-name.js';
import { directionOf } from '../ui/direction.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';

/**
 * A field for messages where somebody answers them; a sentence where nobody does. Dispatches `sent` before a message
 * is sent.
 */
export class StatepadComposer extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    draft: { state: true },
    isBusy: { state: true },
    problem: { state: true },
  };
  static override styles = [
    base,
    css`
      .nobody {
        display: flex;
        align-items: center;
        gap: var(--sp-space-2);
        padding: var(--sp-space-2) var(--sp-space-3);
        color: var(--quiet);
        font-size: var(--sp-text-sm);
      }

      form {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        align-items: end;
        margin: var(--sp-space-2);
        border: 1px solid var(--strong);
        border-radius: var(--sp-radius-md);
        background: var(--raised);
      }

      form:focus-within {
        border-color: var(--accent);
        box-shadow: 0 0 0 1px var(--accent);
      }

      textarea {
        field-sizing: content;
        min-height: 2.25rem;
        max-height: 10rem;
        border: 0;
        padding: 0.5rem 0.65rem;
        background: none;
        line-height: 1.4;
        outline: none;
        resize: none;
      }

      form button {
        margin: 4px;
      }

      .notice {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: var(--sp-space-1) var(--sp-space-2);
        padding: var(--sp-space-2) var(--sp-space-3) 0;
        font-size: var(--sp-text-sm);
        overflow-wrap: anywhere;
      }
    `,
  ];
  /** The text in the field. */
  declare private draft: string;
  /** True until the last message is answered. */
  declare private isBusy: boolean;
  /** The error of the last message; empty for none. */
  declare private problem: string;

  constructor() {
    super();
    this.draft = '';
    this.isBusy = false;
    this.problem = '';
  }

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return nothing;
    }
    if (inspection.send === undefined) {
      return html`<p class="nobody">${icon('message')}<span>No agent is behind this page to talk to.</span></p>`;
    }
    const { isNow, revision, session, sendHint } = inspection;
    return html`${
      isNow
        ? nothing
        : html`<p class="notice">
            <span>This is #${revision} of ${session.revision}. Messages are sent now.</span>
            <button class="small" @click=${() => inspection.travel(session.revision)}>Go to now</button>
          </p>`
    }
      ${this.problem === '' ? nothing : html`<p class="notice bad" role="alert">${icon('error')}<span>${this.problem}</span></p>`}
      <form @submit=${this.#submit}>
        <textarea
          rows="1"
          dir=${directionOf(this.draft)}
          aria-label="Message"
          placeholder=${sendHint === '' ? 'Write a message' : sendHint}
          ?disabled=${!isNow}
          .value=${live(this.draft)}
          @input=${(event: InputEvent) => (this.draft = (event.target as HTMLTextAreaElement).value)}
          @keydown=${this.#keyed}
        ></textarea>
        <button class="main square" aria-label="Send" aria-disabled=${String(!this.#canSend(inspection))} title="Send: Enter. A new line: Shift+Enter">
          ${icon(this.isBusy ? 'more' : 'up')}
        </button>
      </form>`;
  }

  #canSend(inspection: Inspection): boolean {
    return inspection.isNow && !this.isBusy && this.draft.trim() !== '';
  }

  readonly #keyed = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      (event.target as HTMLTextAreaElement).form?.requestSubmit();
    }
  };

  readonly #submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const { inspection, draft } = this;
    const { session, send } = inspection ?? {};
    if (inspection === undefined || session === undefined || send === undefined || !this.#canSend(inspection)) {
      return;
    }
    this.isBusy = true;
    this.problem = '';
    this.draft = '';
    this.dispatchEvent(new Event('sent'));
    try {
      await send(session, draft);
    } catch (error) {
      this.problem = `The message was not answered: ${reasonOf(error)}`;
      // A text that was typed since stays.
      this.draft = this.draft === '' ? draft : this.draft;
    } finally {
      this.isBusy = false;
    }
    if (inspection.session !== undefined && isSameSession(inspection.session, session)) {
      await inspection.refresh();
    }
  };
}

customElements.define('statepad-composer', StatepadComposer);
