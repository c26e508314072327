// The state at the moment on show, as a tree; with what the turn has changed, or all that has changed since another
// moment.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { createRef, ref } from 'lit/directives/ref.js';
import type { Inspection } from '../model/inspection.js';
import { splitKey, type Scope } from '../model/log.js';
import { nameOf } from '../model/session-name.js';
import { differences, type KeyRow, type RowChange } from '../model/rows.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import { compareBar } from './compare.js';
import { entriesOfTurn, entriesSince, isFound, KeyOrder, type Entry } from './entries.js';
import type { Draft } from './key-editor.js';
import './key-editor.js';
import type { Wish } from './line.js';
import { stateStyle } from './style.js';
import { idOfKey, idOfScope, linesOf, pathText, type Line, type TreeView } from './tree.js';
import './tree-element.js';
import type { StatepadStateTree } from './tree-element.js';

const SIGNS: Readonly<Record<RowChange, string>> = { added: '+', changed: '~', deleted: '−' };

/** The keys as they were drawn last. */
interface Drawn {
  readonly rows: readonly KeyRow[];
  /** The name of their session; `undefined` before there was one. */
  readonly of: string | undefined;
  readonly isNow: boolean;
}

/** An editor that is open: of a key, or of a new one. */
interface Editing {
  /** `undefined` for a new key. */
  readonly key: string | undefined;
  readonly scope: Scope;
  /** The text to begin with in place of the value; empty for the value. */
  readonly draft: string;
}

