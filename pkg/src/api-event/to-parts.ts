// An event of ADK under the names that Agent Engine's API has for its parts. They are made as ADK makes them.

import { isObject } from '../model/value-types.js';
import { filled, membersOf, pick, present, record, textOr, type Members } from './members.js';

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

/** The choices of the caller. */
export interface PartsOptions {
  readonly id: string;
  /** The delta of the state as the API has it. */
  readonly stateDelta: Members;
  /** Members of the custom metadata in addition to the event's own; those that ADK adds by default. */
  readonly custom?: Members;
}

/** The parts of an event, all but its time. */
export function partsOf(event: Members, { id, stateDelta, custom = adkMetadata(event) }: PartsOptions): Members {
  const actions = membersOf(event['actions']);
  return {
    author: textOr(event['author'], 'user'),
    // The API wants one. The event itself says that it has none.
    invocationId: textOr(event['invocationId'], `inv-${id}`),
    ...present('content', contentOf(event['content'])),
    actions: {
      stateDelta,
      ...record('artifactDelta', actions['artifactDelta']),
      ...record('requestedAuthConfigs', actions['requestedAuthConfigs']),
      ...present('skipSummarization', actions['skipSummarization']),
      ...present('transferAgent', actions['transferToAgent']),
      ...present('escalate', actions['escalate']),
    },
    ...present('errorCode', event['errorCode']),
    ...present('errorMessage', event['errorMessage']),
    eventMetadata: {
      ...pick(event, EVENT_METADATA),
      ...filled('customMetadata', { ...membersOf(event['customMetadata']), ...custom }),
    },
  };
}

/** The members that ADK keeps in the custom metadata of an event. */
export function adkMetadata(event: Members): Members {
  const actions = membersOf(event['actions']);
  return {
    ...present(METADATA.compaction, compactionOf(event, actions)),
    ...present(METADATA.usage, event['usageMetadata']),
    ...filled(METADATA.workflow, { ...pick(event, WORKFLOW), ...pick(actions, WORKFLOW_ACTIONS) }),
  };
}

/** A compaction is an event of its own in adk-js, and an action of one in adk-python. */
function compactionOf(event: Members, actions: Members): unknown {
  return event['isCompacted'] === true
    ? pick(event, ['startTime', 'endTime', 'compactedContent'])
    : actions['compaction'];
}

/** Content without its `null` members. */
function contentOf(content: unknown): unknown {
  return isObject(content) ? withoutNull(content) : undefined;
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
