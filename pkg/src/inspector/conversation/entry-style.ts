// The styles of the entries of a conversation.

import { css } from 'lit';

/** Entries, and the items in them. */
export const entryStyle = css`
  /* The colour of what is not there at the moment: it is legible on every ground here. */
  .list {
    --faint: color-mix(in srgb, var(--none) 92%, var(--text));
  }

  .entry {
    --sign: 1.5rem;
    position: relative;
    display: flex;
    justify-content: start;
    border-radius: var(--sp-radius-md);
    padding: 3px var(--sp-space-2) 3px calc(var(--sign) + 2 * var(--sp-space-2));
    cursor: default;
  }

  .entry[data-turn] {
    margin-block-start: var(--sp-space-2);
  }

  .entry:focus-visible {
    outline-offset: -2px;
  }

  .entry:hover {
    background: color-mix(in srgb, var(--hover) 60%, transparent);
  }

  .entry[data-pointed] {
    background: var(--hover);
  }

  .entry[data-found] {
    box-shadow: inset 2px 0 var(--warn);
  }

  .entry[data-chosen] {
    background: var(--chosen);
    box-shadow: inset 2px 0 var(--accent);
  }

  /* Faint, and still legible: colours are left out, and no text is below the contrast that reading takes. */
  .entry:is([data-later], [data-undone]) > :is(.body, .avatar),
  :is(.result, .chips)[data-later] {
    --text: var(--faint);
    --quiet: var(--faint);
    --accent: var(--faint);
    --bad: var(--faint);
    --good: var(--faint);
    --warn: var(--faint);
    --session: var(--faint);
    --app: var(--faint);
    --user: var(--faint);
    --temp: var(--faint);
    --author: var(--faint);
    --bad-ground: transparent;
    --sunken: transparent;
    color: var(--text);
  }

  .entry:is([data-later], [data-undone]) .avatar {
    --author: var(--faint);
    background: color-mix(in srgb, var(--author) 9%, transparent);
  }

  .entry:is([data-later], [data-undone]) :is(.bubble, .key),
  .chips[data-later] .key {
    background: none;
    box-shadow: inset 0 0 0 1px var(--line);
  }

  .entry[data-side='agent']:is([data-later], [data-undone]) .bubble {
    box-shadow: none;
  }

  .entry[data-undone] .bubble {
    text-decoration: line-through;
    text-decoration-color: var(--strong);
  }

  .moment {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
    margin-block: var(--sp-space-2) var(--sp-space-1);
    color: var(--accent);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  .moment::before,
  .moment::after {
    flex: 1;
    border-block-start: 1px solid var(--accent);
    content: '';
  }

  .body {
    display: grid;
    justify-items: start;
    gap: 4px;
    min-width: 0;
    max-width: 46rem;
  }

  .entry[data-side='agent'] > .body {
    flex: 1;
  }

  .body > * {
    min-width: 0;
    max-width: 100%;
  }

  .avatar {
    display: inline-grid;
    flex: none;
    place-items: center;
    width: var(--sign);
    height: var(--sign);
    border-radius: 50%;
    color: var(--author);
    background: color-mix(in srgb, var(--author) 16%, transparent);
    font-size: var(--sp-text-sm);
    font-weight: 650;
    line-height: 1;
  }

  .entry > .avatar {
    position: absolute;
    inset: 4px auto auto var(--sp-space-2);
  }

  [data-colour='0'] {
    --author: light-dark(#5b3fd1, #b7a4ff);
  }

  [data-colour='1'] {
    --author: light-dark(#0b6e7a, #5fd0de);
  }

  [data-colour='2'] {
    --author: light-dark(#a03a1f, #ffa58a);
  }

  [data-colour='3'] {
    --author: light-dark(#3f6f12, #a8d86a);
  }

  [data-colour='4'] {
    --author: light-dark(#a1246b, #ff9dcb);
  }

  [data-colour='5'] {
    --author: light-dark(#6f5900, #e4c456);
  }

  .head {
    display: flex;
    align-items: baseline;
    gap: var(--sp-space-2);
    font-size: var(--sp-text-md);
  }

  .head b {
    font-weight: 620;
  }

  .head time {
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  .bubble {
    font-size: var(--sp-text-md);
  }

  .words {
    min-width: 0;
    overflow-wrap: anywhere;
  }

  /* The user's words are at the other side. */
  .entry[data-side='user'] {
    justify-content: end;
    padding-inline-start: 15%;
  }

  .entry[data-side='user'] .body {
    justify-items: end;
  }

  .entry[data-side='user'] .bubble {
    border-radius: 12px 12px 3px;
    padding: 0.4rem 0.7rem;
    background: color-mix(in srgb, var(--accent) 13%, var(--paper));
  }

  .entry[data-side='user'] .foot {
    justify-content: end;
  }

  .entry[data-side='note'] {
    justify-content: center;
    padding-inline: var(--sp-space-5);
    color: var(--quiet);
    font-size: var(--sp-text-sm);
    text-align: center;
  }

  .entry[data-side='note'] :is(.body, .foot, .chips) {
    justify-items: center;
    justify-content: center;
  }

  .note {
    display: inline-flex;
    align-items: center;
    gap: 0.4em;
  }

  .note b {
    color: var(--text);
    font-weight: 600;
  }

  .note button.link,
  .taken button.link,
  .fact button.link {
    display: inline;
    min-height: 0;
    font-size: inherit;
  }

  .day {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
    margin-block: var(--sp-space-3) var(--sp-space-1);
    color: var(--quiet);
    font-size: var(--sp-text-xs);
  }

  .day::before,
  .day::after {
    flex: 1;
    border-block-start: 1px solid var(--line);
    content: '';
  }

  .taken {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: 0.4em;
    margin-block: var(--sp-space-2) 0;
    color: var(--quiet);
    font-size: var(--sp-text-sm);
  }

  .number {
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

  /* Of an entry without a head, below the sign of its author. */
  .beside,
  .raw {
    position: absolute;
    opacity: 0;
  }

  .beside {
    inset: 0.45rem auto auto 0;
    width: calc(var(--sign) + 1.6 * var(--sp-space-2));
    text-align: end;
  }

  .raw {
    inset: 2px 2px auto auto;
    background: var(--raised);
  }

  .entry[data-side='user'] > .raw {
    inset: auto auto 4px 4px;
  }

  .entry:is(:hover, :focus-within, [data-chosen]) > :is(.beside, .raw),
  .raw[aria-pressed='true'] {
    opacity: 1;
  }

  .foot {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 3px var(--sp-space-2);
  }

  .chips {
    display: flex;
    flex-wrap: wrap;
    gap: 3px;
    min-width: 0;
  }

  .chips .key {
    min-height: 1.25rem;
    font-size: var(--sp-text-xs);
  }

  .chips .value {
    color: var(--quiet);
  }

  .chips .key[data-deleted] {
    text-decoration: line-through;
  }

  .chips .key:is([data-pointed], [aria-pressed='true']) {
    outline: 1.5px solid var(--scope);
    background: color-mix(in srgb, var(--scope) 24%, transparent);
  }

  .amounts {
    display: inline-flex;
    gap: var(--sp-space-2);
    color: var(--quiet);
    font-size: var(--sp-text-xs);
    font-variant-numeric: tabular-nums;
  }

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

  @media (forced-colors: active) {
    .entry[data-chosen] {
      outline: 2px solid Highlight;
      outline-offset: -2px;
    }
  }
`;
