// One session: its state, now or at a revision, and its events, as they come.

import { sessionRecord } from './lists.js';
import type { ShowRecord } from './records.js';
import type { ShowSettings } from './settings.js';
import type { SessionOperations } from '../../client.js';
import type { Event, Session } from '../../index.js';

type Wanted = Pick<ShowSettings, 'at' | 'since' | 'limit' | 'redaction'>;

/** The events that are loaded ahead of the reader. */
const AHEAD = 500;

/** A session as it is now or was at a revision, and its last events up to there, at most a limit. */
export async function* session(
  source: SessionOperations,
  shown: Session,
  { at, since, limit, redaction }: Wanted,
): AsyncGenerator<ShowRecord> {
  const record = sessionRecord(shown, redaction);
  const revision = at ?? shown.revision;
  if (at === undefined) {
    yield record;
  } else {
    const { state, exact } = await source.stateAt(shown, at, { detailed: true });
    yield { ...record, revision: at, state: redaction.state(state), exact };
  }
  const first = Math.max(0, revision - limit);
  for await (const { revision: number, event } of eventsOf(source, shown, first, revision)) {
    if (event.timestamp >= since) {
      yield { kind: 'event', revision: number, event: redaction.event(event) };
    }
  }
}

/**
 * The events of a session after a revision and up to another one. They come in pages, so that no more of them are in
 * memory: a watch begins with those that are there.
 */
async function* eventsOf(
  source: SessionOperations,
  { appName, userId, id: sessionId }: Session,
  after: number,
  to: number,
): AsyncGenerator<{ readonly revision: number; readonly event: Event }> {
  if (after >= to) {
    return;
  }
  for await (const change of source.watch({ appName, userId, sessionId }, { since: after, buffer: AHEAD })) {
    if (change.type !== 'event') {
      return;
    }
    yield change;
    if (change.revision >= to) {
      return;
    }
  }
}
