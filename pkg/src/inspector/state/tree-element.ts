// The tree of the state: only the lines in view are drawn, and the keyboard moves between all of them.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { createRef, ref } from 'lit/directives/ref.js';
import { defaultRangeExtractor, VirtualizerController, type Range } from '@tanstack/lit-virtual';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { drawLine, type Wish, type WishKind } from './line.js';
import { idOfKey, type Line } from './tree.js';
import { treeStyle } from './tree-style.js';

/** The height of a line, in rem. */
const LINE = 1.75;

/** The time in which typed letters belong to one word, in ms. */
const WORD = 700;

/**
 * The lines of a tree as a treegrid. It fills its box and scrolls. Fires `wish`, with a {@link Wish} as `detail`; the
 * owner changes the lines.
 */
export class StatepadStateTree extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    lines: { attribute: false },
    query: { attribute: false },
    deleting: { attribute: false },
    flashes: { attribute: false },
    active: { attribute: false },
  };
  static override styles = [base, treeStyle];
  declare lines: readonly Line[];
  /** A text to mark. */
  declare query: string;
  /** The key that is about to be deleted. */
  declare deleting: string | undefined;
  /** The number of flashes of each key that has changed just now. */
  declare flashes: ReadonlyMap<string, number>;
  /** The id of the line with the Tab key's stop. */
  declare active: string | undefined;
  readonly #scroller = createRef<HTMLElement>();
  readonly #rows = new VirtualizerController<HTMLElement, HTMLElement>(this, {
    getScrollElement: () => this.#scroller.value ?? null,
    count: 0,
    // All lines are of one height, which is looked up once: there may be thousands of them.
    estimateSize: () => (this.#height ||= lineHeight()),
    overscan: 3,
    // The scope of the lines in view stays above them.
    scrollPaddingStart: LINE * 16,
  });
  /** Of a line, in px; 0 before it is known. */
  #height = 0;
  #places: ReadonlyMap<string, number> | undefined;
  /** The place of the active line. */
  #stop = 0;
  #pointed: string | undefined;
  #word = { text: '', at: 0 };
  /** True while the pointer or the focus in this tree is what points at a key. */
  #isPointing = false;

  constructor() {
    super();
    [this.lines, this.query, this.flashes] = [[], '', new Map()];
  }

  /** Moves the focus to the line of a key, or to its button of a name. */
  async focusKey(key: string, button = ''): Promise<void> {
    await this.focusLine(idOfKey(key), button);
  }

  /** Moves the focus to a line, or to its button of a name. */
  async focusLine(id: string, button = ''): Promise<void> {
    const place = this.#find(id);
    if (place === undefined) {
      return;
    }
    this.active = id;
    this.#rows.getVirtualizer().scrollToIndex(place, { align: 'auto' });
    await this.updateComplete;
    const row = this.#rowOf(id);
    // The buttons of a line without the focus are not there.
    row?.focus();
    row?.querySelector<HTMLElement>(`[data-does='${button}']`)?.focus();
  }

  /** Brings the line of a key into view. */
  reveal(key: string): void {
    const place = this.#find(idOfKey(key));
    if (place !== undefined) {
      this.#rows.getVirtualizer().scrollToIndex(place, { align: 'auto' });
    }
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    if (changed.has('lines')) {
      this.#places = undefined;
    }
    if (changed.has('lines') || changed.has('active')) {
      // Nearly always the line is where it was.
      if (this.active === undefined || this.lines[this.#stop]?.id !== this.active) {
        this.#stop = this.#find(this.active) ?? 0;
        this.active = this.lines[this.#stop]?.id;
      }
      const virtualizer = this.#rows.getVirtualizer();
      virtualizer.setOptions({
        ...virtualizer.options,
        count: this.lines.length,
        // Another function each time: which lines are drawn is computed once for each of them.
        rangeExtractor: (range) => this.#drawnOf(range),
      });
    }
  }

  /** Brings a key into view that is pointed at elsewhere. */
  protected override updated(): void {
    const key = this.inspection?.pointed?.key;
    if (key !== this.#pointed) {
      this.#pointed = key;
      if (key !== undefined && !this.#isPointing) {
        this.reveal(key);
      }
    }
  }

  protected override render(): TemplateResult {
    const virtualizer = this.#rows.getVirtualizer();
    const items = virtualizer.getVirtualItems();
    const head = this.#headOf(virtualizer.range?.startIndex ?? 0);
    const { inspection, active, query, deleting, flashes } = this;
    const context = { inspection, active, query, deleting, flashes };
    return html`<div
      class="tree"
      role="treegrid"
      aria-label="Keys of the state"
      aria-rowcount=${this.lines.length}
      aria-colcount="3"
      ${ref(this.#scroller)}
      @keydown=${this.#press}
      @click=${this.#click}
      @focusin=${this.#focusIn}
      @focusout=${this.#leave}
      @pointerover=${this.#over}
      @pointerleave=${this.#leave}
    >
      <div class="lines" role="rowgroup" style="block-size:${virtualizer.getTotalSize()}px">
        ${repeat(
          items,
          ({ index }) => this.lines[index]?.id,
          ({ index, start }) => {
            const line = this.lines[index];
            const isHead = index === head;
            return line === undefined
              ? nothing
              : drawLine(line, { ...context, place: index, start: isHead ? undefined : start });
          },
        )}
      </div>
    </div>`;
  }

  /** The line of the scope of a line, which stays in view above it. */
  #headOf(place: number): number {
    const own = this.lines[place]?.scope;
    return this.lines.findIndex(({ kind, scope }) => kind === 'scope' && scope === own);
  }

  /** The lines in view, the scope above them, and the active line, which keeps the focus. */
  #drawnOf(range: Range): number[] {
    const more = [this.#headOf(range.startIndex), this.#stop].filter((place) => this.lines[place] !== undefined);
    return [...new Set([...more, ...defaultRangeExtractor(range)])].sort((one, other) => one - other);
  }

  #rowOf(id: string): HTMLElement | undefined {
    const rows = this.renderRoot.querySelectorAll<HTMLElement>('[data-id]');
    return Array.from(rows).find(({ dataset }) => dataset['id'] === id);
  }

  #lineOf(event: Event): Line | undefined {
    const { id } = (event.target as HTMLElement).closest<HTMLElement>('[data-id]')?.dataset ?? {};
    return this.lines[this.#find(id) ?? -1];
  }

  #wish(kind: WishKind, line: Line): void {
    this.dispatchEvent(new CustomEvent<Wish>('wish', { detail: { kind, line } }));
  }

  readonly #click = (event: MouseEvent): void => {
    const line = this.#lineOf(event);
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-does]');
    if (line === undefined) {
      return;
    }
    const { does } = button?.dataset ?? {};
    if (does === 'writer') {
      this.inspection?.select(line.entry?.row?.writer?.revision);
    } else if (does === 'toggle') {
      this.#toggle(line);
    } else if (does === undefined) {
      this.#enter(line);
    } else {
      this.#wish(does as WishKind, line);
    }
  };

  #toggle(line: Line): void {
    if (line.isOpen !== undefined) {
      this.#wish(line.isOpen ? 'close' : 'open', line);
    }
  }

  readonly #focusIn = (event: FocusEvent): void => {
    const line = this.#lineOf(event);
    if (line !== undefined) {
      this.active = line.id;
      this.#point(line);
    }
  };

  readonly #over = (event: PointerEvent): void => {
    const line = this.#lineOf(event);
    if (line !== undefined && event.pointerType !== 'touch') {
      this.#point(line);
    }
  };

  readonly #leave = (): void => {
    if (this.#isPointing) {
      this.#isPointing = false;
      this.inspection?.point(undefined);
    }
  };

  #point({ entry }: Line): void {
    if (entry === undefined) {
      this.#leave();
    } else if (!this.#isPointing || this.inspection?.pointed?.key !== entry.key) {
      this.#isPointing = true;
      const { source, writer } = entry.row ?? {};
      const isKnown = source === 'event' || source === 'creation';
      this.inspection?.point({ key: entry.key, ...(isKnown && writer ? { revision: writer.revision } : {}) });
    }
  }

  readonly #press = (event: KeyboardEvent): void => {
    const line = this.#lineOf(event);
    if (line === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const target = event.target as HTMLElement;
    const isHandled = target.matches('button')
      ? this.#pressInRow(event.key, line, target)
      : this.#pressOnRow(event.key, line);
    if (isHandled) {
      event.preventDefault();
      event.stopPropagation();
    }
  };

  /** A key on one of the buttons of a line. */
  #pressInRow(key: string, line: Line, button: HTMLElement): boolean {
    if (key === 'Escape' && line.entry !== undefined && line.entry.key === this.deleting) {
      this.#wish('keep', line);
      return true;
    }
    const step = { ArrowRight: 1, ArrowLeft: -1, Escape: -Infinity }[key];
    if (step === undefined) {
      return this.#move(key, line);
    }
    const buttons = buttonsOf(this.#rowOf(line.id));
    const next = buttons[buttons.indexOf(button) + step];
    (next ?? (step < 0 ? this.#rowOf(line.id) : undefined))?.focus();
    return true;
  }

  #pressOnRow(key: string, line: Line): boolean {
    switch (key) {
      case 'ArrowRight':
        this.#goIn(line);
        return true;
      case 'ArrowLeft':
        this.#goOut(line);
        return true;
      case ' ':
        this.#toggle(line);
        return true;
      case 'Enter':
        this.#enter(line);
        return true;
      case 'Escape':
        return false;
      default:
        return this.#move(key, line) || this.#type(key, line);
    }
  }

  #enter(line: Line): void {
    if (line.kind === 'key') {
      this.#wish('trace', line);
    } else {
      this.#toggle(line);
    }
  }

  #goIn(line: Line): void {
    if (line.isOpen === false) {
      this.#wish('open', line);
    } else if (line.isOpen === true) {
      this.#goTo(this.#placeOf(line) + 1);
    } else {
      buttonsOf(this.#rowOf(line.id))[0]?.focus();
    }
  }

  #goOut(line: Line): void {
    if (line.isOpen === true) {
      this.#wish('close', line);
      return;
    }
    const parent = this.lines.slice(0, this.#placeOf(line)).findLastIndex(({ level }) => level < line.level);
    this.#goTo(parent);
  }

  #move(key: string, line: Line): boolean {
    const [place, last] = [this.#placeOf(line), this.lines.length - 1];
    const page = Math.max(Math.floor((this.#scroller.value?.clientHeight ?? 0) / lineHeight()) - 2, 1);
    const targets: Readonly<Record<string, number>> = {
      ArrowUp: place - 1,
      ArrowDown: place + 1,
      PageUp: place - page,
      PageDown: place + page,
      Home: 0,
      End: last,
    };
    const target = Object.hasOwn(targets, key) ? targets[key] : undefined;
    if (target !== undefined) {
      this.#goTo(Math.min(Math.max(target, 0), last));
    }
    return target !== undefined;
  }

  /** Goes to the next line whose name begins with what is typed. */
  #type(key: string, line: Line): boolean {
    // Named keys have more than a letter, and a letter may be two units.
    if (!/^.$/u.test(key)) {
      return false;
    }
    const now = performance.now();
    const text = now - this.#word.at < WORD ? this.#word.text + key.toLowerCase() : key.toLowerCase();
    this.#word = { text, at: now };
    // The first letter goes on from the line, further ones may still suit it.
    const from = this.#placeOf(line) + (text.length === 1 ? 1 : 0);
    const suits = ({ name, entry, kind }: Line): boolean =>
      [name, kind === 'key' ? (entry?.name ?? '') : name].some((one) => one.toLowerCase().startsWith(text));
    const after = this.lines.findIndex((one, place) => place >= from && suits(one));
    const found = after >= 0 ? after : this.lines.findIndex(suits);
    if (found >= 0) {
      this.#goTo(found);
    }
    return true;
  }

  /** The place of a line; `undefined` without one. Looked up when it is asked for: most lines never are. */
  #find(id: string | undefined): number | undefined {
    this.#places ??= new Map(this.lines.map((line, place) => [line.id, place]));
    return id === undefined ? undefined : this.#places.get(id);
  }

  #placeOf({ id }: Line): number {
    return this.#find(id) ?? 0;
  }

  #goTo(place: number): void {
    const line = this.lines[place];
    if (line !== undefined) {
      void this.focusLine(line.id);
    }
  }
}

function buttonsOf(row: HTMLElement | undefined): HTMLElement[] {
  return Array.from(row?.querySelectorAll<HTMLElement>('button:not([data-does=toggle])') ?? []);
}

/** The height of a line in px, at the reader's size of text. */
function lineHeight(): number {
  return Math.round(LINE * Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
}

customElements.define('statepad-state-tree', StatepadStateTree);

declare global {
  interface HTMLElementTagNameMap {
    'statepad-state-tree': StatepadStateTree;
  }
}
