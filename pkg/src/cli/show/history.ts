// The writes of a key: by one session, or of an `app:` or `user:` key by all of them.

import type { HistoryRecord, ShowRecord, StepRecord } from './records.js';
import type { ShowSettings } from './settings.js';
import type { SessionOperations } from '../../client.js';
import type { HistoryStep, Session, SharedStep } from '../../index.js';

type Wanted = Pick<ShowSettings, 'at' | 'since' | 'limit' | 'redaction' | 'filter'>;

/** The writes of a key by a session. Nothing when there are none. */
export async function* sessionHistory(
  source: SessionOperations,
  { appName, userId, id }: Session,
  key: string,
  { at, since, limit, redaction }: Wanted,
): AsyncGenerator<ShowRecord> {
  const name = { appName, userId, id };
  const { exact, steps } = await source.history(name, key, { detailed: true, ...(at !== undefined && { until: at }) });
  const own = steps.map(({ event, ...step }: HistoryStep) => ({
    ...step,
    ...(event !== undefined && { eventId: event.id, ...(event.author !== undefined && { author: event.author }) }),
  }));
  yield* records({ appName, userId, sessionId: id, key, exact }, own, { since, limit, redaction });
}

/** The writes of an `app:` or `user:` key by all sessions. */
export async function* sharedHistory(
  source: SessionOperations,
  key: string,
  { filter, since, limit, redaction }: Wanted,
): AsyncGenerator<ShowRecord> {
  const owner = {
    appName: filter.app.only ?? '',
    ...(key.startsWith('user:') && { userId: filter.user.only ?? '' }),
  };
  const { exact, steps } = await source.history({ ...owner, key });
  yield* records({ ...owner, key, exact }, steps, { since, limit, redaction });
}

type Step = SharedStep | Omit<StepRecord, 'kind'>;

function* records(
  head: Omit<HistoryRecord, 'kind'>,
  all: readonly Step[],
  { since, limit, redaction }: Pick<Wanted, 'since' | 'limit' | 'redaction'>,
): Generator<ShowRecord> {
  const later = all.filter(({ timestamp }) => timestamp >= since);
  if (all.length === 0) {
    return;
  }
  yield { kind: 'history', ...head };
  for (const step of later.slice(Math.max(0, later.length - limit))) {
    const { from, to } = step;
    yield {
      kind: 'step',
      ...step,
      ...(from !== undefined && { from: redaction.value(head.key, from) }),
      ...(to !== undefined && { to: redaction.value(head.key, to) }),
    } as StepRecord;
  }
}
