// The styles of the entries of a conversation.

import { css } from 'lit';

/** Entries, their signs, words and feet. */
export const entryStyle = css`
  /* The colour of what is not there at the moment: it is legible on every ground here. */
  .list {
    --faint: color-mix(in srgb, var(--none) 92%, var(--text));
  }

  .entry {
    --sign: 1.5rem;
    position: relative;
    display: flex;
    justify-content: start;
    border-radius: var(--sp-radius-md);
    padding: 3px var(--sp-space-2) 3px calc(var(--sign) + 2 * var(--sp-space-2));
    cursor: default;
  }

  .entry[data-turn] {
    margin-block-start: var(--sp-space-2);
  }

  .entry:focus-visible {
    outline-offset: -2px;
  }

  .entry:hover {
    background: color-mix(in srgb, var(--hover) 60%, transparent);
  }

  .entry[data-pointed] {
    background: var(--hover);
  }

  .entry[data-found] {
    box-shadow: inset 2px 0 var(--warn);
  }

  .entry[data-chosen] {
    background: var(--chosen);
    box-shadow: inset 2px 0 var(--accent);
  }

  /* Faint, and still legible: colours are left out, and no text is below the contrast that reading takes. */
  .entry:is([data-later], [data-undone]) > :is(.body, .avatar),
  :is(.result, .chips)[data-later] {
    --text: var(--faint);
    --quiet: var(--faint);
    --accent: var(--faint);
    --bad: var(--faint);
    --good: var(--faint);
    --warn: var(--faint);
    --session: var(--faint);
    --app: var(--faint);
    --user: var(--faint);
    --temp: var(--faint);
    --author: var(--faint);
    --bad-ground: transparent;
    --sunken: transparent;
    color: var(--text);
  }

  .entry:is([data-later], [data-undone]) .avatar {
    --author: var(--faint);
    background: color-mix(in srgb, var(--author) 9%, transparent);
  }

  .entry:is([data-later], [data-undone]) :is(.bubble, .key),
  .chips[data-later] .key {
    background: none;
    box-shadow: inset 0 0 0 1px var(--line);
  }

  .entry[data-side='agent']:is([data-later], [data-undone]) .bubble {
    box-shadow: none;
  }

  .entry[data-undone] .bubble {
    text-decoration: line-through;
    text-decoration-color: var(--strong);
  }

  .moment {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
    margin-block: var(--sp-space-2) var(--sp-space-1);
    color: var(--accent);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  .moment::before,
  .moment::after {
    flex: 1;
    border-block-start: 1px solid var(--accent);
    content: '';
  }

  .body {
    display: grid;
    justify-items: start;
    gap: 4px;
    min-width: 0;
    max-width: 46rem;
  }

  .entry[data-side='agent'] > .body {
    flex: 1;
  }

  .body > * {
    min-width: 0;
    max-width: 100%;
  }

  .avatar {
    display: inline-grid;
    flex: none;
    place-items: center;
    width: var(--sign);
    height: var(--sign);
    border-radius: 50%;
    color: var(--author);
    background: color-mix(in srgb, var(--author) 16%, transparent);
    font-size: var(--sp-text-sm);
    font-weight: 650;
    line-height: 1;
  }

  .entry > .avatar {
    position: absolute;
    inset: 4px auto auto var(--sp-space-2);
  }

  [data-colour='0'] {
    --author: light-dark(#5b3fd1, #b7a4ff);
  }

  [data-colour='1'] {
    --author: light-dark(#0b6e7a, #5fd0de);
  }

  [data-colour='2'] {
    --author: light-dark(#a03a1f, #ffa58a);
  }

  [data-colour='3'] {
    --author: light-dark(#3f6f12, #a8d86a);
  }

  [data-colour='4'] {
    --author: light-dark(#a1246b, #ff9dcb);
  }

  [data-colour='5'] {
    --author: light-dark(#6f5900, #e4c456);
  }

  .head {
    display: flex;
    align-items: baseline;
    gap: var(--sp-space-2);
    font-size: var(--sp-text-md);
  }

  .head b {
    font-weight: 620;
  }

  .head time {
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  .bubble {
    font-size: var(--sp-text-md);
  }

  .words {
    min-width: 0;
    overflow-wrap: anywhere;
  }

  /* The user's words are at the other side. */
  .entry[data-side='user'] {
    justify-content: end;
    padding-inline-start: 15%;
  }

  .entry[data-side='user'] .body {
    justify-items: end;
  }

  .entry[data-side='user'] .bubble {
    border-radius: 12px 12px 3px;
    padding: 0.4rem 0.7rem;
    background: color-mix(in srgb, var(--accent) 13%, var(--paper));
  }

  .entry[data-side='user'] .foot {
    justify-content: end;
  }

  .entry[data-side='note'] {
    justify-content: center;
    padding-inline: var(--sp-space-5);
    color: var(--quiet);
    font-size: var(--sp-text-sm);
    text-align: center;
  }

  .entry[data-side='note'] :is(.body, .foot, .chips) {
    justify-items: center;
    justify-content: center;
  }

  .note {
    display: inline-flex;
    align-items: center;
    gap: 0.4em;
  }

  .note b {
    color: var(--text);
    font-weight: 600;
  }

  .note button.link,
  .taken button.link,
  .fact button.link {
    display: inline;
    min-height: 0;
    font-size: inherit;
  }

  .day {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
    margin-block: var(--sp-space-3) var(--sp-space-1);
    color: var(--quiet);
    font-size: var(--sp-text-xs);
  }

  .day::before,
  .day::after {
    flex: 1;
    border-block-start: 1px solid var(--line);
    content: '';
  }

  .taken {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 0.4em;
    justify-self: center;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .number {
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  /* Of an entry without a head, below the sign of its author. */
  .beside,
  .raw {
    position: absolute;
    opacity: 0;
  }

  .beside {
    inset: 0.45rem auto auto 0;
    width: calc(var(--sign) + 1.6 * var(--sp-space-2));
    text-align: end;
  }

  .raw {
    inset: 2px 2px auto auto;
    background: var(--raised);
  }

  .entry[data-side='user'] > .raw {
    inset: auto auto 4px 4px;
  }

  .entry:is(:hover, :focus-within, [data-chosen]) > :is(.beside, .raw),
  .raw[aria-pressed='true'] {
    opacity: 1;
  }

  .foot {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 3px var(--sp-space-2);
  }

  .chips {
    display: flex;
    flex-wrap: wrap;
    gap: 3px;
    min-width: 0;
  }

  .chips .key {
    min-height: 24px;
    font-size: var(--sp-text-xs);
  }

  .chips .value {
    color: var(--quiet);
  }

  .chips .key[data-deleted] {
    text-decoration: line-through;
  }

  .chips .key:is([data-pointed], [aria-pressed='true']) {
    outline: 1.5px solid var(--scope);
    background: color-mix(in srgb, var(--scope) 9%, transparent);
  }

  .amounts {
    display: inline-flex;
    gap: var(--sp-space-2);
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  @media (forced-colors: active) {
    .entry[data-chosen] {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
  }
`;
