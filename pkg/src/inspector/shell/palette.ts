// The palette: everything by its name.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { goTo } from '../timeline/moment.js';
import { closeOutside, dialogStyle } from '../ui/dialog.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import type { Command, Shell } from './commands.js';
import { findingsFor, type Act, type Finding, type FindingGroup } from './findings.js';
import { printedKeys } from './keys.js';

/** The palette: {@link StatepadPalette.open} shows it. */
export class StatepadPalette extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    shell: { attribute: false },
    isOpen: { state: true },
    query: { state: true },
    place: { state: true },
  };
  static override styles = [
    base,
    dialogStyle,
    css`
      .field {
        display: flex;
        flex: none;
        align-items: center;
        gap: var(--sp-space-3);
        border-block-end: 1px solid var(--line);
        padding-inline: var(--sp-space-4);
        color: var(--quiet);
      }

      input {
        flex: 1;
        height: 48px;
        border: 0;
        padding: 0;
        color: var(--text);
        background: none;
        font-size: var(--sp-text-lg);
        outline: 0;
      }

      .list {
        overflow: auto;
        padding: var(--sp-space-2);
        scroll-padding-block: 32px var(--sp-space-2);
        scrollbar-color: var(--edge) transparent;
        scrollbar-width: thin;
      }

      .title {
        padding: var(--sp-space-2) var(--sp-space-2) var(--sp-space-1);
        color: var(--quiet);
        font-size: var(--sp-text-xs);
        font-weight: 600;
      }

      [role='option'] {
        display: flex;
        align-items: center;
        gap: var(--sp-space-3);
        border-radius: var(--sp-radius-md);
        padding: 6px var(--sp-space-2);
        cursor: pointer;
      }

      [role='option'] > .icon {
        color: var(--quiet);
      }

      [aria-selected='true'] {
        background: var(--chosen);
      }

      [aria-selected='true'] > .icon {
        color: var(--accent);
      }

      .name {
        flex: 0 1 auto;
        min-width: 48px;
      }

      .name.of-key {
        color: var(--scope);
        font-family: var(--mono);
        font-size: var(--sp-text-sm);
      }

      .name b {
        color: var(--accent);
        font-weight: 650;
      }

      .note {
        flex: 1 1 0;
        color: var(--quiet);
        font-size: var(--sp-text-sm);
        text-align: end;
      }

      .none {
        padding: var(--sp-space-5);
        color: var(--quiet);
        text-align: center;
      }

      footer {
        display: flex;
        flex: none;
        flex-wrap: wrap;
        gap: var(--sp-space-1) var(--sp-space-4);
        border-block-start: 1px solid var(--line);
        padding: var(--sp-space-2) var(--sp-space-4);
        color: var(--quiet);
        font-size: var(--sp-text-xs);
      }
    `,
  ];
  declare shell: (Shell & { run(command: Command): Promise<void> }) | undefined;
  declare private isOpen: boolean;
  declare private query: string;
  /** The index of the finding that Enter chooses. */
  declare private place: number;
  /** The findings on show, in their order. */
  #findings: readonly Finding[] = [];
  #groups: readonly FindingGroup[] = [];

  constructor() {
    super();
    this.isOpen = false;
    this.query = '';
    this.place = 0;
  }

  /** Shows the palette, with an empty field. */
  open(): void {
    this.query = '';
    this.place = 0;
    this.isOpen = true;
    void this.#show();
  }

  /** Shows the dialog once it is drawn. After Escape it is drawn, and closed, until its event has come. */
  async #show(): Promise<void> {
    await this.updateComplete;
    const dialog = this.renderRoot.querySelector('dialog');
    if (dialog?.open === false) {
      dialog.showModal();
      this.renderRoot.querySelector('input')?.focus();
    }
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    this.#groups = this.isOpen ? findingsFor(this.query, this.inspection) : [];
    this.#findings = this.#groups.flatMap(({ findings }) => findings);
    this.place = Math.max(Math.min(this.place, this.#findings.length - 1), 0);
  }

  protected override render(): TemplateResult | typeof nothing {
    if (!this.isOpen) {
      return nothing;
    }
    const hasFindings = this.#findings.length > 0;
    return html`<dialog
      aria-label="Search and commands"
      @pointerdown=${closeOutside}
      @close=${(event: Event) => (this.isOpen = (event.target as HTMLDialogElement).open)}
      @keydown=${this.#pressed}
    >
      <div class="field">
        ${icon('search')}
        <input
          type="text"
          class="bare"
          role="combobox"
          aria-label="Search and run commands"
          aria-expanded=${String(hasFindings)}
          aria-controls="list"
          aria-autocomplete="list"
          aria-activedescendant=${hasFindings ? `finding-${this.place}` : nothing}
          placeholder="A command, a key, a session, a word, or #12"
          autocomplete="off"
          spellcheck="false"
          .value=${live(this.query)}
          @input=${this.#typed}
        />
        <kbd>Esc</kbd>
      </div>
      ${hasFindings ? this.#list() : html`<p class="none" id="list">Nothing is called “${this.query}” here.</p>`}
      <footer>
        <span><kbd>↑</kbd> <kbd>↓</kbd> choose</span><span><kbd>Enter</kbd> go</span
        ><span><kbd>#</kbd> and a number: a moment</span>
      </footer>
    </dialog>`;
  }

  #list(): TemplateResult {
    let place = 0;
    return html`<div class="list" id="list" role="listbox" aria-label="Findings" tabindex="-1">
      ${this.#groups.map(
        ({ title, findings }, index) =>
          html`<div role="group" aria-labelledby="group-${index}">
            <div class="title" role="presentation" id="group-${index}">${title}</div>
            ${findings.map((finding) => this.#line(finding, place++))}
          </div>`,
      )}
    </div>`;
  }

  #line(finding: Finding, place: number): TemplateResult {
    const { keys, scope, note } = finding;
    return html`<div
      role="option"
      id="finding-${place}"
      aria-selected=${String(place === this.place)}
      data-scope=${scope ?? nothing}
      @pointermove=${() => (this.place = place)}
      @click=${() => void this.#choose(finding)}
    >
      ${icon(finding.icon)}<span class="name cut ${scope === undefined ? '' : 'of-key'}">${lit(finding)}</span>
      <span class="note cut">${note}</span>
      ${keys === undefined ? nothing : html`<span>${printedKeys(keys).map((key) => html`<kbd>${key}</kbd> `)}</span>`}
    </div>`;
  }

  protected override updated(changed: PropertyValues): void {
    if (changed.has('place') || changed.has('query')) {
      this.renderRoot.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
    }
  }

  readonly #typed = (event: InputEvent): void => {
    this.query = (event.target as HTMLInputElement).value;
    this.place = 0;
  };

  readonly #pressed = (event: KeyboardEvent): void => {
    const count = this.#findings.length;
    const way = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const chosen = this.#findings[this.place];
    if (way !== undefined && count > 0) {
      event.preventDefault();
      this.place = (this.place + way + count) % count;
    } else if (event.key === 'Enter' && !event.isComposing && chosen !== undefined) {
      event.preventDefault();
      void this.#choose(chosen);
    }
  };

  async #choose({ act }: Finding): Promise<void> {
    this.renderRoot.querySelector('dialog')?.close();
    await this.updateComplete;
    try {
      await this.#act(act);
    } catch (error) {
      this.shell?.say(reasonOf(error));
    }
  }

  async #act(act: Act): Promise<void> {
    const { inspection, shell } = this;
    switch (act.kind) {
      case 'command':
        await shell?.run(act.command);
        return;
      case 'session': {
        const { appName, userId, id: sessionId } = act.session;
        await inspection?.open({ appName, userId, sessionId });
        return;
      }
      case 'key':
        inspection?.trace(act.key);
        shell?.showPane('details');
        return;
      case 'event':
        inspection?.select(act.revision === 0 ? undefined : act.revision);
        if (inspection !== undefined) {
          await goTo(inspection, act.revision);
        }
        return;
      case 'compare':
        inspection?.compareWith(act.revision);
        return;
      case 'find':
        inspection?.search(act.query);
        return;
    }
  }
}

/** The title of a finding with its matched letters set off. */
function lit({ title, places }: Finding): unknown {
  if (places.length === 0) {
    return title;
  }
  const matched = new Set(places);
  const runs: { text: string; isMatched: boolean }[] = [];
  for (let place = 0; place < title.length; place++) {
    const isMatched = matched.has(place);
    const last = runs.at(-1);
    if (last?.isMatched === isMatched) {
      last.text += title.charAt(place);
    } else {
      runs.push({ text: title.charAt(place), isMatched });
    }
  }
  return runs.map(({ text, isMatched }) => (isMatched ? html`<b>${text}</b>` : text));
}

customElements.define('statepad-palette', StatepadPalette);
