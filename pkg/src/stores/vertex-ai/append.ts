// An append: looked for before it is sent, and again when its answer is lost.

import { StoreError } from '../../store/store-error.js';
import { sessionNotFound } from '../../store/refusals.js';
import { isEmpty } from '../shared/values.js';
import { withDeltas } from '../../model/delta.js';
import { createdOf, endOf, scopeText, stateOf, type Sessions, type LogRange } from './sessions.js';
import { stateDelta, type ScopedState } from './state.js';
import { timeBehind, toRfc3339 } from './times.js';
import { toApiEvent } from './to-api.js';
import { refusalOf, writeOnce } from './write-once.js';
import type { ReadEvent } from './from-api.js';
import type { ApiSession, Resource } from './api.js';
import type { ReadPart, SessionLog } from './session-log.js';
import type { Change, Committed, Pos } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** An id that the service has made up: no other call can have it. */
const GENERATED = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Appends an event, see `SessionStore.commit`. */
export async function appendEvent(sessions: Sessions, change: Change, of: Resource): Promise<Committed> {
  const key = change.key as SessionKey;
  const session = await sessions.get(key, of);
  const created = change.guard?.created;
  if (session === undefined || (created !== undefined && created !== createdOf(session))) {
    throw sessionNotFound(change);
  }
  // An event that cannot be stored is refused before anything else is asked for.
  const event = toApiEvent(change, stateDelta(change.delta, session.sessionState ?? {}));
  const eventsById = new Map<string, ReadEvent>();
  const log = await currentLog(sessions, key, change, session, eventsById, of);
  const state = stateOf(session);
  const before = sessions.positionsOf(key, state);
  const { id } = change;
  if (log.has(id)) {
    const { data } = eventsById.get(id) ?? (await findEvent(sessions, of, id, log));
    return { rev: log.rev, prev: log.rev, pos: before, duplicate: true, data, ...endOf(session) };
  }
  const at = timeBehind(log.lastAtWithin(change.time), change.time);
  await write(sessions, change, { ...event, timestamp: toRfc3339(at) }, of);
  log.add({ id, at, time: change.time });
  sessions.keep(key, log);
  const prev = log.rev - 1;
  // If the event did not come in at the end, the one before the last differs from the one that the caller knows.
  const last = log.eventAt(prev)?.id;
  const pos = positionsAfter(sessions, key, change, before, state);
  return { rev: log.rev, prev, pos, ...endOf(session), ...(last !== undefined && { before: { session: last } }) };
}

/** The log as it is now, with all that can have the id of the change. */
async function currentLog(
  sessions: Sessions,
  key: SessionKey,
  change: Change,
  session: ApiSession,
  eventsById: Map<string, ReadEvent>,
  of: Resource,
): Promise<SessionLog> {
  const note = (part: ReadPart | undefined): ReadPart => {
    if (part === undefined) {
      throw sessionNotFound(change);
    }
    part.events.forEach((event) => eventsById.set(event.id, event));
    return part;
  };
  const known = sessions.log(key);
  let log = known?.created === undefined || known.created === createdOf(session) ? known : undefined;
  if (log === undefined) {
    const first = await sessions.readFirst(of, { last: 0 });
    note(first?.[1]);
    [log] = first as NonNullable<typeof first>;
  } else if (!sessions.isCurrent(log, session)) {
    log.merge(note(await sessions.read(of, { since: sessions.tailOf(log) })));
    log.settle(session.updateTime);
  }
  log.created = createdOf(session);
  const range = log.has(change.id) ? undefined : rangeFor(log, change);
  if (range !== undefined) {
    log.merge(note(await sessions.read(of, range)));
  }
  sessions.keep(key, log);
  return log;
}

/**
 * The part to read before it is sure that no event has the id. One that was made up, and that no other call has, can
 * only have come in with its own time; any other one may be anywhere.
 */
function rangeFor(log: SessionLog, { id, call, time }: Change): LogRange | undefined {
  if (log.isWhole) {
    return undefined;
  }
  if (call === undefined && GENERATED.test(id)) {
    return log.covers(Math.floor(time)) ? undefined : { since: Math.floor(time) };
  }
  return 'all';
}

/** An event whose id is known. */
async function findEvent(sessions: Sessions, of: Resource, id: string, log: SessionLog): Promise<ReadEvent> {
  const at = log.events.find((event) => event.id === id)?.at ?? -Infinity;
  const part = await sessions.read(of, { since: at });
  const event = part?.events.find((each) => each.id === id);
  if (event === undefined) {
    throw new StoreError('unavailable', `event "${id}" no longer exists`);
  }
  return event;
}

async function write(sessions: Sessions, change: Change, event: object, of: Resource): Promise<void> {
  const { api } = sessions;
  const written = await writeOnce(
    api.client,
    {
      send: async () => await api.append(of, event),
      read: (): true => true,
      look: async () => {
        const part = await sessions.read(of, { since: change.time });
        return part?.events.some(({ id }) => id === change.id) ? true : undefined;
      },
    },
    of,
  );
  if (written.kind === 'refused') {
    throw written.error.http === 404 ? sessionNotFound(change) : refusalOf(written);
  }
}

function positionsAfter(
  { positions }: Sessions,
  { appName: app, userId: user }: SessionKey,
  { delta }: Change,
  before: Pos,
  state: ScopedState,
): Pos {
  const after = (part: 'app' | 'user', scope: string): number =>
    isEmpty(delta[part]) ? before[part] : positions.written(scope, before[part], withDeltas(state[part], delta[part]));
  return { app: after('app', scopeText(app)), user: after('user', scopeText(app, user)) };
}
