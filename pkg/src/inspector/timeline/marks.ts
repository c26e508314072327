// The drawing of the timeline's events: a mark for each, or columns if there are too many.

import { nothing, svg, type SVGTemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { columnPaths } from './density.js';
import type { Inspection } from '../model/inspection.js';
import { deltaOf, SCOPE_BIT, type Log } from '../model/log.js';
import { GLYPHS, kindOf, type EventKind } from './glyphs.js';
import { bandsOf, COLUMN, FINE, lowerBound, MARKED, ticks, type Marked, type Range, type Span } from './layout.js';
import { fillOf } from './legend.js';
import { boxPath, discPath, type Box } from './paths.js';

/** The heights of the picture's rows, in px. */
export const RULER = 18;
/** See {@link RULER}. */
export const LANE = 22;
/** From this step on the sign of an event is an icon; below it, a dot. */
const ICONS = 12;
/** The size of an icon, in px, and relative to its path; the top of the bar below it, and the height of that. */
const GLYPH = 12;
const SCALE = GLYPH / 24;
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
    ${step < FINE ? columns(drawing) : signs(drawing)}
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

/** True when an event is the one that is pointed at, or has written the key that is. */
function isLit(log: Log, revision: number, { keys, revision: pointed }: Lit): boolean {
  const event = log.at(revision);
  return revision === pointed || (event !== undefined && keys.some((key) => Object.hasOwn(deltaOf(event).delta, key)));
}

/** A part of the marks of several events. */
interface Shape {
  /** The kind of the events, for their signs. */
  readonly kind?: EventKind;
  /** The class, for other parts. */
  readonly name?: string;
  readonly revisions: number[];
  readonly outlines: string[];
}

/**
 * The marks of all events, each kind of shape as one path: an element for each event would be more work at a step of
 * the slider than all the rest of the page.
 */
function signs(drawing: Drawing): unknown {
  // By the looks of a mark besides its event, such as `undone`: the shapes.
  const groups = new Map<string, Map<string, Shape>>();
  for (let revision = drawing.range.first; revision <= drawing.range.last; revision++) {
    const looks = looksOf(drawing, revision);
    const shapes = groups.get(looks) ?? new Map<string, Shape>();
    groups.set(looks, shapes);
    for (const [name, outline, kind] of shapesOf(drawing, revision, looks)) {
      const id = kind ?? `of ${name}`;
      const shape = shapes.get(id) ?? { ...(kind === undefined ? { name } : { kind }), revisions: [], outlines: [] };
      shapes.set(id, shape);
      shape.revisions.push(revision);
      shape.outlines.push(outline);
    }
  }
  const sign = drawing.step < ICONS ? 'dot' : 'glyph';
  return [...groups].map(
    ([looks, shapes]) =>
      svg`<g class="marks ${looks}">${Array.from(
        shapes.values(),
        ({ kind, name = sign, revisions, outlines }) =>
          svg`<path
            class=${name}
            data-kind=${kind ?? nothing}
            data-revisions=${revisions.join(' ')}
            style=${isMarked(name) && fillOf(name) !== '' ? fillOf(name) : nothing}
            transform=${name === 'glyph' ? `scale(${SCALE})` : nothing}
            d=${outlines.join('')}
          />`,
      )}</g>`,
  );
}

function isMarked(name: string): name is Marked {
  return (MARKED as readonly string[]).includes(name);
}

/** The looks of a mark, besides its event: taken back by a rewind, found by a search or not, lit up. */
function looksOf({ inspection: { log, matches }, lit }: Drawing, revision: number): string {
  const isFound = matches === undefined ? undefined : matches[lowerBound(matches, revision)] === revision;
  const looks = [log.undone(revision) && 'undone', isFound && 'match', isFound === false && 'faint'];
  return [...looks, isLit(log, revision, lit) && 'lit'].filter(Boolean).join(' ');
}

type NamedOutline = readonly [name: string, outline: string, kind?: EventKind];

/** The shapes of the mark of an event, from back to front. */
function shapesOf({ inspection: { log }, step }: Drawing, revision: number, looks: string): NamedOutline[] {
  const kind = kindOf(log, revision);
  const [middle, top] = [(revision + 0.5) * step, RULER + (log.lanes[revision - 1] ?? 0) * LANE];
  const width = Math.min(Math.max(step - 4, 3), 22);
  const left = middle - width / 2;
  const sign =
    step < ICONS
      ? discPath(middle, top + 8, Math.min(step / 2 - 0.75, 3))
      : GLYPHS[kind]((middle - GLYPH / 2) / SCALE, (top + 2) / SCALE);
  const light = { x: left - 2, y: top + 1, width: width + 4, height: LANE - 1 };
  const found = { x: left, y: top + LANE - 1.5, width, height: 1.5 };
  return [
    ...(looks.includes('lit') ? [['light', boxPath(light, 4)] as const] : []),
    ['sign', sign, kind],
    ...bars(log.scopes[revision - 1] ?? 0, { x: left, y: top + BAR.top, width, height: BAR.height }),
    ...(looks.includes('match') ? [['found', boxPath(found, 0)] as const] : []),
  ];
}

/** The scopes that an event wrote to, side by side. */
function bars(bits: number, { x, y, width, height }: Box): NamedOutline[] {
  const scopes = MARKED.filter((scope) => (bits & SCOPE_BIT[scope]) !== 0);
  const each = width / scopes.length;
  return scopes.map((scope, place) => {
    const gap = place === 0 ? 0 : 0.5;
    return [scope, boxPath({ x: x + place * each + gap, y, width: Math.max(each - gap, 1), height }, 1.5)];
  });
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
