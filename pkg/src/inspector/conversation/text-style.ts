// The styles of texts: as they were written, and as Markdown.

import { css } from 'lit';

/** The styles of `statepad-text`. */
export const textStyle = css`
  :host {
    color: inherit;
    font-size: inherit;
    line-height: 1.5;
    overflow-wrap: anywhere;
  }

  .plain {
    white-space: pre-wrap;
  }

  .whole {
    overflow: auto;
    max-height: 60vh;
    contain: content;
  }

  .markdown > * + *,
  li > * + *,
  blockquote > * + * {
    margin-block-start: var(--sp-space-2);
  }

  ul,
  ol {
    padding-inline-start: 1.4em;
  }

  ul {
    list-style: disc;
  }

  ol {
    list-style: decimal;
  }

  li + li {
    margin-block-start: 2px;
  }

  .heading {
    font-weight: 650;
  }

  .heading[data-level='1'] {
    font-size: var(--sp-text-lg);
  }

  .markdown > .heading:not(:first-child) {
    margin-block-start: var(--sp-space-3);
  }

  a {
    color: var(--accent);
    text-underline-offset: 2px;
  }

  .no-link {
    text-decoration: underline dotted var(--strong);
    text-underline-offset: 3px;
  }

  blockquote {
    margin-inline: 0;
    border-inline-start: 2px solid var(--edge);
    padding-inline-start: var(--sp-space-2);
    color: var(--quiet);
  }

  hr {
    border: 0;
    border-block-start: 1px solid var(--line);
  }

  :not(pre) > code {
    border-radius: var(--sp-radius-sm);
    padding: 0.05em 0.3em;
    background: color-mix(in srgb, var(--text) 8%, transparent);
    font-size: 0.92em;
  }

  pre {
    position: relative;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-sm);
    margin: 0;
    padding: var(--sp-space-2);
    background: var(--sunken);
    white-space: pre-wrap;
  }

  pre[data-language]::before {
    position: absolute;
    inset: 2px 6px auto auto;
    color: var(--quiet);
    content: attr(data-language);
    font-family: var(--sans);
    font-size: var(--sp-text-xs);
  }

  .table {
    overflow-x: auto;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-sm);
  }

  table {
    width: 100%;
    border-collapse: collapse;
    font-variant-numeric: tabular-nums;
  }

  th,
  td {
    padding: 0.25rem 0.6rem;
    text-align: start;
    vertical-align: top;
  }

  th {
    font-size: var(--sp-text-sm);
    font-weight: 600;
  }

  tbody tr {
    border-block-start: 1px solid var(--line);
  }

  [data-align='right'] {
    text-align: end;
  }

  [data-align='center'] {
    text-align: center;
  }

  button.link {
    margin-block-start: var(--sp-space-1);
    font-size: var(--sp-text-sm);
  }
`;
