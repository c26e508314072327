// The tools that a model calls in one answer: ADK merges their answers into one event, and their deltas into one
// delta, in which only the last write of a key counts. The operators of all of them have to count.

import { trimTempDeltaState, type Event, type EventActions } from '@google/adk';
import { deltaOf } from './events.js';
import { withTemp } from './write-order.js';
import { isDeleted } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { sameJson } from '../model/json.js';
import { OperatorWrite, operatorOf } from '../model/operator-write.js';
import { operatorName, resolveOperator, type Operator } from '../model/operators.js';
import type { Json } from '../model/types.js';

/** The calls of tools in one session whose events are not stored yet, as the plugin has seen them. */
export class ToolCalls {
  /**
   * By the id of the call: the actions that the tool writes to. ADK's event shares the delta until it merges several.
   */
  readonly #actions = new Map<string, EventActions>();
  /** By the merged delta: an event that is sent again has the same. */
  readonly #combined = new WeakMap<object, Readonly<Record<string, unknown>>>();

  /** Records that a tool is called, or has ended: its writes, present and future, are in `actions`. */
  called(id: string, actions: EventActions): void {
    this.#actions.set(id, actions);
  }

  /**
   * The event with the writes of all tools that it answers. The same event when it answers one tool, or has no
   * operator. Throws `INVALID_ARGUMENT` when an operator may be one of several, and the writes of the tools are
   * unknown or cannot be composed.
   */
  combined(event: Event, log: readonly Event[]): Event {
    const delta = deltaOf(event);
    const keys = Object.keys(delta).filter((key) => operatorOf(delta[key]) !== undefined);
    const ids = keys.length === 0 ? [] : callsOf(event, log);
    if (ids.length < 2) {
      return event;
    }
    const stateDelta = this.#combined.get(delta) ?? this.#combine(delta, keys, ids);
    this.#combined.set(delta, stateDelta);
    return { ...event, actions: { ...event.actions, stateDelta } };
  }

  /** An event is stored: the calls that it answers are over. */
  stored(event: Event): void {
    callIdsIn(event).forEach((id) => this.#actions.delete(id));
  }

  #combine(
    delta: Readonly<Record<string, unknown>>,
    keys: readonly string[],
    ids: readonly string[],
  ): Readonly<Record<string, unknown>> {
    const calls = ids.map((id) => this.#actions.get(id)).filter((actions) => actions !== undefined);
    if (calls.length < ids.length) {
      throw unknownCalls(keys);
    }
    const all = stamped(delta);
    for (const key of keys) {
      const writes = calls
        .filter(({ stateDelta }) => Object.hasOwn(stateDelta, key))
        .map(({ stateDelta }) => stateDelta[key]);
      // A plugin may have put another value there.
      if (writes.at(-1) === delta[key]) {
        all[key] = writes.reduce((before, write) => followed(key, before, write));
      }
    }
    return all;
  }
}

/** The ids of the calls that an event answers; for one that asks for a confirmation, of all calls beside it. */
function callsOf(event: Event, log: readonly Event[]): readonly string[] {
  const answered = callIdsIn(event);
  if (answered.length > 0) {
    return answered;
  }
  const confirmations = Object.keys(event.actions.requestedToolConfirmations);
  const calling = log.findLast(({ content }) =>
    content?.parts?.some(({ functionCall }) => confirmations.includes(functionCall?.id ?? '')),
  );
  return calling?.content?.parts?.flatMap(({ functionCall }) => functionCall?.id ?? []) ?? [];
}

/** The ids of the calls whose answers an event has. One without an id cannot be matched. */
function callIdsIn({ content }: Event): readonly string[] {
  return (
    content?.parts?.flatMap(({ functionResponse }) =>
      functionResponse === undefined ? [] : (functionResponse.id ?? ''),
    ) ?? []
  );
}

/** A copy of a delta with ADK's stamps of its writes. */
function stamped(delta: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const event = { id: '', actions: { stateDelta: delta } } as unknown as Event;
  return withTemp(() => trimTempDeltaState(event)).actions.stateDelta;
}

/** One write with the effect of two in a row. */
function followed(key: string, before: unknown, write: unknown): unknown {
  const [first, second] = [operatorOf(before), operatorOf(write)];
  if (second === undefined) {
    return write;
  }
  if (first !== undefined) {
    const both = bothOf(first, second);
    if (both === undefined) {
      throw misfit(key, operatorName(first), operatorName(second));
    }
    return new OperatorWrite(both);
  }
  const resolved = resolveOperator(second, isDeleted(before) ? undefined : (before as Json));
  if ('fault' in resolved) {
    throw misfit(key, 'a value', operatorName(second));
  }
  return resolved.value;
}

/** The operator with the effect of two in a row; `undefined` when there is none. */
function bothOf(first: Operator, second: Operator): Operator | undefined {
  if ('increment' in first && 'increment' in second) {
    return { increment: first.increment + second.increment };
  }
  if ('append' in first && 'append' in second) {
    return { append: Object.freeze([...first.append, ...second.append]) };
  }
  if ('setOnce' in first && 'setOnce' in second) {
    return first;
  }
  if ('compareAndSet' in first && 'compareAndSet' in second) {
    const { expected, value } = second.compareAndSet;
    return expected !== undefined && sameJson(first.compareAndSet.value, expected)
      ? { compareAndSet: Object.freeze({ ...first.compareAndSet, value }) }
      : undefined;
  }
  return undefined;
}

function unknownCalls(keys: readonly string[]): StatepadError {
  const names = keys.map((key) => `"${key}"`).join(', ');
  const message =
    `several tools of one answer of the model may have written operators to ${names}, and ADK has kept only the last one: ` +
    'pass the plugin of the session service to the runner first, plugins: [sessionService.plugin, …]';
  return new StatepadError('INVALID_ARGUMENT', message, { path: 'actions.stateDelta' });
}

function misfit(key: string, first: string, second: string): StatepadError {
  const message =
    `tools of one answer of the model have written ${first} and then ${second} to "${key}", which cannot be combined into one write: ` +
    'use updateState() of sessionService.service in the tools';
  return new StatepadError('INVALID_ARGUMENT', message, { path: `actions.stateDelta["${key}"]`, key });
}
