// The styles of the items in the entries of a conversation: tools, thoughts, errors, files, branches.

import { css } from 'lit';

/** Items of all kinds, and branches beside each other. */
export const itemStyle = css`
  .caption {
    color: var(--quiet);
    font-size: var(--sp-text-xs);
  }

  summary {
    cursor: pointer;
    list-style: none;
  }

  summary::-webkit-details-marker {
    display: none;
  }

  .tool {
    width: 100%;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-md);
    background: var(--sunken);
    font-size: var(--sp-text-sm);
  }

  .tool[data-state='failed'] {
    border-color: color-mix(in srgb, var(--bad) 45%, var(--line));
    background: var(--bad-ground);
  }

  .tool > summary {
    display: grid;
    gap: 2px;
    border-radius: inherit;
    padding: 0.3rem 0.55rem;
  }

  .tool > summary:hover {
    background: var(--hover);
  }

  .tool[data-state='failed'] > summary:hover {
    background: none;
  }

  .call,
  .result {
    display: flex;
    align-items: center;
    gap: 0.45em;
    min-width: 0;
  }

  .call > .icon,
  .result > .icon {
    align-self: center;
    color: var(--quiet);
  }

  .call b {
    flex: none;
    max-width: 60%;
    overflow-wrap: anywhere;
    font-family: var(--mono);
    font-weight: 600;
  }

  .arguments,
  .preview {
    overflow: hidden;
    flex: 1 1 0;
    min-width: 0;
    color: var(--quiet);
    font-family: var(--mono);
    font-size: var(--sp-text-xs);
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .arguments.words {
    font-family: inherit;
    font-size: inherit;
  }

  .result.bad .preview {
    color: var(--bad);
    font-family: inherit;
    font-size: inherit;
    white-space: normal;
    overflow-wrap: anywhere;
  }

  .result.bad > .icon {
    color: var(--bad);
  }

  .result[data-chosen] {
    box-shadow: 0 1px var(--accent);
  }

  .status {
    display: inline-flex;
    flex: none;
    align-items: center;
    gap: 0.3em;
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  .tool[data-state='done'] .status .icon {
    color: var(--good);
  }

  .tool[data-state='failed'] .status {
    color: var(--bad);
  }

  .tool:is([data-state='waiting'], [data-state='running']) .status {
    color: var(--warn);
  }

  .tool .parts {
    display: grid;
    gap: 3px;
    border-block-start: 1px solid var(--line);
    padding: 0.4rem 0.55rem;
  }

  .thought {
    max-width: 100%;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .thought > summary {
    display: flex;
    align-items: center;
    gap: 0.45em;
    min-width: 0;
    min-height: 1.5rem;
    font-style: italic;
  }

  .thought > summary:hover {
    color: var(--text);
  }

  .thought[open] > summary .cut {
    display: none;
  }

  .thought[open] > summary::after {
    content: 'Thought';
  }

  .thought > statepad-text {
    margin-block-start: 2px;
    border-inline-start: 2px solid var(--edge);
    padding-inline-start: var(--sp-space-2);
  }

  .error {
    display: flex;
    align-items: start;
    gap: 0.5em;
    border: 1px solid color-mix(in srgb, var(--bad) 45%, var(--line));
    border-radius: var(--sp-radius-md);
    padding: 0.4rem 0.6rem;
    color: var(--bad);
    background: var(--bad-ground);
  }

  .error .icon {
    margin-block-start: 0.2em;
  }

  .transfer {
    --sign: 1.25rem;
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.45em;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .transfer b {
    color: var(--text);
  }

  .fact {
    display: flex;
    align-items: start;
    gap: 0.5em;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .fact .icon {
    margin-block-start: 0.2em;
  }

  .fact b {
    color: var(--text);
    font-weight: 600;
  }

  .fact.bad {
    color: var(--bad);
  }

  figure {
    margin: 0;
  }

  figcaption {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0 0.45em;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
    overflow-wrap: anywhere;
  }

  figcaption b {
    color: var(--text);
    font-weight: 600;
  }

  .code {
    overflow: hidden;
    width: 100%;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-md);
  }

  .code > figcaption {
    border-block-end: 1px solid var(--line);
    padding: 0.1rem 0.6rem;
    background: var(--sunken);
    font-size: var(--sp-text-xs);
  }

  .code summary {
    padding: 0.2rem 0.6rem;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .code pre {
    overflow: auto;
    max-height: 24rem;
    margin: 0;
    padding: 0.4rem 0.6rem;
    overflow-wrap: anywhere;
    white-space: pre-wrap;
  }

  .code.bad {
    border-color: color-mix(in srgb, var(--bad) 45%, var(--line));
    color: inherit;
  }

  .file {
    display: grid;
    justify-items: start;
    gap: 4px;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-md);
    padding: 0.35rem 0.6rem;
    background: var(--sunken);
  }

  .file img {
    max-width: 100%;
    max-height: 14rem;
    border-radius: var(--sp-radius-sm);
    object-fit: contain;
  }

  .parallel {
    margin-block: var(--sp-space-2);
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-md);
    padding: var(--sp-space-1);
  }

  .parallel > .caption {
    padding: 0.1rem var(--sp-space-2);
  }

  .columns {
    display: grid;
    grid-template-columns: repeat(var(--columns), minmax(0, 1fr));
    gap: var(--sp-space-1);
  }

  .column + .column {
    border-inline-start: 1px solid var(--line);
  }

  .column .entry {
    padding-inline-end: var(--sp-space-1);
  }

  .branch {
    padding: 0.1rem var(--sp-space-2);
    font-size: var(--sp-text-sm);
    font-weight: 600;
  }
`;
