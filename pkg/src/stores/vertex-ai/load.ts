// Reads a session: its state, and as many of its events as are requested, of one moment.

import { defined } from '../../model/defined.js';
import { isKnownScope } from '../shared/keys.js';
import { stateOf as statesOf } from '../shared/parts.js';
import { createdOf, endOf, stateOf, type Sessions, type LogRange } from './sessions.js';
import { eventsFor, firstRange, missingFor, type EventQuery } from './ranges.js';
import { timeOf } from './times.js';
import type { ReadPart, SessionLog } from './session-log.js';
import type { ApiSession, Resource } from './api.js';
import type { Known, Loaded, LoadQuery, StoredEvent } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The most times that a session is asked for until it stands still. After that the last reading is the answer. */
const MAX_ROUNDS = 8;

/** A log, and the texts of its events that were read for one caller. */
interface ReadLog {
  readonly log: SessionLog;
  readonly texts: Map<string, string>;
}

/** Loads a session, see `SessionStore.load`. */
export async function loadSession(
  sessions: Sessions,
  key: SessionKey,
  query: LoadQuery,
  of: Resource,
): Promise<Loaded | null> {
  const { events = {} } = query;
  let read = readBefore(sessions, key);
  for (let round = 1; ; round++) {
    const writes = sessions.writes(key);
    read ??= await readFirst(sessions, of, firstRange(events));
    const session = read && (await sessions.get(key, of));
    if (read === undefined || session === undefined) {
      return null;
    }
    const isOther = read.log.created !== undefined && read.log.created !== createdOf(session);
    if (isOther) {
      read = undefined;
      continue;
    }
    read.log.created = createdOf(session);
    const settled = await settle(sessions, session, read, events, of);
    if (settled === 'gone') {
      return null;
    }
    sessions.keep(key, read.log);
    if ((settled === 'settled' && writes === sessions.writes(key)) || round >= MAX_ROUNDS) {
      return answer(sessions, key, session, read, query);
    }
  }
}

/**
 * Reads the missing part of a log that has moved, or for a query. `settled`: the log is that of the session as it was
 * read just before, and all texts are there.
 */
async function settle(
  sessions: Sessions,
  session: ApiSession,
  { log, texts }: ReadLog,
  query: EventQuery,
  of: Resource,
): Promise<'settled' | 'moved' | 'gone'> {
  const isCurrent = sessions.isCurrent(log, session);
  const missing = missingFor(log, query, texts);
  if (!isCurrent || missing !== undefined) {
    const range = isCurrent ? missing : withTail(missing, sessions.tailOf(log));
    const part = await sessions.read(of, range ?? 'all');
    if (part === undefined) {
      return 'gone';
    }
    addTexts(texts, part);
    if (log.merge(part)) {
      // It is the log of this session only if that has not moved meanwhile.
      log.settle(session.updateTime);
      return 'moved';
    }
  }
  log.settle(session.updateTime);
  return missingFor(log, query, texts) === undefined ? 'settled' : 'moved';
}

/** The requested part, and the tail that may have moved. */
function withTail(range: LogRange | undefined, tail: number): LogRange {
  if (range === undefined) {
    return { since: tail };
  }
  return range !== 'all' && 'since' in range ? { since: Math.min(range.since, tail) } : range;
}

/** The known part of a log. The retained texts are for this caller alone. */
function readBefore(sessions: Sessions, key: SessionKey): ReadLog | undefined {
  const log = sessions.log(key);
  if (log === undefined) {
    return undefined;
  }
  const { texts = new Map<string, string>() } = log;
  log.texts = undefined;
  return { log, texts };
}

async function readFirst(sessions: Sessions, of: Resource, range: LogRange): Promise<ReadLog | undefined> {
  const first = await sessions.readFirst(of, range);
  if (first === undefined) {
    return undefined;
  }
  const texts = new Map<string, string>();
  addTexts(texts, first[1]);
  return { log: first[0], texts };
}

function addTexts(texts: Map<string, string>, { events }: ReadPart): void {
  for (const { id, data } of events) {
    texts.set(id, data);
  }
}

function answer(
  sessions: Sessions,
  key: SessionKey,
  session: ApiSession,
  { log, texts }: ReadLog,
  { events = {}, known = {} }: LoadQuery,
): Loaded {
  const created = createdOf(session);
  const state = stateOf(session);
  const pos = sessions.positionsOf(key, state);
  const { rev } = log;
  const last = log.eventAt(rev)?.id;
  const isSame = known.created === created && known.rev !== undefined;
  const hasDiverged = isSame && !log.agrees(known.rev, known.last);
  if (hasDiverged) {
    log.texts = texts;
  }
  return {
    created,
    rev,
    time: timeOf(session.updateTime),
    pos,
    state: statesOf(
      isSame && !hasDiverged && known.rev === rev ? undefined : state.session,
      isThere(known, 'app', pos.app) ? undefined : state.app,
      isThere(known, 'user', pos.user) ? undefined : state.user,
    ),
    ...defined({ last }),
    ...endOf(session),
    ...(hasDiverged && { diverged: true }),
    events: storedEvents(log, events, texts),
  };
}

function isThere(known: Known, part: 'app' | 'user', pos: number): boolean {
  return isKnownScope(known, part, pos, undefined);
}

function storedEvents(log: SessionLog, query: EventQuery, texts: ReadonlyMap<string, string>): StoredEvent[] {
  return eventsFor(log, query).flatMap(({ id, rev }) => {
    const data = texts.get(id);
    return data === undefined ? [] : [{ id, rev, data }];
  });
}
