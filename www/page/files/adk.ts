// Converts sessions and events of the Agent Development Kits to the form that `statepad/jsonl` reads: members in
// camelCase, times in milliseconds, no `null`.

/** A parsed object. */
export type Members = Readonly<Record<string, unknown>>;

/** Names for sessions that have none of their own. */
export interface Names {
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
}

/** Members whose contents are the user's own: the names in them are data, and stay as they are. */
const OPAQUE = new Set([
  ...['state', 'stateDelta', 'artifactDelta', 'args', 'response', 'customMetadata', 'output', 'agentState'],
  ...['requestedAuthConfigs', 'requestedToolConfirmations'],
]);

/** Times above it are in milliseconds (from 1973), and up to it in seconds (until 5138). */
const LAST_SECOND = 1e11;
/** Numbers below it are no times in either unit (seconds: 1973), and stay as they are. */
const FIRST_SECOND = 1e8;

/** The prefix of keys that are not stored. */
const TEMP = 'temp:';

/** True for an object. */
export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a value that looks like a session: an object with a list of events. */
export function isSession(value: unknown): value is Members {
  return isMembers(value) && Array.isArray(value['events']) && value['kind'] === undefined;
}

/** Members that only events have, in either spelling. */
const OF_EVENTS = ['author', 'content', 'actions', 'invocationId', 'invocation_id', 'errorCode', 'error_code'];

/** True for a value that looks like an event. */
export function isEvent(value: unknown): value is Members {
  return isMembers(value) && value['kind'] === undefined && OF_EVENTS.some((name) => name in value);
}

/** A session in the form that `openLines` reads, with missing names from `names`. */
export function sessionFrom(given: Members, names: Names): Members {
  const { id, appName, userId, state, lastUpdateTime, events } = camelized(given);
  const updated = millisFrom(lastUpdateTime);
  return {
    id: textOr(id, names.sessionId),
    appName: textOr(appName, names.appName),
    userId: textOr(userId, names.userId),
    state: isMembers(state) ? state : {},
    ...(updated === undefined ? {} : { lastUpdateTime: updated }),
    events: eventsFrom(Array.isArray(events) ? (events as unknown[]) : [], updated),
  };
}

/** True for a piece of a streamed answer: the whole follows, and only that belongs in a log. */
export function isPartial(event: unknown): boolean {
  return isMembers(event) && event['partial'] === true;
}

/** Events in the form that `openLines` reads, without those that are {@link isPartial}. */
function eventsFrom(given: readonly unknown[], updated = 0): unknown[] {
  let time = updated;
  const events = given.filter((event) => !isPartial(event));
  return events.map((event, place) => {
    const read = isMembers(event) ? eventFrom(event, place, time) : event;
    time = (isMembers(read) ? (read['timestamp'] as number | undefined) : undefined) ?? time;
    return read;
  });
}

/** An event in the form that `openLines` reads; without a time of its own it has that of the one before. */
export function eventFrom(given: Members, place: number, time: number): Members {
  const event = camelized(given);
  const actions = isMembers(event['actions']) ? event['actions'] : {};
  const delta = isMembers(actions['stateDelta']) ? actions['stateDelta'] : {};
  const tempKeys = Object.keys(delta).flatMap((key) => (key.startsWith(TEMP) ? [key.slice(TEMP.length)] : []));
  const metadata = isMembers(event['customMetadata']) ? event['customMetadata'] : {};
  return {
    ...event,
    id: textOr(event['id'], `event-${place + 1}`),
    timestamp: millisFrom(event['timestamp']) ?? time,
    ...(event['actions'] === undefined ? {} : { actions }),
    // Unstored keys leave a note that they were written.
    ...(tempKeys.length === 0 ? {} : { customMetadata: { ...metadata, tempKeys } }),
  };
}

/** With names in camelCase, except in the user's own contents, and without `null`. */
function camelized(given: Members): Members {
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) => {
      const camel = camelFrom(name);
      return value === null ? [] : [[camel, OPAQUE.has(camel) ? value : inner(value)]];
    }),
  );
}

function inner(value: unknown): unknown {
  return Array.isArray(value) ? value.map(inner) : isMembers(value) ? camelized(value) : value;
}

function camelFrom(name: string): string {
  return name.replaceAll(/(?<=[a-z\d])_([a-z\d])/gu, (_, letter: string) => letter.toUpperCase());
}

/** A time in milliseconds; ADK for Python writes seconds, databases write text. */
function millisFrom(time: unknown): number | undefined {
  if (typeof time === 'string') {
    const parsed = /^[\d.]+$/u.test(time) ? Number(time) : Date.parse(time);
    return Number.isNaN(parsed) ? undefined : millisFrom(parsed);
  }
  if (typeof time !== 'number' || !Number.isFinite(time)) {
    return undefined;
  }
  return time >= FIRST_SECOND && time < LAST_SECOND ? Math.round(time * 1000) : time;
}

function textOr(value: unknown, other: string): string {
  return typeof value === 'string' && value.trim() !== '' ? value : other;
}
