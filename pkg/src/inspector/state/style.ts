// The styles of the state around its tree.

import { css } from 'lit';

/** The styles of the state, for its own shadow tree. */
export const stateStyle = css`
  :host {
    height: 100%;
    min-height: 12rem;
  }

  .whole {
    display: flex;
    flex-direction: column;
    height: 100%;
    min-height: inherit;
    container-type: inline-size;
  }

  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: var(--sp-space-1) var(--sp-space-2);
    padding: var(--sp-space-2) var(--sp-space-3) var(--sp-space-1);
  }

  .filter,
  .compare {
    display: flex;
    position: relative;
    align-items: center;
    min-width: 0;
  }

  .filter {
    flex: 1 1 8rem;
  }

  :is(.filter, .compare) > .icon {
    position: absolute;
    inset-inline-start: 0.5rem;
    color: var(--quiet);
    pointer-events: none;
  }

  :is(.filter, .compare) > :is(input, select) {
    width: 100%;
    height: var(--sp-control);
    padding-inline-start: 1.75rem;
  }

  .filter > input {
    border-color: var(--edge);
  }

  .summary .row {
    flex-wrap: nowrap;
    gap: 0 var(--sp-space-1);
    min-width: 0;
  }

  .compare > select {
    width: auto;
    max-width: 11rem;
    height: 1.5rem;
    border-color: transparent;
    padding-block: 0;
    background: transparent;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
    text-overflow: ellipsis;
  }

  .compare > select:hover {
    border-color: var(--edge);
    color: var(--text);
  }

  option {
    color: var(--text);
    background: var(--paper);
  }

  .summary .square {
    width: 1.5rem;
    height: 1.5rem;
    font-size: var(--sp-text-md);
  }

  .compare[data-on] > select,
  .compare[data-on] > .icon {
    border-color: var(--accent);
    color: var(--accent);
  }

  .only {
    height: var(--sp-control);
    white-space: nowrap;
  }

  .only[aria-pressed='true'] {
    border-color: var(--accent);
    color: var(--accent);
    background: var(--chosen);
  }

  .summary {
    flex: none;
    min-height: 1.75rem;
    padding: 0 var(--sp-space-3) var(--sp-space-1);
    font-size: var(--sp-text-sm);
  }

  .chip {
    border-radius: var(--sp-radius-sm);
    padding: 0 0.45em;
    white-space: nowrap;
  }

  .added {
    color: var(--good);
    background: var(--added);
  }

  .changed {
    color: var(--warn);
    background: var(--changed);
  }

  .deleted {
    color: var(--bad);
    background: var(--deleted);
  }

  .sign {
    font-family: var(--mono);
    font-weight: 700;
  }

  .body {
    position: relative;
    flex: 1 1 0;
    min-height: 0;
    border-block-start: 1px solid var(--line);
  }

  .none {
    position: absolute;
    inset: auto 0 0;
    text-align: center;
    pointer-events: none;
  }

  .problem {
    padding: var(--sp-space-2) var(--sp-space-3);
  }

  /* The editors lie below the tree, so that scrolling it hides no typed text. */
  .dock {
    flex: none;
    overflow-y: auto;
    max-height: 60%;
    border-block-start: 1px solid var(--line);
    padding: var(--sp-space-2) var(--sp-space-3);
    background: var(--raised);
    box-shadow: 0 -6px 16px rgb(0 0 0 / 8%);
  }
`;
