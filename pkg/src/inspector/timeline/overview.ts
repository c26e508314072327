// The strip that shows a whole session at once: its writes, the visible part, the moment.

import { html, svg, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import type { Density } from './density.js';
import type { Inspection } from '../model/inspection.js';
import { KEPT } from './layout.js';

/** The number of matches that can be distinguished in the strip. */
const COLUMNS = 400;

/** The strip. `jump` gets the position of a click, from 0, the start, to 1. */
export function overview(inspection: Inspection, density: Density, jump: (share: number) => void): TemplateResult {
  const { log, matches, revision, selected } = inspection;
  const count = log.events.length;
  const paths = density.paths();
  const at = (slot: number): string => `${(100 * slot) / (count + 1)}%`;
  const touch = (event: PointerEvent): void => {
    const strip = event.currentTarget as HTMLElement;
    const { left, width } = strip.getBoundingClientRect();
    jump((event.clientX - left) / width);
  };
  return html`<div
    class="overview"
    role="img"
    aria-label="overview of all ${count} events"
    @pointerdown=${(event: PointerEvent) => {
      if (event.button === 0) {
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
        touch(event);
      }
    }}
    @pointermove=${(event: PointerEvent) => {
      if ((event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) {
        touch(event);
      }
    }}
  >
    <svg class=${matches === undefined ? '' : 'searched'} viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">
      ${KEPT.map((scope) => svg`<path class=${scope} d=${paths[scope]} />`)}
      <path class="found" d=${matches === undefined ? '' : foundPath(matches, count)} />
    </svg>
    ${selected === undefined ? '' : html`<div class="at-selected" style=${styleMap({ left: at(selected + 0.5) })}></div>`}
    <div class="at-moment" style=${styleMap({ left: at(revision + 1) })}></div>
    <div class="seen"></div>
  </div>`;
}

function foundPath(matches: readonly number[], count: number): string {
  const columns = new Set(matches.map((revision) => Math.floor((COLUMNS * (revision + 0.5)) / (count + 1))));
  return [...columns].map((column) => `M${column / COLUMNS} 0.3h${1 / COLUMNS}V1h${-1 / COLUMNS}z`).join('');
}
