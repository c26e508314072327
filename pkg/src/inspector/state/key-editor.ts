// The editor of a key: a new one, or another value for an existing one.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { isStatepadError } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { splitKey, type Scope } from '../model/log.js';
import { reasonOf } from '../ui/reason.js';
import type { KeyRow } from '../model/rows.js';
import { base } from '../ui/style.js';
import { readJson, type Verdict } from './json-input.js';
import { showText } from '../ui/value.js';

const PREFIX: Readonly<Record<Scope, string>> = { session: '', app: 'app:', user: 'user:', temp: 'temp:' };

/** The text that was typed for a key. */
export interface Draft {
  readonly key: string;
  /** Empty for nothing. */
  readonly text: string;
}

/**
 * Edits one key as JSON. In the past it forks the session at that moment, with the other value. Fires `close` when it
 * is done, and `edit`, with a {@link Draft} as `detail`, for an existing key.
 */
export class StatepadKeyEditor extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    key: { attribute: false },
    scope: { attribute: false },
    draft: { attribute: false },
    name: { state: true },
    text: { state: true },
    known: { state: true },
    problem: { state: true },
    isSaving: { state: true },
  };
  static override styles = [
    base,
    css`
      form {
        display: grid;
        gap: 0.4rem;
        margin-block: 0.25rem;
      }

      .name {
        display: flex;
        align-items: baseline;
        gap: 0.1rem;
      }

      .name input {
        flex: 1;
        font-family: var(--mono);
        font-size: var(--sp-text-sm);
      }

      /* The marker lies behind the text, in a copy of it: so the field is as high as its content. */
      .field {
        display: grid;
        overflow: auto;
        min-height: 4.2em;
        max-height: 22rem;
        border: 1px solid var(--strong);
        border-radius: var(--sp-radius-sm);
        background: var(--paper);
      }

      .field > * {
        grid-area: 1 / 1;
        overflow: hidden;
        min-width: 0;
        border: 0;
        padding: 0.35rem 0.5rem;
        font-family: var(--mono);
        font-size: var(--sp-text-sm);
        line-height: 1.45;
        overflow-wrap: break-word;
        resize: none;
        white-space: pre-wrap;
      }

      .field > div {
        color: transparent;
      }

      .field > textarea {
        background: none;
      }

      .field > textarea:focus-visible {
        outline-offset: -2px;
      }

      .field mark {
        border-block-end: 2px solid var(--bad);
        color: transparent;
        background: var(--bad-ground);
      }

      .meanwhile {
        display: grid;
        gap: 0.3rem;
        border-inline-start: 3px solid var(--strong);
        border-radius: 4px;
        padding: 0.4rem 0.6rem;
        background: var(--paper);
      }

      p {
        font-size: var(--sp-text-sm);
        overflow-wrap: anywhere;
      }
    `,
  ];
  /** The key whose value is edited; `undefined` to add one. */
  declare key: string | undefined;
  /** The scope of a new key. */
  declare scope: Scope;
  /** A text to begin with instead of the value; empty for none. */
  declare draft: string;
  declare private name: string;
  declare private text: string;
  /** The JSON text of the value that the editor began with; empty for none. */
  declare private known: string;
  declare private problem: string | undefined;
  declare private isSaving: boolean;

  constructor() {
    super();
    this.scope = 'session';
    this.draft = '';
    this.name = '';
    this.text = '';
    this.known = '';
    this.isSaving = false;
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    if (changed.has('key')) {
      this.#take(this.#row());
      this.text = this.draft === '' ? this.text : this.draft;
    }
  }

  protected override firstUpdated(): void {
    this.renderRoot.querySelector<HTMLInputElement>('.name input')?.focus();
    if (this.key !== undefined) {
      this.#area.select();
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { inspection, key } = this;
    if (inspection === undefined || !(inspection.canWrite || inspection.canFork)) {
      return nothing;
    }
    const { isNow, revision } = inspection;
    const verdict = readJson(this.text);
    const title = key === undefined ? `add a key to ${this.scope}` : isNow ? `edit ${key}` : `another value of ${key}`;
    return html`<form
      aria-label=${title}
      @submit=${this.#submit}
      @keydown=${this.#keydown}
    >
      ${key === undefined ? this.#nameField() : html`<h3><span class="key" data-scope=${splitKey(key).scope}>${key === '' ? '""' : key}</span></h3>${this.#meanwhile(key)}`}
      <div class="field">
        <div aria-hidden="true">${'at' in verdict && this.text !== '' ? withMark(this.text, verdict.at) : this.text}${'\u200b'}</div>
        <textarea
          rows="1"
          spellcheck="false"
          autocapitalize="off"
          aria-label=${key === undefined ? 'value as JSON' : `value of ${key} as JSON`}
          aria-invalid=${String('at' in verdict && this.text !== '')}
          aria-describedby="verdict"
          .value=${this.text}
          @input=${() => (this.text = this.#area.value)}
        ></textarea>
      </div>
      <div class="row" id="verdict">${this.#verdict(verdict)}</div>
      ${this.problem === undefined ? nothing : html`<p class="bad" role="alert">${this.problem}</p>`}
      <div class="row">
        <button class="main" ?disabled=${this.isSaving || !(isNow || inspection.canFork)}>${isNow ? 'Save' : html`${icon('fork')}Fork from #${revision}`}</button>
        <button type="button" @click=${() => this.#close()}>Cancel</button>
        <span class="quiet hint">${hintOf(inspection)}</span>
      </div>
    </form>`;
  }

  #nameField(): TemplateResult {
    const row = this.#row();
    const isThere = row?.value !== undefined;
    const strayed = splitKey(this.name).scope;
    const isElsewhere = this.scope === 'session' && strayed !== 'session';
    return html`<label class="name"
        ><span class="key" data-scope=${this.scope}>${PREFIX[this.scope]}</span
        ><input
          aria-label=${`name of the new ${this.scope} key`}
          placeholder="name"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          aria-invalid=${String(isThere || isElsewhere)}
          aria-describedby="taken"
          .value=${this.name}
          @input=${(event: InputEvent) => (this.name = (event.target as HTMLInputElement).value)}
      /></label>
      <p id="taken" class="bad" ?hidden=${!isThere && !isElsewhere}>
        ${
          isThere
            ? html`${row.key} is there already:
              <button type="button" class="link" @click=${() => this.#editInstead(row.key)}>edit it</button>`
            : `${this.name} is a key of ${strayed}: add it there`
        }
      </p>`;
  }

  /** Changes of the key since the editor has begun. */
  #meanwhile(key: string): TemplateResult | typeof nothing {
    const row = this.#row();
    const text = row?.text ?? '';
    if (text === this.known || this.isSaving || this.inspection?.isNow !== true) {
      return nothing;
    }
    const writer =
      row?.source === 'event' ? ` by #${row.writer?.revision ?? 0} ${row.writer?.event?.author ?? ''}` : '';
    const by = row?.source === 'elsewhere' ? ' by another session' : writer;
    return html`<div class="meanwhile" role="alert">
      ${text === '' ? html`<p>deleted meanwhile${by}</p>` : html`<p>changed meanwhile${by} to</p>${showText(text, { label: key })}`}
      <div class="row">
        <button type="button" @click=${() => this.#keep(text)}>keep mine</button>
        <button type="button" @click=${() => (text === '' ? this.#close() : this.#takeOver(row))}>take over</button>
      </div>
    </div>`;
  }

  #verdict(verdict: Verdict): TemplateResult {
    if (this.text === '') {
      return html`<p class="quiet">JSON: "a text", 12, true, null, [a list] or {an object}</p>`;
    }
    if ('value' in verdict) {
      return html`<p class="quiet">valid JSON</p>`;
    }
    const { reason, at, line, column } = verdict;
    return html`<p class="bad">
        not valid: ${reason}, <button type="button" class="link" @click=${() => this.#goTo(at)}>line ${line}, column ${column}</button>
      </p>
      ${/^[^"{[]/u.test(this.text.trim()) ? html`<button type="button" @click=${() => this.#asText()}>use it as text</button>` : nothing}`;
  }

  get #area(): HTMLTextAreaElement {
    return this.renderRoot.querySelector('textarea') as HTMLTextAreaElement;
  }

  get #wholeKey(): string {
    return this.key ?? PREFIX[this.scope] + this.name;
  }

  #row(): KeyRow | undefined {
    const key = this.#wholeKey;
    return this.inspection?.rows.find((row) => row.key === key);
  }

  #take(row: KeyRow | undefined): void {
    this.known = row?.text ?? '';
    this.text = row?.value === undefined ? '' : JSON.stringify(row.value, undefined, 2);
  }

  #takeOver(row: KeyRow | undefined): void {
    this.#take(row);
    this.#area.focus();
  }

  #keep(text: string): void {
    this.known = text;
    this.#area.focus();
  }

  #asText(): void {
    this.text = JSON.stringify(this.text.trim());
    this.#area.focus();
  }

  #goTo(at: number): void {
    this.#area.focus();
    this.#area.setSelectionRange(at, at);
  }

  readonly #submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void this.#save();
  };

  readonly #keydown = (event: KeyboardEvent): void => {
    if (event.isComposing) {
      return;
    }
    if (event.key === 'Escape') {
      event.stopPropagation();
      this.#close();
    } else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void this.#save();
    }
  };

  async #save(): Promise<void> {
    const { inspection } = this;
    const verdict = readJson(this.text);
    this.problem = this.#refusal(verdict);
    if (inspection === undefined || this.problem !== undefined || 'at' in verdict || this.isSaving) {
      return;
    }
    const { isNow, revision } = inspection;
    if (!isNow && !inspection.canFork) {
      return;
    }
    const key = this.#wholeKey;
    this.isSaving = true;
    try {
      await (isNow
        ? inspection.write(key, verdict.value)
        : inspection.fork(revision, { delta: Object.fromEntries([[key, verdict.value]]) }));
      this.#close();
    } catch (error) {
      const code = isStatepadError(error) ? `${error.code}, ` : '';
      this.problem = `not saved: ${code}${reasonOf(error)}`;
    } finally {
      this.isSaving = false;
    }
  }

  /** The reason why it cannot be saved; focuses the fault. */
  #refusal(verdict: Verdict): string | undefined {
    const nameInput = this.renderRoot.querySelector<HTMLInputElement>('.name input');
    if (nameInput !== null && (this.name === '' || nameInput.ariaInvalid === 'true')) {
      nameInput.focus();
      return this.name === '' ? 'not saved: a name is needed' : 'not saved: this name cannot be added here';
    }
    if ('at' in verdict) {
      this.#goTo(verdict.at);
      return `not saved: ${verdict.reason}`;
    }
    const keep = this.renderRoot.querySelector<HTMLButtonElement>('.meanwhile button');
    keep?.focus();
    return keep === null ? undefined : 'not saved: keep your value, or take over what was written meanwhile?';
  }

  #close(): void {
    this.dispatchEvent(new CustomEvent('close'));
  }

  #editInstead(key: string): void {
    this.dispatchEvent(new CustomEvent<Draft>('edit', { detail: { key, text: this.text } }));
  }
}

function hintOf({ isNow, canFork, revision }: Inspection): string {
  if (isNow) {
    return 'Ctrl+Enter saves, Escape cancels';
  }
  return canFork
    ? `The past stays as it is: a new session continues from #${revision} with this value.`
    : 'This is the past: go back to now to save.';
}

function withMark(text: string, at: number): TemplateResult {
  const char = text.codePointAt(at);
  const isVisible = char !== undefined && text[at] !== '\n';
  const end = at + (char !== undefined && char > 0xffff ? 2 : 1);
  return html`${text.slice(0, at)}<mark>${isVisible ? text.slice(at, end) : '\u00a0'}</mark>${text.slice(isVisible ? end : at)}`;
}

customElements.define('statepad-key-editor', StatepadKeyEditor);
