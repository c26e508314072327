// Reads a session, or the values of a scope: rows in one transaction, events converted when that is over.

import { orCorrupt } from './refusals.js';
import { Pacer } from '../../transfer/pacer.js';
import { eventOfRow } from '../readers/reader.js';
import { beginningOf, contentOf, writtenBy } from '../session.js';
import { storedForm } from '../../transfer/planned.js';
import { defined } from '../../model/defined.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { isKnownScope } from '../../stores/shared/keys.js';
import { stateOf } from '../../stores/shared/parts.js';
import { valuesOf } from '../../stores/shared/values.js';
import type { Reader, Source } from './source.js';
import type { Members } from '../../jsonl/members.js';
import type { RowRange } from '../readers/reader.js';
import type { Numbers } from '../values.js';
import type { Positions } from '../../stores/shared/positions.js';
import type {
  Known,
  Loaded,
  LoadedScope,
  LoadQuery,
  ScopeName,
  StoreContext,
  StoredEvent,
  Values,
} from '../../store/contract.js';
import type { AdkRow } from '../../stores/adk-database/database.js';
import type { EventInit, Json, SessionKey } from '../../model/types.js';

/** The parts of a store that its reads need. */
export interface ReadParts {
  readonly source: Source;
  readonly positions: Positions;
  readonly numbers: Numbers;
}

/** A session as a transaction has read it: all but its events is converted. */
interface ReadSession {
  readonly loaded: Omit<Loaded, 'events'>;
  /** The revision of the first row. */
  readonly from: number;
  readonly rows: readonly AdkRow[];
  /** For a creation that is asked for: the session's own values and its time, of which it is inferred. */
  readonly content: ReturnType<typeof contentOf> | undefined;
}

/** Loads a session, see `SessionStore.load`. */
export async function loadSession(
  parts: ReadParts,
  key: SessionKey,
  query: LoadQuery,
  context: StoreContext,
): Promise<Loaded | null> {
  const read = await parts.source.read(async (reader) => await readSession(reader, parts, key, query));
  return read === undefined ? null : { ...read.loaded, events: await eventsOf(read, parts, key, query, context) };
}

async function readSession(
  { rows }: Reader,
  { positions, numbers }: ReadParts,
  key: SessionKey,
  { events: range = {}, known = {} }: LoadQuery,
): Promise<ReadSession | undefined> {
  const row = await rows.session(key);
  if (row === undefined) {
    return undefined;
  }
  const rev = await rows.eventCount(key);
  const last = rev === 0 ? undefined : await rows.eventId(key, rev - 1);
  const content = orCorrupt(sessionTitle(key), () => contentOf(row, numbers));
  const created = String(content.created);
  const isOwn = known.created === created && known.rev !== undefined;
  const isDiverged = isOwn && (known.rev > rev || (await isOther(known, rev, last, rows, key)));
  const [app, user] = [{ app: key.appName }, { app: key.appName, user: key.userId }];
  const [ofApp, ofUser] = [
    await readScope(rows, app, numbers, positions),
    await readScope(rows, user, numbers, positions),
  ];
  const part = rangeOf(range, rev);
  return {
    loaded: {
      created,
      rev,
      time: row.moment,
      pos: { app: ofApp.pos, user: ofUser.pos },
      state: stateOf(
        isOwn && known.rev === rev && !isDiverged ? undefined : valuesIn(content.state),
        isKnownScope(known, 'app', ofApp.pos, undefined) ? undefined : ofApp.state,
        isKnownScope(known, 'user', ofUser.pos, undefined) ? undefined : ofUser.state,
      ),
      ...defined({ last }),
      ...(isDiverged && { diverged: true as const }),
    },
    from: part.offset + 1,
    rows: part.limit > 0 ? await rows.eventRows(key, part) : [],
    content: asksForCreation(range) ? content : undefined,
  };
}

/** True for a range that begins with the creation, which no ADK keeps: all events are read for it. */
function asksForCreation({ from = 1 }: EventQuery): boolean {
  return from < 1;
}

type EventQuery = NonNullable<LoadQuery['events']>;

/** True when the session has another event at the revision of a copy. */
async function isOther(
  known: Known,
  rev: number,
  last: string | undefined,
  rows: Reader['rows'],
  key: SessionKey,
): Promise<boolean> {
  const { rev: knownRev = 0, last: knownLast } = known;
  if (knownRev === 0 || knownLast === undefined) {
    return false;
  }
  return knownLast !== (knownRev === rev ? last : await rows.eventId(key, knownRev - 1));
}

/** The rows of a range of events; where that is one of times too, those that it is selected from. */
function rangeOf(query: EventQuery, rev: number): RowRange {
  if (asksForCreation(query)) {
    return { offset: 0, limit: rev };
  }
  const { from = 1, to = Infinity, since, last } = query;
  const end = Math.min(Math.floor(to), rev);
  const first = Math.max(Math.ceil(from), 1);
  const start = last === undefined || since !== undefined ? first : Math.max(first, end - last + 1);
  return { offset: Math.min(start, rev + 1) - 1, limit: Math.max(0, end - start + 1) };
}

async function eventsOf(
  read: ReadSession,
  { source, numbers }: ReadParts,
  key: SessionKey,
  { events: { to = Infinity, since = -Infinity, last = Infinity } = {} }: LoadQuery,
  { signal }: StoreContext,
): Promise<readonly StoredEvent[]> {
  const pacer = new Pacer(signal);
  const events: EventInit[] = [];
  for (const row of read.rows) {
    if (pacer.isDue) {
      await pacer.pause();
    }
    events.push(orCorrupt(sessionTitle(key), () => storedForm(eventOfRow(source.kind, row, numbers))));
  }
  const stored = events.flatMap((event, index) => {
    const rev = read.from + index;
    const isSelected = rev <= to && (event.timestamp ?? 0) >= since;
    return isSelected ? [defined({ rev, id: event.id, data: JSON.stringify(event) })] : [];
  });
  const all = read.content === undefined ? stored : [creationOf(read.content, events), ...stored];
  return last === Infinity ? all : all.slice(Math.max(0, all.length - last));
}

/** The creation of a session, as a service stores it. */
function creationOf({ state, created }: ReturnType<typeof contentOf>, events: readonly EventInit[]): StoredEvent {
  return { rev: 0, data: JSON.stringify({ timestamp: created, state: beginningOf(state, writtenBy(events)) }) };
}

/** Reads the values of an app, or of a user in it, and gives them a position. */
export async function readScope(
  rows: Reader['rows'],
  scope: ScopeName,
  numbers: Numbers,
  positions: Positions,
): Promise<LoadedScope> {
  const read = await rows.scopeRows({ appName: scope.app, userId: scope.user });
  const state = orCorrupt(scopeTitle(scope), () => valuesIn(read(numbers)));
  return { pos: positions.positionOf(JSON.stringify([scope.app, scope.user]), state), state };
}

/** Values as a store answers them. */
export function valuesIn(members: Members): Values {
  return valuesOf(Object.entries(members as Readonly<Record<string, Json>>));
}
