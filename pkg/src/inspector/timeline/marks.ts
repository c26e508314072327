// The drawing of the timeline's events: a mark for each, or columns if there are too many.

import { nothing, svg, type SVGTemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import { columnPaths } from './density.js';
import type { Inspection } from '../model/inspection.js';
import { keysOf, type Log } from '../model/log.js';
import { isError, shortSummaryOf } from '../model/contents.js';
import { bandsOf, COLUMN, FINE, lowerBound, MARKED, segmentsOf, ticks, type Range, type Span } from './layout.js';

/** The heights of the picture's rows, in px. */
export const RULER = 24;
/** See {@link RULER}. */
export const LANE = 24;
/** From this step on a mark has room for its scopes' letters. */
const LETTERS = 28;

/** The parameters of a drawing. */
export interface Drawing {
  readonly inspection: Inspection;
  readonly step: number;
  readonly span: Span;
  readonly range: Range;
  /** The revisions that wrote the traced key. */
  readonly written: ReadonlySet<number>;
}

/** The fills of the scopes: plain, striped and dotted. Colour is never the only sign. */
export const patterns = svg`<defs>
  <pattern id="app-fill" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect class="app" width="5" height="5" /><rect class="cut" width="1.6" height="5" />
  </pattern>
  <pattern id="user-fill" width="4" height="4" patternUnits="userSpaceOnUse">
    <rect class="user" width="4" height="4" /><circle class="cut" cx="2" cy="2" r="0.95" />
  </pattern>
  <pattern id="temp-fill" width="4" height="4" patternUnits="userSpaceOnUse">
    <rect class="temp" width="4" height="4" /><rect class="cut" width="4" height="1.5" />
  </pattern>
</defs>`;

/** The picture of the events in a span; its origin is where the span begins. */
export function marks(drawing: Drawing): SVGTemplateResult {
  const { inspection, step, span, range } = drawing;
  const { log } = inspection;
  const bottom = RULER + log.authors.length * LANE;
  const bands = step < COLUMN ? [] : bandsOf(log, range, step);
  return svg`<g transform="translate(${-span.from} 0)">
    <path class="band" d=${bands.map(({ from, to }) => `M${from} ${RULER}H${to}V${bottom}H${from}z`).join('')} />
    <path class="rules" d=${log.authors.map((_, lane) => `M${span.from} ${RULER + lane * LANE}H${span.to}`).join('')} />
    ${
      step < FINE
        ? columns(drawing)
        : repeat(
            revisions(range),
            (revision) => revision,
            (revision) => markOf(drawing, revision),
          )
    }
    <path class="error" d=${errorPath(drawing)} />
    ${ring(drawing)}
  </g>`;
}

/** The numbers of the ruler; its origin is where the span begins. */
export function ruler(drawing: Drawing): SVGTemplateResult {
  const { step, span, range } = drawing;
  return svg`<g transform="translate(${-span.from} 0)">
    ${ticks(range, step).map((revision) => svg`<text class="tick" x=${tickAt(revision, drawing)} y="15">${revision}</text>`)}
  </g>`;
}

/** The middle of a tick's number: above its event, but not over the end. */
function tickAt(revision: number, { step, span }: Drawing): number {
  return Math.min((revision + 0.5) * step, span.to - 3.3 * String(revision).length);
}

function revisions({ first, last }: Range): number[] {
  return Array.from({ length: Math.max(last - first + 1, 0) }, (_, index) => first + index);
}

function columns({ inspection: { log, matches }, range, step }: Drawing): SVGTemplateResult {
  const lanes = { top: RULER, height: LANE };
  const draw = (only: readonly number[] | undefined, look: string): SVGTemplateResult => {
    const paths = columnPaths(log, range, { step, lanes, only });
    return svg`<g class=${look}>${(['none', ...MARKED] as const).map((scope) => svg`<path class=${scope} d=${paths[scope]} />`)}</g>`;
  };
  return matches === undefined ? draw(undefined, '') : svg`${draw(undefined, 'faint')}${draw(matches, 'match')}`;
}

/** The mark of an event, drawn again only when it looks different. */
function markOf({ inspection: { log, matches }, step, written }: Drawing, revision: number): unknown {
  const isWritten = written.has(revision);
  const isFound = matches === undefined ? undefined : matches[lowerBound(matches, revision)] === revision;
  return guard([log.at(revision), step, isWritten, isFound], () => mark(log, revision, { step, isWritten, isFound }));
}

/** The look of a mark, besides its event. */
interface Look {
  readonly step: number;
  /** True when the event wrote the traced key. */
  readonly isWritten: boolean;
  /** True for a match of the search; `undefined` without a search. */
  readonly isFound: boolean | undefined;
}

function mark(log: Log, revision: number, { step, isWritten, isFound }: Look): SVGTemplateResult {
  const [width, height] = [step - Math.min(4, step / 4), LANE - 8];
  const bits = log.scopes[revision - 1] ?? 0;
  const [x, y] = [revision * step + (step - width) / 2, RULER + (log.lanes[revision - 1] ?? 0) * LANE + 4];
  const isWide = step >= LETTERS;
  const segments = segmentsOf(bits, { width, height, isWide });
  const look = isFound === undefined ? '' : isFound ? 'match' : 'faint';
  return svg`<g class="mark ${look}" data-revision=${revision} transform="translate(${x} ${y})">
    <title>${titleOf(log, revision)}</title>
    ${
      segments.length === 0
        ? svg`<circle class="nothing" cx=${width / 2} cy=${height / 2} r=${Math.min(width / 2, 4) - 0.75} />`
        : segments.map(
            ({ scope, path, x: cx, y: cy }) =>
              svg`<path class=${scope} style=${isWide || scope === 'session' ? nothing : `fill: url(#${scope}-fill)`} d=${path} />
              ${isWide ? svg`<text class="letter" x=${cx} y=${cy + 3.5}>${scope.charAt(0)}</text>` : nothing}`,
          )
    }
    ${isWritten ? svg`<rect class="written" x="-1.5" y="-1.5" width=${width + 3} height=${height + 3} rx="4" />` : nothing}
    ${isFound === true ? svg`<rect class="found" x="0" y=${height + 1.5} width=${width} height="2" />` : nothing}
  </g>`;
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
  const width = Math.max(step, 7);
  const x = (selected + 0.5) * step - width / 2;
  const y = RULER + (log.lanes[selected - 1] ?? 0) * LANE + 1;
  return svg`<rect class="ring" data-revision=${selected} x=${x} y=${y} width=${width} height=${LANE - 2} rx="4" />`;
}

/** An event in a line: its revision, its author, and its writes or words. */
export function titleOf(log: Log, revision: number): string {
  const event = log.at(revision);
  if (event === undefined) {
    return `#${revision}`;
  }
  const keys = keysOf(event);
  const wrote =
    keys.length === 0
      ? ''
      : `, wrote ${keys.slice(0, 6).join(', ')}${keys.length > 6 ? ` and ${keys.length - 6} more` : ''}`;
  const text = shortSummaryOf(event);
  const what = isError(event) ? ' failed' : '';
  const said = text === '' ? '' : `: ${text.length > 80 ? `${text.slice(0, 80)}…` : text}`;
  return `#${revision} ${log.author(revision)}${what}${wrote}${said}`;
}
