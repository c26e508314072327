// What the scripts that read get and answer.

import { changedOf, knownText, marksOf } from './commit.js';
import { textOf } from './client.js';
import { hashOf, textAfterSign, unreadable, type Hash } from './hashes.js';
import { memberOf, sessionOf } from './keys.js';
import type { ListQuery, Loaded, LoadedScope, LoadQuery, Page, Row, StoredEvent, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** A reply that is a list. */
type List = readonly unknown[];

/** What the script that loads gets. */
export function loadArgs(key: SessionKey, { events = {}, known = {} }: LoadQuery): string[] {
  const { from = 1, to = Infinity, since = -Infinity, last = Infinity } = events;
  return [
    memberOf(key),
    known.created === undefined ? '' : `=${known.created}`,
    known.rev === undefined ? '' : String(known.rev),
    known.last === undefined ? '' : `=${known.last}`,
    knownText(known, 'app'),
    knownText(known, 'user'),
    String(from),
    String(Math.min(to, Number.MAX_SAFE_INTEGER)),
    since === -Infinity ? '' : String(since),
    // Nothing is as late as that; Redis may not know the word.
    since === Infinity ? '0' : String(Math.min(last, Number.MAX_SAFE_INTEGER)),
  ];
}

/** Reads what it answers. Throws `corrupt`. */
export function decodeLoaded({ sessionId }: SessionKey, reply: unknown): Loaded | null {
  if (reply === null) {
    return null;
  }
  const [, created, rev, time, appPos, userPos, session, app, user, ...rest] = reply as List;
  const [revs, datas, ids, last, appMark, userMark, changedApp, changedUser, hasDiverged] = rest;
  const part = (name: 'session' | 'app' | 'user', hash: unknown): Loaded['state'] =>
    hash === null ? {} : { [name]: hashOf(hash as List, `session "${sessionId}", ${name} state`).values };
  return {
    created: textAfterSign(created),
    rev: Number(rev),
    time: Number(time),
    pos: { app: Number(appPos), user: Number(userPos) },
    state: { ...part('session', session), ...part('app', app), ...part('user', user) },
    ...(last === null ? {} : { last: textAfterSign(last) }),
    marks: marksOf(appMark, userMark),
    ...changedOf(changedApp, changedUser),
    ...(hasDiverged === null ? {} : { diverged: true }),
    events: eventsOf(revs, datas as List, ids as List),
  };
}

/** Either all follow each other from one revision, or each has its own, the last one first. */
function eventsOf(revs: unknown, datas: List, ids: List): StoredEvent[] {
  const events = datas.map((data, index): StoredEvent => {
    const rev = Array.isArray(revs) ? Number(revs[index]) : Number(revs) + index;
    const id = ids[index];
    return { rev, data: textAfterSign(data), ...(id === null ? {} : { id: textAfterSign(id) }) };
  });
  return Array.isArray(revs) ? events.reverse() : events;
}

/** Reads the values of a scope. Throws `corrupt`. */
export function decodeScope(what: string, reply: unknown): LoadedScope {
  const [, hash] = reply as List;
  const { values, rest } = hashOf(hash as List, what);
  const mark = rest.get('m');
  return { pos: Number(rest.get('p') ?? 0), state: values, ...(mark === undefined ? {} : { mark: mark.slice(1) }) };
}

/** What the script that lists gets. */
export function listArgs({ descending, offset = 0, limit = Infinity, after }: ListQuery): string[] {
  const place = after === undefined ? [] : [String(after.time), memberOf(after)];
  return [descending ? 'descending' : '', String(offset), String(Math.min(limit, Number.MAX_SAFE_INTEGER)), ...place];
}

/** Reads what it answers. Sessions that cannot be read are set aside. */
export function decodePage({ app: appName }: ListQuery, reply: unknown): Page {
  const [, total, appHash, members, hashes, userHashes, time] = reply as [unknown, unknown, List, List, List, List, unknown];
  const app = hashOf(appHash, `state of app "${appName}"`);
  const rows: Row[] = [];
  const users = new Map<string, Values>();
  const corrupt: SessionKey[] = [];
  const found = new Map<string, Hash | undefined>();
  for (const [index, member] of members.entries()) {
    const key: SessionKey = { appName, ...sessionOf(textOf(member)) };
    const { userId } = key;
    if (!found.has(userId)) {
      // In the order in which they come up, as the script has read them.
      found.set(userId, readable(() => hashOf(userHashes[found.size] as List | null, 'user state')));
    }
    const user = found.get(userId);
    const row = user && readable(() => rowOf(key, hashes[index] as List | null, app, user));
    if (row === undefined) {
      corrupt.push(key);
    } else {
      rows.push(row);
      users.set(userId, user?.values as Values);
    }
  }
  const page = { rows, app: app.values, users, total: Number(total) };
  if (corrupt.length === 0) {
    return page;
  }
  return { ...page, corrupt, next: { time: Number(time), ...sessionOf(textOf(members.at(-1))) } };
}

/** A session that has seen a scope further on than it is says that the scope was dropped. */
function rowOf(key: SessionKey, hash: List | null, app: Hash, user: Hash): Row {
  const { values, rest } = hashOf(hash, `session "${key.sessionId}"`);
  const [created, rev, time] = [rest.get('c'), Number(rest.get('r') ?? NaN), Number(rest.get('t') ?? NaN)];
  const isDropped = Number(rest.get('a') ?? 0) > positionOf(app) || Number(rest.get('u') ?? 0) > positionOf(user);
  if (created === undefined || Number.isNaN(rev) || Number.isNaN(time) || isDropped) {
    throw unreadable(`session "${key.sessionId}"`);
  }
  return { key, created: created.slice(1), rev, time, state: values };
}

function positionOf({ rest }: Hash): number {
  return Number(rest.get('p') ?? 0);
}

function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
