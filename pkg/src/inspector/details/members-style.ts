// The styles of a tree of JSON.

import { css } from 'lit';

/** The styles of `statepad-members`. */
export const treeStyle = css`
  :host {
    font-family: var(--mono);
    font-size: var(--sp-text-sm);
  }

  ul ul {
    margin-inline-start: 0.45rem;
    border-inline-start: 1px solid var(--line);
    padding-inline-start: 0.55rem;
  }

  .leaf {
    display: grid;
    grid-template-columns: max-content minmax(0, 1fr);
    gap: 0.6em;
    padding: 1px 0 1px 1.05em;
  }

  summary {
    display: flex;
    gap: 0.6em;
    min-width: 0;
    min-height: 1.5rem;
    align-items: center;
    border-radius: var(--sp-radius-sm);
    cursor: pointer;
  }

  summary:hover {
    background: var(--hover);
  }

  summary::before {
    width: 0.45em;
    color: var(--quiet);
    content: '▸';
  }

  details[open] > summary::before {
    content: '▾';
  }

  .name {
    flex: none;
    max-width: 16rem;
    color: var(--quiet);
    overflow-wrap: anywhere;
  }

  .preview {
    overflow: hidden;
    min-width: 0;
    color: var(--quiet);
    text-overflow: ellipsis;
    white-space: nowrap;
    opacity: 0.9;
  }
`;
