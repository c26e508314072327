// The editor of a template: the whole text with its placeholders in colours, and the keys of the state to put in.

import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { splitKey } from '../model/log.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import type { KeyRows } from './key-index.js';
import type { Piece, Spot } from './rendering.js';
import { spotStyle } from './spot-style.js';
import { isLit, pointedBy } from './words.js';

/** The number of keys that are offered at once. */
const OFFERED = 8;

/** The place at which a key is being typed. */
interface Typing {
  /** The index behind the brace. */
  readonly from: number;
  readonly to: number;
  readonly keys: readonly string[];
  /** The index of the chosen key. */
  readonly chosen: number;
}

/** Edits a template. Fires `template-change`, a `CustomEvent` with the new text as `detail`. */
export class StatepadTemplateEditor extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    text: { attribute: false },
    pieces: { attribute: false },
    rows: { attribute: false },
    describedBy: { attribute: false },
    typing: { state: true },
  };
  static override styles = [
    base,
    spotStyle,
    css`
      :host {
        position: relative;
        height: 100%;
      }

      .editor {
        display: grid;
        grid-template-rows: minmax(0, 1fr);
        height: 100%;
      }

      /* The mirror and the text area lie on each other: all styles that place letters must be equal. */
      .mirror,
      textarea {
        grid-area: 1 / 1;
        min-height: 3rem;
        margin: 0;
        border: 0;
        border-radius: 0;
        padding: var(--sp-space-2) var(--sp-space-3);
        overflow-y: auto;
        font-family: var(--mono);
        font-size: var(--sp-text-md);
        line-height: 1.65;
        letter-spacing: normal;
        tab-size: 2;
        white-space: pre-wrap;
        overflow-wrap: anywhere;
        scrollbar-gutter: stable;
        scrollbar-width: thin;
      }

      .mirror {
        overflow-y: hidden;
        color: var(--text);
        pointer-events: none;
      }

      textarea {
        width: 100%;
        color: transparent;
        background: transparent;
        caret-color: var(--text);
        resize: none;
      }

      textarea:focus-visible {
        outline-offset: -2px;
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

      .offers {
        position: absolute;
        z-index: 3;
        overflow: hidden;
        max-width: calc(100% - 1rem);
        border: 1px solid var(--edge);
        border-radius: var(--sp-radius-md);
        padding: var(--sp-space-1);
        background: var(--raised);
        box-shadow: var(--sp-shadow-lg);
        font-family: var(--mono);
        font-size: var(--sp-text-sm);
      }

      .offers li {
        border-radius: var(--sp-radius-sm);
        padding: 0.15em 0.5em;
        color: var(--scope);
        cursor: pointer;
      }

      .offers li[aria-selected='true'] {
        background: var(--chosen);
      }
    `,
  ];
  declare text: string;
  /** The text in pieces: all of them together are the text. */
  declare pieces: readonly Piece[];
  /** The keys of the moment. */
  declare rows: KeyRows;
  declare private typing: Typing | undefined;
  #lit: string | undefined;
  /** The key of the placeholder under the pointer. */
  #hovered: string | undefined;

  constructor() {
    super();
    [this.text, this.pieces, this.rows] = ['', [], new Map()];
  }

  /** Selects a placeholder, so that it can be replaced. */
  select({ start, source }: Spot): void {
    const area = this.#area;
    area.focus();
    area.setSelectionRange(start, start + source.length);
    this.#bring(start);
  }

  /** Puts a text at the caret, in place of what is selected. */
  insert(text: string): void {
    const area = this.#area;
    area.setRangeText(text, area.selectionStart, area.selectionEnd, 'end');
    area.focus();
    this.#tell();
  }

  protected override render(): TemplateResult {
    const { typing, inspection } = this;
    return html`<div class="editor">
        <div class="mirror" aria-hidden="true">${this.pieces.map(({ text, spot }) =>
          spot === undefined
            ? text
            : html`<span
                class="spot"
                data-scope=${spot.scope}
                data-start=${spot.start}
                ?data-missing=${spot.missing}
                ?data-unknown=${spot.unknown}
                ?data-lit=${inspection !== undefined && isLit(spot, this.rows.get(spot.of), inspection)}
                >${text}</span
              >`,
        )}${'\u200b'}</div>
        <textarea
          spellcheck="false"
          autocapitalize="off"
          placeholder="You help {user:name?} …"
          aria-label="Template"
          aria-autocomplete="list"
          aria-controls=${typing === undefined ? nothing : 'offers'}
          aria-activedescendant=${typing === undefined ? nothing : `offer-${typing.chosen}`}
          .value=${live(this.text)}
          @input=${this.#edit}
          @scroll=${this.#scroll}
          @keydown=${this.#press}
          @blur=${() => (this.typing = undefined)}
          @pointermove=${this.#hover}
          @pointerleave=${() => this.#pointAt(undefined)}
        ></textarea>
      </div>
      ${typing === undefined ? nothing : this.#offers(typing)}`;
  }

  #offers({ keys, chosen }: Typing): TemplateResult {
    // The pointer must not take the focus away.
    return html`<ul class="offers" id="offers" role="listbox" aria-label="Keys of the state" @pointerdown=${(event: Event) => event.preventDefault()}>
      ${keys.map(
        (key, index) =>
          html`<li
            id="offer-${index}"
            role="option"
            class="cut"
            data-scope=${splitKey(key).scope}
            aria-selected=${String(index === chosen)}
            @click=${() => this.#take(key)}
            >${key}</li
          >`,
      )}
    </ul>`;
  }

  protected override updated(): void {
    this.#scroll();
    this.#placeOffers();
    const { pointed } = this.inspection ?? {};
    if (pointed?.key !== this.#lit) {
      this.#lit = pointed?.key;
      const spot = this.pieces.find((piece) => piece.spot?.of === this.#lit)?.spot;
      if (spot !== undefined && this.#hovered === undefined) {
        this.#bring(spot.start);
      }
    }
  }

  get #area(): HTMLTextAreaElement {
    return this.renderRoot.querySelector('textarea') as HTMLTextAreaElement;
  }

  /** Brings a placeholder into view. */
  #bring(start: number): void {
    const [area, mark] = [this.#area, this.renderRoot.querySelector<HTMLElement>(`.mirror [data-start='${start}']`)];
    const top = mark?.offsetTop ?? 0;
    if (mark !== null && (top < area.scrollTop || top + mark.offsetHeight > area.scrollTop + area.clientHeight)) {
      area.scrollTop = top - area.clientHeight / 2;
      this.#scroll();
    }
  }

  readonly #edit = (): void => {
    this.#tell();
    this.#lookForKey();
  };

  #tell(): void {
    this.text = this.#area.value;
    this.dispatchEvent(new CustomEvent('template-change', { detail: this.text }));
  }

  /** Offers keys behind an open brace. */
  #lookForKey(): void {
    const { selectionStart: to, selectionEnd, value } = this.#area;
    const typed = to === selectionEnd ? /(?<![\\{])\{([^{}\s]*)$/u.exec(value.slice(0, to))?.[1] : undefined;
    const needle = typed?.toLowerCase();
    const keys =
      needle === undefined
        ? []
        : [...this.rows.keys()].filter((key) => key.toLowerCase().includes(needle)).slice(0, OFFERED);
    const isDone = keys.length === 1 && keys[0] === typed;
    this.typing =
      typed === undefined || keys.length === 0 || isDone
        ? undefined
        : { from: to - typed.length, to, keys, chosen: 0 };
  }

  #take(key: string): void {
    const { typing } = this;
    const area = this.#area;
    if (typing !== undefined) {
      const isClosed = area.value[typing.to] === '}';
      area.setRangeText(isClosed ? key : `${key}}`, typing.from, typing.to, 'end');
      if (isClosed) {
        area.setSelectionRange(area.selectionEnd + 1, area.selectionEnd + 1);
      }
      this.typing = undefined;
      this.#tell();
      area.focus();
    }
  }

  readonly #press = (event: KeyboardEvent): void => {
    const { typing } = this;
    if (typing === undefined || event.isComposing) {
      return;
    }
    const { keys, chosen } = typing;
    const step = { ArrowDown: 1, ArrowUp: keys.length - 1 }[event.key];
    if (step !== undefined) {
      this.typing = { ...typing, chosen: (chosen + step) % keys.length };
    } else if (event.key === 'Enter' || event.key === 'Tab') {
      this.#take(keys[chosen] as string);
    } else if (event.key === 'Escape') {
      this.typing = undefined;
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  /** Puts the offered keys below the brace. */
  #placeOffers(): void {
    const list = this.renderRoot.querySelector<HTMLElement>('.offers');
    const mirror = this.renderRoot.querySelector('.mirror');
    if (list === null || mirror === null || this.typing === undefined) {
      return;
    }
    const range = rangeAt(mirror, this.typing.from);
    const [at, box] = [range?.getBoundingClientRect(), this.getBoundingClientRect()];
    if (at !== undefined) {
      const isBelow = at.bottom + list.offsetHeight < window.innerHeight;
      list.style.insetInlineStart = `${Math.max(Math.min(at.left - box.left, box.width - list.offsetWidth - 8), 8)}px`;
      list.style.insetBlockStart = `${isBelow ? at.bottom - box.top + 2 : at.top - box.top - list.offsetHeight - 2}px`;
    }
  }

  readonly #scroll = (): void => {
    const mirror = this.renderRoot.querySelector('.mirror');
    if (mirror !== null) {
      mirror.scrollTop = this.#area.scrollTop;
    }
  };

  /** The text area lies above the placeholders: they cannot tell that the pointer is on them. */
  readonly #hover = ({ clientX: x, clientY: y }: PointerEvent): void => {
    const marks = Array.from(this.renderRoot.querySelectorAll<HTMLElement>('.mirror .spot'));
    const found = marks.find((mark) =>
      Array.from(mark.getClientRects()).some(
        (box) => x >= box.left && x <= box.right && y >= box.top && y <= box.bottom,
      ),
    );
    const start = Number(found?.dataset['start'] ?? Number.NaN);
    this.#pointAt(this.pieces.find(({ spot }) => spot?.start === start)?.spot);
  };

  #pointAt(spot: Spot | undefined): void {
    const key = spot?.scope === 'artifact' ? undefined : spot?.of;
    if (key !== this.#hovered) {
      this.#hovered = key;
      this.inspection?.point(
        spot === undefined || key === undefined ? undefined : pointedBy(spot, this.rows.get(key)),
      );
    }
  }
}

/** A range at an index of the text of an element. */
function rangeAt(element: Element, index: number): Range | undefined {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let left = index;
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const { length } = node as Text;
    if (left <= length) {
      const range = document.createRange();
      range.setStart(node, Math.max(left - 1, 0));
      range.setEnd(node, left);
      return range;
    }
    left -= length;
  }
  return undefined;
}

customElements.define('statepad-template-editor', StatepadTemplateEditor);
