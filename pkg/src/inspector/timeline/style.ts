// The styles of the timeline.

import { css } from 'lit';

/** The styles of the timeline, for its own shadow tree. */
export const timelineStyle = css`
  :host {
    container-type: inline-size;
  }

  .timeline {
    display: flex;
    flex-direction: column;
    gap: 0.5rem;
    height: 100%;
  }

  .timeline > .empty {
    min-height: 10rem;
  }

  .timeline > :not(.frame) {
    flex: none;
  }

  .legend {
    gap: 0.2rem 0.9rem;
    font-size: 0.8125rem;
  }

  /* On a phone the colours are explained by the state's headings. */
  @container (max-width: 34rem) {
    .legend {
      display: none;
    }

    .frame {
      max-height: 10rem;
    }
  }

  .legend li {
    display: flex;
    align-items: center;
    gap: 0.35rem;
  }

  .legend svg {
    width: 12px;
    height: 14px;
  }

  .tools button {
    min-width: 1.9rem;
    padding: 0.15em 0.5em;
  }

  .tools [aria-pressed='true'] {
    border-color: var(--accent);
    color: var(--accent);
  }

  .session {
    fill: var(--session);
  }

  .app {
    fill: var(--app);
  }

  .user {
    fill: var(--user);
  }

  .temp {
    fill: var(--temp);
  }

  .error {
    fill: var(--bad);
  }

  .cut {
    fill: var(--paper);
  }

  .overview {
    position: relative;
    overflow: hidden;
    height: 34px;
    border: 1px solid var(--line);
    border-radius: 6px;
    background: var(--ground);
    cursor: pointer;
    touch-action: none;
  }

  .overview svg {
    position: absolute;
    inset: 3px 0 0;
    width: 100%;
    height: calc(100% - 3px);
  }

  .overview .searched :not(.found) {
    opacity: 0.25;
  }

  .overview .found {
    fill: var(--accent);
  }

  .seen,
  .at-moment,
  .at-selected {
    position: absolute;
    inset-block: 0;
    pointer-events: none;
  }

  .seen {
    min-width: 6px;
    border: 1px solid var(--accent);
    border-radius: 5px;
    background: color-mix(in srgb, var(--accent) 8%, transparent);
  }

  .at-moment {
    width: 2px;
    margin-inline-start: -1px;
    background: var(--text);
  }

  .at-selected {
    inset-block-end: auto;
    width: 5px;
    height: 5px;
    margin-inline-start: -2.5px;
    border-radius: 50%;
    background: var(--accent);
  }

  .frame {
    display: grid;
    grid-template-columns: fit-content(min(8.5rem, 28cqi)) minmax(0, 1fr);
    overflow: hidden auto;
    flex: 1 1 auto;
    min-height: 6rem;
    max-height: 26rem;
    border: 1px solid var(--line);
    border-radius: 6px;
  }

  .lanes {
    min-width: 3rem;
    border-inline-end: 1px solid var(--line);
    padding-block-start: 24px;
    font-size: 0.8125rem;
  }

  .lanes li {
    overflow: hidden;
    height: 24px;
    border-block-start: 1px solid var(--line);
    padding-inline: 0.5rem;
    line-height: 23px;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .lanes .of-key {
    height: 27px;
    color: var(--scope);
    font-family: var(--mono);
    line-height: 26px;
  }

  .scroller {
    display: grid;
    overflow: auto hidden;
    overscroll-behavior-x: contain;
    outline-offset: -2px;
  }

  .picture {
    position: relative;
    overflow: clip;
  }

  .picture > svg {
    position: absolute;
    inset-block-start: 0;
    height: 100%;
  }

  .band {
    fill: color-mix(in srgb, var(--text) 5%, transparent);
  }

  .rules {
    stroke: var(--line);
    transform: translateY(0.5px);
  }

  .tick {
    fill: var(--quiet);
    font-size: 10px;
    text-anchor: middle;
    font-variant-numeric: tabular-nums;
  }

  .mark {
    cursor: pointer;
  }

  .nothing {
    fill: var(--paper);
    stroke: var(--none);
    stroke-width: 1.5;
  }

  .none {
    fill: var(--none);
  }

  .faint {
    opacity: 0.22;
  }

  .letter {
    fill: var(--paper);
    font: 700 10px var(--mono);
    text-anchor: middle;
    text-transform: uppercase;
  }

  .written {
    fill: none;
    stroke: var(--text);
    stroke-width: 1;
    stroke-dasharray: 2 1.5;
  }

  .mark .found {
    fill: var(--accent);
  }

  .ring {
    fill: none;
    stroke: var(--accent);
    stroke-width: 2;
  }

  .trace {
    position: absolute;
    inset: var(--lanes-end) 0 auto;
    height: 27px;
    border-block-start: 1px solid var(--line);
  }

  .stretch,
  .gap {
    position: absolute;
    overflow: clip;
    inset-block: 3px;
    border-inline-start: 2px solid var(--scope);
    border-radius: 3px;
    padding-inline: 4px;
    font: 0.75rem / 20px var(--mono);
    white-space: nowrap;
  }

  .stretch {
    background: color-mix(in srgb, var(--scope) 16%, transparent);
  }

  .gap {
    border-inline-start-style: dashed;
    color: var(--quiet);
    font-style: italic;
  }

  /* Without a width of its own it can follow the view to the very end of its stretch. */
  .stretch span,
  .gap span {
    position: sticky;
    display: inline-block;
    width: 0;
    inset-inline-start: 6px;
  }

  .later {
    position: absolute;
    inset-block: 24px 0;
    inset-inline-end: 0;
    background: color-mix(in srgb, var(--paper) 62%, transparent);
    pointer-events: none;
  }
`;
