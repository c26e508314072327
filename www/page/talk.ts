// The conversation: its messages, the input, and the instruction of the agent.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { isStatepadError, type Session } from 'statepad';
import { InspectorElement } from '../inspector/ui/inspector-element.js';
import type { Inspection } from '../inspector/model/inspection.js';
import { isSameSession, nameOf } from '../inspector/model/session-name.js';
import { directionOf } from '../inspector/ui/direction.js';
import { reasonOf } from '../inspector/ui/reason.js';
import { base } from '../inspector/ui/style.js';
import '../inspector/template/template.js';
import { Agent, CONVERSATIONS, conversationOf, idsFor, INSTRUCTION, turnsTaken, UNDERSTOOD } from './agent.js';
import { APP } from './storage.js';
import './transcript.js';
import type { StatepadTranscript } from './transcript.js';

/** The pause between two turns, in ms. */
const PACE = 900;

/** A conversation: played step by step, or typed. */
export class StatepadTalk extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    chosen: { state: true },
    draft: { state: true },
    isBusy: { state: true },
    isPlaying: { state: true },
    problem: { state: true },
  };
  static override styles = [
    base,
    css`
      :host {
        display: flex;
        flex-direction: column;
      }

      .talk {
        display: flex;
        flex-direction: column;
        gap: 0.5rem;
      }

      .talk > * {
        flex: none;
      }

      /* In a column that is as high as the window the conversation takes what the other parts leave. */
      @media (min-width: 68rem) and (min-height: 44rem) {
        .talk {
          flex: 1 1 0;
          min-height: 0;
        }

        .talk > statepad-transcript {
          flex: 1 1 16rem;
          min-height: 9rem;
        }
      }

      .player {
        min-height: 2rem;
      }

      .play {
        width: 4.25rem;
      }


      select {
        flex: 1 1 8rem;
        max-width: 16rem;
      }

      [aria-disabled='true'] {
        cursor: default;
        opacity: 0.55;
      }

      form {
        display: grid;
        grid-template-columns: minmax(0, 1fr) auto;
        gap: 0.4rem;
        align-items: end;
      }

      textarea {
        max-height: 10rem;
        resize: vertical;
      }

      .notice {
        border: 1px solid var(--line);
        border-radius: 6px;
        padding: 0.35rem 0.6rem;
      }

      .notice[role='alert'] {
        border-color: var(--bad);
        background: var(--bad-ground);
        overflow-wrap: anywhere;
      }

      .help {
        font-size: 0.8125rem;
      }

      .help ul {
        margin-block: 0.25rem;
        padding-inline-start: 0.75rem;
      }

      summary {
        width: fit-content;
        min-height: 1.5rem;
        cursor: pointer;
      }

      statepad-template {
        border-block-start: 1px solid var(--line);
        padding-block-start: 0.6rem;
      }
    `,
  ];
  /** The id of the conversation that the button would start. */
  declare private chosen: string | undefined;
  /** The text in the input field. */
  declare private draft: string;
  /** True while an event is being appended. */
  declare private isBusy: boolean;
  declare private isPlaying: boolean;
  declare private problem: string | undefined;
  #agent: Agent | undefined;
  /** The inspection that the agent works for. */
  #served: Inspection | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown: Session | undefined;
  /** The edited templates, by session. */
  readonly #templates = new WeakMap<Inspection, Map<string, string>>();

  constructor() {
    super();
    this.draft = '';
    this.isBusy = false;
    this.isPlaying = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#pause();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection } = this;
    if (this.#served !== inspection) {
      this.#served = inspection;
      const service = inspection?.service;
      this.#agent = service && new Agent(service, async (session) => await this.#appended(inspection, session));
    }
    const session = inspection?.session;
    if (session === undefined || this.#shown === undefined || !isSameSession(session, this.#shown)) {
      this.#pause();
      this.#agent?.leave();
      this.problem = undefined;
      this.chosen = session === undefined ? undefined : (conversationOf(session)?.id ?? this.chosen);
    }
    this.#shown = session;
    if (inspection?.isNow === false) {
      this.#pause();
    }
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const isReadOnly = inspection?.readOnly === true;
    return html`<div class="talk">
      ${
        isReadOnly
          ? html`<slot name="title"></slot><p class="quiet">Read-only: this conversation comes from a file.</p>`
          : html`${this.#starter()} ${this.#player(inspection?.session)}`
      }
      <statepad-transcript .inspection=${inspection} ?starting=${inspection?.session === undefined}></statepad-transcript>
      ${inspection === undefined || inspection.isNow || isReadOnly ? nothing : this.#past(inspection)}
      ${this.problem === undefined ? nothing : html`<p class="notice bad" role="alert">${this.problem}</p>`}
      ${isReadOnly ? nothing : this.#writer()}
      <statepad-template
        .inspection=${inspection}
        .text=${live(this.#templateFor(inspection))}
        @template-change=${(event: CustomEvent<string>) => this.#keepTemplate(event.detail)}
      ></statepad-template>
    </div>`;
  }

  /** The template of a session: the edited one, or that of the conversation. A session from a file has none. */
  #templateFor(inspection: Inspection | undefined): string {
    const session = inspection?.session;
    if (session === undefined) {
      return '';
    }
    const own = inspection?.readOnly === true ? '' : (conversationOf(session)?.instruction ?? INSTRUCTION);
    return this.#templates.get(inspection as Inspection)?.get(nameOf(session)) ?? own;
  }

  #keepTemplate(text: string): void {
    const { inspection } = this;
    if (inspection?.session !== undefined) {
      const edited = this.#templates.get(inspection) ?? new Map<string, string>();
      this.#templates.set(inspection, edited.set(nameOf(inspection.session), text));
    }
  }

  #starter(): TemplateResult {
    return html`<div class="row starter">
      <slot name="title"></slot>
      <select class="spread" aria-label="Conversation to start" @change=${(event: Event) => (this.chosen = (event.target as HTMLSelectElement).value)}>
        ${CONVERSATIONS.map(({ id, user }) => html`<option value=${id} .selected=${id === this.chosen}>${id} (${user})</option>`)}
      </select>
      <button type="button" title="Start it in a new session" aria-disabled=${String(this.isBusy)} @click=${this.#start}>Start</button>
    </div>`;
  }

  #player(session: Session | undefined): TemplateResult {
    const conversation = session && conversationOf(session);
    if (session !== undefined && conversation === undefined) {
      return html`<p class="player quiet">No conversation plays in this session. Type a message, or start a conversation.</p>`;
    }
    const { turns = [] } = conversation ?? {};
    const taken = session === undefined ? 0 : turnsTaken(session);
    const isOver = session !== undefined && taken >= turns.length;
    const isStill = session === undefined || this.isBusy || isOver || this.inspection?.isNow === false;
    return html`<div class="row player" role="group" aria-label="Play">
      <button
        type="button"
        class=${isOver ? 'play' : 'play main'}
        title=${this.isPlaying ? 'Stop after this turn' : 'Play the conversation, turn by turn'}
        aria-disabled=${String(!this.isPlaying && isStill)}
        @click=${this.isPlaying ? this.#pause : this.#play}
      >
        ${this.isPlaying ? 'Pause' : 'Play'}
      </button>
      <button type="button" title="Play one turn" aria-disabled=${String(isStill || this.isPlaying)} @click=${this.#stepOnce}>Step</button>
      <span class="quiet">${session === undefined ? nothing : `${taken} of ${turns.length} turns${isOver ? ', the end' : ''}`}</span>
    </div>`;
  }

  #past(inspection: Inspection): TemplateResult {
    return html`<p class="notice row">
      <span>You are at moment ${inspection.revision} of ${inspection.session?.revision ?? 0}.</span>
      <button type="button" class="spread" @click=${() => void inspection.moveTo(undefined)}>Back to now</button>
    </p>`;
  }

  #writer(): TemplateResult {
    const { inspection } = this;
    const cannot = this.isBusy || this.isPlaying || inspection?.session === undefined || !inspection.isNow;
    return html`<form @submit=${this.#submit}>
        <textarea
          rows="2"
          dir=${directionOf(this.draft)}
          aria-label="Message"
          placeholder="Type a message"
          .value=${live(this.draft)}
          @input=${(event: InputEvent) => (this.draft = (event.target as HTMLTextAreaElement).value)}
          @keydown=${this.#keydown}
        ></textarea>
        <button aria-disabled=${String(cannot || this.draft.trim() === '')}>Send</button>
      </form>
      <details class="quiet help">
        <summary>What the agent understands</summary>
        <p>It follows a few rules, one per message. A value is JSON, or else plain text. It counts all other messages.</p>
        <ul>
          ${UNDERSTOOD.map((text) => html`<li><code>${text}</code></li>`)}
        </ul>
        <p>Enter sends the message, Shift+Enter starts a new line.</p>
      </details>`;
  }

  readonly #start = async (): Promise<void> => {
    const { inspection } = this;
    const conversation = CONVERSATIONS.find(({ id }) => id === this.chosen) ?? CONVERSATIONS[0];
    if (inspection !== undefined && conversation !== undefined && !this.isBusy) {
      await this.#do(async () => await inspection.create({ appName: APP, ...idsFor(conversation) }));
    }
  };

  readonly #stepOnce = async (): Promise<void> => {
    if (!this.isPlaying) {
      await this.#step();
    }
  };

  readonly #play = async (): Promise<void> => {
    this.isPlaying = true;
    if (await this.#step()) {
      this.#playOn();
    } else {
      this.#pause();
    }
  };

  #playOn(): void {
    // It may have been paused in the meantime.
    if (this.isPlaying) {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#play(), PACE);
    }
  }

  readonly #pause = (): void => {
    clearTimeout(this.#timer);
    this.isPlaying = false;
  };

  /** Plays one turn. Returns true if there are more. */
  async #step(): Promise<boolean> {
    const { inspection } = this;
    const session = inspection?.session;
    const conversation = session && conversationOf(session);
    if (inspection === undefined || session === undefined || conversation === undefined || !this.#canWrite) {
      return false;
    }
    this.#transcript?.follow();
    const isDone = await this.#do(async () => await this.#agent?.step(session, conversation));
    return isDone && inspection.session !== undefined && turnsTaken(inspection.session) < conversation.turns.length;
  }

  readonly #submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const { draft, inspection } = this;
    const session = inspection?.session;
    if (session === undefined || draft.trim() === '' || !this.#canWrite || this.isPlaying) {
      return;
    }
    this.#transcript?.follow();
    const heard = (): void => {
      // Text that was typed since stays.
      this.draft = this.draft === draft ? '' : this.draft;
    };
    await this.#do(async () => await this.#agent?.answer(session, draft, heard));
  };

  readonly #keydown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      (event.target as HTMLTextAreaElement).form?.requestSubmit();
    }
  };

  get #canWrite(): boolean {
    const { inspection, isBusy } = this;
    return !isBusy && inspection !== undefined && inspection.isNow && !inspection.readOnly;
  }

  /** Runs tasks that can fail, one at a time, and returns true after a success. */
  async #do(task: () => Promise<void>): Promise<boolean> {
    this.isBusy = true;
    this.problem = undefined;
    try {
      await task();
      return true;
    } catch (error) {
      this.problem = isStatepadError(error) ? `${error.code}: ${error.message}` : reasonOf(error);
      return false;
    } finally {
      this.isBusy = false;
    }
  }

  async #appended(inspection: Inspection, session: Session): Promise<void> {
    // Another session may have been opened in the meantime.
    if (inspection.session !== undefined && isSameSession(inspection.session, session)) {
      await inspection.show(session);
    }
  }

  get #transcript(): StatepadTranscript | null {
    return this.renderRoot.querySelector('statepad-transcript');
  }
}

customElements.define('statepad-talk', StatepadTalk);
