// The rendered instruction: each word that comes from the state says so, and lights up all that it comes from.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { createRef, ref } from 'lit/directives/ref.js';
import type { KeyRow } from '../model/rows.js';
import type { Pointed } from '../model/inspection.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { cardStyle, drawCard } from './card.js';
import type { KeyRows } from './key-index.js';
import { renderedStyle } from './rendered-style.js';
import type { Piece, Spot } from './rendering.js';
import { spotStyle } from './spot-style.js';
import { faultOf, isLit, pointedBy, revisionOf, writerOf } from './words.js';

/** The length up to which a word has its label above it, in characters: a longer one breaks into lines. */
const WORD = 42;

/** The `detail` of the event `mend`: a placeholder that is to become that of another key. */
export interface Mending {
  readonly spot: Spot;
  readonly key: string;
}

/** The words of a prompt. Fires `mend`, with a {@link Mending}, for a missing key that resembles another one. */
export class StatepadRendered extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    pieces: { attribute: false },
    rows: { attribute: false },
    earlier: { attribute: false },
    round: { attribute: false },
    lasting: { attribute: false },
    labels: { attribute: false },
    open: { state: true },
    stop: { state: true },
  };
  static override styles = [base, spotStyle, cardStyle, renderedStyle];
  declare pieces: readonly Piece[];
  /** The keys of the moment. */
  declare rows: KeyRows;
  /** The texts before, by index of a placeholder. */
  declare earlier: ReadonlyMap<number, string>;
  /** Counts the changes of {@link StatepadRendered.earlier}. */
  declare round: number;
  /** True to keep the texts before; otherwise they fade. */
  declare lasting: boolean;
  /** True for a label at each word. */
  declare labels: boolean;
  /** The index of the word with a card. */
  declare private open: number | undefined;
  /** The index of the word with the Tab key's stop. */
  declare private stop: number;
  readonly #card = createRef<HTMLElement>();
  #pointed: Pointed | undefined;

  constructor() {
    super();
    [this.pieces, this.rows, this.earlier] = [[], new Map(), new Map()];
    [this.round, this.lasting, this.labels, this.stop] = [0, false, true, 0];
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { length } = this.#spots;
    if (this.open !== undefined && this.open >= length) {
      this.open = undefined;
    }
    this.stop = Math.min(this.stop, Math.max(length - 1, 0));
  }

  protected override updated(changed: PropertyValues<this>): void {
    this.#reveal();
    const card = this.#card.value;
    const word = this.open === undefined ? undefined : this.#wordAt(this.open);
    if (card === undefined) {
      return;
    }
    if (word === undefined) {
      card.hidePopover();
    } else {
      card.showPopover();
      place(card, word);
    }
    const spot = this.open === undefined ? undefined : this.#spots[this.open]?.spot;
    if (changed.has('rows') && this.open !== undefined && spot !== undefined && spot.scope !== 'artifact') {
      // At another moment, or once its writer is known, it comes from elsewhere.
      this.inspection?.point(pointedBy(spot, this.rows.get(spot.of)));
    }
  }

  /** Brings a word into view that is pointed at in another pane. */
  #reveal(): void {
    const { pointed } = this.inspection ?? {};
    if (pointed !== this.#pointed) {
      this.#pointed = pointed;
      if (this.open === undefined) {
        this.renderRoot.querySelector('[data-lit]')?.scrollIntoView({ block: 'nearest' });
      }
    }
  }

  protected override render(): TemplateResult {
    let index = -1;
    const drawn = this.pieces.map(({ text, spot }) => {
      index += spot === undefined ? 0 : 1;
      return spot === undefined ? text : this.#word(spot, text, index);
    });
    // No blanks around the pieces: each of them would be visible.
    return html`<div
        class="text"
        ?data-labels=${this.labels}
        @pointerover=${this.#over}
        @pointerleave=${this.#leave}
        @focusin=${this.#focusIn}
        @focusout=${this.#leave}
        @click=${this.#click}
        @keydown=${this.#press}
        >${drawn}</div
      >
      <div class="card" role="tooltip" popover="manual" ${ref(this.#card)}>${this.#cardContent()}</div>`;
  }

  #word(spot: Spot, text: string, index: number): TemplateResult {
    const { key, scope, missing, unknown } = spot;
    const row = this.rows.get(spot.of);
    const fault = faultOf(spot, text);
    const isEmpty = text === '';
    const before = this.earlier.get(index);
    const by = writerOf(row);
    const name = [
      `${key} (${scope})`,
      fault === '' ? '' : `is ${fault}`,
      by === '' || missing ? '' : `written by ${by}`,
    ];
    const word = html`<span
        class="spot word ${before === undefined ? '' : 'new'}"
        data-word=${index}
        data-scope=${scope}
        data-fades=${before === undefined || this.lasting ? nothing : this.round % 2}
        ?data-missing=${missing}
        ?data-unknown=${unknown}
        ?data-empty=${isEmpty}
        ?data-open=${index === this.open}
        ?data-lit=${this.inspection !== undefined && isLit(spot, row, this.inspection)}
        role="button"
        tabindex=${index === this.stop ? 0 : -1}
        aria-label=${[text, name.filter(Boolean).join(', ')].filter(Boolean).join(': ')}
        >${text}</span
      >`;
    const labelled = this.labels ? this.#labelled(word, { spot, text, row }) : word;
    return html`${before === undefined || before === '' ? nothing : this.#old(before)}${labelled}`;
  }

  #old(before: string): TemplateResult {
    return html`<del data-fades=${this.lasting ? nothing : this.round % 2}>${before}</del>`;
  }

  /** A word with its key and the event that wrote it. */
  #labelled(
    word: TemplateResult,
    { spot, text, row }: { readonly spot: Spot; readonly text: string; readonly row: KeyRow | undefined },
  ): TemplateResult {
    const { key, scope, missing, unknown } = spot;
    const revision = revisionOf(row);
    const by = missing ? ' missing' : unknown ? ' not stored' : revision === undefined ? '' : ` #${revision}`;
    const shown = unknown && scope === 'artifact' ? '' : key;
    const named = unknown && scope === 'artifact' ? ' artifact' : by;
    return text.length > WORD || text.includes('\n')
      ? html`<span class="label before" data-scope=${scope} data-key=${shown} data-by=${named}></span>${word}`
      : html`<span class="labelled" data-scope=${scope} ?data-missing=${missing}><span class="label" data-key=${shown} data-by=${named}></span>${word}</span>`;
  }

  #cardContent(): TemplateResult | typeof nothing {
    const { open, inspection } = this;
    const piece = open === undefined ? undefined : this.#spots[open];
    if (piece?.spot === undefined || inspection === undefined) {
      return nothing;
    }
    const { spot, text } = piece;
    const writes = inspection.writesOf(spot.of);
    return drawCard({ spot, text, row: this.rows.get(spot.of), writes, revision: inspection.revision });
  }

  get #spots(): readonly Piece[] {
    return this.pieces.filter(({ spot }) => spot !== undefined);
  }

  #wordAt(index: number): HTMLElement | undefined {
    return this.renderRoot.querySelector<HTMLElement>(`[data-word='${index}']`) ?? undefined;
  }

  #indexOf(event: Event): number | undefined {
    const { word } = (event.target as HTMLElement).closest<HTMLElement>('[data-word]')?.dataset ?? {};
    return word === undefined ? undefined : Number(word);
  }

  readonly #over = (event: PointerEvent): void => {
    const index = this.#indexOf(event);
    if (index === undefined) {
      this.#leave();
    } else if (event.pointerType !== 'touch') {
      this.#point(index);
    }
  };

  readonly #focusIn = (event: FocusEvent): void => {
    const index = this.#indexOf(event);
    if (index !== undefined) {
      this.stop = index;
      this.#point(index);
    }
  };

  readonly #leave = (): void => {
    if (this.open !== undefined) {
      this.open = undefined;
      this.inspection?.point(undefined);
    }
  };

  #point(index: number): void {
    const spot = this.#spots[index]?.spot;
    if (spot === undefined || this.open === index) {
      return;
    }
    this.open = index;
    if (spot.scope === 'artifact') {
      this.inspection?.point(undefined);
    } else {
      this.inspection?.point(pointedBy(spot, this.rows.get(spot.of)));
    }
  }

  readonly #click = (event: MouseEvent): void => {
    const index = this.#indexOf(event);
    if (index !== undefined) {
      this.#go(index);
    }
  };

  /** Shows the event and the history of a word; a missing one becomes the key that it resembles. */
  #go(index: number): void {
    const spot = this.#spots[index]?.spot;
    const row = spot === undefined ? undefined : this.rows.get(spot.of);
    if (spot?.nearest !== undefined) {
      this.dispatchEvent(new CustomEvent<Mending>('mend', { detail: { spot, key: spot.nearest } }));
    } else if (spot !== undefined && row !== undefined) {
      this.inspection?.trace(spot.of);
      const revision = revisionOf(row);
      this.inspection?.select(revision === 0 ? undefined : revision);
    }
  }

  readonly #press = (event: KeyboardEvent): void => {
    const index = this.#indexOf(event);
    if (index === undefined || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const last = this.#spots.length - 1;
    const steps: Readonly<Record<string, number>> = {
      ArrowRight: Math.min(index + 1, last),
      ArrowDown: Math.min(index + 1, last),
      ArrowLeft: Math.max(index - 1, 0),
      ArrowUp: Math.max(index - 1, 0),
      Home: 0,
      End: last,
    };
    if (event.key === 'Enter' || event.key === ' ') {
      this.#go(index);
    } else if (event.key === 'Escape') {
      this.#leave();
    } else if (Object.hasOwn(steps, event.key)) {
      this.#wordAt(steps[event.key] as number)?.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
}

/** Puts a card below a word, or above it where there is no room below. */
function place(card: HTMLElement, word: HTMLElement): void {
  const at = word.getClientRects()[0] ?? word.getBoundingClientRect();
  const { width, height } = card.getBoundingClientRect();
  const gap = 8;
  const left = Math.min(Math.max(at.left, gap), window.innerWidth - width - gap);
  const below = at.bottom + gap;
  const top = below + height <= window.innerHeight - gap ? below : Math.max(at.top - height - 2 * gap, gap);
  card.style.translate = `${left}px ${top}px`;
}

customElements.define('statepad-rendered', StatepadRendered);
