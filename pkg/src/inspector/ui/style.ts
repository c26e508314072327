// The styles of the inspector's components. A page that embeds them may set the `--sp-*` properties; light and dark
// follow its `color-scheme`.

import { css } from 'lit';

/** Colours, type and the plain elements that all components share. */
export const base = css`
  :host {
    --session: var(--sp-session, light-dark(#0a559a, #6cb4f5));
    --app: var(--sp-app, light-dark(#993f00, #f0a04b));
    --user: var(--sp-user, light-dark(#06634a, #3fcfa2));
    --temp: var(--sp-temp, light-dark(#8c2a6c, #ea9bcb));
    --none: light-dark(#6b7280, #98a1ae);
    --text: var(--sp-text, light-dark(#1b2330, #e6e9ee));
    --quiet: var(--sp-quiet, light-dark(#566172, #a3adba));
    --paper: var(--sp-paper, light-dark(#ffffff, #171c24));
    --ground: var(--sp-ground, light-dark(#f4f5f7, #0f1318));
    --line: var(--sp-line, light-dark(#d9dde3, #303845));
    --strong: light-dark(#8a93a1, #6f7a89);
    --accent: var(--sp-accent, light-dark(#3b3fd1, #a5a8ff));
    --on-accent: light-dark(#ffffff, #14161f);
    --bad: var(--sp-bad, light-dark(#b3261e, #ff8a80));
    --bad-ground: light-dark(#fdecea, #3a1c1b);
    --added: light-dark(#e3f5e8, #16301f);
    --changed: light-dark(#fff4d6, #352c12);
    --deleted: light-dark(#fde8e6, #371d1c);
    --mono: var(--sp-mono, ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace);
    display: block;
    min-width: 0;
    color: var(--text);
    font-size: 0.875rem;
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

  h2 {
    font-size: 1rem;
    font-weight: 650;
  }

  ::slotted(h2) {
    margin: 0;
    font-size: 1rem;
    font-weight: 650;
  }

  h3 {
    font-size: 0.8125rem;
    font-weight: 650;
  }

  ul,
  ol {
    list-style: none;
  }

  code,
  pre,
  .mono {
    font-family: var(--mono);
    font-size: 0.8125rem;
  }

  button,
  input,
  select,
  textarea {
    min-width: 0;
    border: 1px solid var(--strong);
    border-radius: 6px;
    padding: 0.3em 0.65em;
    color: inherit;
    background: var(--paper);
    font: inherit;
  }

  button {
    min-width: 1.5rem;
    min-height: 1.5rem;
    cursor: pointer;
  }

  button:hover:not(:disabled) {
    border-color: var(--accent);
  }

  button:disabled {
    cursor: default;
    opacity: 0.55;
  }

  button.main {
    border-color: var(--accent);
    color: var(--on-accent);
    background: var(--accent);
  }

  button.plain {
    border-color: transparent;
    padding: 0.1em 0.35em;
    background: none;
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
    text-underline-offset: 2px;
  }

  button.small {
    padding: 0.05em 0.35em;
    font-size: 0.75rem;
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
    border-radius: 10px;
    padding: 0.75rem;
    background: var(--paper);
    contain: layout style;
  }

  .panel > h2 {
    margin-block-end: 0.5rem;
  }

  .quiet {
    color: var(--quiet);
  }

  .bad {
    color: var(--bad);
  }

  .empty {
    padding: 0.75rem;
    color: var(--quiet);
  }

  .row {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.4rem 0.6rem;
  }

  .spread {
    margin-inline-start: auto;
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
    border-radius: 4px;
    padding: 0 0.3em;
    color: var(--scope, var(--text));
    background: color-mix(in srgb, var(--scope, var(--strong)) 9%, transparent);
    font-family: var(--mono);
    font-size: 0.8125rem;
    overflow-wrap: anywhere;
    text-align: start;
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
      transition-duration: 0.01ms !important;
    }
  }
`;

/** The label before an item that is no text: "calls", "transfers to", with a name. */
export const label = css`
  .label {
    color: var(--quiet);
    font-size: 0.75rem;
  }

  .label b {
    color: var(--text);
    font-family: var(--mono);
    font-weight: 600;
  }
`;
