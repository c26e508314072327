// An instruction template beside its rendering at the moment on show.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { Template, type Missing } from '../../index.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { SCOPES } from '../model/log.js';
import { dissect, type Dissection, type Piece } from './rendering.js';
import { base } from '../ui/style.js';

const EMPTY: Dissection = { source: [], rendered: [], error: undefined };

/** A template to edit and its rendering. Fires `template-change` (a `CustomEvent` with the new text as `detail`). */
export class StatepadTemplate extends InspectorElement {
  static override properties: PropertyDeclarations = { ...InspectorElement.properties, text: {} };
  static override styles = [
    base,
    css`
      .template {
        display: grid;
        gap: 0.5rem;
        container-type: inline-size;
      }

      .sides {
        display: grid;
        gap: 0.75rem;
      }

      @container (min-width: 40rem) {
        .sides {
          grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
        }
      }

      .side {
        display: grid;
        grid-template-rows: auto minmax(0, 1fr);
        gap: 0.25rem;
        min-width: 0;
      }

      .editor {
        display: grid;
        grid-template-rows: minmax(0, 1fr);
        height: 6rem;
        border-radius: 6px;
        background: var(--paper);
      }

      /* The mirror and the text area lie on each other: all styles that place letters must be equal. */
      .mirror,
      textarea,
      .rendered {
        overflow-y: auto;
        margin: 0;
        border: 1px solid var(--line);
        border-radius: 6px;
        padding: 0.5rem 0.6rem;
        font-family: var(--mono);
        font-size: 0.8125rem;
        line-height: 1.6;
        letter-spacing: normal;
        tab-size: 2;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        scrollbar-gutter: stable;
      }

      .mirror,
      textarea {
        grid-area: 1 / 1;
        min-height: 0;
      }

      .mirror {
        overflow-y: hidden;
        border-color: transparent;
        pointer-events: none;
      }

      textarea {
        width: 100%;
        border-color: var(--strong);
        color: transparent;
        background: transparent;
        caret-color: var(--text);
        resize: none;
      }

      textarea::selection {
        color: transparent;
        background: color-mix(in srgb, var(--accent) 28%, transparent);
      }

      @media (forced-colors: active) {
        .mirror {
          visibility: hidden;
        }
      }

      .rendered {
        height: 6rem;
        background: var(--ground);
      }

      .spot {
        border-radius: 3px;
        color: var(--scope, var(--text));
        background: color-mix(in srgb, var(--scope, var(--strong)) 11%, transparent);
      }

      .spot[data-scope='artifact'] {
        --scope: var(--quiet);
      }

      .rendered .spot,
      .legend .spot {
        box-decoration-break: clone;
        border-block-end: 2px solid var(--scope);
      }

      /* For users who cannot distinguish the colours: a line style for each scope. */
      .spot[data-scope='app'] {
        border-block-end-style: double;
        border-block-end-width: 3px;
      }

      .spot[data-scope='user'] {
        border-block-end-style: dashed;
      }

      .spot[data-scope='temp'] {
        border-block-end-style: dotted;
      }

      .rendered .spot:empty::before {
        display: inline-block;
        width: 1em;
        content: '';
      }

      .mirror .spot,
      .spot[data-missing] {
        border-block-end: 0;
      }

      .spot[data-missing] {
        --scope: var(--bad);
        text-decoration: underline wavy var(--bad);
        text-decoration-skip-ink: none;
        text-underline-offset: 3px;
      }

      .spot[data-unstored] {
        border-block-end: 0;
        outline: 1px dashed var(--quiet);
        outline-offset: -1px;
      }

      textarea::placeholder {
        color: var(--quiet);
      }

      .legend {
        min-height: 1.25rem;
        gap: 0.25rem 0.5rem;
        font-size: 0.75rem;
      }

      .legend .spot {
        padding: 0 0.35em;
      }

      /* The same height for short and long messages keeps its neighbours in place. */
      .outcome {
        overflow-y: auto;
        height: 3.6rem;
        font-size: 0.8125rem;
      }

      .error button {
        font-size: 0.8125rem;
        overflow-wrap: anywhere;
      }
    `,
  ];
  /** The template. */
  declare text: string;
  #template: Template | undefined;
  #dissection: Dissection | undefined;

