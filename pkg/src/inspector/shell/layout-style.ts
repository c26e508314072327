// The places of the inspector's parts.

import { css } from 'lit';

/** The styles of the outermost element. */
export const layoutStyle = css`
  :host {
    position: relative;
    height: 100%;
    min-height: min(416px, 100dvh);
    background: var(--paper);
    font-family: var(--sans);
    outline: 0;
    -webkit-text-size-adjust: none;
    text-size-adjust: none;
  }

  :host([theme='light']) {
    color-scheme: light;
  }

  :host([theme='dark']) {
    color-scheme: dark;
  }

  .shell {
    display: grid;
    overflow: hidden;
    grid-template: auto minmax(0, 1fr) auto / minmax(0, 1fr);
    height: 100%;
    min-height: inherit;
  }

  .columns {
    display: grid;
    min-width: 0;
    min-height: 0;
  }

  .columns[data-shape='tall'] {
    grid-template:
      'body-0 line-a body-1 line-b body-2' minmax(0, 1fr)
      'line-c line-a body-1 line-b body-2' 1px
      'body-3 line-a body-1 line-b body-2' var(--below) / var(--left) 1px minmax(0, 1fr) 1px var(--right);
  }

  .columns[data-shape='wide'] {
    grid-template:
      'head-0 line-a body-1 line-b body-2' var(--sp-bar)
      'body-0 line-a body-1 line-b body-2' minmax(0, 1fr) / var(--left) 1px minmax(0, 1fr) 1px var(--right);
  }

  .columns[data-shape='middle'] {
    grid-template:
      'head-0 line-a head-1' var(--sp-bar)
      'body-0 line-a body-1' minmax(0, 1fr) / var(--left) 1px minmax(0, 1fr);
  }

  .columns[data-shape='narrow'] {
    grid-template:
      'head-0' 40px
      'body-0' minmax(0, 1fr) / minmax(0, 1fr);
  }

  .head {
    display: flex;
    align-items: stretch;
    gap: var(--sp-space-4);
    min-width: 0;
    border-block-end: 1px solid var(--line);
    padding-inline: var(--sp-space-3);
  }

  .head h2 {
    align-self: center;
  }

  .head [role='tab'] {
    position: relative;
    border: 0;
    border-radius: 0;
    padding: 0;
    color: var(--quiet);
    background: none;
    font-weight: 600;
  }

  .head [role='tab']:hover {
    color: var(--text);
  }

  .head [aria-selected='true'] {
    color: var(--text);
  }

  .head [aria-selected='true']::after {
    position: absolute;
    inset: auto 0 -1px;
    height: 2px;
    background: var(--accent);
    content: '';
  }

  .columns[data-shape='narrow'] .head {
    gap: 0;
    padding-inline: 0;
  }

  .columns[data-shape='narrow'] [role='tab'] {
    flex: 1 1 auto;
  }

  .body {
    position: relative;
    overflow: hidden auto;
    overscroll-behavior: contain;
    min-width: 0;
    min-height: 0;
    outline-offset: -2px;
    scrollbar-color: var(--edge) transparent;
    scrollbar-width: thin;
  }

  .body[hidden] {
    display: none;
  }

  .timeline {
    min-width: 0;
    border-block-start: 1px solid var(--line);
  }

  .timeline[hidden] {
    display: none;
  }

  .start {
    overflow: auto;
    display: grid;
    align-content: center;
    justify-items: center;
    gap: var(--sp-space-3);
    padding: var(--sp-space-5) var(--sp-space-4);
    text-align: center;
  }

  .start > .icon {
    width: 32px;
    height: 32px;
    color: var(--quiet);
    stroke-width: 1.5;
  }

  .start h2 {
    font-size: var(--sp-text-lg);
  }

  .start p {
    max-width: 544px;
    text-wrap: balance;
    color: var(--quiet);
  }

  .start pre {
    overflow: auto;
    max-width: 100%;
    margin: 0;
    border: 1px solid var(--line);
    border-radius: var(--sp-radius-md);
    padding: var(--sp-space-3) var(--sp-space-4);
    background: var(--sunken);
    line-height: 1.6;
    text-align: start;
  }

  .said {
    position: absolute;
    z-index: 3;
    inset-block-end: 144px;
    inset-inline-start: 50%;
    border-radius: var(--sp-radius-md);
    padding: var(--sp-space-2) var(--sp-space-3);
    background: var(--raised);
    box-shadow: var(--sp-shadow-lg);
    transform: translateX(-50%);
    animation: rise var(--sp-slow) var(--sp-ease);
  }

  .said:empty {
    display: none;
  }

  @keyframes rise {
    from {
      opacity: 0;
      transform: translate(-50%, 6px);
    }
  }
`;
