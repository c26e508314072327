// Stored sessions and events in answers, and the times when sessions expire.

import { invalidFields } from '../../../pkg/src/serve/agent-engine/wire/errors.ts';
import { formatTime, later, parseSpan, parseTime } from '../../../pkg/src/serve/agent-engine/wire/time.ts';
import type { Message } from '../../../pkg/src/serve/agent-engine/wire/message.ts';
import type { State, StoredEvent, StoredSession } from './sessions.ts';

/** The life of a session without an expiry: 365 days, in nanoseconds. */
const LIFETIME = 365n * 86_400_000_000_000n;

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
