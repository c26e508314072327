// The styles of the page around its components.

import { css } from 'lit';

/** The styles of the page, for its own shadow tree. */
export const pageStyle = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 100vh;
    font-size: 0.875rem;
  }

  header {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 0.4rem 0.9rem;
    border-block-end: 1px solid var(--line);
    padding: 0.5rem 1rem;
    background: var(--paper);
  }

  h1 {
    margin: 0;
    font-size: 1.125rem;
    font-weight: 700;
    letter-spacing: -0.01em;
  }

  .about {
    flex: 1 1 20rem;
    max-width: 52rem;
    color: var(--quiet);
    text-wrap: pretty;
  }

  .about a,
  .about .kept {
    display: inline-flex;
    align-items: center;
    min-height: 1.5rem;
    margin-inline-end: 0.6rem;
    white-space: nowrap;
  }

  a {
    color: var(--accent);
    text-underline-offset: 2px;
  }

  .kept::before {
    display: inline-block;
    width: 0.55em;
    height: 0.55em;
    margin-inline-end: 0.4em;
    border: 1px solid transparent;
    border-radius: 50%;
    background: var(--line);
    content: '';
  }

  .kept[data-kept='yes']::before {
    background: var(--user);
  }

  .kept[data-kept='no']::before {
    border-radius: 1px;
    background: var(--bad);
  }

  /* Out of sight until the Tab key leads there. */
  .skip {
    position: absolute;
    z-index: 10;
    inset: 0.25rem auto auto 0.25rem;
    display: flex;
    gap: 0.4rem;
    border: 1px solid var(--accent);
    border-radius: 8px;
    padding: 0.4rem;
    background: var(--paper);
  }

  .skip:not(:focus-within) {
    overflow: hidden;
    width: 1px;
    height: 1px;
    border: 0;
    padding: 0;
    clip-path: inset(50%);
  }

  main {
    display: grid;
    flex: 1 0 auto;
    gap: 0.75rem;
    width: 100%;
    max-width: 120rem;
    margin: 0 auto;
    padding: 0.75rem 1rem;
  }

  @media (min-width: 68rem) {
    main {
      grid-template-columns: minmax(20rem, 25rem) minmax(0, 1fr);
      align-items: start;
    }
  }

  /* All of it is in view at once: each part scrolls by itself. */
  @media (min-width: 68rem) and (min-height: 44rem) {
    :host {
      height: 100vh;
      height: 100dvh;
      min-height: 0;
    }

    main {
      flex: 1 1 0;
      grid-template-rows: minmax(0, 1fr);
      align-items: stretch;
      min-height: 0;
    }

    .talk {
      display: grid;
      overflow: hidden auto;
      grid-template-rows: minmax(36rem, 1fr);
    }
  }

  @media (max-width: 30rem) {
    header,
    main {
      padding-inline: 0.5rem;
    }
  }

  .over {
    position: fixed;
    z-index: 9;
    inset: 0.75rem;
    display: grid;
    place-items: center;
    border: 3px dashed var(--accent);
    border-radius: 12px;
    background: color-mix(in srgb, var(--paper) 88%, transparent);
    font-size: 1.25rem;
    pointer-events: none;
  }
`;
