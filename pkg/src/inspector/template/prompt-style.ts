// The styles of the prompt's pane.

import { css } from 'lit';

/** The styles of the pane, for its own shadow tree. */
export const promptStyle = css`
  :host {
    height: 100%;
    min-height: 14rem;
    container-type: size;
  }

  .layers {
    display: flex;
    flex-direction: column;
    height: 100%;
  }

  .layer {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }

  .layer.prompt {
    flex: 1 1 55%;
    background: var(--raised);
  }

  .layer.source {
    flex: 0 1 auto;
    min-height: 6rem;
    max-height: 48%;
    border-block-start: 1px solid var(--line);
    background: var(--sunken);
  }

  @container (min-width: 46rem) {
    .layers {
      flex-direction: row;
    }

    .layer.prompt,
    .layer.source {
      flex: 1 1 50%;
      max-height: none;
    }

    .layer.source {
      border-block-start: 0;
      border-inline-start: 1px solid var(--line);
    }
  }

  header {
    display: flex;
    flex: none;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 var(--sp-space-2);
    min-height: 1.75rem;
    padding-block: var(--sp-space-1);
    padding-inline: var(--sp-space-3);
    font-size: var(--sp-text-sm);
  }

  .prompt > header {
    flex-wrap: nowrap;
  }

  header h3 {
    white-space: nowrap;
  }

  .lead {
    flex: 1 1 0;
  }

  .problem {
    flex: none;
    padding: 0 var(--sp-space-3) var(--sp-space-2);
    font-size: var(--sp-text-sm);
  }

  .scroll {
    flex: 1 1 auto;
    overflow-y: auto;
    padding: 0 var(--sp-space-3) var(--sp-space-3);
    scrollbar-width: thin;
  }

  .scroll:focus-visible {
    outline-offset: -2px;
  }

  .missing {
    display: flex;
    flex-wrap: wrap;
    overflow-y: auto;
    max-height: 5.5rem;
    gap: 0 var(--sp-space-3);
  }

  .missing li {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 var(--sp-space-2);
  }

  @container (max-width: 34rem) {
    .place {
      display: none;
    }
  }

  .missing .link {
    font-family: var(--mono);
    overflow-wrap: anywhere;
  }

  statepad-template-editor {
    flex: 1 1 auto;
    min-height: 4rem;
    overflow: visible;
  }

  .suggestions {
    flex: none;
    overflow-y: auto;
    max-height: 6rem;
    padding: var(--sp-space-1) var(--sp-space-3) var(--sp-space-2);
  }

  .beginning {
    display: grid;
    gap: var(--sp-space-3);
    max-width: 34rem;
    padding: var(--sp-space-4);
  }

  .beginning h3 {
    font-size: var(--sp-text-lg);
  }

  .beginning code {
    padding-inline: 0.3em;
  }
`;
