// An entry of a conversation as an element.

import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import type { Event } from '../../index.js';
import { contentsOf, isError, shortSummaryOf, type ItemKind } from '../model/contents.js';
import { keysOf, type Log } from '../model/log.js';
import { tokensOf } from '../model/tokens.js';
import { lowerBound } from '../timeline/layout.js';
import { clock } from '../timeline/moment.js';
import { icon } from '../ui/icons.js';
import { durationText, tokenText, tokenTitle } from '../ui/amounts.js';
import { avatar } from './authors.js';
import { chipsOf } from './chips.js';
import type { EventEntry } from './entries.js';
import { jump, showItem } from './items.js';
import type { View } from './view.js';

/** The place of an entry in its list, from 1. */
export interface Position {
  readonly index: number;
  readonly count: number;
  /** The entry before. */
  readonly before: EventEntry | undefined;
  /** The first revision of the entry before, of any kind; 0 at the beginning. */
  readonly after: number;
}

/** Marks and unmarks the texts of an event as raw. */
export type ToggleRaw = (revision: number) => void;

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

/** Latencies below this say nothing, in ms. */
const SLOW = 1000;

/** Items that are drawn as words of their author. */
const SPOKEN: ReadonlySet<ItemKind> = new Set<ItemKind>(['text']);

/** The state of an entry at the moment. It is drawn again when one of these changes. */
interface Look {
  readonly isLater: boolean;
  readonly takenBack: number | undefined;
  readonly chosen: number | undefined;
  readonly isStop: boolean;
  readonly isRaw: boolean;
  readonly isFound: boolean;
}

/** An event with the results of its calls. */
export function eventEntry(entry: EventEntry, view: View, position: Position, toggleRaw: ToggleRaw): TemplateResult {
  const { inspection } = view;
  const { revision: moment, log, selected, traced, pointed, matches } = inspection;
  const { revision, results } = entry;
  const own = [revision, ...results];
  const look: Look = {
    isLater: revision > moment,
    takenBack: takenBackBy(log, revision, moment),
    chosen: own.find((one) => one === selected),
    isStop: revision === view.stop,
    isRaw: view.raw.has(revision),
    isFound: matches !== undefined && own.some((one) => contains(matches, one)),
  };
  const wrote = own.flatMap((one) => keysOf(log.at(one) as Event));
  const lit = (key: string | undefined): string | undefined => (wrote.includes(key ?? '') ? key : undefined);
  const later = results.filter((one) => one > moment).length;
  const isPointed = pointed?.key === undefined && pointed?.revision !== undefined && own.includes(pointed.revision);
  return html`${guard(
    [
      log.at(revision),
      ...(Object.values(look) as readonly unknown[]),
      lit(traced),
      lit(pointed?.key),
      later,
      results.length,
      isPointed,
      position.count,
      position.before,
    ],
    () => article(entry, view, { look, position, isPointed, toggleRaw }),
  )}`;
}

interface Around {
  readonly look: Look;
  readonly position: Position;
  readonly isPointed: boolean;
  readonly toggleRaw: ToggleRaw;
}

