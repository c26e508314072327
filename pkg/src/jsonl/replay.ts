// Writes the content of a file to a service.

import { makeScope } from '../transfer/make-scope.js';
import type { LogWriter } from '../service/log-writer.js';
import type { SessionService } from '../service/session-service.js';
import type { Contents, FileSession } from './read.js';

/** Runs a task for a line; answers `undefined` when the line was refused and the refusal was recorded. */
export type Watch = <T>(line: number, task: () => Promise<T>, place?: string) => Promise<T | undefined>;

/** Writes all sessions and values one by one: the shared values depend on the order. */
export async function replay({ sessions, scopes }: Contents, service: SessionService, watch: Watch): Promise<void> {
  const writer = await service.logWriter({});
  for (const session of sessions) {
    await replaySession(session, writer, watch);
  }
  for (const scope of scopes) {
    await watch(scope.line, async () => await makeScope(scope, service));
  }
}

/** Creates a session as in a log, and appends its events. */
async function replaySession(session: FileSession, writer: LogWriter, watch: Watch): Promise<void> {
  const { line, key, timestamp, end, state, events } = session;
  const created = await watch(line, async () => await writer.create({ ...key, state }, timestamp, end));
  if (created === undefined) {
    return;
  }
  const { appName, userId, sessionId: id } = key;
  for (const { line: place, place: prefix, event } of events) {
    await watch(place, async () => await writer.append({ appName, userId, id }, event), prefix);
  }
}
