// Changes on their way into the script that writes them, and its answers on their way back.

import { defined } from '../../model/defined.js';
import { StoreError } from '../../store/store-error.js';
import { fenced } from '../../store/lease.js';
import {
  beyondLimit,
  misfit,
  refusedBefore,
  sessionExists,
  sessionNotFound,
  sessionTitle,
  unreadable,
  wrongRevision,
  wrongState,
} from '../../store/refusals.js';
import { textOf } from './client.js';
import { textMeaning, tooMuch } from './errors.js';
import { hintText } from './hints.js';
import { hashOf, textAfterSign, type List } from './hashes.js';
import { appKeys, appVersionKey, baseOf, logKey, memberOf, sessionKeys, userKeys } from './keys.js';
import { operatorText, scopeOf, storedEventOf } from './operators.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import type { Outcome } from '../shared/outcome.js';
import type { Change, Committed, Delta, Known, Operator, StoreLimit, StoreLimits } from '../../store/contract.js';
import { callOf } from '../shared/keys.js';
import type { OperatorFault } from '../../model/operators.js';
import type { SessionKey } from '../../model/types.js';

/** The arguments of the script besides the channel, the sender and the fact that the app is registered. */
export interface EncodedChanges {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/**
 * Writes changes of one app as the script reads them. `isLogged`: true if a log is kept. Throws `rejected` for a text
 * that is too long for the runtime.
 */
export function encodeChanges(
  prefix: string,
  changes: readonly [Change, ...Change[]],
  isLogged: boolean,
): EncodedChanges {
  try {
    return argumentsOf(prefix, changes, isLogged);
  } catch (error) {
    const texts = changes.map(({ event }) => event?.data ?? '');
    throw tooMuch(error, texts) ?? error;
  }
}

function argumentsOf(prefix: string, changes: readonly [Change, ...Change[]], isLogged: boolean): EncodedChanges {
  const base = baseOf(prefix, changes[0].key.appName);
  const keys = [appVersionKey(base), ...appKeys(base)];
  if (isLogged) {
    keys.push(logKey(base));
  }
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
  const args: string[] = [isLogged ? 'log' : '', String(changes.length)];
  for (const change of changes) {
    const { id, kind, key, time, event, known = {}, attempt, limits } = change;
    const { userId, sessionId } = key;
    const member = sessionId === undefined ? '' : memberOf(key as SessionKey);
    const ofUser =
      userId === undefined ? [] : [...userKeys(base, userId), ...(isLogged ? [logKey(base, userId)] : [])];
    args.push(kind, id, userId === undefined ? '' : placeOf(ofUser));
    args.push(sessionId === undefined ? '' : placeOf(sessionKeys(base, member)), member);
    args.push(String(time), String(event?.time ?? time), event === undefined ? '' : `=${event.data}`, hintText(key));
    args.push(`=${callOf(change)}`, callText(change, member), countText(attempt));
    args.push(knownText(known, 'app'), knownText(known, 'user'), ...limitsTexts(limits));
    pushParts(args, change.delta, change.operators);
    pushGuard(args, change);
  }
  return { keys, args };
}

/** Members that most changes lack are sent only where present. */
function pushGuard(args: string[], { kind, guard = {}, operators, digest, expires: end }: Change): void {
  const { created, fence, rev, pos, keys } = guard;
  const expires = kind === 'create' ? end : undefined;
  args.push(created === undefined ? '' : `=${created}`);
  if ([fence, rev, pos, keys, operators, digest, expires].every((part) => part === undefined)) {
    args.push('');
    return;
  }
  args.push('more', countText(fence), countText(rev), countText(pos?.app), countText(pos?.user));
  pushParts(args, keys ?? {});
  args.push(operators === undefined ? '' : 'operators', digest === undefined ? '' : `=${digest}`);
  args.push(countText(expires?.ttl), countText(expires?.at));
}

/**
 * The limits of a change, of which all may be missing: the least of those that hold for all changes, and all of them.
 * Nearly every change is below the least, and then the script does not take the others apart.
 */
function limitsTexts({ value, state, keys, events }: StoreLimits = {}): [least: string, all: string] {
  const parts = [value, state, keys, events].map((limit = Infinity) => (limit === Infinity ? '' : String(limit)));
  const least = Math.min(state ?? Infinity, keys ?? Infinity, events ?? Infinity, Number.MAX_SAFE_INTEGER);
  return parts.every((part) => part === '') ? ['', ''] : [String(least), parts.join(',')];
}

/** The known state of a scope, as its log says it: `@position=mark`, or `@position`. */
export function knownText({ pos, marks }: Pick<Known, 'pos' | 'marks'>, scope: 'app' | 'user'): string {
  const [count, mark] = [pos?.[scope], marks?.[scope]];
  return count === undefined ? '' : `@${count}${mark === undefined ? '' : `=${mark}`}`;
}

/**
 * The identity of a call among all others of the app. Without a `call` of its own, an append's id is unique in its
 * session alone.
 */
function callText(change: Change, member: string): string {
  const { id, kind, call, guard } = change;
  if (call !== undefined || kind !== 'append') {
    return `=${callOf(change)}`;
  }
  const parts = [member, guard?.created ?? ''];
  return [...parts.map((part) => `${part.length}:${part}`), id].join('');
}

function countText(count: number | undefined): string {
  return count === undefined ? '' : String(count);
}

/**
 * A part of a scope is its letter, the name and the JSON text, which is empty for a name that is to be absent.
 * Operators come last in their scopes.
 */
function pushParts(args: string[], delta: Change['delta'], operators: Change['operators'] = {}): void {
  const parts = [
    ...[...partsOf('a', delta.app), ...partsOf('u', delta.user), ...partsOf('s', delta.session)],
    ...[...operatorsOf('a', operators.app), ...operatorsOf('u', operators.user)],
    ...operatorsOf('s', operators.session),
  ];
  args.push(String(parts.length / 3));
  // One after the other: a call does not take as many as there may be.
  parts.forEach((part) => args.push(part));
}

function partsOf(letter: string, { set = {}, unset = [] }: Delta = {}): string[] {
  const [unsetParts, names] = [unset.flatMap((name) => [letter, `=${name}`, '']), Object.keys(set)];
  return [...unsetParts, ...names.flatMap((name) => [letter, `=${name}`, JSON.stringify(set[name])])];
}

function operatorsOf(letter: string, operators: Readonly<Record<string, Operator>> = {}): string[] {
  return Object.entries(operators).flatMap(([name, operator]) => [letter, `=${name}`, operatorText(operator)]);
}

/** Reads what the script answers to one change. */
export function outcomeIn(change: Change, answer: unknown): Outcome {
  const [status, detail, name] = answer as List;
  switch (textOf(status)) {
    case 'written':
      return committedIn(change, answer as List, true);
    case 'duplicate':
      return committedIn(change, answer as List, false);
    case 'exists':
      return sessionExists(change);
    case 'not-found':
      return sessionNotFound(change);
    case 'refused':
      return refusedBefore(change, textIn(detail));
    case 'stale':
      return wrongRevision(change, Number(detail));
    case 'conflict':
      return wrongState();
    case 'fenced':
      return fenced(Number(detail), change.guard?.fence ?? 0);
    case 'changed':
    case 'kind':
    case 'overflow':
      return misfit(scopeOf(detail), textAfterSign(name), textOf(status) as OperatorFault);
    case 'limit':
      return exceededIn(change, answer as List);
    case 'corrupt':
      return unreadable(`the stored data of ${sessionTitle(change.key)} or its scopes`);
    default:
      return failureIn(change, textOf(detail));
  }
}

function exceededIn(change: Change, [, exceeded, size, limit, letter, name]: List): StoreError {
  return beyondLimit(change, {
    exceeded: textOf(exceeded) as StoreLimit,
    size: Number(size),
    limit: Number(limit),
    ...defined({ scope: isNothing(letter) ? undefined : scopeOf(letter), key: textIn(name) }),
  });
}

function committedIn({ kind, key }: Change, answer: List, isWritten: boolean): Committed {
  const [, first, app, user, session, appMark, userMark, changedApp, changedUser, data, digest, expires] = answer;
  const rev = Number(first);
  const what = kind === 'update' ? 'what is kept of an update' : `an event of ${sessionTitle(key)}`;
  const event = isNothing(data) ? undefined : storedEventOf(data, what);
  // A session that is made now has no state before that would say anything.
  const last = isWritten && kind !== 'append' ? undefined : session;
  return {
    rev,
    prev: kind === 'update' || (kind === 'create' && isWritten) ? null : isWritten ? rev - 1 : rev,
    pos: { app: Number(app), user: Number(user) },
    ...(isWritten ? {} : { duplicate: true }),
    ...changedIn(changedApp, changedUser),
    before: beforeOf(textIn(appMark), textIn(userMark), textIn(last)),
    ...(event === undefined || isWritten || kind === 'update' ? {} : { data: event.data }),
    ...(event?.results && { results: event.results }),
    ...expiresIn(expires),
    ...(!isWritten && defined({ digest: kind === 'update' ? signedTextIn(event?.data) : textIn(digest) })),
  };
}

/** The text behind a sign; `undefined` for the empty text. */
function signedTextIn(text = ''): string | undefined {
  return text === '' ? undefined : text.slice(1);
}

/** The script failed while it looked at a change: nothing is written of it. */
function failureIn({ key }: Change, text: string): StoreError {
  return (
    textMeaning(text, 'rejected', undefined) ??
    new StoreError('rejected', `redis refused to read ${sessionTitle(key)}: ${text}`)
  );
}

/** The changes of the scopes that a script has reported. */
export function changedIn(app: unknown, user: unknown): Pick<Committed, 'changed'> {
  return changedOf(deltaIn(app, 'the app'), deltaIn(user, 'the user'));
}

function deltaIn(reply: unknown, whose: string): Delta | undefined {
  if (isNothing(reply)) {
    return undefined;
  }
  const [unset, set] = reply as readonly [List, List];
  return { set: hashOf(set, whose).values, unset: unset.map(textAfterSign) };
}

/** The time at which a session expires, where a script has answered one. */
export function expiresIn(reply: unknown): Pick<Committed, 'expires'> {
  return isNothing(reply) ? {} : { expires: Number(textOf(reply)) };
}

/** A text with a sign before it from a script's answer, if there is one. */
export function textIn(reply: unknown): string | undefined {
  return isNothing(reply) ? undefined : textAfterSign(reply);
}

function isNothing(reply: unknown): reply is null | undefined {
  return reply === null || reply === undefined;
}
