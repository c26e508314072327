// The event that the parts of an event of Agent Engine's API make up, for one that was written without `rawEvent`.

import { isFilled, membersOf, pick, type Members } from './members.js';
import { EVENT_METADATA, METADATA, WORKFLOW, WORKFLOW_ACTIONS } from './to-parts.js';

/** The members of an event that it does not have from its parts. */
export interface PartsIdentity {
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly timestamp: number;
  readonly stateDelta: Members;
}

/** An event of one who writes no `rawEvent`. */
export function eventOfParts(parts: Members, { id, timestamp, stateDelta }: PartsIdentity): Members {
  const eventMetadata = membersOf(parts['eventMetadata']);
  const {
    [METADATA.compaction]: compaction,
    [METADATA.usage]: usageMetadata,
    [METADATA.workflow]: workflow,
    ...custom
  } = membersOf(eventMetadata['customMetadata']);
  const { content } = parts;
  return {
    id,
    invocationId: parts['invocationId'] ?? '',
    ...pick(parts, ['author']),
    timestamp,
    ...(isFilled(content) && { content }),
    actions: actionsOf(membersOf(parts['actions']), stateDelta, membersOf(workflow), compaction),
    ...pick(parts, ['errorCode', 'errorMessage']),
    ...pick(eventMetadata, EVENT_METADATA),
    ...pick({ usageMetadata }, ['usageMetadata']),
    ...pick(membersOf(workflow), WORKFLOW),
    ...compactedBy(membersOf(compaction)),
    ...(isFilled(custom) && { customMetadata: custom }),
  };
}

function actionsOf(actions: Members, stateDelta: Members, workflow: Members, compaction: unknown): Members {
  const { transferAgent, ...others } = actions;
  return {
    ...emptyActions(),
    ...others,
    stateDelta,
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

/** The actions of an event that has none. */
export function emptyActions(): Members {
  return { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
}
