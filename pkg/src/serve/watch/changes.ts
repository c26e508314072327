// The changes of one target from a place on, for a handler.

import { defined } from '../../model/defined.js';
import {
  eventPlace,
  parsePlace,
  parseWholePlace,
  placeOf,
  placeText,
  type AnyChange,
  type Place,
} from '../../http/watch-wire.js';
import type { RequestedTarget } from '../../http/watch-targets.js';
import { digest } from '../../model/digest.js';
import { StatepadError } from '../../model/errors.js';
import type { GetSessionConfig, Session, SessionKey } from '../../model/types.js';
import type { SessionSource, WatchedChange, WatchKey, WatchPace } from '../../model/watch.js';

/** The changes of a target. */
export interface OpenedTarget {
  /** The text of the place at which they begin; empty if only the first change has it. */
  readonly place: string;
  readonly changes: AsyncIterable<AnyChange>;
}

/** Begins to watch a target. Throws `SESSION_NOT_FOUND`, and `INVALID_ARGUMENT` for an invalid place. */
export async function openTarget(
  service: SessionSource,
  { target, whole, since, initial }: RequestedTarget,
  pace: WatchPace,
): Promise<OpenedTarget> {
  const { sessionId } = target;
  if (sessionId !== undefined && !whole) {
    const parsed = since === undefined ? undefined : parsePlace(since);
    // The current place is the beginning.
    const session = await existingSession(service, target as SessionKey, { numRecentEvents: 1 });
    const begin = parsed ?? eventPlace(session.revision, session.events.at(-1)?.id);
    return { place: placeText(begin), changes: resume(service, target, begin, session.revision, pace) };
  }
  const changes = whole
    ? await watchWhole(service, target as SessionKey, since, pace)
    : watchValues(service, target, since, pace);
  return since !== undefined || initial ? { place: since ?? '', changes } : await withoutFirst(changes);
}

async function watchWhole(
  service: SessionSource,
  key: SessionKey,
  since: string | undefined,
  pace: WatchPace,
): Promise<AsyncIterable<AnyChange>> {
  const place = since === undefined ? undefined : parseWholePlace(since);
  await existingSession(service, key, { numRecentEvents: 0 });
  return service.watch({ ...key, whole: true }, { ...pace, ...defined({ since: place }) });
}

function watchValues(
  service: SessionSource,
  target: WatchKey,
  since: string | undefined,
  pace: WatchPace,
): AsyncIterable<AnyChange> {
  const place = since === undefined ? { initial: true } : { since: parsePlace(since).at };
  return service.watch(target, { ...pace, ...place });
}

/** Changes without the first, which reports everything: its place is where they begin. */
async function withoutFirst(changes: AsyncIterable<AnyChange>): Promise<OpenedTarget> {
  const iterator = changes[Symbol.asyncIterator]();
  const first = await iterator.next();
  const place = first.done === true ? '' : placeOf(first.value);
  return { place, changes: { [Symbol.asyncIterator]: () => iterator } };
}

/** A session. Throws `SESSION_NOT_FOUND`. */
export async function existingSession(
  service: SessionSource,
  { appName, userId, sessionId }: SessionKey,
  config: GetSessionConfig,
): Promise<Session> {
  const session = await service.getSession({ appName, userId, sessionId, config });
  if (session === undefined) {
    throw new StatepadError('SESSION_NOT_FOUND', `session "${sessionId}" not found`, { id: sessionId });
  }
  return session;
}

/**
 * Watches a session from a place on. The event at that place is read again: if it is missing or another one, the
 * store no longer has the history that the client has seen.
 */
async function* resume(
  service: SessionSource,
  target: WatchKey,
  { at, event }: Place,
  revision: number,
  pace: WatchPace,
): AsyncGenerator<WatchedChange, void, undefined> {
  if (at > revision) {
    yield { type: 'reload', revision };
    yield* service.watch(target, { ...pace, since: revision });
    return;
  }
  const isChecked = at > 0 && event !== undefined;
  let isFirst = isChecked;
  for await (const change of service.watch(target, { ...pace, since: isChecked ? at - 1 : at })) {
    const isKnown = isFirst && change.type === 'event' && change.revision === at;
    isFirst = false;
    if (!isKnown) {
      yield change;
    } else if (digest(change.event.id) !== event) {
      yield { type: 'reload', revision: change.revision };
    }
  }
}
