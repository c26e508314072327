// Branches of agents that run in parallel.

import type { Event } from '../../index.js';

/** A run of events of one turn in which several agents worked beside each other. */
export interface Parallel {
  /** The revision of its first event. */
  readonly from: number;
  /** The revision of its last event. */
  readonly to: number;
  /** At least two, in the order of their first events. */
  readonly branches: readonly Branch[];
}

/** One of the branches of a {@link Parallel}. */
export interface Branch {
  /** The last segment of its name that the others do not have: `weather` of `root.parallel.weather.search`. */
  readonly name: string;
  /** Its events, ascending. */
  readonly revisions: readonly number[];
}

/** The branch of an event; empty for none. */
export function branchOf(event: Event): string {
  const branch: unknown = (event as Partial<Event>).branch;
  return typeof branch === 'string' ? branch : '';
}

/** All parallel runs of a log. `turns` has for each event the first revision of its turn. */
export function parallelsOf(events: readonly Event[], turns: readonly number[]): readonly Parallel[] {
  const found: Parallel[] = [];
  for (let place = 0; place < events.length;) {
    const end = endOfRun(events, turns, place);
    if (end > place + 1) {
      const branches = branchesOf(events, place, end);
      if (branches.length > 1) {
        found.push({ from: place + 1, to: end, branches });
      }
    }
    place = Math.max(end, place + 1);
  }
  return found;
}

/** The place after the last event of an unbroken run of events that have branches, in one turn. */
function endOfRun(events: readonly Event[], turns: readonly number[], place: number): number {
  let end = place;
  while (end < events.length && turns[end] === turns[place] && branchOf(events[end] as Event) !== '') {
    end++;
  }
  return end;
}

function branchesOf(events: readonly Event[], place: number, end: number): readonly Branch[] {
  const names = events.slice(place, end).map((event) => branchOf(event).split('.'));
  const common = commonLength(names);
  const byName = new Map<string, number[]>();
  names.forEach((segments, index) => {
    const name = segments[common] ?? segments.at(-1) ?? '';
    const revisions = byName.get(name) ?? [];
    byName.set(name, revisions);
    revisions.push(place + index + 1);
  });
  return [...byName].map(([name, revisions]) => ({ name, revisions }));
}

/** The number of first segments that all names have. */
function commonLength(names: readonly (readonly string[])[]): number {
  const [first = []] = names;
  const differs = first.findIndex((segment, index) => names.some((other) => other[index] !== segment));
  return differs < 0 ? first.length : differs;
}
