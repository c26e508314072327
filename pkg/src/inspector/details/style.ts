// The styles of the details.

import { css } from 'lit';

/** The styles of `statepad-details`. */
export const detailsStyle = css`
  :host {
    container-type: inline-size;
  }

  @container (max-width: 19rem) {
    .wide {
      display: none;
    }
  }

  .head {
    position: sticky;
    z-index: 1;
    display: flex;
    align-items: center;
    gap: var(--sp-space-1);
    inset-block-start: 0;
    min-height: var(--sp-bar);
    border-block-end: 1px solid var(--line);
    padding-inline: var(--sp-space-3) var(--sp-space-1);
    background: var(--paper);
    font-variant-numeric: tabular-nums;
  }

  .steps {
    display: flex;
    margin-inline-start: auto;
  }

  .head .quiet {
    font-size: var(--sp-text-sm);
    white-space: nowrap;
  }

  .head button {
    white-space: nowrap;
  }

  section,
  .summary {
    padding: var(--sp-space-2) var(--sp-space-3);
  }

  section + section,
  .history {
    border-block-end: 0;
    border-block-start: 1px solid var(--line);
  }

  .history {
    border-block: 0 1px solid var(--line);
  }

  h3 {
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-weight: 600;
    letter-spacing: 0.02em;
  }

  .summary {
    display: -webkit-box;
    overflow: hidden;
    -webkit-box-orient: vertical;
    -webkit-line-clamp: 4;
    line-clamp: 4;
    border-block-end: 1px solid var(--line);
    padding-block-end: 0;
    margin-block-end: var(--sp-space-2);
    border: 0;
    overflow-wrap: anywhere;
  }

  .facts {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 0.25rem var(--sp-space-3);
    font-size: var(--sp-text-sm);
  }

  .facts dt {
    color: var(--quiet);
  }

  dd {
    overflow-wrap: anywhere;
  }

  dd button.link,
  li button.link {
    display: inline;
    min-height: 0;
    font-size: inherit;
    overflow-wrap: anywhere;
  }

  .relations {
    display: grid;
    gap: 0.3rem;
    font-size: var(--sp-text-sm);
  }

  .relations li {
    display: flex;
    align-items: baseline;
    gap: 0.5em;
    overflow-wrap: anywhere;
  }

  .relations .icon {
    align-self: center;
    color: var(--quiet);
  }

  .bar {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
    margin-block-end: var(--sp-space-1);
  }

  .bar h3 {
    margin-inline-end: auto;
  }

  .forms {
    display: flex;
  }

  pre {
    overflow: auto;
    max-height: 32rem;
    margin: 0;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-sm);
    padding: var(--sp-space-2);
    background: var(--sunken);
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }

  .nothing {
    display: grid;
    place-items: center;
    gap: var(--sp-space-2);
    padding: var(--sp-space-6) var(--sp-space-5);
    color: var(--quiet);
    text-align: center;
  }

  .nothing .icon {
    width: 1.5rem;
    height: 1.5rem;
    opacity: 0.6;
  }
`;
