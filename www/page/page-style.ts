// The styles of the page around the inspector.

import { css } from 'lit';

/** Colours and plain elements. */
export const base = css`
  :host {
    --text: light-dark(#1b2330, #e6e9ee);
    --quiet: light-dark(#566172, #a3adba);
    --paper: light-dark(#ffffff, #171c24);
    --line: light-dark(#d9dde3, #303845);
    --accent: light-dark(#3b3fd1, #a5a8ff);
    --on-accent: light-dark(#ffffff, #14161f);
    --bad: light-dark(#b3261e, #ff8a80);
    --bad-ground: light-dark(#fdecea, #3a1c1b);
    display: block;
    color: var(--text);
    font-size: 0.875rem;
    line-height: 1.45;
  }

  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }

  p,
  ul {
    margin: 0;
    padding: 0;
    list-style: none;
  }

  button {
    min-height: 1.75rem;
    border: 1px solid var(--line);
    border-radius: 6px;
    padding: 0.25em 0.75em;
    color: inherit;
    background: var(--paper);
    font: inherit;
    cursor: pointer;
  }

  button:hover {
    border-color: var(--accent);
  }

  button.main {
    border-color: var(--accent);
    color: var(--on-accent);
    background: var(--accent);
  }

  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 1px;
  }

  .mono,
  code {
    font-family: ui-monospace, 'SF Mono', 'Cascadia Mono', 'DejaVu Sans Mono', monospace;
    font-size: 0.8125rem;
  }

  .hidden {
    position: absolute;
    overflow: hidden;
    width: 1px;
    height: 1px;
    white-space: nowrap;
    clip-path: inset(50%);
  }
`;

/** The header and the frame. */
export const pageStyle = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 100vh;
    height: 100dvh;
    background: light-dark(#f4f5f7, #0f1318);
  }

  header {
    display: flex;
    align-items: center;
    gap: 0.4rem 1rem;
    border-block-end: 1px solid var(--line);
    padding: 0.4rem 1rem;
    background: var(--paper);
    font-size: 0.8125rem;
  }

  h1 {
    display: flex;
    align-items: center;
    gap: 0.5rem;
    margin: 0;
    font-size: 1.0625rem;
    font-weight: 700;
    letter-spacing: -0.01em;
  }

  h1 svg {
    width: 1.375rem;
    height: 1.375rem;
  }

  .about {
    display: -webkit-box;
    flex: 1 1 0;
    overflow: hidden;
    min-width: 0;
    color: var(--quiet);
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 2;
    text-wrap: balance;
  }

  .doing {
    flex: none;
    margin-inline-start: auto;
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.5rem;
  }

  .doing code {
    display: inline-flex;
    align-items: center;
    min-height: 1.75rem;
    border-radius: 6px;
    padding: 0 0.6em;
    background: light-dark(#f0f1f4, #0f1318);
    user-select: all;
    white-space: nowrap;
  }

  .more {
    display: flex;
    gap: 0.9rem;
  }

  .more a {
    display: inline-flex;
    align-items: center;
    min-height: 1.5rem;
    color: var(--accent);
    text-underline-offset: 2px;
  }

  .kept {
    display: inline-flex;
    align-items: center;
    gap: 0.4em;
    color: var(--quiet);
    white-space: nowrap;
  }

  .kept::before {
    width: 0.55em;
    height: 0.55em;
    border: 1px solid transparent;
    border-radius: 50%;
    background: var(--line);
    content: '';
  }

  .kept[data-kept='yes']::before {
    background: light-dark(#06634a, #3fcfa2);
  }

  .kept[data-kept='no']::before {
    border-radius: 1px;
    background: var(--bad);
  }

  main {
    position: relative;
    flex: 1 1 0;
    min-height: 0;
  }

  main > * {
    height: 100%;
  }

  @media (max-width: 72rem) {
    .about {
      display: none;
    }
  }

  @media (max-width: 40rem) {
    header {
      gap: 0.35rem 0.75rem;
      padding: 0.4rem 0.75rem;
    }

    .more,
    .doing code {
      display: none;
    }
  }

  .over {
    position: fixed;
    z-index: 9;
    inset: 0.75rem;
    display: grid;
    place-items: center;
    border: 3px dashed var(--accent);
    border-radius: 12px;
    background: color-mix(in srgb, var(--paper) 88%, transparent);
    font-size: 1.25rem;
    pointer-events: none;
  }
`;
