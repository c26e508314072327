// The X-ray of the prompt: an instruction template and, above it, what the model is told at the moment on show.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { createRef, ref } from 'lit/directives/ref.js';
import { Template, type Missing } from '../../index.js';
import { nameOf } from '../model/session-name.js';
import type { Inspection } from '../model/inspection.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import { beginning, exampleOf, hasExample } from './beginning.js';
import './editor.js';
import type { StatepadTemplateEditor } from './editor.js';
import { KeyIndex, type KeyRows } from './key-index.js';
import { NearestKeys } from './nearest.js';
import { promptStyle } from './prompt-style.js';
import './rendered.js';
import type { Mending } from './rendered.js';
import { dissect, type Dissection, type Known, type Piece } from './rendering.js';
import { spotStyle } from './spot-style.js';
import { changedTexts, OldTexts, textsOf } from './words.js';

const EMPTY: Dissection = { source: [], rendered: [], error: undefined };

/** Everything that a dissection depends on, but the keys that missing ones resemble. */
interface Dissected {
  readonly template: Template;
  readonly state: Readonly<Record<string, unknown>>;
  readonly knowsTemp: boolean;
}

/** The prompt of a session at every moment, and its template. It fills its box. */
export class StatepadPrompt extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    labels: { state: true },
    isWriting: { state: true },
    problem: { state: true },
  };
  static override styles = [base, spotStyle, promptStyle];
  /** True for a label at each word. */
  declare private labels: boolean;
  /** True when a first template is being written. */
  declare private isWriting: boolean;
  declare private problem: string | undefined;
  readonly #editor = createRef<StatepadTemplateEditor>();
  #template: Template | undefined;
  #dissection: Dissection = EMPTY;
  #madeFrom: readonly unknown[] = [];
  #rows = new KeyIndex([]);
  /** The inputs that {@link #dissection} was made of. */
  #dissected: Dissected | undefined;
  /** True when an example can be made of the keys. */
  #hasExample = false;
  readonly #old = new OldTexts();
  readonly #nearest = new NearestKeys(() => {
    this.#madeFrom = [];
    this.requestUpdate();
  });
  #before: ReadonlyMap<number, string> = new Map();
  /** The template of the session as it was when it was opened. */
  #first = { of: '', text: '' };

  constructor() {
    super();
    [this.labels, this.isWriting] = [true, false];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection } = this;
    if (inspection?.session === undefined) {
      [this.#dissection, this.#dissected] = [EMPTY, undefined];
      return;
    }
    const name = nameOf(inspection.session);
    if (this.#first.of !== name) {
      this.#first = { of: name, text: inspection.template };
      this.isWriting = false;
    }
    const { template, rows, baseRows, knowsTemp } = inspection;
    const madeFrom = [template, rows, baseRows, knowsTemp];
    if (madeFrom.some((part, place) => part !== this.#madeFrom[place])) {
      this.#madeFrom = madeFrom;
      this.#make(inspection, `${name} ${template}`);
    }
  }

  #make(inspection: Inspection, of: string): void {
    const { template: text, rows, base: second, baseRows, knowsTemp, revision } = inspection;
    const template = this.#template?.text === text ? this.#template : (this.#template = new Template(text));
    const known: Known = { temp: knowsTemp, artifacts: false, nearest: (missing) => this.#nearest.of(missing) };
    const keys = (this.#rows = new KeyIndex(rows, this.#rows));
    this.#hasExample = text === '' && hasExample(rows);
    this.#nearest.update(() => keys.keys());
    const dissected = { template, state: stateFor(template, keys), knowsTemp };
    // A missing key may resemble another one whenever any key has changed.
    if (this.#dissection.error !== undefined || isOther(dissected, this.#dissected)) {
      this.#dissection = dissect(template, { state: dissected.state }, known);
    }
    this.#dissected = dissected;
    const texts = textsOf(this.#dissection);
    this.#old.update(texts, of, revision);
    this.#before =
      second === undefined
        ? this.#old.before
        : changedTexts(
            textsOf(dissect(template, { state: stateFor(template, new KeyIndex(baseRows)) }, known)),
            texts,
          );
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return html`<p class="empty">No session is open.</p>`;
    }
    const { template } = inspection;
    if (template === '' && !this.isWriting) {
      return beginning(this.#hasExample, {
        write: () => void this.#begin(''),
        example: () => void this.#begin(exampleOf(inspection.rows)),
      });
    }
    return html`<div class="layers">${this.#prompt(inspection)} ${this.#source(inspection)}</div>`;
  }

  #prompt(inspection: Inspection): TemplateResult {
    const { base: second, revision, isNow } = inspection;
    const { rendered, source } = this.#dissection;
    const hasWords = source.some(({ spot }) => spot !== undefined);
    const since = second === undefined ? '' : `, changes since #${second}`;
    return html`<div class="layer prompt">
      <header>
        <h3 id="rendered">Prompt at #${revision}${isNow ? ' (now)' : ''}${since}</h3>
        <p class="lead quiet cut">
          ${hasWords ? 'Point at a coloured word to see what wrote it' : 'Write {keys} of the state into the template'}
        </p>
        <button
          class="plain small"
          aria-pressed=${String(this.labels)}
          title="A label at each word from the state"
          @click=${() => (this.labels = !this.labels)}
        >
          Labels
        </button>
      </header>
      <div class="scroll" role="region" tabindex="0" aria-labelledby="rendered">
        <statepad-rendered
          .inspection=${inspection}
          .pieces=${rendered}
          .rows=${this.#rows}
          .earlier=${this.#before}
          .round=${this.#old.round}
          .lasting=${second !== undefined}
          .labels=${this.labels}
          @mend=${(event: CustomEvent<Mending>) => this.#mend(event.detail)}
        ></statepad-rendered>
      </div>
    </div>`;
  }

  #source(inspection: Inspection): TemplateResult {
    const { source, error } = this.#dissection;
    return html`<div class="layer source">
      <header>
        <h3 id="template">Template</h3>
        <p class=${error === undefined ? 'quiet' : 'bad'} role="status">${outcome(this.#dissection)}</p>
        ${error === undefined ? nothing : this.#missing(error.missing)} ${this.#fork(inspection)}
      </header>
      ${this.problem === undefined ? nothing : html`<p class="bad problem" role="alert">${this.problem}</p>`}
      <statepad-template-editor
        .inspection=${inspection}
        .text=${inspection.template}
        .pieces=${source}
        .rows=${this.#rows}
        ${ref(this.#editor)}
        @template-change=${(event: CustomEvent<string>) => inspection.setTemplate(event.detail)}
      ></statepad-template-editor>
      ${inspection.template === '' ? this.#suggestions(inspection) : nothing}
    </div>`;
  }

  /** A fork with another template, from a moment of the past, or from now. */
  #fork({ canFork, revision, template }: Inspection): TemplateResult | typeof nothing {
    return !canFork || template === this.#first.text
      ? nothing
      : html`<button
          class="small spread"
          title="The past stays as it is: a new session continues from #${revision} with this template"
          @click=${() => void this.#forkFrom(revision)}
        >
          ${icon('fork')}Fork from #${revision}
        </button>`;
  }

  async #forkFrom(revision: number): Promise<void> {
    const { inspection } = this;
    try {
      await inspection?.fork(revision, { template: inspection.template });
      this.problem = undefined;
    } catch (error) {
      this.problem = `not forked: ${reasonOf(error)}`;
    }
  }

  #missing(missing: readonly Missing[]): TemplateResult {
    return html`<ul class="missing" aria-label="Missing keys">
      ${missing.map(
        (one) => html`<li>
          <button class="link bad" @click=${() => this.#goTo(one)}>${one.key}<span class="place"> – line ${one.line}, column ${one.column}</span></button>
          ${
            one.nearest === undefined
              ? nothing
              : html`<button class="small" @click=${() => this.#replace(one)}>use ${one.nearest}</button>`
          }
        </li>`,
      )}
    </ul>`;
  }

  #suggestions({ rows }: Inspection): TemplateResult {
    const keys = rows.filter(({ value, scope }) => value !== undefined && scope !== 'temp').slice(0, 24);
    return html`<p class="suggestions row" role="group" aria-label="Keys to put in">
      ${keys.map(
        ({ key, scope }) =>
          html`<button class="key" data-scope=${scope} @click=${() => this.#editor.value?.insert(`{${key}}`)}>{${key}}</button>`,
      )}
    </p>`;
  }

  async #begin(text: string): Promise<void> {
    this.isWriting = true;
    if (text !== '') {
      this.inspection?.setTemplate(text);
    }
    await this.updateComplete;
    await this.#editor.value?.updateComplete;
    this.#editor.value?.renderRoot.querySelector('textarea')?.focus();
  }

  #spotAt({ line, column }: Missing): Piece['spot'] {
    return this.#dissection.source.find(({ spot }) => spot?.line === line && spot.column === column)?.spot;
  }

  /** Selects the placeholder, so that it can be replaced. */
  #goTo(missing: Missing): void {
    const spot = this.#spotAt(missing);
    if (spot !== undefined) {
      this.#editor.value?.select(spot);
    }
  }

  #replace(missing: Missing): void {
    const spot = this.#spotAt(missing);
    if (spot !== undefined && missing.nearest !== undefined) {
      this.#mend({ spot, key: missing.nearest });
    }
  }

  #mend({ spot, key }: Mending): void {
    const { inspection } = this;
    const text = inspection?.template ?? '';
    const rest = text.slice(spot.start + spot.source.length);
    inspection?.setTemplate(`${text.slice(0, spot.start)}{${key}${spot.optional ? '?' : ''}}${rest}`);
  }
}

function isOther({ template, state, knowsTemp }: Dissected, before: Dissected | undefined): boolean {
  return (
    template !== before?.template ||
    knowsTemp !== before.knowsTemp ||
    template.placeholders.some(({ key }) => state[key] !== before.state[key])
  );
}

/** The part of the state that a template asks for: there may be thousands of other keys. */
function stateFor({ placeholders }: Template, rows: KeyRows): Record<string, unknown> {
  const state = Object.create(null) as Record<string, unknown>;
  for (const { kind, key } of placeholders) {
    const value = kind === 'state' ? rows.get(key)?.value : undefined;
    if (value !== undefined) {
      state[key] = value;
    }
  }
  return state;
}

function outcome({ source, error }: Dissection): string {
  const spots = source.flatMap(({ spot }) => spot ?? []);
  if (error !== undefined) {
    return `${error.missing.length} missing`;
  }
  const unstored = [
    ...new Set(spots.filter(({ unknown, scope }) => unknown && scope === 'temp').map(({ key }) => key)),
  ];
  if (unstored.length > 0) {
    return `not stored: ${unstored.join(', ')}`;
  }
  return spots.length === 0 ? '' : 'All placeholders are filled.';
}

customElements.define('statepad-prompt', StatepadPrompt);

declare global {
  interface HTMLElementTagNameMap {
    'statepad-prompt': StatepadPrompt;
  }
}
