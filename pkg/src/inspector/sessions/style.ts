// The styles of the list of sessions.

import { css } from 'lit';

/** The height of a row, in px. */
export const ROW = 38;

/** The styles of the list of sessions, for its own shadow tree. */
export const sessionsStyle = css`
  dialog {
    width: min(864px, calc(100vw - 24px));
    height: min(608px, calc(100dvh - 32px));
    max-height: none;
    margin-block-start: min(8vh, 64px);
  }

  .top {
    display: flex;
    flex: none;
    align-items: center;
    gap: var(--sp-space-2);
    border-block-end: 1px solid var(--line);
    padding-inline: var(--sp-space-4) var(--sp-space-2);
    color: var(--quiet);
  }

  .top input {
    flex: 1;
    height: 48px;
    border: 0;
    padding: 0 var(--sp-space-1);
    color: var(--text);
    background: none;
    font-size: var(--sp-text-lg);
    outline: 0;
  }

  .top input::-webkit-search-cancel-button {
    display: none;
  }

  .middle {
    display: grid;
    flex: 1;
    grid-template: minmax(0, 1fr) / 192px minmax(0, 1fr);
    min-height: 0;
  }

  nav,
  .rows {
    overflow: hidden auto;
    overscroll-behavior: contain;
    scrollbar-color: var(--edge) transparent;
    scrollbar-width: thin;
  }

  nav {
    border-inline-end: 1px solid var(--line);
    padding: var(--sp-space-2);
  }

  nav h3 {
    padding: var(--sp-space-2) var(--sp-space-2) var(--sp-space-1);
    color: var(--quiet);
    font-size: var(--sp-text-xs);
  }

  nav button {
    display: block;
    overflow: hidden;
    width: 100%;
    border: 0;
    padding: 4px var(--sp-space-2);
    color: var(--quiet);
    background: none;
    text-align: start;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  nav [aria-pressed='true'] {
    color: var(--text);
    background: var(--chosen);
    font-weight: 550;
  }

  .list {
    display: grid;
    grid-template-rows: auto minmax(0, 1fr);
    min-width: 0;
  }

  .titles,
  [role='option'] {
    display: grid;
    grid-template-columns: minmax(0, 1fr) minmax(64px, 144px) 72px 112px;
    gap: var(--sp-space-3);
    align-items: center;
    padding-inline: var(--sp-space-4);
  }

  .titles {
    height: 32px;
    border-block-end: 1px solid var(--line);
    scrollbar-gutter: stable;
  }

  .titles button {
    justify-content: start;
    border: 0;
    padding: 0;
    color: var(--quiet);
    background: none;
    font-size: var(--sp-text-xs);
    font-weight: 600;
  }

  .titles [aria-pressed='true'] {
    color: var(--text);
    outline-offset: 2px;
  }

  .titles .end,
  [role='option'] .end {
    justify-self: end;
    font-variant-numeric: tabular-nums;
  }

  .rows {
    position: relative;
    outline-offset: -2px;
  }

  [role='option'] {
    position: absolute;
    inset: 0 0 auto;
    height: 38px;
    cursor: pointer;
  }

  [role='option'] > :not(.id) {
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  [role='option']:hover {
    background: var(--hover);
  }

  [aria-selected='true'],
  [aria-selected='true']:hover {
    background: var(--chosen);
  }

  .id .icon {
    margin-inline-start: 0.4em;
    color: var(--good);
  }

  .none {
    padding: var(--sp-space-6) var(--sp-space-4);
    color: var(--quiet);
    text-align: center;
  }

  .foot {
    display: flex;
    flex: none;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--sp-space-2);
    min-height: 44px;
    border-block-start: 1px solid var(--line);
    padding: var(--sp-space-2) var(--sp-space-3) var(--sp-space-2) var(--sp-space-4);
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .foot form {
    display: flex;
    flex: 1;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--sp-space-2);
  }

  .foot input {
    flex: 1 1 112px;
  }

  @media (max-width: 40rem) {
    .middle {
      grid-template: auto minmax(0, 1fr) / minmax(0, 1fr);
    }

    nav {
      display: flex;
      overflow: auto hidden;
      border-inline-end: 0;
      border-block-end: 1px solid var(--line);
    }

    nav h3 {
      flex: none;
    }

    nav button {
      flex: none;
      width: auto;
      max-width: 144px;
    }

    .titles {
      display: none;
    }

    [role='option'] {
      grid-template-columns: minmax(0, 1fr) auto auto;
    }

    [role='option'] .events {
      display: none;
    }
  }
`;
