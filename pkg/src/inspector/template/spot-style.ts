// The looks of placeholders, in a template and in its rendering.

import { css } from 'lit';

/** The styles of placeholders: a colour and a line style for each scope. */
export const spotStyle = css`
  .spot {
    --tint: 12%;
    border-radius: var(--sp-radius-sm);
    color: var(--scope, var(--text));
    background: color-mix(in srgb, var(--scope, var(--strong)) var(--tint), transparent);
  }

  .spot[data-scope='artifact'] {
    --scope: var(--quiet);
  }

  .spot[data-missing] {
    --scope: var(--bad);
    text-decoration: underline wavy var(--bad);
    text-decoration-skip-ink: none;
    text-underline-offset: 3px;
  }

  .spot[data-unknown] {
    outline: 1px dashed var(--quiet);
    outline-offset: -1px;
  }

  .spot[data-lit] {
    --tint: 34%;
    color: var(--text);
    outline: 2px solid var(--scope);
    outline-offset: 1px;
  }

  @media (forced-colors: active) {
    .spot[data-lit] {
      outline-color: Highlight;
    }
  }
`;
