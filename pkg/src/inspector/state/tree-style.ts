// The styles of the tree.

import { css } from 'lit';

/** The styles of the tree, for its own shadow tree. */
export const treeStyle = css`
  :host {
    container-type: size;
    height: 100%;
    min-height: 6rem;
  }

  .tree {
    overflow: hidden auto;
    overscroll-behavior: contain;
    height: 100%;
    scrollbar-width: thin;
  }

  .lines {
    position: relative;
    contain: layout style;
  }

  .line {
    display: grid;
    position: absolute;
    grid-template-columns: minmax(0, var(--names, 11rem)) minmax(0, 1fr) auto;
    align-items: center;
    gap: 0 var(--sp-space-2);
    inset: 0 0 auto;
    height: 1.75rem;
    border-block-end: 1px solid color-mix(in srgb, var(--line) 60%, transparent);
    border-inline-start: 2px solid transparent;
    padding-inline: var(--sp-space-1) var(--sp-space-3);
    background: var(--paper);
    cursor: default;
  }

  @container (max-width: 26rem) {
    .line {
      --names: 9rem;
    }

    .author {
      display: none;
    }
  }

  @container (min-width: 40rem) {
    .line {
      --names: 15rem;
    }
  }

  .line[data-kind='key'] {
    cursor: pointer;
  }

  .line:hover {
    background: var(--hover);
  }

  .line:focus-visible {
    outline-offset: -2px;
  }

  .line[aria-selected='true'] {
    border-inline-start-color: var(--accent);
    background: var(--chosen);
  }

  /* A scope. */
  .line[data-kind='scope'] {
    border-block-end-color: var(--line);
    background: var(--sunken);
    font-size: var(--sp-text-sm);
  }

  .line[data-head] {
    position: sticky;
    z-index: 1;
  }

  .name > .scope {
    color: var(--scope);
    font-weight: 600;
  }

  .count {
    margin-inline-start: var(--sp-space-2);
    color: var(--quiet);
    font-variant-numeric: tabular-nums;
  }

  [data-doubtful] {
    font-style: italic;
  }

  /* Names. */
  .name {
    display: flex;
    align-items: center;
    min-width: 0;
    padding-inline-start: calc(var(--level, 0) * 1.2rem);
  }

  .twisty {
    display: inline-flex;
    flex: none;
    align-items: center;
    justify-content: center;
    width: 1.15rem;
    height: 1.5rem;
    color: var(--quiet);
    font-size: var(--sp-text-md);
    cursor: pointer;
  }

  .twisty .icon {
    transition: transform var(--sp-fast) var(--sp-ease);
  }

  [aria-expanded='true'] > .name .twisty .icon {
    transform: rotate(90deg);
  }

  .sign {
    flex: none;
    width: 1rem;
    font-family: var(--mono);
    font-weight: 700;
    text-align: center;
  }

  .line[data-kind='scope'] .sign {
    display: none;
  }

  .name > .key {
    min-width: 0;
    padding: 0;
    background: none;
  }

  .prefix {
    opacity: 0.75;
  }

  .member {
    min-width: 0;
    color: var(--quiet);
    font-family: var(--mono);
    font-size: var(--sp-text-sm);
  }

  /* Values. */
  .value {
    font-family: var(--mono);
    font-size: var(--sp-text-sm);
  }

  .line[data-kind='scope'] > .value {
    font-family: inherit;
  }

  .number {
    color: var(--session);
  }

  .literal {
    color: var(--temp);
  }

  .text {
    color: var(--text);
  }

  .value .name,
  .value .quiet {
    color: var(--quiet);
  }

  .value .name {
    display: inline;
    padding: 0;
  }

  del {
    color: var(--quiet);
    text-decoration: line-through;
    text-decoration-color: var(--bad);
  }

  del span {
    color: inherit;
  }

  ins {
    text-decoration: none;
  }

  .to {
    padding-inline: 0.5em;
    color: var(--quiet);
  }

  /* Changes. */
  .added {
    --sign: var(--good);
    background: var(--added);
  }

  .changed {
    --sign: var(--warn);
    background: var(--changed);
  }

  .deleted {
    --sign: var(--bad);
    background: var(--deleted);
  }

  :is(.added, .changed, .deleted) .sign {
    color: var(--sign);
  }

  .deleted > .name :is(.key, .member) {
    text-decoration: line-through;
  }

  :is(.added, .changed, .deleted):hover {
    background: color-mix(in srgb, var(--text) 6%, var(--row));
  }

  .added {
    --row: var(--added);
  }

  .changed {
    --row: var(--changed);
  }

  .deleted {
    --row: var(--deleted);
  }

  /* The writer, and in its place what can be done. */
  .by {
    display: flex;
    position: relative;
    align-items: center;
    justify-content: end;
    min-width: 2rem;
    max-width: 8rem;
  }

  .from {
    font-size: var(--sp-text-sm);
    white-space: nowrap;
  }

  .from.link {
    gap: 0.35em;
    min-width: 1.5rem;
    color: var(--quiet);
    font-variant-numeric: tabular-nums;
    text-decoration-color: transparent;
  }

  .from.link:hover,
  .from.link:focus-visible {
    color: var(--accent);
    text-decoration-color: currentcolor;
  }

  .author {
    max-width: 5rem;
  }

  .actions {
    display: none;
    position: absolute;
    align-items: center;
    inset-block: calc(-0.5 * (1.75rem - 100%) + 3px);
    inset-inline-end: 100%;
    padding-inline: var(--sp-space-5) var(--sp-space-1);
    background: linear-gradient(to right, transparent, var(--row, var(--hover)) 1.25rem);
  }

  .line[aria-selected='true'] .actions {
    background: linear-gradient(to right, transparent, var(--chosen) 1.25rem);
  }

  .line:is(:hover, :focus-within) .actions,
  .actions.asking {
    display: flex;
  }

  .actions .icon {
    font-size: var(--sp-text-md);
  }

  .asking {
    gap: var(--sp-space-1);
    max-width: 100%;
    font-size: var(--sp-text-sm);
  }

  /* Pointed at, here or in another pane. */
  .line[data-pointed] {
    z-index: 1;
    outline: 2px solid var(--scope);
    outline-offset: -2px;
    background: color-mix(in srgb, var(--scope) 16%, var(--paper));
  }

  .line[data-pointed] .actions {
    background: linear-gradient(to right, transparent, color-mix(in srgb, var(--scope) 16%, var(--paper)) 1.25rem);
  }

  @media (forced-colors: active) {
    .line[data-pointed] {
      outline-color: Highlight;
    }
  }

  /* Two names for one animation: it begins again when a value changes while it runs. */
  [data-flash='0'] {
    animation: flash 1.6s ease-out;
  }

  [data-flash='1'] {
    animation: flash-again 1.6s ease-out;
  }

  @keyframes flash {
    from {
      box-shadow: inset 0 0 0 2px var(--accent);
      background: color-mix(in srgb, var(--accent) 14%, var(--paper));
    }
  }

  @keyframes flash-again {
    from {
      box-shadow: inset 0 0 0 2px var(--accent);
      background: color-mix(in srgb, var(--accent) 14%, var(--paper));
    }
  }
`;
