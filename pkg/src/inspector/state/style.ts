// The styles of the state.

import { css } from 'lit';

/** The styles of the state, for its own shadow tree. */
export const stateStyle = css`
  .whole {
    container-type: inline-size;
  }

  .top {
    min-height: 2rem;
    margin-block-end: 0.5rem;
    font-size: 0.8125rem;
  }

  .chip {
    border-radius: 4px;
    padding: 0 0.4em;
  }

  .columns {
    display: grid;
    gap: 1rem 0.75rem;
  }

  /* The session usually has the most keys: the others are beside it. */
  @container (min-width: 25rem) {
    .columns {
      grid-template:
        'session app' auto
        'session user' auto
        'session temp' 1fr / minmax(0, 1fr) minmax(0, 1fr);
    }

    [data-scope='session'] {
      grid-area: session;
    }

    [data-scope='app'] {
      grid-area: app;
    }

    [data-scope='user'] {
      grid-area: user;
    }

    [data-scope='temp'] {
      grid-area: temp;
    }
  }

  @container (min-width: 54rem) {
    .columns {
      grid-template: 'session app user temp' auto / minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1fr) minmax(0, 1fr);
    }
  }

  section {
    min-width: 0;
    border-block-start: 3px solid var(--scope);
  }

  header {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr) auto;
    align-items: baseline;
    gap: 0 0.5rem;
    padding-block: 0.35rem;
  }

  header h3 {
    color: var(--scope);
  }

  header p {
    grid-column: 1 / -1;
    font-size: 0.75rem;
    overflow-wrap: anywhere;
  }

  button.plain {
    color: var(--quiet);
  }

  button.plain:hover {
    color: var(--text);
  }

  li {
    border-block-start: 1px solid var(--line);
    padding: 0.3rem 0.4rem 0.35rem;
  }

  .head {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 0.4rem;
  }

  .named {
    display: flex;
    align-items: baseline;
    gap: 0.4rem;
    min-width: 0;
  }

  .added {
    background: var(--added);
  }

  .changed {
    background: var(--changed);
  }

  .deleted {
    background: var(--deleted);
  }

  .sign {
    font-family: var(--mono);
    font-weight: 700;
  }

  .key:hover {
    text-decoration: underline;
  }

  :is(.added, .changed, .deleted) .key {
    background: var(--paper);
  }

  .key[aria-pressed='true'] {
    color: var(--paper);
    background: var(--scope);
  }

  .deleted .key {
    text-decoration: line-through;
  }

  .key,
  .from {
    display: inline-block;
    min-height: 1.5rem;
    line-height: 1.5rem;
  }

  .from {
    font-size: 0.75rem;
    overflow-wrap: anywhere;
  }

  .actions {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    margin-inline: auto -0.25rem;
    font-size: 0.75rem;
  }

  .actions button {
    min-width: 1.5rem;
    min-height: 1.5rem;
    padding-inline: 0.25em;
  }

  .actions > span {
    padding-inline-end: 0.3rem;
  }

  .to {
    display: grid;
    grid-template-columns: auto minmax(0, 1fr);
    align-items: baseline;
    gap: 0 0.4rem;
  }

  .none {
    border-block-start: 1px solid var(--line);
    padding: 0.3rem 0.4rem;
    font-size: 0.8125rem;
  }

  /* Two names for one animation: it begins again when a value changes while it runs. */
  [data-flash='0'] {
    animation: flash 1.6s ease-out;
  }

  [data-flash='1'] {
    animation: flash-again 1.6s ease-out;
  }

  @keyframes flash {
    from {
      box-shadow: inset 0 0 0 2px var(--accent);
      background: color-mix(in srgb, var(--accent) 14%, var(--paper));
    }
  }

  @keyframes flash-again {
    from {
      box-shadow: inset 0 0 0 2px var(--accent);
      background: color-mix(in srgb, var(--accent) 14%, var(--paper));
    }
  }
`;
