// The styles of a rendered instruction.

import { css } from 'lit';

/** The styles of the words, for their own shadow tree. */
export const renderedStyle = css`
  .text {
    font-size: 0.875rem;
    line-height: 1.6;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
  }

  .text[data-labels] {
    line-height: 1.8;
  }

  .word {
    scroll-margin-block: 1.5rem;
    border-block-end: 2px solid var(--scope);
    padding: 0.05em 0.15em;
    box-decoration-break: clone;
    cursor: pointer;
  }

  /* For readers who do not see the colours: a line style for each scope. */
  .word[data-scope='app'] {
    border-block-end-style: double;
    border-block-end-width: 3px;
  }

  .word[data-scope='user'] {
    border-block-end-style: dashed;
  }

  .word[data-scope='temp'] {
    border-block-end-style: dotted;
  }

  .word:is([data-missing], [data-unknown]) {
    border-block-end: 0;
  }

  .word[data-open] {
    color: var(--paper);
    background: var(--scope);
  }

  .word[data-empty]::before {
    content: '∅';
  }

  /* A short word has its label above it, a long one before it. */
  .labelled {
    display: inline-block;
    max-width: 100%;
    line-height: 1.5;
    vertical-align: baseline;
  }

  .label {
    color: var(--scope, var(--quiet));
    font-family: var(--mono);
    font-size: 0.625rem;
    line-height: 1.15;
    white-space: nowrap;
    user-select: none;
  }

  .labelled > .label {
    display: block;
    padding-inline-start: 0.1em;
  }

  .label.before {
    margin-inline-end: 0.4em;
    border: 1px solid color-mix(in srgb, var(--scope) 45%, transparent);
    border-radius: var(--sp-radius-sm);
    padding: 0.1em 0.4em;
    vertical-align: 0.15em;
  }

  [data-missing] > .label {
    --scope: var(--bad);
  }

  /* Not part of the text that is read and copied. */
  .label::before {
    content: attr(data-key);
  }

  .label::after {
    content: attr(data-by);
  }

  del {
    margin-inline-end: 0.25em;
    color: var(--quiet);
    text-decoration: line-through;
    text-decoration-color: var(--bad);
  }

  .new {
    box-shadow: 0 0 0 2px var(--changed), 0 0 0 3px var(--warn);
  }

  @media (prefers-reduced-motion: no-preference) {
    del[data-fades] {
      animation: leave 4s ease-in forwards;
    }

    .new[data-fades='0'] {
      animation: arrive 4s ease-in forwards;
    }

    .new[data-fades='1'] {
      animation: arrive-again 4s ease-in forwards;
    }
  }

  @keyframes leave {
    70% {
      opacity: 1;
    }

    100% {
      opacity: 0;
      font-size: 0;
    }
  }

  @keyframes arrive {
    0% {
      background: color-mix(in srgb, var(--warn) 60%, transparent);
    }

    100% {
      box-shadow: none;
    }
  }

  @keyframes arrive-again {
    0% {
      background: color-mix(in srgb, var(--warn) 60%, transparent);
    }

    100% {
      box-shadow: none;
    }
  }
`;
