// Changes on their way into the script that writes them, and its answers on their way back.

import { StoreError } from '../../store/store-error.js';
import { textOf } from './client.js';
import { textMeaning } from './errors.js';
import { hintText } from './hints.js';
import { hashOf, textAfterSign } from './hashes.js';
import { appKeys, baseOf, memberOf, sessionKeys, userKeys, versionKeys } from './keys.js';
import { VERSION } from './scripts/common.js';
import { olderVersion } from '../../store/refusals.js';
import type { Change, Changed, Committed, Delta, Known } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** What the script gets besides the channel and the sender. */
export interface EncodedChanges {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** Writes changes of one app as the script reads them. */
export function encodeChanges(prefix: string, changes: readonly [Change, ...Change[]]): EncodedChanges {
  const base = baseOf(prefix, changes[0].key.appName);
  const keys = [...versionKeys(base), ...appKeys(base)];
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
  for (const change of changes) {
    const { id, kind, key, time, event, delta, guard = {}, known = {}, call, attempt } = change;
    const { userId, sessionId } = key;
    const member = sessionId === undefined ? '' : memberOf(key as SessionKey);
    args.push(kind, id, userId === undefined ? '' : placeOf(userKeys(base, userId)));
    args.push(sessionId === undefined ? '' : placeOf(sessionKeys(base, member)), member);
    args.push(String(time), String(event?.time ?? time), event === undefined ? '' : `=${event.data}`, hintText(key));
    args.push(`=${call ?? id}`, callOf(change, member), countText(attempt));
    args.push(knownText(known, 'app'), knownText(known, 'user'));
    args.push(guard.created === undefined ? '' : `=${guard.created}`);
    args.push(countText(guard.rev), countText(guard.pos?.app), countText(guard.pos?.user));
    pushParts(args, guard.keys ?? {});
    pushParts(args, delta);
  }
  return { keys, args };
}

/** What a scope is known to be at, as its log says it: `@position=mark`, or `@position`. */
export function knownText({ pos, marks }: Pick<Known, 'pos' | 'marks'>, scope: 'app' | 'user'): string {
  const [count, mark] = [pos?.[scope], marks?.[scope]];
  return count === undefined ? '' : `@${count}${mark === undefined ? '' : `=${mark}`}`;
}

/** What tells a call from all others of the app. Without its own word for it, an append's id does that in its session alone. */
function callOf({ id, kind, call, guard }: Change, member: string): string {
  if (call !== undefined || kind !== 'append') {
    return `=${call ?? id}`;
  }
  const parts = [member, guard?.created ?? ''];
  return [...parts.map((part) => `${part.length}:${part}`), id].join('');
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
export function decodeAnswer({ kind, key: { appName, sessionId = '' } }: Change, answer: unknown): Committed | StoreError {
  const [status, first, app, user, session, appMark, userMark, changedApp, changedUser, data] = answer as readonly unknown[];
  const named = `session "${sessionId}"`;
  switch (textOf(status)) {
    case 'written':
    case 'duplicate': {
      const isWritten = textOf(status) === 'written';
      const rev = Number(first);
      const hasLast = !isNothing(session) && !(isWritten && kind !== 'append');
      return {
        rev,
        prev: kind === 'update' || (kind === 'create' && isWritten) ? null : isWritten ? rev - 1 : rev,
        pos: { app: Number(app), user: Number(user) },
        ...(isWritten ? {} : { duplicate: true }),
        ...changedOf(changedApp, changedUser),
        before: { ...marksOf(appMark, userMark), ...(hasLast ? { session: textAfterSign(session) } : {}) },
        ...(isNothing(data) ? {} : { data: textAfterSign(data) }),
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
    case 'version':
      return olderVersion(`what is stored of app "${appName}"`, Number(first), VERSION);
    default: {
      const text = textOf(first);
      return textMeaning(text, 'rejected', undefined) ?? new StoreError('rejected', `redis refused to look at ${named}: ${text}`);
    }
  }
}

/** The marks that a script has told. */
export function marksOf(app: unknown, user: unknown): { app?: string; user?: string } {
  return {
    ...(isNothing(app) ? {} : { app: textAfterSign(app) }),
    ...(isNothing(user) ? {} : { user: textAfterSign(user) }),
  };
}

/** What a script has told of what has changed in the scopes. */
export function changedOf(app: unknown, user: unknown): { changed?: Changed } {
  const changed = {
    ...(isNothing(app) ? {} : { app: deltaOf(app, 'app state') }),
    ...(isNothing(user) ? {} : { user: deltaOf(user, 'user state') }),
  };
  return Object.keys(changed).length === 0 ? {} : { changed };
}

function deltaOf(reply: unknown, what: string): Delta {
  const [unset, set] = reply as readonly [readonly unknown[], readonly unknown[]];
  const { values } = hashOf(set, what);
  return { set: values, unset: unset.map(textAfterSign) };
}

function isNothing(reply: unknown): reply is null | undefined {
  return reply === null || reply === undefined;
}
