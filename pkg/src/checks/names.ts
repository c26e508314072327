// The names of members: the known ones, and near misses of them. A misspelt member would otherwise be stored under its
// name, and write nothing.

import { nearest } from './nearest.js';

/** The members of an event that have a meaning here. */
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

/** The members of an event's actions that have a meaning here or for agent runtimes. */
const ACTIONS: readonly string[] = [
  'stateDelta',
  'artifactDelta',
  'requestedAuthConfigs',
  'requestedToolConfirmations',
  'skipSummarization',
  'transferToAgent',
  'escalate',
];

/**
 * Further members that the ADKs (Python, JavaScript, Java, Go) and the Agent Engine write into the JSON of an event.
 */
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

/** Further members that they write into the JSON of its actions. */
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

/** The members that an object may have, and those that are known in other objects. */
export interface Names {
  /** The object's name in messages. */
  readonly what: string;
  /** The prefix of its members in messages: `config.`, or nothing. */
  readonly path: string;
  readonly known: readonly string[];
  readonly foreign: ReadonlySet<string>;
  /** Lists of names that passed the check: most objects of a kind have the same members as an earlier one. */
  readonly accepted: (readonly string[])[];
}

/** The number of accepted lists that are cached for one kind of object, and their greatest length. */
const ACCEPTED = 4;
const MAX_ACCEPTED = 32;

/** True when exactly these names passed before. Member names are compared by address, which takes no time. */
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

/** Caches a list of names that passed the check, in the place of the oldest one. */
export function accept(names: readonly string[], { accepted }: Names): void {
  if (names.length <= MAX_ACCEPTED) {
    accepted.unshift(names);
    accepted.length = Math.min(accepted.length, ACCEPTED);
  }
}

/** Describes an object that may have members of unknown names, unless they are near misses of known ones. */
export function namesOf(
  what: string,
  known: readonly string[],
  { path = '', others = [] }: { readonly path?: string; readonly others?: readonly string[] } = {},
): Names {
  return { what, path, known, foreign: new Set([...known, ...others]), accepted: [] };
}

/** The names of an event. */
export const EVENT_NAMES: Names = namesOf('an event', EVENT, { others: ADK_EVENT });

/** The names of an event's actions. */
export const ACTION_NAMES: Names = namesOf("an event's actions", ACTIONS, { path: 'actions.', others: ADK_ACTIONS });

/** The known name that an unknown one probably stands for. */
export function likelyName(name: string, known: readonly string[]): string | undefined {
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

/** A name, normalized across conventions: `stateDelta`, `state_delta`, `StateDelta`, `STATE-DELTA`. */
function plainly(name: string): string {
  return name.length > 64 ? name : name.replace(/(?<=[^_-])[_-](?=[^_-])/g, '').toLowerCase();
}
