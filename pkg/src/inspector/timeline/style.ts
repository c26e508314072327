// The styles of the timeline.

import { css } from 'lit';

/** The styles of the timeline, for its own shadow tree. */
export const timelineStyle = css`
  :host {
    background: var(--paper);
    user-select: none;
  }

  .head {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
    height: 32px;
    padding-inline: var(--sp-space-2);
  }

  .zoom {
    flex-wrap: nowrap;
    gap: 2px;
  }

  .tools {
    display: flex;
    flex: none;
    align-items: center;
    gap: 2px;
    margin-inline-start: auto;
  }

  .tools [aria-expanded='true']:not(:hover) {
    background: none;
  }

  .tools .square {
    width: 24px;
    height: 24px;
    min-height: 0;
    font-size: var(--sp-text-md);
  }

  statepad-find {
    margin-inline-end: var(--sp-space-1);
  }

  statepad-moment {
    flex: none;
  }

  :host([narrow]) statepad-moment {
    flex: 1 1 auto;
  }

  :host([narrow]) :is(statepad-find, .zoom) {
    display: none;
  }

  .error {
    fill: var(--bad);
  }

  .overview {
    position: relative;
    overflow: hidden;
    flex: 1 1 64px;
    min-width: 64px;
    height: 20px;
    border-radius: var(--sp-radius-sm);
    background: var(--sunken);
    cursor: pointer;
    touch-action: none;
  }

  .overview svg {
    position: absolute;
    inset: 2px 0 0;
    width: 100%;
    height: calc(100% - 2px);
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
    border-radius: var(--sp-radius-sm);
    background: color-mix(in srgb, var(--accent) 8%, transparent);
  }

  .at-moment {
    width: 2px;
    margin-inline-start: -1px;
    background: var(--accent);
  }

  .at-selected {
    inset-block-end: auto;
    width: 5px;
    height: 5px;
    margin-inline-start: -2.5px;
    border-radius: 50%;
    background: var(--text);
  }

  .frame {
    display: grid;
    grid-template-columns: fit-content(min(136px, 24%)) minmax(0, 1fr);
    overflow: hidden auto;
    height: var(--frame);
    border-block-start: 1px solid var(--line);
    scrollbar-color: var(--edge) transparent;
    scrollbar-width: thin;
  }

  .nothing-yet {
    display: flex;
    align-items: center;
    justify-content: center;
    gap: var(--sp-space-2);
    height: var(--frame);
    border-block-start: 1px solid var(--line);
    color: var(--quiet);
  }

  .lanes {
    min-width: 56px;
    border-inline-end: 1px solid var(--line);
    padding-block-start: 18px;
    font-size: var(--sp-text-sm);
  }

  .lanes li {
    overflow: hidden;
    height: 22px;
    padding-inline: var(--sp-space-3);
    color: var(--quiet);
    line-height: 22px;
    text-overflow: ellipsis;
    white-space: nowrap;
  }

  .lanes .of-key {
    color: var(--scope);
    font-family: var(--mono);
    font-size: var(--sp-text-xs);
  }

  .scroller {
    display: grid;
    overflow: auto hidden;
    overscroll-behavior-x: contain;
    outline-offset: -2px;
    scrollbar-width: none;
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
    fill: color-mix(in srgb, var(--text) 3.5%, transparent);
  }

  .rules {
    stroke: var(--line);
    stroke-dasharray: 1 3;
    transform: translateY(0.5px);
  }

  .tick {
    fill: var(--quiet);
    font-size: 10px;
    text-anchor: middle;
    font-variant-numeric: tabular-nums;
  }

  .scroller[data-over] {
    cursor: pointer;
  }

  .marks {
    fill: none;
  }

  .mark {
    color: var(--quiet);
  }

  .mark .dot {
    fill: currentcolor;
  }

  .mark.user {
    fill: none;
    color: var(--text);
  }

  .mark:is(.rewind, .fork) {
    color: var(--warn);
  }

  .mark:is(.match, .lit) {
    color: var(--text);
  }

  .mark:is(.error, .failed) {
    fill: none;
    color: var(--bad);
  }

  .mark .glyph {
    fill: none;
    stroke: currentcolor;
    stroke-width: 2.5;
    stroke-linecap: round;
    stroke-linejoin: round;
  }

  .undone {
    opacity: 0.38;
  }

  .faint {
    opacity: 0.22;
  }

  .none {
    fill: var(--none);
  }

  .light {
    fill: color-mix(in srgb, var(--accent) 20%, transparent);
    stroke: var(--accent);
    stroke-width: 1;
  }

  .mark .found {
    fill: var(--accent);
  }

  .ring {
    fill: none;
    stroke: var(--accent);
    stroke-width: 1.5;
  }

  .back {
    fill: none;
    stroke: var(--warn);
    stroke-width: 1.25;
  }

  .trace {
    position: absolute;
    inset: var(--lanes-end) 0 auto;
    height: 22px;
  }

  .stretch,
  .gap {
    position: absolute;
    overflow: clip;
    inset-block: 2px;
    border-inline-start: 2px solid var(--scope);
    border-radius: 3px;
    padding-inline: 4px;
    font: var(--sp-text-xs) / 18px var(--mono);
    white-space: nowrap;
  }

  .stretch {
    background: color-mix(in srgb, var(--scope) 15%, transparent);
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
    inset-block: 18px 0;
    inset-inline-end: 0;
    background: color-mix(in srgb, var(--paper) 58%, transparent);
    pointer-events: none;
  }
`;
