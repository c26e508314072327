// Calls of tools, paired with their results.

import type { Event } from '../../index.js';
import { membersOf, partsOf, textFrom, type Members } from './members.js';

/** One call of a tool, with its result once there is one. */
export interface ToolUse {
  /** The call's id; where the log has none, one of the inspector's own: `#7.0`, the first part of event 7. */
  readonly id: string;
  /** The name of the tool. */
  readonly name: string;
  /** The revision of the event that calls it; `undefined` for a result whose call the log does not have. */
  readonly call: number | undefined;
  /** The index of the call among the parts of that event. */
  readonly callPart: number | undefined;
  /** The revision of the event that has the result; `undefined` while there is none. */
  readonly response: number | undefined;
  /** The index of the result among the parts of that event. */
  readonly responsePart: number | undefined;
  /** True when the result says that the tool has failed. */
  readonly failed: boolean;
  /** The words of the failure; empty when there are none. */
  readonly problem: string;
  /** From the call to the result by the clocks of the events, in ms; `undefined` while there is none. */
  readonly duration: number | undefined;
  /** True when the event that calls it names it among its `longRunningToolIds`. */
  readonly isLongRunning: boolean;
}

type Use = { -readonly [Name in keyof ToolUse]: ToolUse[Name] };

/** The pairs of a log, as it grows. */
export class ToolPairing {
  readonly #uses = new Map<string, Use>();
  readonly #byRevision = new Map<number, ToolUse[]>();
  /** The calls without id that have no result yet, by the name of the tool. */
  readonly #waiting = new Map<string, Use[]>();

  /** All calls, in their order, by {@link ToolUse.id}. */
  get uses(): ReadonlyMap<string, ToolUse> {
    return this.#uses;
  }

  /** The calls that an event makes, and those that it has the results of. */
  at(revision: number): readonly ToolUse[] {
    return this.#byRevision.get(revision) ?? [];
  }

  /** Examines the next event. */
  add(event: Event, revision: number, eventOf: (revision: number) => Event | undefined): void {
    partsOf(event).forEach(({ functionCall, functionResponse }, part) => {
      if (functionCall !== undefined && functionCall !== null) {
        this.#call(event, revision, part, membersOf(functionCall));
      }
      if (functionResponse !== undefined && functionResponse !== null) {
        this.#answer(event, revision, part, membersOf(functionResponse), eventOf);
      }
    });
  }

  clear(): void {
    this.#uses.clear();
    this.#byRevision.clear();
    this.#waiting.clear();
  }

  #call(event: Event, call: number, callPart: number, members: Members): void {
    const name = textFrom(members['name']);
    const given = textFrom(members['id']);
    const id = given === '' || this.#uses.has(given) ? `#${call}.${callPart}` : given;
    const longRunning: unknown = (event as Partial<Event>).longRunningToolIds;
    const use: Use = {
      ...{ id, name, call, callPart, response: undefined, responsePart: undefined, failed: false, problem: '' },
      duration: undefined,
      isLongRunning: given !== '' && Array.isArray(longRunning) && longRunning.includes(given),
    };
    this.#uses.set(id, use);
    this.#note(call, use);
    const waiting = this.#waiting.get(name) ?? [];
    this.#waiting.set(name, waiting);
    waiting.push(use);
  }

  #answer(
    event: Event,
    response: number,
    responsePart: number,
    members: Members,
    eventOf: (revision: number) => Event | undefined,
  ): void {
    const name = textFrom(members['name']);
    const use = this.#callOf(textFrom(members['id']), name) ?? this.#orphan(name, response, responsePart);
    const problem = problemOf(members['response']);
    const called = use.call === undefined ? undefined : eventOf(use.call);
    use.response = response;
    use.responsePart = responsePart;
    use.failed = problem !== undefined;
    use.problem = problem ?? '';
    use.duration = called === undefined ? undefined : Math.max(event.timestamp - called.timestamp, 0);
    if (use.call !== response) {
      this.#note(response, use);
    }
  }

  /**
   * The call that a result is of: by its id, even if there is a result already, because a tool that runs for long
   * reports several times; or else the oldest one of this name without a result.
   */
  #callOf(id: string, name: string): Use | undefined {
    const waiting = this.#waiting.get(name) ?? [];
    const known = id === '' ? undefined : this.#uses.get(id);
    // A result with an id that no call has may be of a call without one.
    const use = known ?? waiting.find((one) => id === '' || one.id.startsWith('#'));
    const place = use === undefined ? -1 : waiting.indexOf(use);
    if (place >= 0) {
      waiting.splice(place, 1);
    }
    return use;
  }

  #orphan(name: string, response: number, part: number): Use {
    const id = `#${response}.${part}`;
    const use: Use = {
      ...{ id, name, call: undefined, callPart: undefined, response: undefined, responsePart: undefined },
      ...{ failed: false, problem: '', duration: undefined, isLongRunning: false },
    };
    this.#uses.set(id, use);
    return use;
  }

  #note(revision: number, use: ToolUse): void {
    const noted = this.#byRevision.get(revision);
    if (noted === undefined) {
      this.#byRevision.set(revision, [use]);
    } else {
      noted.push(use);
    }
  }
}

/** Members by which results say that a tool has failed. */
const FAULTS = ['error', 'errorMessage', 'error_message', 'errorCode', 'error_code', 'exception'];

/**
 * The words of a failure in a tool's result; `undefined` for a success. Tools have no common form of it: an `error`
 * that is not empty, `isError` as MCP has it, or a `status` that says so.
 */
export function problemOf(response: unknown): string | undefined {
  const members = membersOf(response);
  for (const name of FAULTS) {
    const fault = members[name];
    if (fault !== undefined && fault !== null && fault !== '' && fault !== false && fault !== 0) {
      return wordsOf(fault);
    }
  }
  const { status } = members;
  const isBad = typeof status === 'string' && /^(error|failed|failure)$/iu.test(status);
  if (members['isError'] === true || members['is_error'] === true || members['success'] === false || isBad) {
    return wordsOf(members['message'] ?? members['content'] ?? members['result'] ?? '');
  }
  return undefined;
}

function wordsOf(fault: unknown): string {
  const { message } = membersOf(fault);
  const text = textFrom(message) || textFrom(fault);
  return text === '' && typeof fault === 'object' ? JSON.stringify(fault) : text;
}
