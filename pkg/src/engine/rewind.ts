// Rewinding: the core says which events of a log stand, where a rewind goes and what a redo takes back. It is told of
// each event the index of the first one of its invocation.

import { withRoom } from './keys.js';
import { countOf } from './answer-count.js';
import { answerOf, wordsFor } from './transfer-buffers.js';
import { Absent, rewind_events } from './wasm.js';

const NONE: number = Absent.Number;
/** What is asked in the index of an invocation. */
const REDO = NONE;
const STANDING = NONE - 1;

/** What rewinding needs to know of an event. Only texts that are not empty name an invocation. */
export interface LogEvent {
  readonly invocationId?: unknown;
  readonly actions?: { readonly rewindBeforeInvocationId?: unknown } | null;
}

/** What a rewind, or a redo, does. */
export interface RewindPlan {
  /** How many events the log had at the moment that comes back: the state of that revision is restored. */
  readonly to: number;
  /** What the marker names: the invocation of the event at this index. */
  readonly before: string;
  /** The firsts of the events that do not stand any more by it, or stand again, in order. */
  readonly affected: readonly number[];
}

/** Whether an event is the marker of a rewind: the event that says so, and is not shown itself. */
export function isMarker(event: LogEvent): boolean {
  return nameOf(event.actions?.rewindBeforeInvocationId) !== undefined;
}

/** The firsts of the events that stand, in order. Markers are not among them. Throws `CORE_FAILED`. */
export function effectiveEvents(events: readonly LogEvent[]): readonly number[] {
  return events.some(isMarker) ? queryLog(events, firstIndexes(events), STANDING).slice(1) : [...events.keys()];
}

/**
 * What a rewind before an invocation does; `undefined` when no event that stands belongs to it. Throws `CORE_FAILED`.
 */
export function planRewind(events: readonly LogEvent[], before: string): RewindPlan | undefined {
  const firsts = firstIndexes(events);
  const first = firsts.get(before);
  return first === undefined ? undefined : planOf(events, queryLog(events, firsts, first));
}

/**
 * What taking back the last rewind does; `undefined` when an event has been appended since, or when all of them have
 * been taken back. Throws `CORE_FAILED`.
 */
export function planRedo(events: readonly LogEvent[]): RewindPlan | undefined {
  return planOf(events, queryLog(events, firstIndexes(events), REDO));
}

function planOf(events: readonly LogEvent[], [to, ...affected]: readonly number[]): RewindPlan | undefined {
  return to === undefined ? undefined : { to, before: events[to]?.invocationId as string, affected };
}

/** The index of the first event of each invocation. */
function firstIndexes(events: readonly LogEvent[]): Map<string, number> {
  const firsts = new Map<string, number>();
  events.forEach(({ invocationId }, index) => {
    const name = nameOf(invocationId);
    if (name !== undefined && !firsts.has(name)) {
      firsts.set(name, index);
    }
  });
  return firsts;
}

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Tells the core the log, and asks it. What it answers with is of the caller. */
function queryLog(events: readonly LogEvent[], firsts: Map<string, number>, question: number): number[] {
  const firstOf = (value: unknown, otherwise: number) => {
    const name = nameOf(value);
    return name === undefined ? NONE : (firsts.get(name) ?? otherwise);
  };
  const count = withRoom(() => {
    const words = wordsFor(2 * events.length);
    events.forEach(({ invocationId, actions }, index) => {
      words[2 * index] = firstOf(invocationId, NONE);
      words[2 * index + 1] = firstOf(actions?.rewindBeforeInvocationId, index);
    });
    return countOf(rewind_events(events.length, question));
  });
  return Array.from(answerOf(count).subarray(0, count));
}
