// The tooltip of an event on the timeline.

import { css, html, nothing, type TemplateResult } from 'lit';
import { shortSummaryOf } from '../model/contents.js';
import type { Log } from '../model/log.js';
import { keysOf, splitKey } from '../model/log.js';
import { tokensOf } from '../model/tokens.js';
import { icon } from '../ui/icons.js';
import { KIND_LOOKS, kindOf } from './glyphs.js';
import { clock } from './moment.js';

/** The most keys that are named. */
const MOST = 5;

/** The length of the words of an event, in characters. */
const WORDS = 220;

/** The styles of the tooltip. */
export const tipStyle = css`
  .tip {
    position: fixed;
    inset: auto;
    max-width: min(352px, calc(100vw - 16px));
    margin: 0;
    border: 0;
    border-radius: var(--sp-radius-md);
    padding: var(--sp-space-2) var(--sp-space-3);
    color: var(--text);
    background: var(--raised);
    box-shadow: var(--sp-shadow-lg);
    font-family: var(--sans);
    font-size: var(--sp-text-sm);
    line-height: 1.45;
    pointer-events: none;
  }

  .tip-head {
    display: flex;
    align-items: center;
    gap: 0.5em;
    color: var(--quiet);
    font-variant-numeric: tabular-nums;
  }

  .tip-head b {
    color: var(--text);
    font-weight: 600;
  }

  .tip-words {
    display: -webkit-box;
    overflow: hidden;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 3;
    line-clamp: 3;
    margin-block-start: 2px;
    overflow-wrap: anywhere;
  }

  .tip-keys {
    display: flex;
    flex-wrap: wrap;
    gap: 3px;
    margin-block-start: var(--sp-space-1);
  }

  @media (forced-colors: active) {
    .tip {
      border: 1px solid CanvasText;
    }
  }
`;

/** An event in few words: its kind, author and time, its words, and the keys that it wrote. */
export function tipOf(log: Log, revision: number): TemplateResult | typeof nothing {
  const event = log.at(revision);
  if (event === undefined) {
    return nothing;
  }
  const kind = kindOf(log, revision);
  const keys = keysOf(event);
  const words = shortSummaryOf(event);
  const latency = log.latency(revision);
  const tokens = tokensOf(event);
  return html`<div class="tip-head">
      <span class=${kind === 'error' || kind === 'failed' ? 'bad' : ''}>${icon(KIND_LOOKS[kind].icon)}</span>
      <b class="cut">${log.author(revision)}</b><span>#${revision}</span><span>${clock(event.timestamp)}</span>
      ${latency === undefined ? nothing : html`<span>+${durationText(latency)}</span>`}
      ${tokens === undefined ? nothing : html`<span>${tokens.total.toLocaleString('en')} tokens</span>`}
    </div>
    ${words === '' ? nothing : html`<div class="tip-words">${words.slice(0, WORDS).toWellFormed()}</div>`}
    ${log.undone(revision) ? html`<div class="quiet">taken back by a rewind</div>` : nothing}
    ${
      keys.length === 0
        ? nothing
        : html`<div class="tip-keys">
          ${keys.slice(0, MOST).map((key) => html`<span class="key" data-scope=${splitKey(key).scope}>${key.slice(0, 60)}</span>`)}
          ${keys.length > MOST ? html`<span class="quiet">and ${keys.length - MOST} more</span>` : nothing}
        </div>`
    }`;
}

/** A duration in ms, in the unit that reads best. */
export function durationText(ms: number): string {
  return ms < 1000
    ? `${Math.round(ms)} ms`
    : ms < 60_000
      ? `${(ms / 1000).toFixed(1)} s`
      : `${Math.round(ms / 60_000)} min`;
}
