// The styles of the list of events.

import { css } from 'lit';

/** The styles of the list of events, for its own shadow tree. */
export const eventsStyle = css`
  :host {
    display: flex;
    flex-direction: column;
    min-height: 0;
  }

  .list {
    position: relative;
    flex: 1 1 0;
    overflow: hidden auto;
    min-height: 0;
    overscroll-behavior: contain;
    outline-offset: -2px;
  }

  .rows {
    position: relative;
  }

  .event {
    position: absolute;
    display: grid;
    grid-template: 'number time author line' 100% / var(--number) 5.4rem 6.5rem minmax(0, 1fr);
    align-items: center;
    gap: 0 0.7rem;
    inset: 0 0 auto;
    border-block-end: 1px solid var(--line);
    padding-inline: 0.6rem;
    cursor: pointer;
  }

  .event:hover {
    background: var(--ground);
  }

  .event[aria-selected='true'] {
    background: color-mix(in srgb, var(--accent) 13%, transparent);
    box-shadow: inset 3px 0 var(--accent);
  }

  .later .number,
  .later .author,
  .later .text {
    color: var(--quiet);
  }

  .number {
    grid-area: number;
    font-variant-numeric: tabular-nums;
    text-align: end;
  }

  .time {
    grid-area: time;
    color: var(--quiet);
    font-size: 0.8125rem;
    font-variant-numeric: tabular-nums;
  }

  .author {
    grid-area: author;
    font-weight: 600;
  }

  .line {
    display: flex;
    grid-area: line;
    align-items: center;
    gap: 0.7rem;
    min-width: 0;
  }

  .text {
    flex: 1 1 0;
  }

  .chips {
    display: flex;
    flex: 0 1 auto;
    justify-content: end;
    max-width: 55%;
    gap: 0.25rem;
    min-width: 0;
  }

  .number,
  .time,
  .author,
  .text,
  .key {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .key {
    flex: 0 1 auto;
    min-width: 1.5rem;
    max-width: 11rem;
    font-size: 0.75rem;
  }

  .deleted {
    text-decoration: line-through;
  }

  .narrow .event {
    grid-template:
      'number author time' 1fr
      'line line line' 1fr / auto minmax(0, 1fr) auto;
    padding-block: 0.2rem;
  }

  .narrow .time {
    text-align: end;
  }
`;
