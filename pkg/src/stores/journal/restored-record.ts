// Records as `restore` returns them: objects that may have been damaged in storage. A record that can only be read in
// part makes its session unreadable, and no other; its changes to the app or the user are checked by themselves.

import { defined } from '../../model/defined.js';
import { StoreError } from '../../store/store-error.js';
import { isObject } from '../../model/value-types.js';
import { LOST_DELTA, type Damage, type LogItem } from './log-tables.js';
import type { Change, Delta, Guard, Hint } from '../../store/contract.js';
import type { Refusal, Removal } from './log-record.js';

/** An object with unchecked members. */
type Members = Readonly<Record<string, unknown>>;

/** A delta; `undefined` where a record has none, and `LOST_DELTA` where it cannot be read. */
type Part = Delta | undefined;

const WRITING = ['create', 'append', 'update'];
const KINDS = [...WRITING, 'remove', 'remove-scope', 'refusal', 'version'];

/** Returns true if something is the text of an event. */
type TextCheck = (text: string) => boolean;

/**
 * Reads a record, or the remainder of one. `place` is its number, from 1. Throws `corrupt` when its owner cannot be
 * known.
 */
export function recordsIn(value: unknown, place: number, isText: TextCheck = () => true): readonly LogItem[] {
  const key = isObject(value) ? keyOf((value as Members)['key']) : undefined;
  const { kind, version, layout, call } = (isObject(value) ? value : {}) as Members;
  if (typeof kind !== 'string' || !KINDS.includes(kind) || (kind === 'version' && typeof version !== 'number')) {
    throw unreadable(place);
  }
  if (kind === 'version') {
    return [{ kind, version: version as number, layout: typeof layout === 'string' ? layout : undefined }];
  }
  if (kind === 'refusal') {
    // One that cannot be read is forgotten: nothing that is stored depends on it.
    return typeof call === 'string' ? [defined({ ...(value as Refusal), digest: digestIn(value as Members) })] : [];
  }
  if (key === undefined || !fits(kind, key)) {
    throw unreadable(place);
  }
  return WRITING.includes(kind) ? changeIn(value as Members, key, isText) : [removalIn(value as Members, key)];
}

function unreadable(place: number): StoreError {
  return new StoreError('corrupt', `record ${place} of the log cannot be read, and its owner is unknown`);
}

function keyOf(value: unknown): Hint | undefined {
  const { appName, userId, sessionId } = (isObject(value) ? value : {}) as Members;
  const isName = (name: unknown): name is string | undefined => name === undefined || typeof name === 'string';
  return typeof appName === 'string' && isName(userId) && isName(sessionId)
    ? defined({ appName, userId, sessionId })
    : undefined;
}

/** True when a key names a subject of this kind of record. */
function fits(kind: string, { userId, sessionId }: Hint): boolean {
  return kind === 'update' || kind === 'remove-scope'
    ? sessionId === undefined
    : userId !== undefined && sessionId !== undefined;
}

function removalIn(record: Members, key: Hint): Removal {
  const { id, kind, time, guard } = record;
  return {
    id: typeof id === 'string' ? id : '',
    kind: kind as Removal['kind'],
    key,
    time: isTime(time) ? time : 0,
    ...(isGuard(guard) && guard !== undefined && { guard }),
    ...defined({ digest: digestIn(record) }),
  };
}

/** The digest of a record; none where it cannot be read. */
function digestIn({ digest }: Members): string | undefined {
  return typeof digest === 'string' ? digest : undefined;
}

function changeIn(record: Members, key: Hint, isText: TextCheck): readonly LogItem[] {
  const { kind, delta } = record;
  const { appName, userId, sessionId } = key;
  const parts = (isObject(delta) ? delta : {}) as Members;
  // The changes of an update without a delta are lost. A session's record need not have touched its scopes; if it has,
  // the positions of later records tell.
  const isLost = !isObject(delta) && kind === 'update';
  const app = isLost ? LOST_DELTA : partIn(parts['app']);
  const user = userId === undefined ? undefined : isLost ? LOST_DELTA : partIn(parts['user']);
  const scopes: Hint[] = [
    ...(app === LOST_DELTA ? [{ appName }] : []),
    ...(user === LOST_DELTA && userId !== undefined ? [{ appName, userId }] : []),
  ];
  const isSound = isObject(delta) && partIn(parts['session']) !== LOST_DELTA && isOwnSound(record, isText);
  if (isSound && scopes.length === 0) {
    return [record as unknown as Change];
  }
  const shared: Damage['delta'] = defined({ app, user });
  const targets = [...scopes, ...(isSound || sessionId === undefined ? [] : [key])];
  const damage: Damage = { kind: 'corrupt', key, targets, delta: isSound ? {} : shared };
  return isSound ? [damage, { ...(record as unknown as Change), delta: { ...parts, ...shared } }] : [damage];
}

/** True when all of a change but its delta can be read. */
function isOwnSound(
  { id, kind, time, event, guard, call, digest, expires, ends }: Members,
  isText: TextCheck,
): boolean {
  const isCalled = [call, digest].every((text) => text === undefined || typeof text === 'string');
  const hasEvent = event === undefined ? kind !== 'append' : isEvent(event, isText);
  return typeof id === 'string' && isTime(time) && isCalled && hasEvent && isGuard(guard) && isEnd(expires, ends);
}

/** True when the end of a session can be read, where a record has one. */
function isEnd(expires: unknown, ends: unknown): boolean {
  const { ttl, at } = (isObject(expires) ? expires : {}) as Members;
  return expires === undefined ? ends === undefined || isTime(ends) : isTime(ends) && isTime(ttl) !== isTime(at);
}

function isEvent(value: unknown, isText: TextCheck): boolean {
  const { id, time, data } = (isObject(value) ? value : {}) as Members;
  return typeof id === 'string' && isTime(time) && typeof data === 'string' && isText(data);
}

/** True when a text is that of an event as services write it: a JSON object. To a store it may be any text. */
export function isObjectText(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: unknown): boolean {
  return value === undefined || (Number.isSafeInteger(value) && (value as number) >= 0);
}

function isGuard(value: unknown): value is Guard | undefined {
  if (value === undefined) {
    return true;
  }
  const { created, rev, pos = {} } = (isObject(value) ? value : { rev: NaN }) as Members;
  const { app, user } = (isObject(pos) ? pos : { app: NaN }) as Members;
  return (created === undefined || typeof created === 'string') && [rev, app, user].every(isCount);
}

function partIn(value: unknown): Part {
  if (value === undefined) {
    return undefined;
  }
  const { set = {}, unset = [] } = (isObject(value) ? value : { set: null }) as Members;
  const isSound = isObject(set) && Array.isArray(unset) && unset.every((name) => typeof name === 'string');
  return isSound ? (value as Delta) : LOST_DELTA;
}
