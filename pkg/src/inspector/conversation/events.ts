// All events of a session as a list.

import { html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { styleMap } from 'lit/directives/style-map.js';
import { VirtualizerController } from '@tanstack/lit-virtual';
import { eventsStyle } from './events-style.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { AfterLayout } from '../ui/after-layout.js';
import type { Inspection } from '../model/inspection.js';
import { deltaOf, keysOf, splitKey } from '../model/log.js';
import { isError, shortSummaryOf } from '../model/contents.js';
import { clock } from '../timeline/moment.js';
import { nameOf } from '../model/session-name.js';
import { lowerBound } from '../timeline/layout.js';
import { base } from '../ui/style.js';

/** The height of a row, in px: one line, or two where there is little room. */
const ROW = 30;
const TALL_ROW = 52;
/** The width below which there is little room, in px. */
const NARROW = 560;
/** The number of keys that a row names. */
const CHIPS = 3;

/** The events of a session, newest last; during a search, the matching ones. */
export class StatepadEvents extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    isNarrow: { state: true },
  };
  static override styles = [base, eventsStyle];
  declare private isNarrow: boolean;
  readonly #virtual = new VirtualizerController<HTMLElement, HTMLElement>(this, {
    count: 0,
    getScrollElement: () => this.#list,
    estimateSize: () => this.#height,
    overscan: 6,
  });
  readonly #sizes = new ResizeObserver(() => {
    this.isNarrow = (this.#list?.clientWidth ?? NARROW) < NARROW;
  });
  /** True while the end stays visible. */
  #isFollowing = true;
  readonly #afterLayout = new AfterLayout();
  /** The scroll position of the list, in px. */
  #top = 0;
  /** The height of all rows as they are on screen, in px. The log may be ahead of it. */
  #all = 0;
  /** The height that the rows were measured with, in px. */
  #measured = 0;
  #shown: { session: string; selected: number | undefined; moment: number | undefined; all: number } | undefined;

  constructor() {
    super();
    this.isNarrow = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#sizes.disconnect();
  }

  get #list(): HTMLElement | null {
    return (this.renderRoot as ParentNode | undefined)?.querySelector<HTMLElement>('.list') ?? null;
  }

  /** The height of a row, in px. */
  get #height(): number {
    return this.isNarrow ? TALL_ROW : ROW;
  }

  get #count(): number {
    return this.inspection?.matches?.length ?? this.inspection?.log.events.length ?? 0;
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    if (inspection?.session === undefined) {
      return html`<p class="empty">There is no session to list the events of.</p>`;
    }
    const { log, selected } = inspection;
    const [count, all] = [this.#count, log.events.length];
    const virtual = this.#virtual.getVirtualizer();
    if (virtual.options.count !== count || this.#measured !== this.#height) {
      this.#measured = this.#height;
      virtual.setOptions({ ...virtual.options, count });
      virtual.measure();
    }
    this.#all = count * this.#height;
    const items = virtual.getVirtualItems().filter(({ index }) => index < count);
    const place = selected === undefined ? -1 : this.#indexOf(selected);
    const isDrawn = items.some(({ index }) => index === place);
    return html`
      ${
        count === 0
          ? html`<p class="empty">${all === 0 ? 'No event has been appended yet.' : 'No event has what is searched for.'}</p>`
          : html`<div
            class=${this.isNarrow ? 'list narrow' : 'list'}
            role="listbox"
            tabindex="0"
            aria-label="Events"
            aria-activedescendant=${isDrawn ? `event-${selected ?? 0}` : nothing}
            style=${styleMap({ '--number': `${Math.max(String(all).length, 3) + 1.5}ch` })}
            @keydown=${this.#keyed}
            @scroll=${this.#scrolled}
          >
            <div class="rows" role="presentation" style=${styleMap({ height: `${this.#all}px` })}>
              ${repeat(
                items,
                ({ index }) => this.#revisionAt(index),
                ({ index, start }) =>
                  this.#row(inspection, { revision: this.#revisionAt(index), index, start, count }),
              )}
            </div>
          </div>`
      }`;
  }

  #row(
    inspection: Inspection,
    at: { revision: number; index: number; start: number; count: number },
  ): TemplateResult | typeof nothing {
    const { log, selected, revision: moment } = inspection;
    const { revision, index, start, count } = at;
    const event = log.at(revision);
    if (event === undefined) {
      return nothing;
    }
    const text = shortSummaryOf(event);
    const isBad = isError(event) || log.toolsAt(revision).some((use) => use.failed && use.response === revision);
    const { deleted } = deltaOf(event);
    const keys = keysOf(event);
    return html`<div
      class=${revision > moment ? 'event later' : 'event'}
      id="event-${revision}"
      role="option"
      aria-selected=${String(revision === selected)}
      aria-setsize=${count}
      aria-posinset=${index + 1}
      style=${styleMap({ height: `${this.#height}px`, transform: `translateY(${start}px)` })}
      @click=${() => inspection.select(revision)}
    >
      <span class="number">#${revision}</span>
      <span class="time">${clock(event.timestamp)}</span>
      <span class="author" title=${log.author(revision)}>${log.author(revision)}</span>
      <span class="line">
        <span class=${isBad ? 'text bad' : 'text'} dir="auto" title=${text}>${text}</span>
        <span class="chips">
          ${keys.slice(0, CHIPS).map((key) => {
            const isGone = deleted.has(key);
            const title = isGone ? `${key} (deleted)` : key;
            return html`<span class=${isGone ? 'key deleted' : 'key'} data-scope=${splitKey(key).scope} title=${title}
              >${key === '' ? '""' : key}</span
            >`;
          })}
          ${keys.length > CHIPS ? html`<span class="quiet" title=${keys.slice(CHIPS).join('\n')}>+${keys.length - CHIPS}</span>` : nothing}
        </span>
      </span>
    </div>`;
  }

  #revisionAt(index: number): number {
    return this.inspection?.matches?.[index] ?? index + 1;
  }

  /** The index of an event in the list, or -1. */
  #indexOf(revision: number): number {
    const matches = this.inspection?.matches;
    if (matches === undefined) {
      return revision - 1;
    }
    const place = lowerBound(matches, revision);
    return matches[place] === revision ? place : -1;
  }

  protected override updated(): void {
    const list = this.#list;
    if (list !== null && this.inspection?.session !== undefined) {
      this.#sizes.observe(list);
      this.#bringIntoView(list, this.inspection);
    }
  }

  /** Scrolls to changes: the selected event, the moment, the end. */
  #bringIntoView(list: HTMLElement, { session, selected, revision, isNow }: Inspection): void {
    const before = this.#shown;
    const id = session === undefined ? '' : nameOf(session);
    const height = this.#height;
    this.#shown = { session: id, selected, moment: isNow ? undefined : revision, all: this.#all };
    if (before?.session !== id || (isNow && before.moment !== undefined)) {
      this.#isFollowing = true;
    }
    const hasMoved = !isNow && revision !== before?.moment;
    const target = selected !== before?.selected ? selected : hasMoved ? revision : undefined;
    const place = target === undefined ? -1 : this.#indexOf(target);
    const isNews = this.#all !== before?.all || (isNow && before.moment !== undefined);
    // Measuring makes the browser lay out all changes: only when there is a reason.
    if (place < 0 && !(isNews && this.#isFollowing)) {
      return;
    }
    const [top, seen] = [list.scrollTop, list.clientHeight];
    if (place >= 0 && place * height < top) {
      this.#scrollTo(list, place * height);
    } else if (place >= 0 && (place + 1) * height > top + seen) {
      this.#scrollTo(list, (place + 1) * height - seen);
    } else if (this.#isFollowing) {
      this.#scrollTo(list, this.#all);
      void this.#afterLayout.run(() => this.#settle());
    }
  }

  /** Corrects the layout after other components have been drawn, which may have changed the room. */
  #settle(): void {
    const list = this.#list;
    if (list !== null && this.#isFollowing && list.scrollTop < list.scrollHeight - list.clientHeight - 1) {
      this.#scrollTo(list, this.#all);
    }
  }

  #scrollTo(list: HTMLElement, top: number): void {
    const last = Math.max(this.#all - list.clientHeight, 0);
    list.scrollTop = Math.min(top, last);
    this.#top = list.scrollTop;
    this.#isFollowing = top >= last - 2;
  }

  readonly #scrolled = (): void => {
    const list = this.#list;
    if (list === null) {
      return;
    }
    const { scrollTop, scrollHeight, clientHeight } = list;
    if (Math.abs(scrollTop - this.#top) >= 1) {
      this.#top = scrollTop;
      this.#isFollowing = scrollTop >= scrollHeight - clientHeight - 2;
    }
  };

  readonly #keyed = (event: KeyboardEvent): void => {
    const { inspection } = this;
    const move = MOVES[event.key];
    if (inspection === undefined || event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    const { selected } = inspection;
    if (event.key === 'Enter' && selected !== undefined) {
      inspection.travel(selected);
    } else if (move !== undefined) {
      const last = this.#count - 1;
      const place = selected === undefined ? -1 : this.#indexOf(selected);
      const target = place < 0 && Number.isFinite(move) ? last : place + move;
      inspection.select(this.#revisionAt(Math.min(Math.max(target, 0), last)));
    } else {
      return;
    }
    event.preventDefault();
  };
}

const MOVES: Readonly<Record<string, number>> = {
  ArrowUp: -1,
  ArrowDown: 1,
  PageUp: -10,
  PageDown: 10,
  Home: -Infinity,
  End: Infinity,
};

customElements.define('statepad-events', StatepadEvents);
