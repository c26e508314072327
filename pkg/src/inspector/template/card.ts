// The card at a word of the prompt: its placeholder, its key, who wrote it, and all of its values until now.

import { css, html, nothing, svg, type TemplateResult } from 'lit';
import type { Json } from '../../index.js';
import type { KeyRow, KeyWriter } from '../model/rows.js';
import { icon } from '../ui/icons.js';
import type { Spot } from './rendering.js';
import { faultOf, writerOf } from './words.js';

/** The number of steps that a card shows. */
const SHOWN_STEPS = 6;

/** The length of a value in a card, in characters. */
const SHORT = 140;

/** The size of the curve of a number, in px, and the number of writes in it. */
const CURVE = { width: 120, height: 24, writes: 200 };

/** Everything that a card shows. */
export interface CardFacts {
  readonly spot: Spot;
  /** The text in the prompt. */
  readonly text: string;
  /** The key at the moment; absent when it is not there. */
  readonly row: KeyRow | undefined;
  /** The writes of the key by this session, oldest first. */
  readonly writes: readonly KeyWriter[];
  /** The moment on show. */
  readonly revision: number;
}

/** The content of a card. */
export function drawCard({ spot, text, row, writes, revision }: CardFacts): TemplateResult {
  const { source, of, scope, nearest } = spot;
  const fault = faultOf(spot, text);
  const writer = writerOf(row);
  const last = writes.findLastIndex((write) => write.revision <= revision);
  const near = writes.slice(Math.max(last + 1 - CURVE.writes, 0), last + 3);
  const parts = near.map((write) => ({ revision: write.revision, value: partOf(write.to, spot.path) }));
  return html`<p class="source"><span class="spot" data-scope=${scope} ?data-missing=${spot.missing}>${source}</span></p>
    <dl>
      <dt>${scope === 'artifact' ? 'artifact' : 'key'}</dt>
      <dd class="mono">${of}<span class="quiet"> · ${meaning(spot)}</span></dd>
      ${fault === '' ? nothing : html`<dt>value</dt><dd class=${spot.missing ? 'bad' : 'quiet'}>${fault}${nearest === undefined ? '' : html` – did you mean <b>${nearest}</b>?`}</dd>`}
      ${writer === '' || fault === 'missing' ? nothing : html`<dt>written by</dt><dd><b>${writer}</b>${last < 0 ? nothing : html`<span class="quiet"> · ${count(last + 1)}</span>`}</dd>`}
    </dl>
    ${parts.length === 0 ? nothing : html`${curve(parts, revision)}${stepList(parts, revision)}`}
    ${
      spot.missing && nearest !== undefined
        ? html`<p class="hint">${icon('edit')}click to put in {${nearest}}</p>`
        : row === undefined
          ? nothing
          : html`<p class="hint">${icon('clock')}click to see its event and its history</p>`
    }`;
}

function meaning({ scope }: Spot): string {
  return {
    session: 'of this session',
    user: 'shared by the user’s sessions',
    app: 'shared by the app’s sessions',
    temp: 'of one invocation, never stored',
    artifact: 'a file, not part of the state',
  }[scope];
}

function count(writes: number): string {
  return writes === 1 ? '1 write' : `${writes} writes`;
}

/** The value of a placeholder after a write; `undefined` when it had none. */
interface Part {
  readonly revision: number;
  readonly value: Json | undefined;
}

/** The own part of a value at a path, because a member may be named like an inherited one. */
function partOf(value: Json | undefined, path: Spot['path']): Json | undefined {
  let part = value;
  for (const step of path) {
    const isThere = typeof part === 'object' && part !== null && Object.hasOwn(part, step);
    part = isThere ? (part as Record<string | number, Json>)[step] : undefined;
  }
  return part;
}

function stepList(parts: readonly Part[], revision: number): TemplateResult {
  const current = parts.findLast((part) => part.revision <= revision);
  return html`<ol class="steps">
    ${parts.slice(-SHOWN_STEPS).map((part) => {
      const place = part === current ? 'current' : part.revision > revision ? 'later' : '';
      return html`<li class=${place}>
        <span class="number">#${part.revision}</span
        ><span class="cut">${part.value === undefined ? html`<i>no value</i>` : shortText(part.value)}</span>
      </li>`;
    })}
  </ol>`;
}

/** Numbers as a curve of steps, from three of them on. */
function curve(parts: readonly Part[], revision: number): TemplateResult | typeof nothing {
  const values = parts.map(({ value }) => value).filter((value) => typeof value === 'number');
  if (values.length < 3 || values.length < parts.length) {
    return nothing;
  }
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const { width, height } = CURVE;
  const x = (index: number): number => (index * width) / values.length;
  const y = (value: number): number => height - 3 - ((value - low) / (high - low || 1)) * (height - 6);
  const line = values.map((value, index) => (index === 0 ? `M0,${y(value)}` : `H${x(index)}V${y(value)}`)).join('');
  const current = parts.findLastIndex((part) => part.revision <= revision);
  return html`<svg class="curve" viewBox="0 0 ${width} ${height}" width=${width} height=${height} aria-hidden="true">
    ${svg`<path d="${line}H${width}" />`}
    ${current < 0 ? nothing : svg`<circle cx=${x(current) + 3} cy=${y(values[current] as number)} r="3" />`}
  </svg>`;
}

/** The beginning of a value as text. */
export function shortText(value: Json): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`;
}

/** The styles of a card. */
export const cardStyle = css`
  .card {
    position: fixed;
    inset: 0 auto auto 0;
    width: max-content;
    max-width: min(22rem, 90vw);
    margin: 0;
    border: 1px solid var(--edge);
    border-radius: var(--sp-radius-md);
    padding: var(--sp-space-2) var(--sp-space-3);
    color: var(--text);
    background: var(--raised);
    box-shadow: var(--sp-shadow-lg);
    font-size: var(--sp-text-sm);
    line-height: 1.5;
    pointer-events: none;
  }

  .card dl {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    gap: 0 var(--sp-space-3);
    margin-block: var(--sp-space-1);
  }

  .card dt {
    color: var(--quiet);
  }

  .card dd {
    overflow-wrap: anywhere;
  }

  .card .source {
    font-family: var(--mono);
    font-size: var(--sp-text-md);
    font-weight: 600;
  }

  .steps {
    display: grid;
    gap: 1px;
    margin-block: var(--sp-space-1);
    border-inline-start: 2px solid var(--line);
    padding-inline-start: var(--sp-space-2);
    font-family: var(--mono);
  }

  .steps li {
    display: grid;
    grid-template-columns: 2.75rem minmax(0, 1fr);
    color: var(--quiet);
  }

  .steps .current {
    color: var(--text);
    font-weight: 600;
  }

  .steps .current .number {
    color: var(--accent);
  }

  .steps .later {
    opacity: 0.65;
    font-style: italic;
  }

  .curve {
    display: block;
    margin-block: var(--sp-space-1);
  }

  .curve path {
    fill: none;
    stroke: var(--quiet);
    stroke-width: 1.5;
  }

  .curve circle {
    fill: var(--accent);
  }

  .hint {
    display: flex;
    align-items: center;
    gap: 0.4em;
    color: var(--quiet);
    font-size: var(--sp-text-xs);
  }
`;
