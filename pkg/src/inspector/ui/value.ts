// JSON values in the inspector's components: compact and clamped, whole on demand, with matches of the search marked.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Json } from '../../index.js';
import { base } from './style.js';

/** The length up to which a text is shown in full, in characters: it fits into about three lines of a column. */
const SHORT = 80;
/** The length of the part of a longer one that is drawn while it is folded, in characters. */
const FOLDED = 240;
/** The length up to which a value is coloured and marked; a longer one is plain text. In characters. */
const DRAWN = 20_000;

/** Member names with their colon, strings, literals, and the text between. The end of a string may be cut off. */
const TOKENS = /("(?:[^"\\]|\\.)*"\s*:)|("(?:[^"\\]|\\.)*"?)|(-?\d[\d.eE+-]*|true|false|null)|([^"\d\-tfn]+|.)/gsu;

type Tone = 'quiet' | 'text' | 'literal';

interface Piece {
  readonly start: number;
  readonly text: string;
  readonly tone: Tone;
}

/** True when a text contains the query, ignoring case. */
export function contains(text: string, query: string): boolean {
  return text.toLowerCase().includes(query.toLowerCase());
}

/** A text with its matches in `<mark>`s. */
export function marked(text: string, query = ''): unknown {
  return markedPart(text, 0, matches(text, query));
}

/** Options of {@link showValue}. */
export interface ValueOptions {
  /** The text that is searched for. */
  readonly query?: string;
  /** The key of the value, for users who do not see its position. */
  readonly label?: string;
  /** True for a deleted value. */
  readonly isStruck?: boolean;
}

/** A value, folded when it is long. */
export function showValue(value: Json, options: ValueOptions = {}): TemplateResult {
  return showText(JSON.stringify(value), options);
}

/** As {@link showValue}, from the value's JSON text: nothing is drawn again while it stays the same. */
export function showText(
  text: string,
  { query = '', label = '', isStruck = false }: ValueOptions = {},
): TemplateResult {
  return html`<statepad-value .text=${text} .query=${query} .label=${label} ?struck=${isStruck}></statepad-value>`;
}

/** A JSON value. Long ones are folded to three lines, with a button that shows them in full and indented. */
export class StatepadValue extends LitElement {
  static override properties = {
    text: { attribute: false },
    query: { attribute: false },
    label: { attribute: false },
    struck: { type: Boolean, reflect: true },
    isOpen: { state: true },
  };
  static override styles = [
    base,
    css`
      :host {
        color: inherit;
      }

      code {
        display: block;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }

      .folded {
        display: -webkit-box;
        overflow: hidden;
        -webkit-box-orient: vertical;
        -webkit-line-clamp: 3;
        line-clamp: 3;
      }

      .literal {
        color: var(--accent);
      }

      :host([struck]) code,
      :host([struck]) pre {
        color: var(--quiet);
        text-decoration: line-through;
      }

      :host([struck]) .literal {
        color: inherit;
      }

      pre {
        overflow: auto;
        max-height: 384px;
        margin: 3px 0;
        border: 1px solid var(--line);
        border-radius: 6px;
        padding: 6px 8px;
        background: var(--ground);
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }

      button.link {
        font-size: var(--sp-text-sm);
      }    `,
  ];
  /** The value as compact JSON. */
  declare text: string;
  /** The text that is searched for; empty for none. */
  declare query: string;
  /** The key of the value, for the button's name. */
  declare label: string;
  /** True for a deleted value. */
  declare struck: boolean;
  declare protected isOpen: boolean;

  constructor() {
    super();
    this.text = '';
    this.query = '';
    this.label = '';
    this.struck = false;
    this.isOpen = false;
  }

  protected override render(): unknown {
    const { text, query, isOpen } = this;
    if (text.length <= SHORT) {
      return html`<code>${draw(text, query)}</code>`;
    }
    const name = isOpen ? 'show less' : 'show all';
    return html`${isOpen ? this.#whole() : html`<code class="folded">${excerpt(text, query)}</code>`}
      <button
        type="button"
        class="link"
        aria-expanded=${String(isOpen)}
        aria-label=${this.label === '' ? nothing : `${name} of ${this.label}`}
        @click=${() => (this.isOpen = !isOpen)}
      >
        ${name}${isOpen ? '' : ` (${text.length.toLocaleString()} characters)`}
      </button>`;
  }

  #whole(): TemplateResult {
    const whole = JSON.stringify(JSON.parse(this.text), undefined, 2);
    // It can be scrolled, so a keyboard must reach it.
    const name = this.label === '' ? 'whole value' : `value of ${this.label}`;
    return html`<pre tabindex="0" role="group" aria-label=${name}>${draw(whole, this.query)}</pre>`;
  }
}

/** The beginning; or the surroundings of the first match, if it is further on. */
function excerpt(text: string, query: string): unknown {
  const found = query === '' ? -1 : text.toLowerCase().indexOf(query.toLowerCase());
  if (found + query.length < SHORT) {
    return draw(cut(text, 0), query);
  }
  // Colours would need the text before.
  return marked(`…${cut(text, found - SHORT / 4)}`, query);
}

function cut(text: string, from: number): string {
  const part = text.slice(from, from + FOLDED).toWellFormed();
  return from + FOLDED < text.length ? `${part}…` : part;
}

function draw(text: string, query: string): unknown {
  if (text.length > DRAWN) {
    return text;
  }
  const found = matches(text, query);
  return pieces(text).map(({ text: piece, tone, start }) => {
    const part = markedPart(piece, start, found);
    return tone === 'text' ? part : html`<span class=${tone}>${part}</span>`;
  });
}

/** The matches in a text: beginnings and ends. */
function matches(text: string, query: string): [number, number][] {
  if (query === '') {
    return [];
  }
  const pattern = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&'), 'giu');
  return [...text.matchAll(pattern)].map(({ 0: found, index }) => [index, index + found.length]);
}

/** A piece of a text that begins at `start` of it, with its matches marked. */
function markedPart(piece: string, start: number, found: readonly [number, number][]): unknown {
  const inside = found.map(([from, to]) => [Math.max(from - start, 0), Math.min(to - start, piece.length)] as const);
  const own = inside.filter(([from, to]) => from < to);
  if (own.length === 0) {
    return piece;
  }
  const parts = own.map(
    ([from, to], place) => html`${piece.slice(own[place - 1]?.[1] ?? 0, from)}<mark>${piece.slice(from, to)}</mark>`,
  );
  return [...parts, piece.slice(own.at(-1)?.[1])];
}

/** The coloured pieces of a JSON text: neighbours of the same tone are one piece. */
function pieces(text: string): Piece[] {
  const drawn: Piece[] = [];
  for (const { 0: token, 1: name, 2: string, 3: literal, index } of text.matchAll(TOKENS)) {
    const tone =
      name !== undefined ? 'quiet' : string !== undefined ? 'text' : literal !== undefined ? 'literal' : 'quiet';
    const last = drawn.at(-1);
    if (last?.tone === tone) {
      drawn[drawn.length - 1] = { ...last, text: last.text + token };
    } else {
      drawn.push({ start: index, text: token, tone });
    }
  }
  return drawn;
}

customElements.define('statepad-value', StatepadValue);
