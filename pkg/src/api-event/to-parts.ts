// An event on its way to the API: under the names that the API has for its parts, and whole, as `rawEvent`.
//
// The whole event is what statepad and both ADKs read; the other fields are for those who know no `rawEvent`. They are
// made as ADK makes them.

import { isObject } from '../../model/value-types.js';
import { StoreError } from '../../store/store-error.js';
import { checkNumbers, checkStruct } from './structs.js';
import { toRfc3339 } from './times.js';
import type { Change } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** An object of JSON. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * The metadata for the id of an event that does not say it itself, or lacks what an event of ADK has: nothing is
 * filled in then when it is read.
 */
export const ID_METADATA = 'statepad:id';

/** The parts of an event that both ADKs keep in its metadata, as the API has no names for them. */
export const METADATA = { compaction: '_compaction', usage: '_usage_metadata', workflow: '_workflow' } as const;

/** The members of an event that are under the workflow's name; those of its actions come after them. */
export const WORKFLOW = ['output', 'route', 'nodeInfo', 'isolationScope'] as const;
export const WORKFLOW_ACTIONS = ['agentState', 'endOfAgent'] as const;

/** The members of an event that are its metadata in the API, under the same names. */
export const EVENT_METADATA = [
  'partial',
  'turnComplete',
  'interrupted',
  'branch',
  'longRunningToolIds',
  'groundingMetadata',
] as const;

/** Members that every event of statepad and of adk-js has. */
const RECORDS = ['stateDelta', 'artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'];

/** An append as the API takes it. Throws `rejected`. */
export function toApiEvent({ event, time }: Change, stateDelta: Readonly<Record<string, Json>>): object {
  const raw = parsed(event?.data ?? '');
  checkStruct(raw, 'the event');
  const actions = membersOf(raw['actions']);
  return {
    author: textOr(raw['author'], 'user'),
    // The API wants one. The event itself says that it has none.
    invocationId: textOr(raw['invocationId'], `inv-${event?.id ?? ''}`),
    timestamp: toRfc3339(time),
    ...present('content', contentOf(raw['content'])),
    actions: {
      stateDelta,
      ...record('artifactDelta', actions['artifactDelta']),
      ...record('requestedAuthConfigs', actions['requestedAuthConfigs']),
      ...present('skipSummarization', actions['skipSummarization']),
      ...present('transferAgent', actions['transferToAgent']),
      ...present('escalate', actions['escalate']),
    },
    ...present('errorCode', raw['errorCode']),
    ...present('errorMessage', raw['errorMessage']),
    eventMetadata: metadataOf(raw, actions, event?.id ?? ''),
    rawEvent: raw,
  };
}

/** True when an event says all that ADK's events say. */
function isWhole(raw: Members, actions: Members, id: string): boolean {
  return raw['id'] === id && typeof raw['timestamp'] === 'number' && RECORDS.every((name) => isObject(actions[name]));
}

function metadataOf(raw: Members, actions: Members, id: string): object {
  const custom = {
    ...membersOf(raw['customMetadata']),
    ...present(METADATA.compaction, compactionOf(raw, actions)),
    ...present(METADATA.usage, raw['usageMetadata']),
    ...filled(METADATA.workflow, { ...pick(raw, WORKFLOW), ...pick(actions, WORKFLOW_ACTIONS) }),
    ...(!isWhole(raw, actions, id) && { [ID_METADATA]: id }),
  };
  return { ...pick(raw, EVENT_METADATA), ...filled('customMetadata', custom) };
}

/** A compaction is an event of its own in adk-js, and an action of one in adk-python. */
function compactionOf(raw: Members, actions: Members): unknown {
  return raw['isCompacted'] === true ? pick(raw, ['startTime', 'endTime', 'compactedContent']) : actions['compaction'];
}

/** Content without its `null` members. Throws `rejected` for members that the API has no name for, and ADK drops. */
function contentOf(content: unknown): unknown {
  if (!isObject(content)) {
    return undefined;
  }
  const { parts } = content as { parts?: unknown };
  (Array.isArray(parts) ? (parts as unknown[]) : []).forEach((part, index) => {
    if (membersOf(part)['partMetadata'] !== undefined) {
      const what = `content.parts[${index}].partMetadata`;
      throw new StoreError('rejected', `${what} cannot be stored: the API has no such field. Omit it`);
    }
  });
  return withoutNull(content);
}

/** A copy without members that are `null`, which to the API are absent. Arguments of functions keep theirs. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutNull);
  }
  if (!isObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const isStruct = name === 'args' || name === 'response';
      return member === null ? [] : [[name, isStruct ? (member as unknown) : withoutNull(member)]];
    }),
  );
}

function parsed(data: string): Members {
  let raw: unknown;
  try {
    raw = JSON.parse(data);
  } catch (cause) {
    throw new StoreError('rejected', 'an event must be JSON: the API keeps no other text', { cause });
  }
  if (!isObject(raw)) {
    throw new StoreError('rejected', 'an event must be an object of JSON: the API keeps nothing else');
  }
  checkNumbers(data, 'the event');
  return raw as Members;
}

/** The members of an object, or none. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? (value as Members) : {};
}

/** Some members of an object, those that are there and not `null`. */
export function pick(from: Members, names: readonly string[]): Members {
  return Object.assign({}, ...names.map((name) => present(name, from[name]))) as Members;
}

function present(name: string, value: unknown): Members {
  return value === undefined || value === null ? {} : { [name]: value };
}

function record(name: string, value: unknown): Members {
  return isObject(value) ? { [name]: value } : {};
}

/** An object that has any member. */
function filled(name: string, value: unknown): Members {
  return Object.keys(membersOf(value)).length > 0 ? { [name]: value } : {};
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' && value !== '' ? value : other;
}
