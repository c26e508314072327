// Rewinding: the core computes the standing events of a log, and the effect of a rewind and a redo. It receives for
// each event the index of the first one of its invocation.

import { withRoom } from './keys.js';
import { countOf } from './answer-count.js';
import { answerOf, wordsFor } from './transfer-buffers.js';
import { Absent, rewind_events } from './wasm.js';

const NONE: number = Absent.Number;
/** The questions that stand in the place of an invocation. */
const REDO = NONE;
const STANDING = NONE - 1;

/** The members of an event that rewinding reads. Only texts that are not empty name an invocation. */
export interface LogEvent {
  readonly invocationId?: unknown;
  readonly actions?: { readonly rewindBeforeInvocationId?: unknown } | null;
}

/** The effect of a rewind, or of a redo. */
export interface RewindPlan {
  /** The revision whose state is restored. */
  readonly to: number;
  /** The invocation that the marker names. */
  readonly before: string;
  /** The indexes of the events that stop standing, or stand again, in order. */
  readonly concerned: readonly number[];
}

/** True for the marker of a rewind, which is not shown itself. */
export function isMarker(event: LogEvent): boolean {
  return nameOf(event.actions?.rewindBeforeInvocationId) !== undefined;
}

/** The indexes of the standing events, in order; markers are not among them. Throws `CORE_FAILED`. */
export function effectiveEvents(events: readonly LogEvent[]): readonly number[] {
  return events.some(isMarker) ? queryLog(events, firstIndexes(events), STANDING).slice(1) : [...events.keys()];
}

/**
 * The effect of a rewind before an invocation; `undefined` when no standing event belongs to it. Throws `CORE_FAILED`.
 */
export function planRewind(events: readonly LogEvent[], before: string): RewindPlan | undefined {
  const firsts = firstIndexes(events);
  const first = firsts.get(before);
  return first === undefined ? undefined : planOf(events, queryLog(events, firsts, first));
}

/**
 * The effect of undoing the last rewind; `undefined` when an event has been appended since, or when all rewinds are
 * undone. Throws `CORE_FAILED`.
 */
export function planRedo(events: readonly LogEvent[]): RewindPlan | undefined {
  return planOf(events, queryLog(events, firstIndexes(events), REDO));
}

function planOf(events: readonly LogEvent[], [to, ...concerned]: readonly number[]): RewindPlan | undefined {
  return to === undefined ? undefined : { to, before: events[to]?.invocationId as string, concerned };
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

/** Sends the log to the core with a question. The answer is a copy. */
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
