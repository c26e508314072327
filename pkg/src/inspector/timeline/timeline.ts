// All events of a session as a picture: a lane for each author, a mark for each event, the moment as a line.

import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { styleMap } from 'lit/directives/style-map.js';
import { Density } from './density.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { AfterLayout } from '../ui/after-layout.js';
import { icon } from '../ui/icons.js';
import { keepChoice, keptChoice } from '../ui/kept.js';
import type { Inspection } from '../model/inspection.js';
import { splitKey } from '../model/log.js';
import { Hover } from './hover.js';
import { legendStyle, patterns } from './legend.js';
import { LANE, marks, ruler, RULER, type Lit } from './marks.js';
import { momentText } from './moment.js';
import { nameOf } from '../model/session-name.js';
import { overview } from './overview.js';
import {
  allowedStep,
  drawnSpan,
  eventAt,
  firstStep,
  fitStep,
  rangeOf,
  scrollFor,
  turnsOf,
  widthOf,
  zoomed,
  type Span,
} from './layout.js';
import { base } from '../ui/style.js';
import { momentStyle } from './moment-style.js';
import { Player } from './player.js';
import { timelineStyle } from './style.js';
import { tipStyle } from './tip.js';
import { Trace, traceLane } from './key-lane.js';
import './find.js';
import './moment.js';
import type { StatepadFind } from './find.js';

/** The numbers of lanes that are in view, the lane of a key included. */
const LANES = { least: 2, most: 4 };

/** The width of the slider's thumb, in px: its middle is the line of the moment. */
const THUMB = 36;

/** The width before the first layout, in px: something must be drawn to have one. */
const UNKNOWN_WIDTH = 600;

/** The room that the number of the moment needs to the right of its line, in px. */
const GRIP = 24;

/** The name under which it is kept that the lanes are folded. */
const FOLDED = 'timeline-folded';

