// The arguments and the answers of the scripts that read a session or a scope.

import { sessionTitle } from '../../store/refusals.js';
import { changedIn, expiresIn, knownText, textIn } from './commit.js';
import { hashOf, textAfterSign, type List } from './hashes.js';
import { storedEventOf } from './operators.js';
import { memberOf } from './keys.js';
import { loadedOf, stateOf } from '../shared/parts.js';
import type { Loaded, LoadedScope, LoadQuery, StoredEvent, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The arguments of the script that loads. */
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
  const [revs, datas, ids, last, appMark, userMark, changedApp, changedUser, hasDiverged, expires] = rest;
  const part = (name: 'session' | 'app' | 'user', hash: unknown): Values | undefined =>
    hash === null ? undefined : hashOf(hash as List, `${sessionTitle({ sessionId })}, ${name} state`).values;
  return loadedOf({
    created: textAfterSign(created),
    rev: Number(rev),
    time: Number(time),
    pos: { app: Number(appPos), user: Number(userPos) },
    state: stateOf(part('session', session), part('app', app), part('user', user)),
    last: textIn(last),
    marks: [textIn(appMark), textIn(userMark)],
    changed: changedIn(changedApp, changedUser).changed,
    isDiverged: hasDiverged !== null,
    events: eventsOf(revs, datas as List, ids as List, `an event of ${sessionTitle({ sessionId })}`),
    ...expiresIn(expires),
  });
}

/** Either all follow each other from one revision, or each has its own, the last one first. */
function eventsOf(revs: unknown, datas: List, ids: List, what: string): StoredEvent[] {
  const events = datas.map((data, index): StoredEvent => {
    const rev = Array.isArray(revs) ? Number(revs[index]) : Number(revs) + index;
    const id = ids[index];
    const { data: text, ...beside } = storedEventOf(data, what);
    return { rev, data: text, ...(id === null ? {} : { id: textAfterSign(id) }), ...beside };
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
