// The names of members: which are known, and which are near misses of those that are. What is missed by a letter would
// otherwise be kept as a member of its own, and write nothing.

import { nearest } from './nearest.js';

/** The members of an event that mean something here. */
const EVENT: readonly string[] = [
  'id',
  'invocationId',
  'author',
  'timestamp',
  'content',
  'actions',
  'partial',
  'longRunningToolIds',
  'branch',
  'customMetadata',
];

/** The members of an event's actions that mean something here or to agent runtimes. */
const ACTIONS: readonly string[] = [
  'stateDelta',
  'artifactDelta',
  'requestedAuthConfigs',
  'requestedToolConfirmations',
  'skipSummarization',
  'transferToAgent',
  'escalate',
];

/** What the ADKs (Python, JavaScript, Java, Go) and the Agent Engine have besides in the JSON of an event. */
const ADK_EVENT: readonly string[] = [
  'avgLogprobs',
  'cacheMetadata',
  'citationMetadata',
  'environmentId',
  'errorCode',
  'errorMessage',
  'eventMetadata',
  'finishReason',
  'goAway',
  'groundingMetadata',
  'inputTranscription',
  'interactionId',
  'interactionStatus',
  'interrupted',
  'isolationScope',
  'liveSessionId',
  'liveSessionResumptionUpdate',
  'logprobsResult',
  'message',
  'messageAsOutput',
  'modelVersion',
  'name',
  'nodeInfo',
  'output',
  'outputFor',
  'outputTranscription',
  'path',
  'rawEvent',
  'route',
  'turnComplete',
  'turnCompleteReason',
  'usageMetadata',
  'voiceActivity',
];

/** And in the JSON of its actions. */
const ADK_ACTIONS: readonly string[] = [
  'agentState',
  'compaction',
  'deletedArtifactIds',
  'endInvocation',
  'endOfAgent',
  'renderUiWidgets',
  'rewindBeforeInvocationId',
  'route',
  'setModelResponse',
  'transferAgent',
  'transferReason',
];

/** The members that an object may have, and those that it is known to have elsewhere. */
export interface Names {
  /** What messages call the object. */
  readonly what: string;
  /** Where its members are, in messages: `config.`, or nothing. */
  readonly path: string;
  readonly known: readonly string[];
  readonly others: ReadonlySet<string>;
  /** Lists of names that were found to be right: most objects of a kind have the same members as an earlier one. */
  readonly accepted: (readonly string[])[];
}

/** How many accepted lists of names are kept for one kind of object, and how long each may be. */
const ACCEPTED = 4;
const MAX_ACCEPTED = 32;

/** Whether exactly these names were accepted before. Names of members are compared by address: that takes no time. */
export function areAccepted(names: readonly string[], { accepted }: Names): boolean {
  for (const list of accepted) {
    let index = names.length === list.length ? names.length : -1;
    while (index > 0 && names[index - 1] === list[index - 1]) {
      index--;
    }
    if (index === 0) {
      return true;
    }
  }
  return false;
}

/** Keeps a list of names that was found to be right, in the place of the oldest one. */
export function accept(names: readonly string[], { accepted }: Names): void {
  if (names.length <= MAX_ACCEPTED) {
    accepted.unshift(names);
    accepted.length = Math.min(accepted.length, ACCEPTED);
  }
}

/** Describes an object of which members of unknown names are left alone, unless they miss a known one by a little. */
export function namesOf(
  what: string,
  known: readonly string[],
  { path = '', others = [] }: { readonly path?: string; readonly others?: readonly string[] } = {},
): Names {
  return { what, path, known, others: new Set([...known, ...others]), accepted: [] };
}

/** The names of an event. */
export const EVENT_NAMES: Names = namesOf('an event', EVENT, { others: ADK_EVENT });

/** The names of an event's actions. */
export const ACTION_NAMES: Names = namesOf("an event's actions", ACTIONS, { path: 'actions.', others: ADK_ACTIONS });

/** The known name that an unknown one is meant for, if it looks so. */
export function meant(name: string, known: readonly string[]): string | undefined {
  const plain = plainly(name);
  return (
    known.find((one) => plainly(one) === plain) ??
    // Among shorter names every word is near another one.
    nearest(
      name,
      known.filter((one) => one.length >= 4),
    )
  );
}

/** A name as it is in any convention: `stateDelta`, `state_delta`, `StateDelta`, `STATE-DELTA`. */
function plainly(name: string): string {
  return name.length > 64 ? name : name.replace(/(?<=[^_-])[_-](?=[^_-])/g, '').toLowerCase();
}