  constructor() {
    super();
    this.text = '';
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection, text } = this;
    if (inspection?.session === undefined) {
      this.#dissection = undefined;
      return;
    }
    const template = this.#template?.text === text ? this.#template : (this.#template = new Template(text));
    const state = Object.create(null) as Record<string, unknown>;
    for (const { key, value } of inspection.rows) {
      // The turn has deleted those without a value.
      if (value !== undefined) {
        state[key] = value;
      }
    }
    this.#dissection = dissect(template, { state }, inspection.knowsTemp);
  }

  protected override render(): TemplateResult {
    // Before there is a session there is as much room for it, so that its neighbours stay in place.
    const { source, rendered, error } = this.#dissection ?? EMPTY;
    const unstored = keysUnstored(source);
    const hasArtifacts = source.some(({ spot }) => spot?.scope === 'artifact');
    return html`<div class="template">
      <div class="sides">
        <div class="side">
          <h3 id="source">Template</h3>
          <div class="editor">
            <div class="mirror" aria-hidden="true">${source.map((piece) => drawn(piece, false))}${'\u200b'}</div>
            <textarea
              rows="3"
              spellcheck="false"
              autocapitalize="off"
              placeholder="Write an instruction, such as: You talk to {user:name?}"
              aria-labelledby="source"
              aria-describedby="outcome"
              .value=${live(this.text)}
              @input=${this.#edit}
              @scroll=${this.#scroll}
            ></textarea>
          </div>
        </div>
        <div class="side">
          <h3 id="rendered">Rendered${this.#moment()}</h3>
          <div class="rendered" role="region" tabindex="0" aria-labelledby="rendered">${rendered.map((piece) => drawn(piece, true))}</div>
        </div>
      </div>
      <p class="row legend quiet">
        ${[...SCOPES, ...(hasArtifacts ? ['artifact'] : [])].map((scope) => html`<span class="spot" data-scope=${scope}>${scope}</span>`)}
        ${unstored.length === 0 ? nothing : html`<span class="spot" data-unstored>not stored</span>`}
        ${error === undefined ? nothing : html`<span class="spot" data-missing>missing</span>`}
      </p>
      <div class="outcome">
        <p class=${error === undefined ? 'quiet' : 'bad'} role="status" id="outcome">${this.#dissection === undefined ? '' : outcome(error, unstored)}</p>
        ${error === undefined ? nothing : this.#missing(error.missing)}
      </div>
    </div>`;
  }

  protected override updated(): void {
    this.#scroll();
  }

  #moment(): string {
    const { inspection } = this;
    return inspection === undefined || inspection.isNow ? '' : ` at moment ${inspection.revision}`;
  }

  #missing(missing: readonly Missing[]): TemplateResult {
    return html`<ul class="error" aria-label="Missing keys">
      ${missing.map(
        (one) =>
          html`<li><button type="button" class="link bad" @click=${() => this.#goTo(one)}>${describe(one)}</button></li>`,
      )}
    </ul>`;
  }

  /** Selects the placeholder, so that it can be replaced. */
  #goTo({ line, column }: Missing): void {
    const spot = this.#dissection?.source.find(
      (piece) => piece.spot?.line === line && piece.spot.column === column,
    )?.spot;
    const area = this.#area;
    if (spot !== undefined && area !== null) {
      area.focus();
      area.setSelectionRange(spot.start, spot.start + spot.source.length);
      const mark = this.renderRoot.querySelector<HTMLElement>(`.mirror [data-start='${spot.start}']`);
      area.scrollTop = (mark?.offsetTop ?? 0) - area.offsetTop - area.clientHeight / 2;
    }
  }

  readonly #edit = (event: Event): void => {
    this.text = (event.target as HTMLTextAreaElement).value;
    this.dispatchEvent(new CustomEvent('template-change', { detail: this.text, bubbles: true, composed: true }));
  };

  readonly #scroll = (): void => {
    const mirror = this.renderRoot.querySelector('.mirror');
    if (mirror !== null && this.#area !== null) {
      mirror.scrollTop = this.#area.scrollTop;
    }
  };

  get #area(): HTMLTextAreaElement | null {
    return this.renderRoot.querySelector('textarea');
  }
}

/**
 * A piece of the source or, with names for screen readers, of the rendering. No blanks around it: each of them would
 * be visible.
 */
function drawn({ text, spot }: Piece, isNamed: boolean): unknown {
  if (spot === undefined) {
    return text;
  }
  const { key, scope, missing, unstored, start } = spot;
  if (!isNamed) {
    return html`<span class="spot" data-scope=${scope} ?data-missing=${missing} ?data-unstored=${unstored} data-start=${start}>${text}</span>`;
  }
  const what = missing ? ' is missing' : unstored ? ' is not stored' : text === '' ? ' is empty' : '';
  const name = `${key} (${scope})${what}`;
  return html`<span class="spot" data-scope=${scope} ?data-missing=${missing} ?data-unstored=${unstored} role="group" title=${name} aria-label=${name}>${text}</span>`;
}

/** The `temp:` keys of a template whose values are unknown, each once. */
function keysUnstored(source: readonly Piece[]): string[] {
  return [...new Set(source.flatMap(({ spot }) => (spot?.unstored === true ? [spot.key] : [])))];
}

function outcome(error: Dissection['error'], unstored: readonly string[]): string {
  if (error !== undefined) {
    return `${error.code}: ${error.missing.length} missing`;
  }
  return unstored.length === 0
    ? 'All placeholders are filled.'
    : `temp: keys last for one invocation and are not stored, so these are not known here: ${unstored.join(', ')}`;
}

function describe({ key, line, column, nearest }: Missing): string {
  const hint = nearest === undefined ? '' : ` – did you mean ${nearest}?`;
  return `${key} – line ${line}, column ${column}${hint}`;
}

customElements.define('statepad-template', StatepadTemplate);

declare global {
  interface HTMLElementTagNameMap {
    'statepad-template': StatepadTemplate;
  }
}
