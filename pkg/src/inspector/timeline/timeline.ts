// All events of a session as a picture: a lane for each author, a mark for each event, the moment as a line.

import { html, nothing, svg, type PropertyDeclarations, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { styleMap } from 'lit/directives/style-map.js';
import { Density } from './density.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { AfterLayout } from '../ui/after-layout.js';
import type { Inspection } from '../model/inspection.js';
import { splitKey } from '../model/log.js';
import { LANE, marks, patterns, ruler, RULER } from './marks.js';
import { momentText } from './moment.js';
import { nameOf } from '../model/session-name.js';
import { overview } from './overview.js';
import {
  allowedStep,
  drawnSpan,
  eventAt,
  firstStep,
  fitStep,
  lowerBound,
  MARKED,
  rangeOf,
  scrollFor,
  segmentsOf,
  widthOf,
  zoomed,
  type Marked,
  type Span,
} from './layout.js';
import { base } from '../ui/style.js';
import { momentStyle } from './moment-style.js';
import { timelineStyle } from './style.js';
import { Trace, traceLane } from './key-lane.js';

/** The height of the lane of a key, in px. */
const TRACE = 27;

/** The width of the slider's thumb, in px: its middle is the line of the moment. */
const THUMB = 24;

/** The width before the first layout, in px: something must be drawn to have one. */
const UNKNOWN_WIDTH = 600;

const SIGNS: Readonly<Record<Marked, string>> = { session: 'plain', app: 'striped', user: 'dotted', temp: 'lined' };

/** The events of a session along its revisions. */
export class StatepadTimeline extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    zoom: { state: true },
    width: { state: true },
    drawn: { state: true },
  };
  static override styles = [base, timelineStyle, momentStyle];
  /** The chosen width of a slot, in px. */
  declare private zoom: number | 'fit' | undefined;
  /** The visible width, in px. */
  declare private width: number;
  /** The drawn span, in px from the start of the picture. */
  declare private drawn: Span;
  readonly #density = new Density();
  readonly #trace = new Trace();
  readonly #sizes = new ResizeObserver(() => this.#resized());
  #scroll = 0;
  /** The width of the whole picture as it is on screen, in px. The log may be ahead of it. */
  #all = 0;
  /** True while the end stays visible. */
  #isFollowing = true;
  readonly #afterLayout = new AfterLayout();
  #frame: number | undefined;
  /** The state that was brought into view last: later changes are brought into view. */
  #shown: { session: unknown; revision: number; isNow: boolean; selected: number | undefined } | undefined;
  /** True while the line of the moment is dragged: the click at the end selects no event. */
  #hasDragged = false;
  /** The share of all slots before the middle of the view, while the zoom changes. */
  #anchor: number | undefined;

  constructor() {
    super();
    this.width = UNKNOWN_WIDTH;
    this.drawn = drawnSpan(0, UNKNOWN_WIDTH);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
    if (this.#frame !== undefined) {
      cancelAnimationFrame(this.#frame);
      this.#frame = undefined;
    }
  }

  get #count(): number {
    return this.inspection?.log.events.length ?? 0;
  }

  get #fit(): number {
    return fitStep(this.#count, this.width);
  }

  /** The width of a slot, in px. */
  get #step(): number {
    const fit = this.#fit;
    return allowedStep(this.zoom === 'fit' ? fit : (this.zoom ?? firstStep(fit)), this.#count);
  }

  get #scroller(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>('.scroller');
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return html`<p class="empty">There is no session to draw.</p>`;
    }
    this.#density.update(inspection.log);
    this.#all = widthOf(this.#count, this.#step);
    return html`<div class="timeline">
      <svg class="hidden" aria-hidden="true">${patterns}</svg>
      <div class="row head">
        <slot name="title"></slot>
        <statepad-moment .inspection=${inspection}></statepad-moment>
        <div class="row spread">${legend}${this.#found(inspection)}${this.#zooms()}</div>
      </div>
      ${this.#all > this.width + 1 ? overview(inspection, this.#density, (share) => this.#jump(share)) : nothing}
      ${
        this.#count === 0
          ? html`<p class="empty">Nothing has happened yet. Events appear here as they are appended.</p>`
          : this.#picture(inspection)
      }
    </div>`;
  }

  #zooms(): TemplateResult {
    const step = this.#step;
    const isFit = this.zoom === 'fit';
    const [narrower, wider] = [zoomed(step, -1, this.#fit), zoomed(step, 1, this.#fit)];
    return html`<div class="row tools" role="group" aria-label="Zoom of the timeline">
      <button aria-label="zoom out" ?disabled=${narrower === undefined} @click=${() => this.#zoomTo(narrower ?? step)}>−</button>
      <button aria-label="zoom in" ?disabled=${wider === undefined} @click=${() => this.#zoomTo(wider ?? step)}>+</button>
      <button aria-pressed=${isFit} title="All events at once" @click=${() => this.#zoomTo(isFit ? undefined : 'fit')}>fit</button>
    </div>`;
  }

  #found({ matches, selected }: Inspection): TemplateResult | typeof nothing {
    if (matches === undefined) {
      return nothing;
    }
    const place = selected === undefined ? matches.length : lowerBound(matches, selected);
    const isOne = matches[place] === selected && selected !== undefined;
    const text = isOne ? `${place + 1} of ${matches.length}` : String(matches.length);
    return html`<div class="row tools" role="group" aria-label="Events found">
      <span>${text} ${matches.length === 1 ? 'match' : 'matches'}</span>
      <button aria-label="previous match" ?disabled=${matches.length === 0} @click=${() => this.#toMatch(-1)}>‹</button>
      <button aria-label="next match" ?disabled=${matches.length === 0} @click=${() => this.#toMatch(1)}>›</button>
    </div>`;
  }

  #picture(inspection: Inspection): TemplateResult {
    const { log, traced, target } = inspection;
    const [step, count] = [this.#step, this.#count];
    const whole = Math.max(this.#all, this.width);
    const span = { from: this.drawn.from, to: Math.min(this.drawn.to, whole) };
    const range = rangeOf(span, step, count);
    const drawing = { inspection, step, span, range, written: this.#written(traced) };
    // The lane of a key has its room even while it is not drawn, so that the content below does not move.
    const height = RULER + log.authors.length * LANE + TRACE;
    const line = (target + 1) * step;
    const [left, width] = [`${span.from}px`, Math.max(span.to - span.from, 0)];
    return html`<div class="frame" @scroll=${this.#scrolledDown}>
      <ul class="lanes" aria-label="Authors">
        ${log.authors.map((author) => html`<li dir="auto" title=${author}>${author}</li>`)}
        ${traced === undefined ? nothing : html`<li class="of-key" data-scope=${splitKey(traced).scope} title=${traced}>${traced}</li>`}
      </ul>
      <div class="scroller" @scroll=${this.#scrolled} @click=${this.#clicked}>
        <div class="picture" style=${styleMap({ width: `${whole}px`, 'min-height': `${height}px`, '--lanes-end': `${height - TRACE}px` })}>
          <svg style=${styleMap({ left })} width=${width} height=${height}>${marks(drawing)}</svg>
          ${traced === undefined ? nothing : traceLane(this.#trace, { span, step, count })}
          ${target === count ? nothing : html`<div class="later" style=${styleMap({ left: `${line}px` })}></div>`}
          <div
            class="moment"
            style=${styleMap({ left: `${line}px` })}
            @pointerdown=${this.#grabbed}
            @pointermove=${this.#dragged}
          ></div>
          <div class="ruler">
            <svg style=${styleMap({ left })} width=${width} height=${RULER}>${ruler(drawing)}</svg>
            <input
              type="range"
              aria-label="moment"
              aria-valuetext=${momentText(inspection)}
              min="0"
              max=${count}
              step="1"
              style=${styleMap({ left: `${step - THUMB / 2}px`, width: `${count * step + THUMB}px` })}
              .value=${live(String(target))}
              @input=${(event: InputEvent) => inspection.travel((event.target as HTMLInputElement).valueAsNumber)}
            />
          </div>
        </div>
      </div>
    </div>`;
  }

  /** The revisions that wrote the traced key, within the drawn range. */
  #written(traced: string | undefined): ReadonlySet<number> {
    return new Set(traced === this.#trace.key ? this.#trace.steps.map(({ revision }) => revision) : []);
  }

  protected override updated(): void {
    const scroller = this.#scroller;
    if (scroller === null || this.inspection === undefined) {
      return;
    }
    this.#sizes.observe(scroller);
    this.#bringIntoView(this.inspection);
    this.#scrolledTo();
    const range = rangeOf(this.drawn, this.#step, this.#count);
    this.#trace.update(this.inspection, range).then(
      (isNew) => isNew && this.requestUpdate(),
      (error: unknown) => this.inspection?.dispatchEvent(new CustomEvent('problem', { detail: error })),
    );
  }

  /** Scrolls to changes: the moment, the selected event, the end. */
  #bringIntoView({ session, target: revision, isNow, selected }: Inspection): void {
    const id = session === undefined ? '' : nameOf(session);
    const before = this.#shown;
    this.#shown = { session: id, revision, isNow, selected };
    const step = this.#step;
    if (before?.session !== id || (isNow && !before.isNow)) {
      this.#isFollowing = true;
    }
    if (this.#anchor !== undefined) {
      this.#scrollTo(this.#anchor * step - this.width / 2);
      this.#anchor = undefined;
    }
    if (before !== undefined && revision !== before.revision && !(isNow && revision === this.#count)) {
      this.#show({ from: revision * step, to: (revision + 1) * step });
    }
    if (before !== undefined && selected !== undefined && selected !== before.selected) {
      this.#show({ from: selected * step, to: (selected + 1) * step });
    }
    if (isNow && this.#isFollowing) {
      this.#scrollTo(Infinity);
      void this.#afterLayout.run(() => this.#settle());
    }
  }

  /** Corrects the layout after other components have been drawn, which may have changed the room. */
  #settle(): void {
    const scroller = this.#scroller;
    if (
      scroller !== null &&
      this.#isFollowing &&
      scroller.scrollLeft < scroller.scrollWidth - scroller.clientWidth - 1
    ) {
      scroller.scrollLeft = scroller.scrollWidth;
      this.#scroll = scroller.scrollLeft;
    }
  }

  #show(span: Span): void {
    this.#scrollTo(scrollFor(span, { from: this.#scroll, to: this.#scroll + this.width }));
  }

  #scrollTo(left: number): void {
    const scroller = this.#scroller;
    const last = Math.max(this.#all - this.width, 0);
    const wanted = Math.min(Math.max(left, 0), last);
    if (scroller !== null && Math.abs(wanted - this.#scroll) >= 1) {
      scroller.scrollLeft = wanted;
      this.#scroll = scroller.scrollLeft;
    }
    this.#isFollowing = wanted >= last - 2;
  }

  readonly #scrolled = (): void => {
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = undefined;
      const scroller = this.#scroller;
      if (scroller !== null) {
        const { scrollLeft, scrollWidth, clientWidth } = scroller;
        if (Math.abs(scrollLeft - this.#scroll) >= 1) {
          this.#scroll = scrollLeft;
          this.#isFollowing = scrollLeft >= scrollWidth - clientWidth - 2;
        }
        this.#scrolledTo();
      }
    });
  };

  /** Draws further when the view comes near the end of the drawn span. */
  #scrolledTo(): void {
    const drawn = drawnSpan(this.#scroll, this.width);
    if (drawn.from !== this.drawn.from || drawn.to !== this.drawn.to) {
      this.drawn = drawn;
    }
    const visiblePart = this.renderRoot.querySelector<HTMLElement>('.seen');
    visiblePart?.style.setProperty('left', `${(100 * this.#scroll) / this.#all}%`);
    visiblePart?.style.setProperty('width', `${(100 * this.width) / this.#all}%`);
  }

  #resized(): void {
    const width = this.#scroller?.clientWidth ?? 0;
    if (width > 0 && width !== this.width) {
      this.width = width;
    }
  }

  #jump(share: number): void {
    this.#scrollTo(share * (this.#count + 1) * this.#step - this.width / 2);
    this.#scrolledTo();
  }

  #zoomTo(zoom: number | 'fit' | undefined): void {
    this.#anchor = this.#isFollowing ? undefined : (this.#scroll + this.width / 2) / this.#step;
    this.zoom = zoom === this.#fit ? 'fit' : zoom;
  }

  #toMatch(direction: 1 | -1): void {
    const { matches = [], selected } = this.inspection ?? {};
    const from = selected ?? this.inspection?.revision ?? 0;
    const place = direction > 0 ? lowerBound(matches, from + 1) : lowerBound(matches, from) - 1;
    this.inspection?.select(matches.at(place % Math.max(matches.length, 1)));
  }

  /** A click on an event shows its moment, and the event in full. */
  readonly #clicked = (event: MouseEvent): void => {
    const { inspection } = this;
    const { x, y } = this.#pointAt(event);
    if (inspection === undefined || this.#hasDragged || y < RULER) {
      this.#hasDragged = false;
      return;
    }
    const revision = eventAt({ x, lane: Math.floor((y - RULER) / LANE) }, this.#step, inspection.log);
    if (revision !== undefined) {
      inspection.select(revision);
      inspection.travel(revision);
    }
  };

  /** The position of the pointer, in px from the start of the picture. */
  #pointAt({ clientX, clientY }: MouseEvent): { readonly x: number; readonly y: number } {
    const { left = 0, top = 0 } = this.renderRoot.querySelector('.picture')?.getBoundingClientRect() ?? {};
    return { x: clientX - left, y: clientY - top };
  }

  readonly #grabbed = (event: PointerEvent): void => {
    if (event.button === 0) {
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      this.#hasDragged = false;
    }
  };

  /** Moves the line of the moment with the pointer: it stands between two events. */
  readonly #dragged = (event: PointerEvent): void => {
    const { inspection } = this;
    if (inspection === undefined || !(event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) {
      return;
    }
    const revision = Math.min(Math.max(Math.round(this.#pointAt(event).x / this.#step) - 1, 0), this.#count);
    if (revision !== inspection.target) {
      this.#hasDragged = true;
      inspection.travel(revision);
    }
  };

  /** Keeps the ruler with the slider in view where there are more lanes than room. */
  readonly #scrolledDown = (event: Event): void => {
    const frame = event.currentTarget as HTMLElement;
    frame.style.setProperty('--scrolled', `${frame.scrollTop}px`);
  };
}

const legend = html`<ul class="row legend" aria-label="What a mark has written">
  ${MARKED.map(
    (scope, index) =>
      html`<li>
        <svg viewBox="0 0 12 14" aria-hidden="true">
          ${segmentsOf(2 ** index, { width: 12, height: 14, isWide: false }).map(
            ({ path }) =>
              svg`<path class=${scope} style=${scope === 'session' ? nothing : `fill: url(#${scope}-fill)`} d=${path} />`,
          )}
        </svg>
        ${scope} <span class="hidden">(${SIGNS[scope]})</span>
      </li>`,
  )}
  <li>
    <svg viewBox="0 0 12 14" aria-hidden="true"><circle class="nothing" cx="6" cy="7" r="3.25" /></svg>
    nothing
  </li>
</ul>`;

customElements.define('statepad-timeline', StatepadTimeline);