/** All keys, to read, to compare, to trace and to write. It fills its box. */
export class StatepadState extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    editing: { state: true },
    deleting: { state: true },
    problem: { state: true },
    filter: { state: true },
    onlyChanges: { state: true },
  };
  static override styles = [base, stateStyle];
  /** Each editor stays until it is closed, so that no typed text gets lost. */
  declare private editing: readonly Editing[];
  /** The key that is about to be deleted. */
  declare private deleting: string | undefined;
  /** The reason why the key could not be deleted, or a text not be copied. */
  declare private problem: string | undefined;
  declare private filter: string;
  declare private onlyChanges: boolean;
  readonly #tree = createRef<StatepadStateTree>();
  /** By id of a line: open or not, where the reader has chosen. */
  readonly #opened = new Map<string, boolean>();
  readonly #order = new KeyOrder();
  #shown: Inspection | undefined;
  /** The session whose keys are drawn. */
  #of: string | undefined;
  #drawn: Drawn = { rows: [], of: undefined, isNow: true };
  /** The number of flashes of each key that has changed just now. */
  #flashes: ReadonlyMap<string, number> = new Map();
  #news = '';
  #traced: string | undefined;
  /** The entries of the turn, in the order of their rows. */
  #ofTurn: readonly Entry[] = [];
  #entries: readonly Entry[] = [];
  /** The number of entries of each kind of change. */
  #counts: ReadonlyMap<RowChange, number> = new Map();
  #entriesFrom: readonly unknown[] = [];
  #lines: readonly Line[] = [];
  #linesOf: readonly Entry[] = [];
  #linesFrom: readonly unknown[] = [];

  constructor() {
    super();
    [this.editing, this.filter, this.onlyChanges] = [[], '', false];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection } = this;
    const of = inspection?.session === undefined ? undefined : nameOf(inspection.session);
    if (inspection !== this.#shown) {
      this.#shown = inspection;
      const { rows = [], isNow = true } = inspection ?? {};
      this.#drawn = { rows, of: rows.length === 0 ? undefined : of, isNow };
    }
    if (of !== this.#of) {
      this.#of = of;
      this.#forget();
    }
    // Until its keys are known, a session's rows are those of the one before.
    if (inspection !== undefined && inspection.rows !== this.#drawn.rows) {
      this.#compare({ rows: inspection.rows, of, isNow: inspection.isNow });
    }
    if (inspection !== undefined) {
      this.#plan(inspection);
    }
  }

  /** Returns the focus to a key after its history was closed. */
  protected override updated(): void {
    const { traced } = this.inspection ?? {};
    if (traced !== this.#traced) {
      if (traced !== undefined) {
        this.#tree.value?.reveal(traced);
      } else if (this.#traced !== undefined) {
        void this.#return(this.#traced);
      }
      this.#traced = traced;
    }
  }

  async #return(key: string): Promise<void> {
    // The history goes away with its button.
    await new Promise(requestAnimationFrame);
    if (hasNoFocus()) {
      await this.#tree.value?.focusKey(key);
    }
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return html`<p class="empty">No session is open.</p>`;
    }
    const tree = html`<statepad-state-tree
      .inspection=${inspection}
      .lines=${this.#lines}
      .query=${this.filter === '' ? inspection.query : this.filter}
      .deleting=${this.deleting}
      .flashes=${this.#flashes}
      ${ref(this.#tree)}
      @wish=${(event: CustomEvent<Wish>) => void this.#grant(event.detail)}
      @animationend=${() => (this.#flashes = new Map())}
    ></statepad-state-tree>`;
    return html`<div class="whole">
      <p class="hidden" role="status">${this.#news}</p>
      ${this.#tools()} ${this.#summary(inspection)}
      <div class="body">${tree}${this.#none()}</div>
      ${this.problem === undefined ? nothing : html`<p class="bad problem" role="alert">${this.problem}</p>`}
      ${this.editing.length === 0 ? nothing : html`<div class="dock">${this.editing.map((one) => this.#editor(inspection, one))}</div>`}
    </div>`;
  }

  #tools(): TemplateResult {
    return html`<div class="tools" role="toolbar" aria-label="Tools of the state">
      <label class="filter"
        >${icon('search')}<input
          type="search"
          placeholder="Filter keys and values"
          aria-label="Filter keys and values"
          autocomplete="off"
          spellcheck="false"
          .value=${this.filter}
          @input=${(event: InputEvent) => (this.filter = (event.target as HTMLInputElement).value)}
      /></label>
      <button
        class="only"
        aria-pressed=${String(this.onlyChanges)}
        title="Show only what has changed"
        @click=${() => (this.onlyChanges = !this.onlyChanges)}
      >
        Only changes
      </button>
    </div>`;
  }

  /** The moments that the marks are about, which also explains the colours. */
  #summary(inspection: Inspection): TemplateResult {
    const { base, revision, log } = inspection;
    const first = log.turns[revision - 1];
    const turn =
      first === undefined ? 'At creation' : first === revision ? `Turn #${revision}` : `Turn #${first}–#${revision}`;
    const chips = (['added', 'changed', 'deleted'] as const).flatMap((change) => {
      const many = this.#counts.get(change) ?? 0;
      return many === 0
        ? []
        : [
            html`<span class="chip ${change}"><span class="sign">${SIGNS[change]}</span> ${many.toLocaleString('en')} ${change}</span>`,
          ];
    });
    const found =
      this.filter === '' ? undefined : this.#entries.filter((entry) => isFound(entry, this.filter.toLowerCase()));
    return html`<div class="row summary">
      ${base === undefined ? html`<span>${turn}</span>` : html`<span><b>#${base}</b> → <b>#${revision}</b></span>`}
      ${chips.length === 0 ? html`<span class="quiet">no keys changed</span>` : chips}
      ${found === undefined ? nothing : html`<span class="quiet">${found.length} of ${this.#entries.length} keys</span>`}
      <span class="row spread">${compareBar(inspection)}</span>
    </div>`;
  }

  /** The reason why a tree with choices is empty. */
  #none(): TemplateResult | typeof nothing {
    if (this.#lines.some(({ kind }) => kind !== 'scope') || this.#entries.length === 0) {
      return nothing;
    }
    const isShut = this.#lines.some(({ isOpen, count }) => isOpen === false && count > 0);
    return isShut
      ? nothing
      : html`<p class="empty none">${this.filter !== '' ? 'No key and no value has this text.' : 'No keys have changed.'}</p>`;
  }

  #editor(inspection: Inspection, editing: Editing): TemplateResult {
    const { key, scope, draft } = editing;
    return html`<statepad-key-editor
      .inspection=${inspection}
      .key=${key}
      .scope=${scope}
      .draft=${draft}
      @close=${() => void this.#closed(editing)}
      @edit=${(event: CustomEvent<Draft>) => this.#editInstead(event.detail, editing)}
    ></statepad-key-editor>`;
  }

  /** Computes the keys and the lines anew, where what they are made of has changed. */
  #plan({ rows, base, baseRows }: Inspection): void {
    const from = [rows, base, baseRows];
    if (isOther(from, this.#entriesFrom)) {
      this.#entriesFrom = from;
      this.#ofTurn = base === undefined ? entriesOfTurn(rows, this.#ofTurn) : [];
      this.#entries = this.#order.sorted(base === undefined ? this.#ofTurn : entriesSince(baseRows, rows));
      this.#counts = countsOf(this.#entries);
    }
    const { filter, onlyChanges } = this;
    const linesFrom = [filter, onlyChanges, base === undefined, this.#opened.size, this.#choices];
    const isOtherView = isOther(linesFrom, this.#linesFrom);
    if (isOtherView || this.#entries !== this.#linesOf) {
      [this.#linesFrom, this.#linesOf] = [linesFrom, this.#entries];
      const view: TreeView = {
        opened: this.#opened,
        needle: filter.toLowerCase(),
        onlyChanges,
        opensChanges: base !== undefined || onlyChanges,
      };
      this.#lines = linesOf(this.#entries, view, isOtherView ? [] : this.#lines);
    }
  }

  /** Counts what the reader has opened and closed. */
  #choices = 0;

  #open(id: string, isOpen: boolean): void {
    this.#opened.set(id, isOpen);
    this.#choices += 1;
    this.requestUpdate();
  }

  async #grant({ kind, line }: Wish): Promise<void> {
    const { inspection } = this;
    const { entry, scope, id } = line;
    const key = entry?.key ?? '';
    switch (kind) {
      case 'open':
      case 'close':
        this.#open(id, kind === 'open');
        break;
      case 'trace':
        inspection?.trace(inspection.traced === key ? undefined : key);
        break;
      case 'add':
        this.#edit({ key: undefined, scope, draft: '' });
        break;
      case 'edit':
      case 'fork':
        this.#edit({ key, scope, draft: '' });
        break;
      case 'ask-delete':
        [this.deleting, this.problem] = [key, undefined];
        // A user who holds Enter down deletes nothing.
        await this.#focus(key, 'keep');
        break;
      case 'keep':
        this.deleting = undefined;
        await this.#focus(key, 'ask-delete');
        break;
      case 'delete':
        await this.#delete(key);
        break;
      case 'copy':
        await this.#copy(typeof line.value === 'string' ? line.value : JSON.stringify(line.value, undefined, 2));
        break;
      case 'copy-path':
        await this.#copy(`{${pathText(line)}}`);
        break;
    }
  }

  async #focus(key: string, button = ''): Promise<void> {
    await this.updateComplete;
    await this.#tree.value?.focusKey(key, button);
  }

  #edit(editing: Editing): void {
    const others = this.editing.filter(({ key, scope }) => key !== editing.key || scope !== editing.scope);
    this.editing = [...others, editing];
  }

  /** The text that was typed for an existing key becomes its new value. */
  #editInstead({ key, text }: Draft, from: Editing): void {
    this.editing = this.editing.filter((one) => one !== from);
    this.#edit({ key, scope: splitKey(key).scope, draft: text });
  }

  async #closed(editing: Editing): Promise<void> {
    this.editing = this.editing.filter((one) => one !== editing);
    await this.updateComplete;
    if (editing.key === undefined) {
      await this.#tree.value?.focusLine(idOfScope(editing.scope), 'add');
    } else {
      await this.#tree.value?.focusLine(idOfKey(editing.key), this.inspection?.isNow === true ? 'edit' : 'fork');
    }
  }

  async #delete(key: string): Promise<void> {
    try {
      await this.inspection?.write(key, undefined);
      this.deleting = undefined;
    } catch (error) {
      this.problem = `not deleted: ${reasonOf(error)}`;
      return;
    }
    await this.#focus(key);
  }

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      [this.problem, this.#news] = [undefined, 'copied'];
      this.requestUpdate();
    } catch (error) {
      this.problem = `not copied: ${reasonOf(error)}`;
    }
  }

  /** Drops the state of the previous session. */
  #forget(): void {
    [this.editing, this.deleting, this.problem] = [[], undefined, undefined];
    this.#flashes = new Map();
    this.#opened.clear();
    this.#order.clear();
    [this.#entriesFrom, this.#linesFrom] = [[], []];
    this.#news = '';
  }

  /** Flashes and announces changes since the keys were last drawn. */
  #compare(next: Drawn): void {
    const before = this.#drawn;
    this.#drawn = next;
    if (before.of === undefined || before.of !== next.of || !before.isNow || !next.isNow) {
      this.#flashes = new Map();
      return;
    }
    const news = differences(before.rows, next.rows);
    this.#flashes = new Map([
      ...this.#flashes,
      ...Array.from(news.keys(), (key): [string, number] => [key, (this.#flashes.get(key) ?? -1) + 1]),
    ]);
    if (news.size > 0) {
      this.#news =
        news.size > 3 ? `${news.size} keys changed` : [...news].map(([key, change]) => `${key} ${change}`).join(', ');
    }
  }
}

/** True when nothing has the focus, or only an element around others. */
function hasNoFocus(): boolean {
  let active = document.activeElement;
  while (active?.shadowRoot?.activeElement) {
    active = active.shadowRoot.activeElement;
  }
  return active === null || active === document.body || active.shadowRoot !== null;
}

function countsOf(entries: readonly Entry[]): ReadonlyMap<RowChange, number> {
  const counts = new Map<RowChange, number>();
  for (const { change } of entries) {
    if (change !== undefined) {
      counts.set(change, (counts.get(change) ?? 0) + 1);
    }
  }
  return counts;
}

function isOther(list: readonly unknown[], before: readonly unknown[]): boolean {
  return list.length !== before.length || list.some((one, place) => one !== before[place]);
}

customElements.define('statepad-state', StatepadState);
