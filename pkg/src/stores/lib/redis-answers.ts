// What the scripts that read get and answer.

import { StoreError } from '../../store-error.js';
import { textOf } from './redis-client.js';
import { memberOf, sessionOf } from './redis-keys.js';
import { emptyValues } from './values.js';
import type { ListQuery, Loaded, LoadedScope, LoadQuery, Page, Row, StoredEvent, Values } from '../../store.js';
import type { Json, SessionKey } from '../../types.js';

/** A reply that is a list. */
type List = readonly unknown[];

/** A hash: the values in it, and what else is in it. */
interface Hash {
  readonly values: Values;
  readonly rest: ReadonlyMap<string, string>;
}

/** What the script that loads gets. */
export function loadArgs(key: SessionKey, { events = {}, known = {} }: LoadQuery): string[] {
  const { from = 1, to = Infinity, since = -Infinity, last = Infinity } = events;
  return [
    memberOf(key),
    known.created === undefined ? '' : `=${known.created}`,
    ...[known.rev, known.pos?.app, known.pos?.user].map((count) => (count === undefined ? '' : String(count))),
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
  const [status, created, rev, time, appPos, userPos, session, app, user, revs, datas] = reply as List;
  if (textOf(status) !== 'found') {
    throw new StoreError('corrupt', `what is stored of session "${sessionId}" cannot be read`);
  }
  const part = (name: 'session' | 'app' | 'user', hash: unknown): Loaded['state'] =>
    hash === null ? {} : { [name]: hashOf(hash as List, `session "${sessionId}", ${name} state`).values };
  return {
    created: textOf(created).slice(1),
    rev: Number(rev),
    time: Number(time),
    pos: { app: Number(appPos), user: Number(userPos) },
    state: { ...part('session', session), ...part('app', app), ...part('user', user) },
    events: eventsOf(revs, datas as List),
  };
}

/** Either all follow each other from one revision, or each has its own, the last one first. */
function eventsOf(revs: unknown, datas: List): StoredEvent[] {
  const events = datas.map((data, index): StoredEvent => {
    const rev = Array.isArray(revs) ? Number(revs[index]) : Number(revs) + index;
    return { rev, data: textOf(data).slice(1) };
  });
  return Array.isArray(revs) ? events.reverse() : events;
}

/** Reads the values of a scope. Throws `corrupt`. */
export function decodeScope(what: string, reply: unknown): LoadedScope {
  const { values, rest } = hashOf(reply as List, what);
  return { pos: Number(rest.get('p') ?? 0), state: values };
}

/** What the script that lists gets. */
export function listArgs({ descending, offset = 0, limit = Infinity, after }: ListQuery): string[] {
  const place = after === undefined ? [] : [String(after.time), memberOf(after)];
  return [descending ? 'descending' : '', String(offset), String(Math.min(limit, Number.MAX_SAFE_INTEGER)), ...place];
}

/** Reads what it answers. Sessions that cannot be read are set aside. */
export function decodePage({ app: appName }: ListQuery, reply: unknown): Page {
  const [total, app, members, hashes, userHashes] = reply as [unknown, List, List, List, List];
  const rows: Row[] = [];
  const users = new Map<string, Values>();
  const corrupt: SessionKey[] = [];
  const found = new Map<string, Values | undefined>();
  for (const [index, member] of members.entries()) {
    const key: SessionKey = { appName, ...sessionOf(textOf(member)) };
    const { userId } = key;
    if (!found.has(userId)) {
      // In the order in which they come up, as the script has read them.
      found.set(userId, readable(() => hashOf(userHashes[found.size] as List | null, 'user state').values));
    }
    const [row, user] = [readable(() => rowOf(key, hashes[index] as List | null)), found.get(userId)];
    if (row === undefined || user === undefined) {
      corrupt.push(key);
    } else {
      rows.push(row);
      users.set(userId, user);
    }
  }
  const page = { rows, app: hashOf(app, `state of app "${appName}"`).values, users, total: Number(total) };
  return corrupt.length === 0 ? page : { ...page, corrupt };
}

function rowOf(key: SessionKey, hash: List | null): Row {
  const { values, rest } = hashOf(hash, `session "${key.sessionId}"`);
  const [created, rev, time] = [rest.get('c'), Number(rest.get('r') ?? NaN), Number(rest.get('t') ?? NaN)];
  if (created === undefined || Number.isNaN(rev) || Number.isNaN(time)) {
    throw unreadable(`session "${key.sessionId}"`);
  }
  return { key, created: created.slice(1), rev, time, state: values };
}

function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Reads a hash: `=name` is `order:JSON`, the rest is the store's own. */
function hashOf(reply: List | null, what: string): Hash {
  const rest = new Map<string, string>();
  const found: { name: string; order: number; json: string }[] = [];
  if (reply === null) {
    throw unreadable(what);
  }
  for (let index = 0; index < reply.length; index += 2) {
    const [name, text] = [textOf(reply[index]), textOf(reply[index + 1])];
    if (name.startsWith('=')) {
      const colon = text.indexOf(':');
      found.push({ name: name.slice(1), order: Number(text.slice(0, colon)), json: text.slice(colon + 1) });
    } else {
      rest.set(name, text);
    }
  }
  const values = emptyValues();
  for (const { name, json } of found.sort((a, b) => a.order - b.order)) {
    try {
      values[name] = JSON.parse(json) as Json;
    } catch (cause) {
      throw unreadable(`"${name}" of ${what}`, cause);
    }
  }
  return { values, rest };
}

function unreadable(what: string, cause?: unknown): StoreError {
  return new StoreError('corrupt', `${what} cannot be read`, { cause });
}
