// The styles of a key's history.

import { css } from 'lit';

/** The styles of a history, for its own shadow tree. */
export const historyStyle = css`
  .whole {
    display: grid;
    gap: var(--sp-space-1);
    container-type: inline-size;
  }

  .note {
    font-size: var(--sp-text-sm);
  }

  ol {
    border-block-start: 1px solid var(--line);
  }

  li {
    display: grid;
    gap: 0.1rem var(--sp-space-3);
    position: relative;
    margin-inline-start: 0.35rem;
    border-inline-start: 2px solid var(--line);
    padding: 0.3rem 0.25rem 0.4rem 0.7rem;
  }

  /* The dot of the step on the line of time. */
  li::before {
    position: absolute;
    inset-block-start: 0.8rem;
    inset-inline-start: -5px;
    width: 8px;
    height: 8px;
    border-radius: 50%;
    background: var(--dot, var(--strong));
    content: '';
  }

  li.current {
    --dot: var(--accent);
    border-radius: 0 var(--sp-radius-sm) var(--sp-radius-sm) 0;
    background: var(--chosen);
  }

  li.later {
    border-inline-start-style: dotted;
    color: var(--quiet);
  }

  li.other {
    --dot: var(--paper);
  }

  li.other::before {
    border: 2px solid var(--strong);
  }

  li[data-pointed] {
    outline: 2px solid var(--accent);
    outline-offset: -2px;
  }

  @container (min-width: 38rem) {
    li {
      grid-template-columns: 13rem minmax(0, 1fr);
    }
  }

  .step {
    display: flex;
    flex-wrap: wrap;
    align-self: start;
    align-items: baseline;
    justify-content: start;
    gap: 0 0.5rem;
    border-color: transparent;
    padding: 0.05em 0.25em;
    background: none;
    text-align: start;
    overflow-wrap: anywhere;
  }

  .step .number {
    color: var(--accent);
    font-variant-numeric: tabular-nums;
    text-decoration: underline;
    text-underline-offset: 2px;
  }

  time {
    margin-inline-start: auto;
    color: var(--quiet);
    font-size: var(--sp-text-xs);
  }

  .more {
    justify-self: start;
  }
`;