/** The events of a session along its revisions. */
export class StatepadTimeline extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    zoom: { state: true },
    width: { state: true },
    drawn: { state: true },
    narrow: { type: Boolean, reflect: true },
    folded: { state: true },
  };
  static override styles = [base, legendStyle, timelineStyle, momentStyle, tipStyle];
  /** True where there is room for little more than the moment: the lanes are folded at first. */
  declare narrow: boolean;
  /** True when the lanes are folded; `undefined` until the user has chosen. */
  declare private folded: boolean | undefined;
  /** The chosen width of a slot, in px. */
  declare private zoom: number | 'fit' | undefined;
  /** The visible width, in px. */
  declare private width: number;
  /** The drawn span, in px from the start of the picture. */
  declare private drawn: Span;
  readonly #density = new Density();
  readonly #trace = new Trace();
  readonly #player = new Player(() => this.requestUpdate());
  readonly #hover = new Hover(this);
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
    this.narrow = false;
    this.folded = FOLDS[keptChoice(FOLDED) ?? ''];
    this.width = UNKNOWN_WIDTH;
    this.drawn = drawnSpan(0, UNKNOWN_WIDTH);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
    this.#player.stop();
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

  /** Moves the focus into the field that searches. */
  find(): void {
    this.renderRoot.querySelector<StatepadFind>('statepad-find')?.focus();
  }

  /** Plays the session from the moment on, or stops that. */
  play(): void {
    if (this.inspection !== undefined) {
      this.#player.toggle(this.inspection);
    }
  }

  get #isFolded(): boolean {
    return this.folded ?? this.narrow;
  }

  #fold(): void {
    this.folded = !this.#isFolded;
    keepChoice(FOLDED, this.folded ? 'folded' : 'open');
  }

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return nothing;
    }
    this.#density.update(inspection.log);
    this.#all = widthOf(this.#count, this.#step);
    const lanes = inspection.log.authors.length + (inspection.traced === undefined ? 0 : 1);
    const shown = Math.min(Math.max(lanes, LANES.least), LANES.most);
    const style = styleMap({ '--frame': `${RULER + shown * LANE + 1}px` });
    return html`<div style=${style} @keydown=${this.#pressed}>
      <svg class="hidden" aria-hidden="true">${patterns}</svg>
      <div class="head">
        <statepad-moment
          .inspection=${inspection}
          .playing=${this.#player.isPlaying}
          ?narrow=${this.narrow}
          @play=${() => this.play()}
        ></statepad-moment>
        ${this.#all > this.width + 1 && !this.narrow ? overview(inspection, this.#density, (share) => this.#jump(share)) : nothing}
        <div class="tools">
          <statepad-find .inspection=${inspection}></statepad-find>
          ${this.#zooms()}
          <button
            class="plain square"
            aria-label="Lanes of the timeline"
            title=${this.#isFolded ? 'Show the lanes' : 'Fold the lanes'}
            aria-expanded=${String(!this.#isFolded)}
            @click=${() => this.#fold()}
          >
            ${icon(this.#isFolded ? 'panel-open' : 'panel-close')}
          </button>
        </div>
      </div>
      ${
        this.#isFolded
          ? nothing
          : this.#count === 0
            ? html`<p class="nothing-yet">${icon('clock')} Events appear here as they are appended.</p>`
            : this.#picture(inspection)
      }
      ${this.#hover.tip(inspection)}
    </div>`;
  }

  #zooms(): TemplateResult {
    const step = this.#step;
    const isFit = this.zoom === 'fit';
    const [narrower, wider] = [zoomed(step, -1, this.#fit), zoomed(step, 1, this.#fit)];
    return html`<div class="row zoom" role="group" aria-label="Zoom of the timeline">
      <button class="plain square" aria-label="zoom out" title="Zoom out" ?disabled=${narrower === undefined} @click=${() => this.#zoomTo(narrower ?? step)}>${icon('minus')}</button>
      <button class="plain square" aria-label="zoom in" title="Zoom in" ?disabled=${wider === undefined} @click=${() => this.#zoomTo(wider ?? step)}>${icon('plus')}</button>
      <button class="plain square" aria-label="fit" aria-pressed=${isFit} title="All events at once" @click=${() => this.#zoomTo(isFit ? undefined : 'fit')}>${icon('fit')}</button>
    </div>`;
  }

  #picture(inspection: Inspection): TemplateResult {
    const { log, traced, target, base: compared } = inspection;
    const [step, count] = [this.#step, this.#count];
    const whole = Math.max(this.#all, this.width);
    const span = { from: this.drawn.from, to: Math.min(this.drawn.to, whole) };
    const range = rangeOf(span, step, count);
    const drawing = { inspection, step, span, range, lit: litOf(inspection) };
    const lanesEnd = RULER + log.authors.length * LANE;
    const height = lanesEnd + (traced === undefined ? 0 : LANE);
    const line = (target + 1) * step;
    const [left, width] = [`${span.from}px`, Math.max(span.to - span.from, 0)];
    return html`<div class="frame" @scroll=${this.#scrolledDown}>
      <ul class="lanes" aria-label="Authors">
        ${log.authors.map((author) => html`<li dir="auto" title=${author}>${author}</li>`)}
        ${traced === undefined ? nothing : html`<li class="of-key" data-scope=${splitKey(traced).scope} title=${traced}>${traced}</li>`}
      </ul>
      <div class="scroller" ?data-over=${this.#hover.isOver} tabindex="-1" @scroll=${this.#scrolled} @click=${this.#clicked} @pointermove=${this.#pointed} @pointerleave=${() => this.#hover.leave()}>
        <div class="picture" style=${styleMap({ width: `${whole}px`, 'min-height': `${height}px`, '--lanes-end': `${lanesEnd}px` })}>
          <svg style=${styleMap({ left })} width=${width} height=${height} aria-hidden="true">${marks(drawing)}</svg>
          ${traced === undefined ? nothing : traceLane(this.#trace, { span, step, count })}
          ${target === count ? nothing : html`<div class="later" style=${styleMap({ left: `${line}px` })}></div>`}
          ${compared === undefined ? nothing : html`<div class="base" title="compared with #${compared}" style=${styleMap({ left: `${(compared + 1) * step - 1}px` })}></div>`}
          <div
            class="moment"
            style=${styleMap({ left: `${line}px` })}
            @pointerdown=${this.#grabbed}
            @pointermove=${this.#dragged}
          ></div>
          <div class="ruler">
            <svg style=${styleMap({ left })} width=${width} height=${RULER} aria-hidden="true">${ruler(drawing)}</svg>
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
            <div class="grip ${line > whole - GRIP ? 'at-end' : ''}" aria-hidden="true" style=${styleMap({ left: `${line}px` })}>
              ${inspection.isNow && target === count ? 'now' : `#${target}`}
            </div>
          </div>
        </div>
      </div>
    </div>`;
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

  /** Pages go by turns. The slider itself knows the arrow keys, Home and End. */
  readonly #pressed = (event: KeyboardEvent): void => {
    const isSlider = event.composedPath()[0] instanceof HTMLInputElement && event.key.startsWith('Page');
    if (isSlider && this.inspection !== undefined) {
      event.preventDefault();
      const { target } = this.inspection;
      const { turnBefore, turnAfter } = turnsOf(this.inspection.log, target);
      this.inspection.travel(event.key === 'PageUp' ? turnBefore : turnAfter);
    }
  };

  /** The event under the pointer, below the ruler. */
  #eventUnder(event: MouseEvent): number | undefined {
    const { x, y } = this.#pointAt(event);
    const lane = Math.floor((y - RULER) / LANE);
    return y < RULER || this.inspection === undefined
      ? undefined
      : eventAt({ x, lane }, this.#step, this.inspection.log);
  }

  /** Shows the event under the pointer, and lights it up in all panes. */
  readonly #pointed = (event: PointerEvent): void => {
    if (event.pointerType !== 'touch' && event.buttons === 0) {
      this.#hover.over(this.#eventUnder(event), event.clientX);
    }
  };

  /** A click on an event shows its moment, and the event in full. */
  readonly #clicked = (event: MouseEvent): void => {
    const { inspection } = this;
    const revision = this.#hasDragged ? undefined : this.#eventUnder(event);
    this.#hasDragged = false;
    if (inspection !== undefined && revision !== undefined) {
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
      this.#hover.leave();
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

/** The folding of the lanes, by its kept name. */
const FOLDS: Readonly<Record<string, boolean>> = { folded: true, open: false };

/** The lit parts of the picture: what is pointed at, or else the key whose history is shown. */
function litOf({ pointed, traced }: Inspection): Lit {
  const keys = pointed?.key ?? traced;
  return { keys: keys === undefined ? [] : [keys], revision: pointed?.revision };
}

customElements.define('statepad-timeline', StatepadTimeline);
