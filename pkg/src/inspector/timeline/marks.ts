// The drawing of the timeline's events: a mark for each, or columns if there are too many.

import { nothing, svg, type SVGTemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { columnPaths } from './density.js';
import type { Inspection } from '../model/inspection.js';
import { deltaOf, SCOPE_BIT, type Log } from '../model/log.js';
import { GLYPHS, kindOf, type EventKind } from './glyphs.js';
import { bandsOf, COLUMN, FINE, lowerBound, MARKED, ticks, type Range, type Span } from './layout.js';
import { fillOf } from './legend.js';

/** The heights of the picture's rows, in px. */
export const RULER = 18;
/** See {@link RULER}. */
export const LANE = 22;
/** From this step on the sign of an event is an icon; below it, a dot. */
const ICONS = 12;
/** The size of an icon, in px; the top of the bar below it, and the height of that. */
const GLYPH = 12;
const BAR = { top: 15, height: 5 };

/** The parameters of a drawing. */
export interface Drawing {
  readonly inspection: Inspection;
  readonly step: number;
  readonly span: Span;
  readonly range: Range;
  readonly lit: Lit;
}

/** The parts of the picture that are lit up. */
export interface Lit {
  /** The keys whose writes are. */
  readonly keys: readonly string[];
  /** The event that is. */
  readonly revision: number | undefined;
}

/** The picture of the events in a span; its origin is where the span begins. The moment is no part of it. */
export function marks(drawing: Drawing): unknown {
  const { inspection, step, span, lit } = drawing;
  const { log, selected, matches } = inspection;
  const { events } = log;
  return guard(
    [events, events.length, log.missing, step, span.from, span.to, selected, matches, lit.revision, ...lit.keys],
    () => picture(drawing),
  );
}

function picture(drawing: Drawing): SVGTemplateResult {
  const { inspection, step, span, range } = drawing;
  const { log } = inspection;
  const bottom = RULER + log.authors.length * LANE;
  const bands = step < COLUMN ? [] : bandsOf(log, range, step);
  return svg`<g transform="translate(${-span.from} 0)">
    <path class="band" d=${bands.map(({ from, to }) => `M${from} ${RULER}H${to}V${bottom}H${from}z`).join('')} />
    <path class="rules" d=${log.authors.map((_, lane) => `M${span.from} ${RULER + lane * LANE}H${span.to}`).join('')} />
    ${step < FINE ? columns(drawing) : eventMarks(drawing)}
    <path class="error" d=${step < ICONS ? errorPath(drawing) : ''} />
    ${rewinds(drawing)}
    ${ring(drawing)}
  </g>`;
}

/** The numbers of the ruler; its origin is where the span begins. */
export function ruler(drawing: Drawing): SVGTemplateResult {
  const { step, span, range } = drawing;
  return svg`<g transform="translate(${-span.from} 0)">
    ${ticks(range, step).map((revision) => svg`<text class="tick" x=${tickAt(revision, drawing)} y="12">${revision}</text>`)}
  </g>`;
}

/** The middle of a tick's number: above its event, but not over the end. */
function tickAt(revision: number, { step, span }: Drawing): number {
  return Math.min((revision + 0.5) * step, span.to - 3.3 * String(revision).length);
}

function columns({ inspection: { log, matches }, range, step }: Drawing): SVGTemplateResult {
  const lanes = { top: RULER, height: LANE };
  const draw = (only: readonly number[] | undefined, look: string): SVGTemplateResult => {
    const paths = columnPaths(log, range, { step, lanes, only });
    return svg`<g class=${look}>${(['none', ...MARKED] as const).map((scope) => svg`<path class=${scope} d=${paths[scope]} />`)}</g>`;
  };
  return matches === undefined ? draw(undefined, '') : svg`${draw(undefined, 'faint')}${draw(matches, 'match')}`;
}

/**
 * The marks of all events. Those that look the same are the markers along one line that is not drawn: an element for
 * each event would be more work at a step of the slider than all the rest of the page.
 */
function eventMarks(drawing: Drawing): SVGTemplateResult[] {
  const { log } = drawing.inspection;
  const alike = new Map<string, number[]>();
  for (let revision = drawing.range.first; revision <= drawing.range.last; revision++) {
    const look = JSON.stringify(lookOf(drawing, revision));
    const others = alike.get(look);
    if (others === undefined) {
      alike.set(look, [revision]);
    } else {
      others.push(revision);
    }
  }
  return Array.from(alike, ([look, own], place) => {
    const points = own.map((one) => `${(one + 0.5) * drawing.step} ${RULER + (log.lanes[one - 1] ?? 0) * LANE}`);
    const marker = `url(#mark-${place})`;
    // The last point, which has no marker, ends the line of a single event, too.
    return svg`<marker id="mark-${place}" markerUnits="userSpaceOnUse" overflow="visible">${mark(JSON.parse(look) as Look, drawing.step)}</marker>
      <path class="marks" data-revisions=${own.join(' ')} style="marker-start:${marker};marker-mid:${marker}" d="M${points.join(' ')} ${points.at(-1)}" />`;
  });
}

/** The look of a mark. */
interface Look {
  readonly kind: EventKind;
  /** The scopes that the event wrote to: see `SCOPE_BIT`. */
  readonly scopes: number;
  /** True when the event is pointed at, or has written a key that is. */
  readonly isLit: boolean;
  /** True for a match of the search; absent without a search. */
  readonly isFound: boolean | undefined;
  /** True when a rewind has taken the event back. */
  readonly isUndone: boolean;
}

function lookOf({ inspection: { log, matches }, lit }: Drawing, revision: number): Look {
  return {
    kind: kindOf(log, revision),
    scopes: log.scopes[revision - 1] ?? 0,
    isLit: isLit(log, revision, lit),
    isFound: matches === undefined ? undefined : matches[lowerBound(matches, revision)] === revision,
    isUndone: log.undone(revision),
  };
}

/** True when an event is the one that is pointed at, or has written the key that is. */
function isLit(log: Log, revision: number, { keys, revision: pointed }: Lit): boolean {
  const event = log.at(revision);
  return revision === pointed || (event !== undefined && keys.some((key) => Object.hasOwn(deltaOf(event).delta, key)));
}

/** A mark; its origin is the middle of the top of its slot. */
function mark({ kind, scopes, isLit: lit, isFound, isUndone }: Look, step: number): SVGTemplateResult {
  const width = Math.min(Math.max(step - 4, 3), 22);
  const looks = [kind, isUndone && 'undone', isFound === true && 'match', isFound === false && 'faint', lit && 'lit'];
  return svg`<g class="mark ${looks.filter(Boolean).join(' ')}">
    ${lit ? svg`<rect class="light" x=${-width / 2 - 2} y="1" width=${width + 4} height=${LANE - 1} rx="4" />` : nothing}
    ${
      step < ICONS
        ? svg`<circle class="dot" cy="8" r=${Math.min(step / 2 - 0.75, 3)} />`
        : svg`<path class="glyph" transform="translate(${-GLYPH / 2} 2) scale(${GLYPH / 24})" d=${GLYPHS[kind]} />`
    }
    ${bars(scopes, width)}
    ${isFound === true ? svg`<rect class="found" x=${-width / 2} y=${LANE - 1.5} width=${width} height="1.5" />` : nothing}
  </g>`;
}

/** The scopes that an event wrote to, side by side. */
function bars(bits: number, width: number): unknown {
  const scopes = MARKED.filter((scope) => (bits & SCOPE_BIT[scope]) !== 0);
  const each = width / scopes.length;
  return scopes.map(
    (scope, place) =>
      svg`<rect
        class=${scope}
        style=${fillOf(scope) === '' ? nothing : fillOf(scope)}
        x=${-width / 2 + place * each + (place === 0 ? 0 : 0.5)}
        y=${BAR.top}
        width=${Math.max(each - (place === 0 ? 0 : 0.5), 1)}
        height=${BAR.height}
        rx="1.5"
      />`,
  );
}

/** A bar above each event that reports an error, even one without a mark of its own. */
function errorPath({ inspection: { log }, step, range }: Drawing): string {
  const { errors } = log;
  const shown = errors.slice(lowerBound(errors, range.first), lowerBound(errors, range.last + 1));
  const width = Math.max(step - 2, COLUMN);
  return shown
    .map((revision) => {
      const x = (revision + 0.5) * step - width / 2;
      return `M${x} ${RULER + (log.lanes[revision - 1] ?? 0) * LANE + 1}h${width}v3h${-width}z`;
    })
    .join('');
}

function ring({ inspection: { log, selected }, step, range }: Drawing): SVGTemplateResult | typeof nothing {
  if (selected === undefined || selected < range.first || selected > range.last) {
    return nothing;
  }
  const width = Math.min(Math.max(step, 7), 28);
  const x = (selected + 0.5) * step - width / 2;
  const y = RULER + (log.lanes[selected - 1] ?? 0) * LANE + 1;
  return svg`<rect class="ring" data-revision=${selected} x=${x} y=${y} width=${width} height=${LANE - 1} rx="4" />`;
}

/** A line from each rewind back to where it goes: all that it takes back is below it. */
function rewinds({ inspection: { log }, step, range }: Drawing): SVGTemplateResult {
  const shown = log.rewinds.filter(({ revision, to }) => revision >= range.first && to < range.last);
  const path = shown
    .map(({ revision, to }) => `M${(revision + 0.5) * step} ${RULER + 5}v-4H${(to + 1) * step}v4`)
    .join('');
  return svg`<path class="back" d=${path} />`;
}
