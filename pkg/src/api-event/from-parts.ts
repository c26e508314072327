// An event as the API has it, made the event that it was: by `rawEvent`, where that was written, or by its parts.

import { isObject } from '../../model/value-types.js';
import { lastPart } from './names.js';
import { shownDelta, type ApiState } from './state.js';
import { fromRfc3339 } from './times.js';
import {
  EVENT_METADATA,
  ID_METADATA,
  membersOf,
  METADATA,
  pick,
  WORKFLOW,
  WORKFLOW_ACTIONS,
  type Members,
} from './to-api.js';
import type { ApiEvent } from './api.js';

/** An event that was read. */
export interface ReadEvent {
  readonly id: string;
  /** The time that it is stored under, by which events are ordered. */
  readonly at: number;
  /** Its own time. */
  readonly time: number;
  /** The event as JSON text. */
  readonly data: string;
}

/** Reads an event. */
export function fromApiEvent(event: ApiEvent): ReadEvent {
  const at = fromRfc3339(event.timestamp);
  const custom = membersOf(event.eventMetadata?.['customMetadata']);
  const named = custom[ID_METADATA];
  const { rawEvent } = event;
  if (rawEvent !== undefined && typeof named === 'string') {
    return { id: named, at, time: timeIn(rawEvent, at), data: JSON.stringify(rawEvent) };
  }
  const whole = rawEvent === undefined ? byParts(event, at) : byRaw(event, rawEvent, at);
  return { id: whole['id'] as string, at, time: whole['timestamp'] as number, data: JSON.stringify(whole) };
}

/** The members that both ADKs read first. The author and the invocation of an event that names none stay its own. */
function byRaw(event: ApiEvent, raw: Members, at: number): Members {
  const id = raw['id'];
  const actions = membersOf(raw['actions']);
  return {
    ...raw,
    id: typeof id === 'string' && id !== '' ? id : lastPart(event.name),
    invocationId: raw['invocationId'] ?? event.invocationId ?? '',
    timestamp: timeIn(raw, at),
    actions: { ...emptyActions(), ...actions, stateDelta: shownDelta(membersOf(actions['stateDelta']) as ApiState) },
  };
}

/**
 * An event's own time. The time it is stored under can be later by less than a millisecond, see `timeBehind`; any
 * other time is not in milliseconds, as that of adk-python, or was written by a clock of its own.
 */
function timeIn(raw: Members, at: number): number {
  const own = raw['timestamp'];
  return typeof own === 'number' && Math.abs(at - own) < 1 ? own : at;
}

/** An event of one who writes no `rawEvent`. */
function byParts(event: ApiEvent, at: number): Members {
  const { eventMetadata = {}, content } = event;
  const {
    [METADATA.compaction]: compaction,
    [METADATA.usage]: usageMetadata,
    [METADATA.workflow]: workflow,
    ...custom
  } = membersOf(eventMetadata['customMetadata']);
  return {
    id: lastPart(event.name),
    invocationId: event.invocationId ?? '',
    ...pick({ ...event }, ['author']),
    timestamp: at,
    ...(isFilled(content) && { content }),
    actions: actionsOf(membersOf(event.actions), membersOf(workflow), compaction),
    ...pick({ ...event }, ['errorCode', 'errorMessage']),
    ...pick(eventMetadata, EVENT_METADATA),
    ...pick({ usageMetadata }, ['usageMetadata']),
    ...pick(membersOf(workflow), WORKFLOW),
    ...compactedBy(membersOf(compaction)),
    ...(isFilled(custom) && { customMetadata: custom }),
  };
}

function actionsOf(actions: Members, workflow: Members, compaction: unknown): Members {
  const { stateDelta, transferAgent, ...others } = actions;
  return {
    ...emptyActions(),
    ...others,
    stateDelta: shownDelta(membersOf(stateDelta) as ApiState),
    ...pick({ transferToAgent: transferAgent }, ['transferToAgent']),
    ...pick(workflow, WORKFLOW_ACTIONS),
    ...pick({ compaction }, ['compaction']),
  };
}

/** The members that make an event a compaction for adk-js, which writes these names. */
function compactedBy(compaction: Members): Members {
  const names = ['startTime', 'endTime', 'compactedContent'];
  return names.some((name) => compaction[name] !== undefined) ? { isCompacted: true, ...pick(compaction, names) } : {};
}

function emptyActions(): Members {
  return { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
}

function isFilled(value: unknown): value is object {
  return isObject(value) && Object.keys(value).length > 0;
}