function article(entry: EventEntry, view: View, { look, position, isPointed, toggleRaw }: Around): TemplateResult {
  const { inspection } = view;
  const { log } = inspection;
  const { revision, side, isFirst, beginsTurn, beginsDay } = entry;
  const event = log.at(revision) as Event;
  const author = log.author(revision);
  const before =
    position.before === undefined ? undefined : takenBackBy(log, position.before.revision, inspection.revision);
  const following = momentOf(entry, position, inspection.revision);
  return html`${beginsDay ? day(event) : nothing} ${following === undefined ? nothing : momentLine(following)}
    <article
      class="entry"
      id="entry-${revision}"
      data-revision=${revision}
      data-side=${side}
      ?data-first=${isFirst}
      ?data-turn=${beginsTurn}
      ?data-later=${look.isLater}
      ?data-undone=${look.takenBack !== undefined}
      ?data-chosen=${look.chosen !== undefined}
      ?data-error=${isError(event)}
      ?data-found=${look.isFound}
      ?data-pointed=${isPointed}
      tabindex=${look.isStop ? 0 : -1}
      aria-current=${look.chosen === undefined ? nothing : 'true'}
      aria-posinset=${position.index}
      aria-setsize=${position.count}
      aria-label=${`#${revision} ${author}: ${shortSummaryOf(event).slice(0, 160)}`.toWellFormed()}
    >
      ${side === 'agent' && isFirst ? avatar(log, author) : nothing}
      <div class="body">
        ${look.takenBack === undefined || look.takenBack === before ? nothing : takenBackLine(look.takenBack, view)}
        ${isFirst && side !== 'note' ? head(event, author, revision) : nothing}
        ${contents(entry, view)}
        ${foot(entry, view)}
      </div>
      ${tools(entry, event, look.isRaw, toggleRaw)}
    </article>`;
}

function day({ timestamp }: Event): TemplateResult | typeof nothing {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? nothing : html`<p class="day"><span>${DAY.format(date)}</span></p>`;
}

/** The line below what has happened at a moment. */
export function momentLine(revision: number): TemplateResult {
  return html`<p class="moment"><span>${revision === 0 ? 'The beginning' : `The moment of #${revision}`}</span></p>`;
}

function takenBackLine(by: number, view: View): TemplateResult {
  return html`<p class="taken">${icon('rewind')}<span>Taken back by ${jump(view, by)}</span></p>`;
}

function head(event: Event, author: string, revision: number): TemplateResult {
  return html`<p class="head">
    <b dir="auto">${author}</b><time>${clock(event.timestamp)}</time><span class="number">#${revision}</span>
  </p>`;
}

/** The items of the event, with its words in a bubble; then what its results have besides. */
function contents({ revision, side, results }: EventEntry, view: View): unknown {
  const event = view.inspection.log.at(revision) as Event;
  const items = contentsOf(event);
  if (side === 'note') {
    return note(event, revision, view);
  }
  const drawn = items.map((item, index) => {
    const shown = showItem(item, view, { revision, index });
    return SPOKEN.has(item.kind) ? html`<div class="bubble">${shown}</div>` : shown;
  });
  const more = results.map((result) => {
    const others = contentsOf(view.inspection.log.at(result) as Event);
    return others.map((item, index) =>
      item.kind === 'response'
        ? nothing
        : html`<div data-revision=${result}>${showItem(item, view, { revision: result, index })}</div>`,
    );
  });
  return html`${drawn}${more}`;
}

/** A note on the session, in a line: a rewind, a fork, or writes without words. */
function note(event: Event, revision: number, view: View): TemplateResult {
  const items = contentsOf(event);
  const author = view.inspection.log.author(revision);
  return items.length > 0
    ? html`${items.map((item, index) => showItem(item, view, { revision, index }))}`
    : html`<span class="note">${icon('edit')}<span
          ><b dir="auto">${author}</b> ${keysOf(event).length === 0 ? 'left an event without content' : 'wrote'}</span
        ></span>`;
}

/** The keys that were written, the tokens and the time that it took. */
function foot({ revision, results }: EventEntry, { inspection }: View): TemplateResult | typeof nothing {
  const { log } = inspection;
  const event = log.at(revision) as Event;
  const tokens = tokensOf(event);
  const latency = log.latency(revision) ?? 0;
  const chips = [revision, ...results].filter((one) => keysOf(log.at(one) as Event).length > 0);
  if (tokens === undefined && latency < SLOW && chips.length === 0) {
    return nothing;
  }
  return html`<div class="foot">
    ${chips.map((one) => chipsOf(log.at(one) as Event, one, inspection))}
    ${
      tokens === undefined && latency < SLOW
        ? nothing
        : html`<span class="amounts"
            >${tokens === undefined ? nothing : html`<span title=${tokenTitle(tokens)}>${tokenText(tokens)}</span>`}${
              latency < SLOW ? nothing : html`<span title="Since the event before">${durationText(latency)}</span>`
            }</span
          >`
    }
  </div>`;
}

/** The number of the event where it has no head, and the switch between Markdown and the text as it was written. */
function tools(entry: EventEntry, event: Event, isRaw: boolean, toggleRaw: ToggleRaw): unknown {
  const { revision, isFirst, side } = entry;
  const hasText = side !== 'note' && contentsOf(event).some(({ kind }) => kind === 'text');
  const toggle = html`<button
    class="plain small raw"
    aria-pressed=${String(isRaw)}
    title=${isRaw ? 'Show it as Markdown' : 'Show the text as it was written'}
    aria-label="text of #${revision} as it was written"
    @click=${() => toggleRaw(revision)}
  >
    ${icon('code')}
  </button>`;
  return html`${isFirst && side !== 'note' ? nothing : html`<span class="number beside">#${revision}</span>`}${hasText ? toggle : nothing}`;
}

/** The moment, for the entry that follows it; other entries do not tell one moment from another. */
function momentOf({ revision }: EventEntry, { after }: Position, moment: number): number | undefined {
  return revision > moment && after <= moment ? moment : undefined;
}

/** The rewind by which an event does not stand at a moment. */
function takenBackBy(log: Log, revision: number, moment: number): number | undefined {
  return revision <= moment && log.undone(revision, moment)
    ? log.rewinds.findLast(
        (rewind) => !rewind.isRedo && rewind.revision <= moment && rewind.to < revision && revision < rewind.revision,
      )?.revision
    : undefined;
}

/** True when an ascending list has a number. */
function contains(numbers: readonly number[], wanted: number): boolean {
  return numbers[lowerBound(numbers, wanted)] === wanted;
}
