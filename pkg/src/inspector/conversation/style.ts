// The styles of the conversation.

import { css } from 'lit';
import { entryStyle } from './entry-style.js';
import { itemStyle } from './item-style.js';

/** The list and its bar; the entries have styles of their own. */
export const conversationStyle = [
  css`
    :host {
      display: flex;
      flex-direction: column;
      height: 100%;
      min-height: 0;
      background: var(--paper);
    }

    .bar {
      display: flex;
      flex: none;
      align-items: center;
      gap: var(--sp-space-2);
      min-height: var(--sp-bar);
      border-block-end: 1px solid var(--line);
      padding-inline: var(--sp-space-2);
    }

    .bar .tabs {
      margin-inline-end: auto;
    }

    .bar .bad {
      color: var(--bad);
    }

    .tabs {
      display: flex;
      flex-wrap: wrap;
      gap: 2px;
    }

    .tabs button {
      padding: 0.15em 0.6em;
    }

    .list {
      position: relative;
      flex: 1 1 0;
      overflow: hidden auto;
      min-height: 8rem;
      overscroll-behavior: contain;
      overflow-anchor: none;
    }

    .rows {
      position: relative;
      width: 100%;
    }

    .slot {
      position: absolute;
      inset: 0 0 auto;
      padding-inline: var(--sp-space-3);
    }

    statepad-events {
      flex: 1 1 0;
      min-height: 8rem;
    }

    statepad-composer {
      flex: none;
      border-block-start: 1px solid var(--line);
    }

    .list > .empty {
      padding: var(--sp-space-5) var(--sp-space-4);
      text-align: center;
    }
  `,
  entryStyle,
  itemStyle,
];
