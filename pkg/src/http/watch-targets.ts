// The targets of a request: one in the parameters of its URL, or several as JSON, whose changes share one stream.

import { defined } from '../model/defined.js';
import { checkObject, invalid } from '../checks/arguments.js';
import { StatepadError } from '../model/errors.js';
import type { Incoming } from './incoming.js';
import type { GetSessionConfig, SessionKey } from '../model/types.js';
import type { WatchKey, WatchTarget } from '../model/watch.js';

/** A target, and the place of its reader. */
export interface RequestedTarget {
  readonly target: WatchKey;
  readonly whole: boolean;
  /** The text of a place. */
  readonly since: string | undefined;
  /** For values without `since`: true to begin with all current values. For a whole session: true to begin with it. */
  readonly initial: boolean;
}

/** The largest number of targets in a request. */
export const MAX_TARGETS = 1000;

/** The parameter that has several targets as JSON. In a POST they are the body. */
export const TARGETS = 'targets';

const IDS = ['appName', 'userId', 'sessionId'] as const;
type Ids = Partial<Record<(typeof IDS)[number], string>>;

/** The key of a target, and a flag for a whole session. */
export function keyOf(watchTarget: WatchTarget): { readonly target: WatchKey; readonly whole: boolean } {
  checkObject(watchTarget, 'target');
  const { appName, userId } = watchTarget;
  const sessionId =
    'sessionId' in watchTarget ? watchTarget.sessionId : 'id' in watchTarget ? watchTarget.id : undefined;
  return { target: checkedKey({ appName, userId, sessionId }), whole: 'whole' in watchTarget && watchTarget.whole };
}

/** The several targets in the URL of a request; `undefined` for one that names a single one. */
export function targetsInUrl(request: Incoming): readonly RequestedTarget[] | undefined {
  const text = new URL(request.url).searchParams.get(TARGETS);
  return text === null ? undefined : parseTargets(text);
}

/** The one target in the URL of a request. */
export function singleTarget(request: Incoming): RequestedTarget {
  const { searchParams } = new URL(request.url);
  const ids: Ids = {};
  for (const name of IDS) {
    const value = searchParams.get(name);
    if (value !== null) {
      ids[name] = value;
    }
  }
  const whole = searchParams.get('whole') === 'true';
  const since = request.headers.get('last-event-id') ?? searchParams.get('since') ?? undefined;
  return { target: checkedTarget(ids, whole), whole, since, initial: true };
}

/** The window over the events of a session in the URL of a request. */
export function configOf(request: Incoming): GetSessionConfig {
  const { searchParams } = new URL(request.url);
  const number = (name: string): number | undefined => {
    const text = searchParams.get(name);
    return text === null ? undefined : Number(text);
  };
  return { numRecentEvents: number('numRecentEvents'), afterTimestamp: number('afterTimestamp') };
}

/** Several targets as JSON. */
export function targetsText(targets: readonly RequestedTarget[]): string {
  return JSON.stringify(
    targets.map(({ target, whole, since, initial }) => ({ ...target, ...(whole && { whole }), since, initial })),
  );
}

/** Several targets in JSON. Throws `TOO_LARGE`, `INVALID_ARGUMENT`. */
export function parseTargets(text: string): readonly RequestedTarget[] {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    invalid(TARGETS, 'must be JSON');
  }
  if (!Array.isArray(json) || json.length === 0) {
    invalid(TARGETS, 'must be a list of at least one target');
  }
  if (json.length > MAX_TARGETS) {
    throw new StatepadError(
      'TOO_LARGE',
      `there are ${json.length} targets, but a request may have at most ${MAX_TARGETS}`,
    );
  }
  return json.map(parseTarget);
}

function parseTarget(json: unknown, index: number): RequestedTarget {
  checkObject(json, `${TARGETS}[${index}]`);
  const { whole = false, since, initial = true, ...ids } = json as Record<string, unknown>;
  if (typeof whole !== 'boolean' || typeof initial !== 'boolean' || !['string', 'undefined'].includes(typeof since)) {
    invalid(`${TARGETS}[${index}]`, 'has a member of another type: whole and initial are booleans, since is a string');
  }
  return { target: checkedTarget(ids, whole), whole, since: since as string | undefined, initial };
}

function checkedTarget(ids: Readonly<Record<string, unknown>>, whole: boolean): WatchKey {
  const key = checkedKey(ids);
  if (whole && key.sessionId === undefined) {
    invalid('sessionId', 'is missing: a whole session needs one');
  }
  return key;
}

function checkedKey(ids: Readonly<Record<string, unknown>>): WatchKey {
  const { appName, userId, sessionId } = ids as Partial<SessionKey>;
  for (const name of IDS) {
    const value = ids[name];
    if (value !== undefined && typeof value !== 'string') {
      invalid(name, 'must be a string');
    }
  }
  if (appName === undefined) {
    invalid('appName', 'is missing');
  }
  if (sessionId !== undefined && userId === undefined) {
    invalid('userId', 'is missing: a sessionId needs one');
  }
  return defined({ appName, userId, sessionId });
}
