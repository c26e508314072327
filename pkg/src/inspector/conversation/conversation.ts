// The session as a conversation.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { styleMap } from 'lit/directives/style-map.js';
import { defaultRangeExtractor, VirtualizerController, type Range } from '@tanstack/lit-virtual';
import type { Event } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { nameOf } from '../model/session-name.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { Entries, type Entry } from './entries.js';
import { eventEntry } from './entry.js';
import { branchWith, parallelEntry, type ChosenBranches } from './parallel.js';
import { conversationStyle } from './style.js';
import { Folds, type View } from './view.js';
import './composer.js';
import './events.js';

/** The height of an entry until it is measured, in px. */
const ESTIMATE = 84;
/** The distance from the end within which the list follows new entries, in px. */
const NEAR = 60;

/** The controls in an entry, whose clicks do not select it. */
const CONTROLS = 'a, button, summary, input, textarea, [role="group"]';

/** The session as a conversation, or as the plain list of its events; with a field for messages. */
export class StatepadConversation extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    showsEvents: { state: true },
    focused: { state: true },
    width: { state: true },
  };
  static override styles = [base, conversationStyle];
  /** True for the plain list of events. */
  declare private showsEvents: boolean;
  /** The revision of the entry that had the focus last. */
  declare private focused: number | undefined;
  /** The width of the list, in px. */
  declare private width: number;
  readonly #folds = new Folds();
  #raw: ReadonlySet<number> = new Set();
  readonly #chosen: ChosenBranches = new Map();
  #entries: { readonly of: readonly Event[]; readonly made: Entries } | undefined;
  /** The parts of the inspection that were brought into view last. */
  #shown:
    | { readonly session: string; readonly selected: number | undefined; readonly moment: number | undefined }
    | undefined;
  readonly #measured = new WeakSet<Element>();
  /** True while the list stays at its end, whatever is added or measured: until somebody scrolls up. */
  #isFollowing = true;
  /** The list when it was last scrolled: its position and the height of its entries, in px. */
  #scroll = { top: 0, height: 0 };
  /** The height of the entries when the list was last brought to its end, in px. */
  #end = 0;
  readonly #sizes = new ResizeObserver(() => {
    this.width = this.#list?.clientWidth ?? 0;
  });
  readonly #virtual = new VirtualizerController<HTMLElement, HTMLElement>(this, {
    count: 0,
    getScrollElement: () => this.#list,
    estimateSize: () => ESTIMATE,
    overscan: 2,
    paddingStart: 8,
    paddingEnd: 12,
    scrollPaddingStart: 40,
    scrollPaddingEnd: 40,
    anchorTo: 'end',
    scrollEndThreshold: NEAR,
    rangeExtractor: (range) => this.#drawn(range),
  });

  constructor() {
    super();
    this.showsEvents = false;
    this.width = 0;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection } = this;
    const session = inspection?.session === undefined ? '' : nameOf(inspection.session);
    if (this.#shown !== undefined && this.#shown.session !== session) {
      this.focused = undefined;
      this.#folds.clear();
      this.#raw = new Set();
      this.#chosen.clear();
      this.#virtual.getVirtualizer().measure();
    }
    if (inspection !== undefined && this.#entries?.of !== inspection.log.events) {
      this.#entries = { of: inspection.log.events, made: new Entries(inspection.log) };
    }
    this.#showChosenBranch();
  }

  /** Shows the branch of a selected event where branches have tabs. */
  #showChosenBranch(): void {
    const selected = this.inspection?.selected;
    if (selected !== undefined && selected !== this.#shown?.selected) {
      const entry = this.#made?.all[this.#made.placeOf(selected)];
      if (entry?.kind === 'parallel') {
        this.#chosen.set(entry.revision, branchWith(entry, selected));
      }
    }
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return html`<p class="empty">There is no session to show.</p>`;
    }
    return html`${this.#bar(inspection)}
      ${this.showsEvents ? html`<statepad-events .inspection=${inspection}></statepad-events>` : this.#talk(inspection)}
      <statepad-composer .inspection=${inspection} @sent=${() => (this.#isFollowing = true)}></statepad-composer>`;
  }

  #bar(inspection: Inspection): TemplateResult {
    const choose = (showsEvents: boolean): void => {
      this.showsEvents = showsEvents;
      this.#shown = undefined;
    };
    const tab = (name: string, showsEvents: boolean): TemplateResult =>
      html`<button class="plain" aria-pressed=${String(this.showsEvents === showsEvents)} @click=${() => choose(showsEvents)}>${name}</button>`;
    return html`<div class="bar">
      <div class="tabs" role="group" aria-label="Shown as">${tab('Messages', false)}${tab('Events', true)}</div>
      ${this.#finds(inspection)}
    </div>`;
  }

  /** The numbers of matches and of errors, with the way from one to the next. */
  #finds({ matches, selected = 0 }: Inspection): TemplateResult {
    const errors = this.#made?.problems ?? [];
    const next = (all: readonly number[]): void => {
      this.inspection?.select(all.find((one) => one > selected) ?? all[0]);
    };
    return html`${
      matches === undefined
        ? nothing
        : html`<button class="link small" ?disabled=${matches.length === 0} title="Show the next event that is found" @click=${() => next(matches)}>
            ${matches.length.toLocaleString('en')} found
          </button>`
    }
    ${
      errors.length === 0
        ? nothing
        : html`<button class="link small bad" title="Show the next error" @click=${() => next(errors)}>
            ${errors.length.toLocaleString('en')} ${errors.length === 1 ? 'error' : 'errors'}
          </button>`
    }`;
  }

  #talk(inspection: Inspection): TemplateResult {
    const entries = this.#made?.all ?? [];
    if (entries.length === 0) {
      return html`<div class="list"><p class="empty">${icon('message')} Nothing has happened in this session yet.</p></div>`;
    }
    const virtual = this.#virtual.getVirtualizer();
    // At the end new entries are followed. Elsewhere the beginning is the anchor: the other one costs a look at the
    // sizes of all entries for each one that is measured.
    const anchorTo = this.#isFollowing ? 'end' : 'start';
    if (virtual.options.count !== entries.length || virtual.options.anchorTo !== anchorTo) {
      virtual.setOptions({ ...virtual.options, count: entries.length, anchorTo, getItemKey: this.#keyOf });
    }
    const items = virtual.getVirtualItems().filter(({ index }) => index < entries.length);
    const stop = this.#stop(inspection);
    const view: View = { inspection, folds: this.#folds, raw: this.#raw, stop };
    return html`<div
      class="list"
      role="feed"
      aria-label="Conversation"
      @scroll=${this.#scrolled}
      @click=${this.#clicked}
      @keydown=${this.#keyed}
      @focusin=${this.#focusIn}
    >
      <div class="rows" role="presentation" style=${styleMap({ height: `${virtual.getTotalSize()}px` })}>
        ${repeat(
          items,
          ({ key }) => key,
          ({ index, start }) =>
            html`<div
              class="slot"
              role="presentation"
              data-index=${index}
              style=${styleMap({ transform: `translateY(${start}px)` })}
            >
              ${this.#entry(entries[index] as Entry, index, view)}
            </div>`,
        )}
      </div>
    </div>`;
  }

  /**
   * Somebody who scrolls up leaves the end, and who comes near it is there again. A position that moves with the
   * height of the entries is a correction of the virtualizer after measuring.
   */
  readonly #scrolled = (): void => {
    const { scrollTop: top = 0, clientHeight = 0 } = this.#list ?? {};
    const height = this.#virtual.getVirtualizer().getTotalSize();
    const isUp = top < this.#scroll.top - 1 && height === this.#scroll.height;
    this.#scroll = { top, height };
    if (height - clientHeight - top <= NEAR) {
      this.#isFollowing = true;
    } else if (isUp) {
      this.#isFollowing = false;
    }
  };

  #entry(entry: Entry, index: number, view: View): TemplateResult {
    const entries = this.#made?.all ?? [];
    const previous = entries[index - 1];
    const before = previous?.kind === 'event' ? previous : undefined;
    const position = { index: index + 1, count: entries.length, before, after: previous?.revision ?? 0 };
    if (entry.kind === 'event') {
      return eventEntry(entry, view, position, this.#toggleRaw);
    }
    const redraw = (): void => this.requestUpdate();
    return parallelEntry(entry, view, position, {
      width: this.width,
      chosen: this.#chosen,
      redraw,
      toggleRaw: this.#toggleRaw,
    });
  }

  /** Measures the entries that are new on screen; the virtualizer observes them from then on. */
  #measure(list: HTMLElement): void {
    const virtual = this.#virtual.getVirtualizer();
    for (const slot of list.firstElementChild?.children ?? []) {
      if (slot.matches('.slot') && !this.#measured.has(slot)) {
        this.#measured.add(slot);
        virtual.measureElement(slot as HTMLElement);
      }
    }
  }

  readonly #toggleRaw = (revision: number): void => {
    const raw = new Set(this.#raw);
    if (!raw.delete(revision)) {
      raw.add(revision);
    }
    this.#raw = raw;
    this.requestUpdate();
  };

  get #made(): Entries | undefined {
    return this.#entries?.made;
  }

  get #list(): HTMLElement | null {
    return (this.renderRoot as ParentNode | undefined)?.querySelector<HTMLElement>('.list') ?? null;
  }

  readonly #keyOf = (index: number): number => this.#made?.all[index]?.revision ?? index;

  /** The entry that the Tab key reaches: all of them are one stop, and the arrow keys go from one to the next. */
  #stop({ selected, revision }: Inspection): number {
    const stops = this.#made?.stops ?? [];
    const wanted = this.focused ?? this.#made?.stopOf(selected ?? revision) ?? 0;
    return wanted === 0 ? (stops[0] ?? 0) : wanted;
  }

  /** The places that are drawn: those in view, and that of the entry with the focus, which must not lose it. */
  #drawn(range: Range): number[] {
    const drawn = defaultRangeExtractor(range);
    const place = this.focused === undefined ? -1 : (this.#made?.placeOf(this.focused) ?? -1);
    return place < 0 || place >= range.count || drawn.includes(place)
      ? drawn
      : [...drawn, place].sort((a, b) => a - b);
  }

  protected override updated(): void {
    const { inspection } = this;
    const list = this.#list;
    if (list === null || inspection?.session === undefined || this.showsEvents) {
      return;
    }
    this.#sizes.observe(list);
    this.#measure(list);
    this.#bringIntoView(inspection, nameOf(inspection.session));
  }

  /** Scrolls to changes: another session's end, the selected event, the moment, now. */
  #bringIntoView({ selected, isNow, revision }: Inspection, session: string): void {
    const before = this.#shown;
    const moment = isNow ? undefined : revision;
    this.#shown = { session, selected, moment };
    const virtual = this.#virtual.getVirtualizer();
    const isNew = before?.session !== session;
    const target =
      selected !== undefined && (isNew || selected !== before.selected)
        ? selected
        : moment !== undefined && (isNew || moment !== before.moment)
          ? moment
          : undefined;
    if (target !== undefined) {
      const place = this.#made?.placeOf(Math.max(target, 1)) ?? -1;
      if (place >= 0) {
        virtual.scrollToIndex(place, { align: isNew ? 'center' : 'auto' });
        const [offset] = virtual.getOffsetForIndex(place, 'start') ?? [0];
        this.#isFollowing &&= offset + (virtual.scrollRect?.height ?? 0) >= virtual.getTotalSize() - NEAR;
      }
    } else if (isNew || (isNow && before.moment !== undefined)) {
      this.#isFollowing = true;
      this.#end = 0;
    }
    if (this.#isFollowing && this.#end !== virtual.getTotalSize()) {
      this.#end = virtual.getTotalSize();
      virtual.scrollToEnd();
    }
  }

  readonly #clicked = (event: MouseEvent): void => {
    const path = event.composedPath().filter((one): one is HTMLElement => one instanceof HTMLElement);
    const end = path.findIndex((one) => one.localName === 'article');
    const within = path.slice(0, Math.max(end, 0));
    // A click on a control, or one that has selected text, is for that.
    if (end < 0 || within.some((one) => one.matches(CONTROLS)) || !isPlain(this.renderRoot)) {
      return;
    }
    const place = path.slice(0, end + 1).find(({ dataset }) => dataset['revision'] !== undefined);
    const revision = Number(place?.dataset['revision']);
    this.inspection?.select(this.inspection.selected === revision ? undefined : revision);
  };

  readonly #focusIn = (event: FocusEvent): void => {
    const entry = (event.target as HTMLElement).closest<HTMLElement>('article');
    this.focused = entry === null ? this.focused : Number(entry.dataset['revision']);
  };

  readonly #keyed = (event: KeyboardEvent): void => {
    const entry = event.target as HTMLElement;
    const { inspection } = this;
    const revision = Number(entry.dataset['revision']);
    if (inspection === undefined || entry.localName !== 'article' || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const stops = this.#made?.stops ?? [];
    const step = STEPS[event.key];
    if (event.key === 'Enter') {
      if (inspection.selected === revision) {
        inspection.travel(revision);
      } else {
        inspection.select(revision);
      }
    } else if (step !== undefined) {
      const place = Math.min(Math.max(stops.indexOf(revision) + step, 0), stops.length - 1);
      void this.#focus(stops[place] ?? revision);
    } else {
      return;
    }
    event.preventDefault();
  };

  /** Moves the focus to an entry, which is drawn first. */
  async #focus(revision: number): Promise<void> {
    this.focused = revision;
    const entry = this.#made?.all[this.#made.placeOf(revision)];
    if (entry?.kind === 'parallel') {
      this.#chosen.set(entry.revision, branchWith(entry, revision));
    }
    this.#virtual.getVirtualizer().scrollToIndex(this.#made?.placeOf(revision) ?? 0, { align: 'auto' });
    this.requestUpdate();
    await this.updateComplete;
    this.renderRoot
      .querySelector<HTMLElement>(`#entry-${revision}`)
      ?.focus({ preventScroll: entry?.kind === 'event' });
  }
}

/** The keys that move the focus, with their number of entries. */
const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

/** True when no text is selected. */
function isPlain(root: Node): boolean {
  return root.ownerDocument?.getSelection()?.isCollapsed !== false;
}

customElements.define('statepad-conversation', StatepadConversation);
