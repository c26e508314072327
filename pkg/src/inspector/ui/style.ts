// The styles that the inspector's components share, built on the tokens.

import { css } from 'lit';

/** Plain elements and controls, and the classes for them: `main`, `danger`, `plain`, `square`, `link`, `small`. */
export const base = css`
  :host {
    display: block;
    min-width: 0;
    color: var(--text);
    font-size: var(--sp-text-md);
    line-height: 1.45;
  }

  :host([hidden]) {
    display: none;
  }

  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }

  h2,
  h3,
  p,
  ul,
  ol,
  dl,
  dd {
    margin: 0;
    padding: 0;
  }

  h2,
  ::slotted(h2) {
    margin: 0;
    font-size: var(--sp-text-md);
    font-weight: 600;
  }

  h3 {
    font-size: var(--sp-text-sm);
    font-weight: 600;
  }

  ul,
  ol {
    list-style: none;
  }

  code,
  pre,
  .mono {
    font-family: var(--mono);
    font-size: var(--sp-text-sm);
  }

  .icon {
    flex: none;
    width: 1.1em;
    height: 1.1em;
    fill: none;
    stroke: currentcolor;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
    vertical-align: -0.18em;
  }

  button,
  input,
  select,
  textarea {
    min-width: 0;
    border: 1px solid var(--edge);
    border-radius: var(--sp-radius-sm);
    padding: 0.2em 0.65em;
    color: inherit;
    background: var(--paper);
    font: inherit;
  }

  input,
  select,
  textarea {
    border-color: var(--strong);
  }

  ::placeholder {
    color: var(--quiet);
    opacity: 1;
  }

  input:is(:not([type]), [type='text'], [type='search']) {
    min-height: 24px;
  }

  button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 0.4em;
    min-width: 24px;
    min-height: 24px;
    cursor: pointer;
    transition:
      background-color var(--sp-fast),
      border-color var(--sp-fast),
      color var(--sp-fast);
  }

  button:hover:not(:disabled) {
    border-color: var(--strong);
    background: var(--hover);
  }

  button:active:not(:disabled) {
    background: var(--chosen);
  }

  button:disabled {
    cursor: default;
    opacity: 0.5;
  }

  button.main {
    border-color: var(--accent);
    color: var(--on-accent);
    background: var(--accent);
  }

  button.main:hover:not(:disabled) {
    border-color: var(--accent);
    background: color-mix(in srgb, var(--accent) 88%, var(--text));
  }

  button.danger {
    border-color: var(--bad);
    color: var(--bad);
  }

  /* A control that is text or an icon until it is pointed at. */
  button.plain {
    border-color: transparent;
    padding: 0.1em 0.35em;
    color: var(--quiet);
    background: none;
  }

  button.plain:hover:not(:disabled),
  button.plain[aria-pressed='true'],
  button.plain[aria-expanded='true'] {
    border-color: transparent;
    color: var(--text);
    background: var(--hover);
  }

  /* A square with an icon alone. */
  button.square {
    width: var(--sp-control);
    height: var(--sp-control);
    padding: 0;
    font-size: var(--sp-text-lg);
  }

  button.link {
    display: inline-flex;
    align-items: center;
    border: 0;
    padding: 0;
    color: var(--accent);
    background: none;
    text-align: start;
    text-decoration: underline;
    text-decoration-color: color-mix(in srgb, currentcolor 45%, transparent);
    text-underline-offset: 3px;
  }

  button.link:hover:not(:disabled) {
    background: none;
    text-decoration-color: currentcolor;
  }

  button.small {
    padding: 0.05em 0.35em;
    font-size: var(--sp-text-sm);
  }

  kbd {
    display: inline-block;
    min-width: 1.5em;
    border: 1px solid var(--edge);
    border-radius: var(--sp-radius-sm);
    padding: 0 0.3em;
    color: var(--quiet);
    background: var(--sunken);
    font-family: var(--sans);
    font-size: var(--sp-text-xs);
    line-height: 1.5;
    text-align: center;
    white-space: nowrap;
  }

  mark {
    border-radius: 2px;
    color: var(--on-accent);
    background: var(--accent);
  }

  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }

  /* A component with a heading of its own. */
  .panel {
    min-width: 0;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-lg);
    padding: var(--sp-space-3);
    background: var(--paper);
    contain: layout style;
  }

  .panel > h2 {
    margin-block-end: var(--sp-space-2);
  }

  .quiet {
    color: var(--quiet);
  }

  .bad {
    color: var(--bad);
  }

  .empty {
    padding: var(--sp-space-3);
    color: var(--quiet);
  }

  .row {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 6px 10px;
  }

  .spread {
    margin-inline-start: auto;
  }

  .cut {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .hidden {
    position: absolute;
    overflow: hidden;
    width: 1px;
    height: 1px;
    white-space: nowrap;
    clip-path: inset(50%);
  }

  [data-scope='session'] {
    --scope: var(--session);
  }

  [data-scope='app'] {
    --scope: var(--app);
  }

  [data-scope='user'] {
    --scope: var(--user);
  }

  [data-scope='temp'] {
    --scope: var(--temp);
  }

  /* A key, in the colour of its scope. */
  .key {
    border: 0;
    border-radius: var(--sp-radius-sm);
    padding: 0 0.3em;
    color: var(--scope, var(--text));
    background: color-mix(in srgb, var(--scope, var(--strong)) 10%, transparent);
    font-family: var(--mono);
    font-size: var(--sp-text-sm);
    overflow-wrap: anywhere;
    text-align: start;
  }

  button.key:hover:not(:disabled) {
    background: color-mix(in srgb, var(--scope, var(--strong)) 20%, transparent);
  }

  /* Backgrounds are not drawn there: the chosen element gets a frame. */
  @media (forced-colors: active) {
    [aria-pressed='true'],
    [aria-selected='true'] {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
  }

  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation-duration: 0.01ms !important;
      transition: none !important;
    }
  }
`;

/** The label before an item that is no text: "calls", "transfers to", with a name. */
export const label = css`
  .label {
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .label b {
    color: var(--text);
    font-family: var(--mono);
    font-weight: 600;
  }
`;
