// The state at the moment on show: the four scopes side by side, with the writer of each key, and the effect of the
// turn.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { Session } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { SCOPES, splitKey, type Scope } from '../model/log.js';
import { nameOf } from '../model/session-name.js';
import { LongLists } from '../ui/long-lists.js';
import { reasonOf } from '../ui/reason.js';
import { differences, isFound, type KeyRow, type RowChange } from '../model/rows.js';
import { goToRow } from './row-keys.js';
import { stateStyle } from './style.js';
import { base } from '../ui/style.js';
import { marked, showText } from '../ui/value.js';
import type { Draft } from './key-editor.js';
import './key-editor.js';

const SIGNS: Readonly<Record<RowChange, string>> = { added: '+', changed: '~', deleted: '−' };

/** The keys as they were drawn last. */
interface Drawn {
  readonly rows: readonly KeyRow[];
  /** The name of their session; `undefined` before there was one. */
  readonly of: string | undefined;
  readonly isNow: boolean;
}

/** All keys, to read, to trace and to write. */
export class StatepadState extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    editing: { state: true },
    adding: { state: true },
    deleting: { state: true },
    problem: { state: true },
  };
  static override styles = [base, stateStyle];
  /** The keys that are edited: each editor stays until it is closed, so that no typed text gets lost. */
  declare private editing: readonly string[];
  /** The scopes in which a key is added. */
  declare private adding: readonly Scope[];
  /** The key that is about to be deleted. */
  declare private deleting: string | undefined;
  /** The reason why the key in `deleting` could not be deleted. */
  declare private problem: string | undefined;
  #shown: Inspection | undefined;
  /** The session whose keys are drawn. */
  #of: string | undefined;
  #drawn: Drawn = { rows: [], of: undefined, isNow: true };
  /** The initial texts of editors, by key, in place of the values. */
  readonly #drafts = new Map<string, string>();
  /** The number of flashes of each key that is flashing. */
  readonly #flashes = new Map<string, number>();
  #news = '';
  /** By scope: the key whose row has the Tab key's stops; the arrow keys go to the others. */
  readonly #stops = new Map<Scope, string>();
  readonly #lists = new LongLists(this);
  #traced: string | undefined;

  constructor() {
    super();
    [this.editing, this.adding] = [[], []];
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
  }

  /** Returns the focus to a key after its history was closed. */
  protected override updated(): void {
    const { traced } = this.inspection ?? {};
    if (this.#traced !== undefined && traced === undefined && document.activeElement === document.body) {
      void this.#focus('key', this.#traced);
    }
    this.#traced = traced;
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const session = inspection?.session;
    if (inspection === undefined || session === undefined) {
      return html`<p class="empty">No session is open.</p>`;
    }
    return html`<div class="whole">
      <p class="hidden" role="status">${this.#news}</p>
      <div class="row top">${turn(inspection)} ${count(inspection)} ${past(inspection)}</div>
      <div class="columns">${SCOPES.map((scope) => this.#column(inspection, session, scope))}</div>
    </div>`;
  }

  #column(inspection: Inspection, session: Session, scope: Scope): TemplateResult {
    const { rows, query } = inspection;
    const own = rows.filter((row) => row.scope === scope);
    const shown = own.filter((row) => isFound(row, query) || this.editing.includes(row.key));
    const entries = shown.map((row): [string, KeyRow | undefined] => [row.key, row]);
    // An editor stays open even if the key is missing at this moment.
    const withoutRow = this.editing.filter(
      (key) => splitKey(key).scope === scope && !own.some((row) => row.key === key),
    );
    entries.push(...withoutRow.map((key): [string, undefined] => [key, undefined]));
    const wanted = this.#stops.get(scope);
    const stop = entries.some(([key]) => key === wanted) ? wanted : entries[0]?.[0];
    const isUnknown = scope === 'temp' && !inspection.knowsTemp;
    const drawn = this.#lists.drawn(scope, entries);
    const none = own.length > 0 ? 'No matches' : isUnknown ? 'Not stored' : 'No keys yet';
    return html`<section data-scope=${scope} aria-labelledby=${scope}>
      <header>
        <h3 id=${scope}>${scope}</h3>
        <span class="quiet">${own.filter(({ value }) => value !== undefined).length}</span>
        ${
          canWrite(inspection)
            ? html`<button class="small" data-add=${scope} aria-label="add key to ${scope}" @click=${() => this.#add(scope)}>Add key</button>`
            : nothing
        }
        <p class="quiet">${meaning(scope, session)}</p>
      </header>
      ${this.adding.includes(scope) ? this.#editor(inspection, undefined, scope) : nothing}
      ${entries.length === 0 ? html`<p class="none quiet">${none}</p>` : nothing}
      <ul @keydown=${goToRow} @focusin=${(event: FocusEvent) => this.#focusIn(event, scope)}>
        ${repeat(
          drawn,
          ([key]) => key,
          ([key, row]) => this.#entry(inspection, key, row, key === stop),
        )}
        ${this.#lists.end(scope, entries.length, (button) => html`<li>${button}</li>`)}
      </ul>
    </section>`;
  }

  #entry(inspection: Inspection, key: string, row: KeyRow | undefined, isStop: boolean): TemplateResult {
    const flashes = this.#flashes.get(key);
    const isEdited = this.editing.includes(key);
    return html`<li
      class=${row?.change ?? ''}
      data-row=${key}
      data-flash=${flashes === undefined ? nothing : flashes % 2}
      @animationend=${(event: AnimationEvent) => this.#unflash(event, key)}
    >
      <div class="head">
        ${
          row === undefined
            ? html`<span class="key">${key}</span>`
            : html`<span class="named">${sign(row)} ${this.#key(inspection, row, isStop)}</span> ${writer(inspection, row, isStop)}`
        }
        ${row?.value === undefined || isEdited || !canWrite(inspection) ? nothing : this.#actions(key, isStop)}
      </div>
      ${isEdited ? this.#editor(inspection, key, splitKey(key).scope) : values(row, inspection.query)}
      ${this.problem !== undefined && key === this.deleting ? html`<p class="bad" role="alert">${this.problem}</p>` : nothing}
    </li>`;
  }

  #key(inspection: Inspection, { key, name }: KeyRow, isStop: boolean): TemplateResult {
    const isTraced = inspection.traced === key;
    return html`<button
      class="key"
      data-key=${key}
      tabindex=${isStop ? 0 : -1}
      title=${isTraced ? 'Close its history' : 'Show its history'}
      aria-pressed=${String(isTraced)}
      @click=${() => inspection.trace(isTraced ? undefined : key)}
      >${marked(name === '' ? `${key}""` : key, inspection.query)}</button
    >`;
  }

  #actions(key: string, isStop: boolean): TemplateResult {
    const named = key === '' ? 'the empty key' : key;
    if (key === this.deleting) {
      const escape = (event: KeyboardEvent): void => this.#escape(event, key);
      return html`<span class="actions" role="group" aria-label="delete ${named}?" @keydown=${escape}
        ><span>Delete ${named}?</span>
        <button class="small" aria-label="yes, delete ${named}" @click=${() => void this.#delete(key)}>Yes</button>
        <button class="small" data-no=${key} aria-label="no, keep ${named}" @click=${() => void this.#keep(key)}>No</button></span
      >`;
    }
    return html`<span class="actions">
      <button class="small plain" data-edit=${key} tabindex=${isStop ? 0 : -1} aria-label="edit ${named}" @click=${() => this.#edit(key)}>Edit</button>
      <button class="small plain" data-delete=${key} tabindex=${isStop ? 0 : -1} aria-label="delete ${named}" @click=${() => void this.#ask(key)}>Delete</button>
    </span>`;
  }

  #editor(inspection: Inspection, key: string | undefined, scope: Scope): TemplateResult {
    return html`<statepad-key-editor
      .inspection=${inspection}
      .key=${key}
      .scope=${scope}
      .draft=${key === undefined ? '' : (this.#drafts.get(key) ?? '')}
      @close=${() => void this.#closed(key, scope)}
      @edit=${(event: CustomEvent<Draft>) => this.#editInstead(event.detail, scope)}
    ></statepad-key-editor>`;
  }

  #focusIn(event: FocusEvent, scope: Scope): void {
    const { row } = (event.target as HTMLElement).closest<HTMLElement>('li')?.dataset ?? {};
    if (row !== undefined && row !== this.#stops.get(scope)) {
      this.#stops.set(scope, row);
      this.requestUpdate();
    }
  }

  #add(scope: Scope): void {
    this.adding = [...without(this.adding, scope), scope];
  }

  #edit(key: string): void {
    this.editing = [...without(this.editing, key), key];
  }

  /** The text that was typed for an existing key becomes its new value. */
  #editInstead({ key, text }: Draft, scope: Scope): void {
    this.#drafts.set(key, text);
    this.adding = without(this.adding, scope);
    this.#edit(key);
  }

  async #closed(key: string | undefined, scope: Scope): Promise<void> {
    if (key === undefined) {
      this.adding = without(this.adding, scope);
      await this.#focus('add', scope);
    } else {
      this.editing = without(this.editing, key);
      this.#drafts.delete(key);
      await this.#focus('edit', key);
    }
  }

  async #ask(key: string): Promise<void> {
    [this.deleting, this.problem] = [key, undefined];
    // A user who holds Enter down deletes nothing.
    await this.#focus('no', key);
  }

  async #keep(key: string): Promise<void> {
    this.deleting = undefined;
    await this.#focus('delete', key);
  }

  #escape(event: KeyboardEvent, key: string): void {
    if (event.key === 'Escape') {
      event.stopPropagation();
      void this.#keep(key);
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
    await this.#focus('key', key);
  }

  async #focus(name: 'add' | 'edit' | 'delete' | 'no' | 'key', key: string): Promise<void> {
    await this.updateComplete;
    const buttons = this.renderRoot.querySelectorAll<HTMLElement>(`[data-${name}]`);
    Array.from(buttons)
      .find(({ dataset }) => dataset[name] === key)
      ?.focus();
  }

  /** Drops the state of the previous session. */
  #forget(): void {
    [this.adding, this.editing, this.deleting, this.problem] = [[], [], undefined, undefined];
    this.#drafts.clear();
    this.#flashes.clear();
    this.#lists.reset();
    this.#news = '';
  }

  /** Flashes and announces changes since the keys were last drawn. */
  #compare(next: Drawn): void {
    const before = this.#drawn;
    this.#drawn = next;
    if (before.of === undefined || before.of !== next.of || !before.isNow || !next.isNow) {
      this.#flashes.clear();
      return;
    }
    const news = differences(before.rows, next.rows);
    for (const key of news.keys()) {
      this.#flashes.set(key, (this.#flashes.get(key) ?? -1) + 1);
    }
    if (news.size > 0) {
      this.#news =
        news.size > 3 ? `${news.size} keys changed` : [...news].map(([key, change]) => `${key} ${change}`).join(', ');
    }
  }

  #unflash({ target, currentTarget }: AnimationEvent, key: string): void {
    if (target === currentTarget) {
      this.#flashes.delete(key);
      this.requestUpdate();
    }
  }
}

function without<T>(list: readonly T[], item: T): T[] {
  return list.filter((other) => other !== item);
}

function canWrite({ readOnly, isNow }: Inspection): boolean {
  return !readOnly && isNow;
}

function meaning(scope: Scope, { userId }: Session): string {
  return {
    session: 'this session only',
    app: 'shared by all sessions of this app',
    user: `shared by all sessions of user ${userId}`,
    temp: 'this invocation only; never stored',
  }[scope];
}

/** The effect of the turn, which also explains the colours. */
function turn({ log, revision, rows }: Inspection): TemplateResult {
  const first = log.turns[revision - 1];
  const name =
    first === undefined ? 'At creation' : first === revision ? `Turn #${revision}` : `Turn #${first}–#${revision}`;
  const chips = (['added', 'changed', 'deleted'] as const).flatMap((change) => {
    const many = rows.filter((row) => row.change === change).length;
    return many === 0
      ? []
      : [html`<span class="chip ${change}"><span class="sign">${SIGNS[change]}</span> ${many} ${change}</span>`];
  });
  return html`<span>${name}</span>${chips.length === 0 ? html`<span class="quiet">no keys changed</span>` : chips}`;
}

function count({ rows, query }: Inspection): TemplateResult | typeof nothing {
  return query === ''
    ? nothing
    : html`<span>${rows.filter((row) => isFound(row, query)).length} of ${rows.length} keys</span>`;
}

function past(inspection: Inspection): TemplateResult | typeof nothing {
  const { readOnly, isNow, revision, session } = inspection;
  return readOnly || isNow
    ? nothing
    : html`<span class="quiet spread">Read-only: moment ${revision} of ${session?.revision ?? revision}</span>
        <button class="small" @click=${() => void inspection.moveTo(undefined)}>Back to now</button>`;
}

function sign({ change }: KeyRow): TemplateResult | typeof nothing {
  return change === undefined
    ? nothing
    : html`<span class="sign" title="${change} in this turn"
        ><span aria-hidden="true">${SIGNS[change]}</span><span class="hidden">${change} in this turn</span></span
      >`;
}

function writer(inspection: Inspection, { source, writer: step }: KeyRow, isStop: boolean): TemplateResult {
  if (source === 'event' && step !== undefined) {
    const { revision, event } = step;
    const name = `#${revision} ${event?.author ?? 'no author'}`;
    return html`<button class="link from" tabindex=${isStop ? 0 : -1} @click=${() => inspection.select(revision)}>${name}</button>`;
  }
  return html`<span class="from quiet">${source === 'elsewhere' ? 'another session' : source}</span>`;
}

function values(row: KeyRow | undefined, query: string): TemplateResult | typeof nothing {
  if (row === undefined) {
    return nothing;
  }
  const { key, value, text, change, before } = row;
  const was =
    before === undefined ? nothing : showText(JSON.stringify(before), { label: `${key} before`, isStruck: true });
  const is = value === undefined ? nothing : showText(text, { query, label: key });
  return change === 'changed'
    ? html`${was}<div class="to"><span><span aria-hidden="true">→</span><span class="hidden">is now</span></span>${is}</div>`
    : html`${was}${is}`;
}

customElements.define('statepad-state', StatepadState);
