// How the inspector's parts show a JSON value: compact and clamped, whole on demand, with the text marked that is
// searched for; and how they read one that somebody types.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Json } from 'statepad';
import { base } from './style.js';

/** A text up to this long is shown as it is: it fits into about three lines of a column. In characters. */
const SHORT = 80;
/** As much of a longer one is drawn while it is folded, in characters. */
const FOLDED = 240;
/** Up to here a value is coloured and marked; beyond, only its text is shown, in characters. */
const DRAWN = 20_000;

/** Member names with their colon, strings, literals, and what stands between. The end of a string may be cut off. */
const TOKENS = /("(?:[^"\\]|\\.)*"\s*:)|("(?:[^"\\]|\\.)*"?)|(-?\d[\d.eE+-]*|true|false|null)|([^"\d\-tfn]+|.)/gsu;

type Tone = 'quiet' | 'text' | 'literal';

interface Piece {
  readonly start: number;
  readonly text: string;
  readonly tone: Tone;
}

/** True when a text has what is searched for in it, whatever its case. */
export function contains(text: string, query: string): boolean {
  return text.toLowerCase().includes(query.toLowerCase());
}

/** A text with what is searched for in `<mark>`s. */
export function marked(text: string, query = ''): unknown {
  return markedPart(text, 0, places(text, query));
}

/** Options of {@link showValue}. */
export interface ValueOptions {
  /** What is searched for. */
  readonly query?: string;
  /** What the value is of, for those who do not see where it stands: a key. */
  readonly label?: string;
  /** It is no more. */
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

/** A JSON value. Long ones are folded to three lines, with a button that shows them whole and indented. */
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
        max-height: 24rem;
        margin: 0.2rem 0;
        border: 1px solid var(--line);
        border-radius: 6px;
        padding: 0.4rem 0.5rem;
        background: var(--ground);
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }

      button.link {
        font-size: 0.75rem;
      }    `,
  ];
  /** The value as compact JSON. */
  declare text: string;
  /** What is searched for; empty for nothing. */
  declare query: string;
  /** What the value is of, for the button's name: a key. */
  declare label: string;
  /** It is no more. */
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
    // It can be scrolled: so a keyboard must get there.
    const name = this.label === '' ? 'whole value' : `value of ${this.label}`;
    return html`<pre tabindex="0" role="group" aria-label=${name}>${draw(whole, this.query)}</pre>`;
  }
}

/** The beginning; or what is around the place that is searched for, should it lie further on. */
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
  const found = places(text, query);
  return pieces(text).map(({ text: piece, tone, start }) => {
    const part = markedPart(piece, start, found);
    return tone === 'text' ? part : html`<span class=${tone}>${part}</span>`;
  });
}

/** Where a text has what is searched for: beginnings and ends. */
function places(text: string, query: string): [number, number][] {
  if (query === '') {
    return [];
  }
  const wanted = new RegExp(query.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&'), 'giu');
  return [...text.matchAll(wanted)].map(({ 0: found, index }) => [index, index + found.length]);
}

/** A piece of a text that begins at `start` of it, with what of the places lies in it. */
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

/** A JSON text in its tones: neighbours of the same tone are one piece. */
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
