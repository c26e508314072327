// Many events in little room: columns for events that have less than a pixel each.

import { isContinued, SCOPE_BIT } from '../model/log.js';
import { COLUMN, KEPT, lowerBound, type Kept, type Marked, type EventIndex, type Range } from './layout.js';

/** The outlines of all columns that show a scope, or events without stored writes. */
export type ColumnPaths = Readonly<Record<Marked | 'none', string>>;

/** The layout of lanes, in px. */
export interface Lanes {
  /** The top of the first one. */
  readonly top: number;
  /** The height of each. */
  readonly height: number;
}

/** Events of one lane that share a column. */
interface Column {
  readonly lane: number;
  readonly column: number;
  /** The number of events that wrote to each scope, in the order of `KEPT`. */
  readonly counts: [number, number, number];
  /** True when one of them wrote `temp:` keys. */
  hasTemp: boolean;
}

/**
 * The events of a range as columns, by lane: each scope has its own third of the lane, filled according to the number
 * of events of the column that wrote to it. With `only`, an ascending list of revisions, no others count.
 */
export function columnPaths(
  places: EventIndex,
  range: Range,
  {
    step,
    lanes,
    only,
  }: { readonly step: number; readonly lanes: Lanes; readonly only?: readonly number[] | undefined },
): ColumnPaths {
  const per = Math.max(Math.ceil(COLUMN / step), 1);
  const columns = columnsOf(places, range, { per, only });
  const most = columns.reduce((high, { counts }) => Math.max(high, ...counts), 1);
  const width = round(Math.max(per * step - (step >= COLUMN ? 1 : 0), 1));
  const third = (lanes.height - 6) / 3;
  const paths = { session: '', app: '', user: '', temp: '', none: '' };
  for (const { lane, column, counts, hasTemp } of columns) {
    const [x, y] = [round(column * per * step), lanes.top + lane * lanes.height];
    KEPT.forEach((scope, index) => {
      const count = counts[index] ?? 0;
      // Single events must be visible, too.
      const height = round((third - 0.5) * Math.max(count / most, 0.25));
      paths[scope] +=
        count === 0 ? '' : `M${x} ${round(y + 3 + (index + 1) * third - height)}h${width}v${height}h${-width}z`;
    });
    paths[hasTemp ? 'temp' : 'none'] += counts.some((count) => count > 0)
      ? ''
      : `M${x} ${round(y + lanes.height / 2 - 1)}h${width}v2h${-width}z`;
  }
  return paths;
}

function columnsOf(
  { lanes, scopes }: EventIndex,
  range: Range,
  { per, only }: { readonly per: number; readonly only: readonly number[] | undefined },
): Column[] {
  const columns: Column[] = [];
  // By lane: the column that is being filled.
  const open: Column[] = [];
  const first = only === undefined ? range.first : lowerBound(only, range.first);
  const last = only === undefined ? range.last : lowerBound(only, range.last + 1) - 1;
  for (let index = first; index <= last; index++) {
    const revision = only === undefined ? index : (only[index] ?? 0);
    const [lane, column] = [lanes[revision - 1] ?? 0, Math.floor(revision / per)];
    let one = open[lane];
    if (one?.column !== column) {
      one = { lane, column, counts: [0, 0, 0], hasTemp: false };
      open[lane] = one;
      columns.push(one);
    }
    const bits = scopes[revision - 1] ?? 0;
    one.hasTemp ||= (bits & SCOPE_BIT.temp) !== 0;
    KEPT.forEach((scope, place) => {
      if ((bits & SCOPE_BIT[scope]) !== 0) {
        one.counts[place] = (one.counts[place] ?? 0) + 1;
      }
    });
  }
  return columns;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

/** The largest number of buckets in an overview. */
const MOST = 512;

/** The number of writes to each scope along a log, in buckets of equally many events, which widen as the log grows. */
export class Density {
  /** The number of events in a bucket; the last one may have fewer. A power of two. */
  size = 1;
  /** By bucket: the number of its events that wrote to each scope. */
  readonly counts: Readonly<Record<Kept, number[]>> = { session: [], app: [], user: [] };
  #events: readonly object[] = [];
  #paths: Readonly<Record<Kept, string>> | undefined;

  /** Takes over a grown log. Known events are not examined again. */
  update({ events, scopes }: { readonly events: readonly object[]; readonly scopes: readonly number[] }): void {
    if (!isContinued(this.#events, events)) {
      this.#clear();
    }
    if (this.#events.length < events.length) {
      this.#paths = undefined;
    }
    for (let place = this.#events.length; place < events.length; place++) {
      if (place >= MOST * this.size) {
        this.#widen();
      }
      const bucket = Math.floor(place / this.size);
      for (const scope of KEPT) {
        const counts = this.counts[scope];
        counts[bucket] = (counts[bucket] ?? 0) + (((scopes[place] ?? 0) & SCOPE_BIT[scope]) === 0 ? 0 : 1);
      }
    }
    this.#events = events;
  }

  /**
   * The outlines of the scopes' shares, stacked, in a box of the width 1 (the whole log and the creation) and the
   * height 1 (the busiest bucket).
   */
  paths(): Readonly<Record<Kept, string>> {
    return (this.#paths ??= this.#draw());
  }

  #draw(): Readonly<Record<Kept, string>> {
    const { session, app, user } = this.counts;
    const highest = session.reduce(
      (most, count, index) => Math.max(most, count + (app[index] ?? 0) + (user[index] ?? 0)),
      1,
    );
    const paths = { session: '', app: '', user: '' };
    const all = this.#events.length + 1;
    session.forEach((_, index) => {
      const [x, end] = [(index * this.size + 1) / all, Math.min((index + 1) * this.size + 1, all) / all];
      let bottom = 1;
      for (const scope of KEPT) {
        const height = (this.counts[scope][index] ?? 0) / highest;
        bottom -= height;
        paths[scope] +=
          height === 0
            ? ''
            : `M${x.toFixed(5)} ${bottom.toFixed(4)}H${end.toFixed(5)}v${height.toFixed(4)}H${x.toFixed(5)}z`;
      }
    });
    return paths;
  }

  #widen(): void {
    this.size *= 2;
    for (const scope of KEPT) {
      const narrow = this.counts[scope];
      const sum = (index: number): number => (narrow[2 * index] ?? 0) + (narrow[2 * index + 1] ?? 0);
      const wide = Array.from({ length: Math.ceil(narrow.length / 2) }, (_, index) => sum(index));
      narrow.splice(0, narrow.length, ...wide);
    }
  }

  #clear(): void {
    this.size = 1;
    this.#events = [];
    this.#paths = undefined;
    KEPT.forEach((scope) => (this.counts[scope].length = 0));
  }
}
