// The rules for sessions and events beyond their protocol buffers, and their form in answers.

import { invalidFields } from './errors.ts';
import { formatTime, later, parseSpan, parseTime } from './time.ts';
import type { Message } from './message.ts';
import type { State, StoredEvent, StoredSession } from './sessions.ts';

/** The life of a session without an expiry: 365 days, in nanoseconds. */
const LIFETIME = 365n * 86_400_000_000_000n;

/** The characters of a label, in its key and its value. */
const LABEL = /^[\p{Ll}\p{Lo}\p{N}_-]{0,64}$/u;

/** Checks that members are there. `path` is what errors call the whole. */
export function checkRequired(message: Message, path: string, names: Readonly<Record<string, string>>): void {
  const missing = Object.keys(names).filter((name) => message[name] === undefined);
  if (missing.length > 0) {
    throw invalidFields(...missing.map((name) => [`${path}.${names[name]}`, 'Required field is not set.'] as const));
  }
}

/** Checks the labels of a session. */
export function checkLabels(labels: unknown): void {
  for (const [key, value] of (labels ?? new Map()) as ReadonlyMap<string, string>) {
    if (key === '' || !LABEL.test(key) || !LABEL.test(value)) {
      throw invalidFields(['session.labels', `Invalid label ${JSON.stringify(key)}.`]);
    }
  }
}

/** The time when a session that is made at `time` expires. */
export function firstExpiryOf(message: Message, time: bigint): bigint {
  return expiryOf(message, time) ?? later(time, LIFETIME);
}

/** The time when a session that is changed at `time` expires; `undefined` when the message does not say. */
export function expiryOf({ ttl, expireTime }: Message, time: bigint): bigint | undefined {
  if (ttl !== undefined) {
    const span = parseSpan(ttl as string) as bigint;
    if (span <= 0n) {
      throw invalidFields(['session.ttl', 'TTL must be positive.']);
    }
    return later(time, span);
  }
  const end = expireTime === undefined ? undefined : parseTime(expireTime as string);
  if (end !== undefined && end <= time) {
    throw invalidFields(['session.expire_time', 'Expire time must be in the future.']);
  }
  return end;
}

/** A session in an answer. */
export function describeSession(session: StoredSession, name: string, state: State): object {
  return {
    name,
    createTime: formatTime(session.createTime),
    updateTime: formatTime(session.updateTime),
    displayName: session.displayName,
    ...(state.size > 0 && { sessionState: state }),
    labels: session.labels,
    userId: session.userId,
    expireTime: formatTime(session.expireTime),
  };
}

/** An event in an answer, with its name; three of its members are always there. */
export function newEvent(message: Message, name: string, number: number): StoredEvent {
  const { author, content = {}, invocationId, actions = {}, timestamp, eventMetadata = {}, ...others } = message;
  return {
    number,
    time: parseTime(timestamp as string) ?? 0n,
    message: { ...others, name, author, content, invocationId, actions, timestamp, eventMetadata },
  };
}
