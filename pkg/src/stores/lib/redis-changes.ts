// Changes on their way into the script that writes them, and its answers on their way back.

import { StoreError } from '../../store-error.js';
import { textOf } from './redis-client.js';
import { textMeaning } from './redis-errors.js';
import { hintText } from './redis-hints.js';
import { baseOf, memberOf, sessionKeys, userKeys } from './redis-keys.js';
import type { Change, Committed, Delta } from '../../store.js';
import type { SessionKey } from '../../types.js';

/** What the script gets besides the channel and the sender. */
export interface EncodedChanges {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Writes changes of one app as the script reads them. */
export function encodeChanges(prefix: string, changes: readonly [Change, ...Change[]]): EncodedChanges {
  const base = baseOf(prefix, changes[0].key.appName);
  const keys = [`${base}a`, `${base}l`, `${base}d`];
  const places = new Map<string, string>();
  // Lua counts from 1. Many changes may have a user in common.
  const placeOf = (group: readonly string[]): string => {
    const [first = ''] = group;
    const place = places.get(first) ?? String(keys.length + 1);
    if (!places.has(first)) {
      keys.push(...group);
      places.set(first, place);
    }
    return place;
  };
  const args: string[] = [String(changes.length)];
  for (const { id, kind, key, time, event, delta, guard = {} } of changes) {
    const { userId, sessionId } = key;
    const member = sessionId === undefined ? '' : memberOf(key as SessionKey);
    args.push(kind, id, userId === undefined ? '' : placeOf(userKeys(base, userId)));
    args.push(sessionId === undefined ? '' : placeOf(sessionKeys(base, member)), member);
    args.push(String(time), String(event?.time ?? time), event === undefined ? '' : `=${event.data}`, hintText(key));
    args.push(guard.created === undefined ? '' : `=${guard.created}`);
    args.push(countText(guard.rev), countText(guard.pos?.app), countText(guard.pos?.user));
    pushParts(args, guard.keys ?? {});
    pushParts(args, delta);
  }
  return { keys, args };
}

function countText(count: number | undefined): string {
  return count === undefined ? '' : String(count);
}

/** A part of a scope is its letter, the name and the JSON text, which is empty for a name that is to be absent. */
function pushParts(args: string[], { app, user, session }: Change['delta']): void {
  const parts = [...partsOf('a', app), ...partsOf('u', user), ...partsOf('s', session)];
  args.push(String(parts.length / 3), ...parts);
}

function partsOf(letter: string, { set = {}, unset = [] }: Delta = {}): string[] {
  const [unsetParts, names] = [unset.flatMap((name) => [letter, `=${name}`, '']), Object.keys(set)];
  return [...unsetParts, ...names.flatMap((name) => [letter, `=${name}`, JSON.stringify(set[name])])];
}

/** Reads what the script answers to one change. */
export function decodeAnswer({ kind, key: { sessionId = '' } }: Change, answer: unknown): Committed | StoreError {
  const [status, first, app, user, data] = answer as readonly unknown[];
  const named = `session "${sessionId}"`;
  switch (textOf(status)) {
    case 'written':
    case 'duplicate': {
      const isWritten = textOf(status) === 'written';
      const rev = Number(first);
      return {
        rev,
        prev: kind === 'update' || (kind === 'create' && isWritten) ? null : isWritten ? rev - 1 : rev,
        pos: { app: Number(app), user: Number(user) },
        ...(isWritten ? {} : { duplicate: true }),
        ...(data === undefined ? {} : { data: textOf(data).slice(1) }),
      };
    }
    case 'exists':
      return new StoreError('exists', `${named} exists already`);
    case 'not-found':
      return new StoreError('not-found', `${named} is not there`);
    case 'stale': {
      const actual = Number(first);
      return new StoreError('conflict', `${named} is at revision ${actual}, not at the expected one`, { actual });
    }
    case 'conflict':
      return new StoreError('conflict', 'the state is not what it was expected to be');
    case 'corrupt':
      return new StoreError('corrupt', `what is stored of ${named} or its scopes cannot be read`);
    default: {
      const text = textOf(first);
      return textMeaning(text, 'rejected', undefined) ?? new StoreError('rejected', `redis refused to look at ${named}: ${text}`);
    }
  }
}
