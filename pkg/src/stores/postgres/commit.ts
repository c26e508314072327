// Encodes changes for the function that commits, and decodes its answers.

import { defined } from '../../model/defined.js';
import { fenced } from '../../store/lease.js';
import {
  refusedBefore,
  scopeTitle,
  sessionTitle,
  sessionExists,
  sessionNotFound,
  tooBig,
  wrongRevision,
  wrongState,
} from '../../store/refusals.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import { isEmpty } from '../shared/values.js';
import { deltaOf, textIn, type ReportedChanges } from './answers.js';
import { movedNames } from './moved-names.js';
import { arrayOf, plainArrayOf } from './arrays.js';
import { beyondIn, growthBy, leastOf, limitsText, roomOf, type Beyond, type Growth } from './limits.js';
import { misfitOf, namesOf, operatorsOf, resultsIn } from './operators.js';
import { inLockOrder, Scopes } from './scopes.js';
import { partsOfReservation } from './reservations.js';
import type { Outcome } from '../shared/outcome.js';
import type { OperatorFault } from '../../model/operators.js';
import type { Change, Committed, Delta, Expiry } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';

/** The longest id, name of a value, of a user or of an app, in bytes: an index of Postgres cannot hold much more. */
const TEXT_LIMIT = 2_600;

/** A name in its scope, and its value as JSON; null where it is expected to be absent. */
type Entry = readonly [scope: 'app' | 'user' | 'session', name: string, value?: string | null];

/** A change as the function reads it. Scopes are named by their places, from 1. */
interface Request {
  readonly kind: Change['kind'];
  readonly app: number;
  readonly usr?: number | undefined;
  readonly session?: string | undefined;
  readonly id: string;
  readonly time: number;
  readonly at?: number;
  readonly data?: string;
  /** The scopes that it moves, or of which something is known, the app's first. */
  readonly scopes?: readonly Scope[] | undefined;
  /** True if it moves any of them. `app_known` and `user_known` are for known positions. */
  readonly moves?: true | undefined;
  readonly app_known?: number | undefined;
  readonly user_known?: number | undefined;
  /** The call, where it is another text than the id. */
  readonly call?: string | undefined;
  readonly attempt?: number | undefined;
  readonly digest?: string | undefined;
  readonly reservation?: readonly string[] | undefined;
  readonly set?: readonly Entry[] | undefined;
  readonly unset?: readonly Entry[] | undefined;
  /** Operators: the name in its scope, the kind, and JSON texts. */
  readonly ops?:
    | readonly (readonly [scope: Entry[0], name: string, kind: string, operand: string, expected: string | null])[]
    | undefined;
  /** The least number of a `Room`: a scope never has more names than bytes. */
  readonly room?: number | undefined;
  /** A text, as it is hardly ever read. */
  readonly limits?: string | undefined;
  readonly ttl?: number | undefined;
  readonly expires?: number | undefined;
  readonly created?: string | undefined;
  readonly guard?: {
    readonly fence?: number | undefined;
    readonly rev?: number | undefined;
    readonly app?: number | undefined;
    readonly user?: number | undefined;
    readonly keys?: readonly Entry[] | undefined;
  };
}

/**
 * The effect of a change on a scope: the names that it writes, null if it does not move it; and the position where the
 * scope was, if that is known.
 */
type Scope = readonly [place: number, names: readonly string[] | null, ...known: [] | [pos: number, mark: string]];

/** A session of a batch, by the place of its change; a new one with all that it begins with. */
interface BatchSession {
  readonly i: number;
  readonly usr: number;
  readonly session: string;
  readonly created?: string;
  readonly app?: number;
  readonly user_id?: string;
  readonly digest?: string | undefined;
  readonly time?: number;
  readonly ttl?: number | undefined;
  readonly expires?: number | undefined;
}

/**
 * A batch, as the texts of four arrays. Scopes and sessions are listed in an order that is the same in every batch, in
 * which they are locked; then come the places of the scopes that have to be locked before anything is written, and the
 * changes. `locksAll`: all scopes that are moved have to be.
 */
export function batchOf(
  changes: readonly Change[],
  locksAll = false,
): [scopes: string, sessions: string, locks: string, changes: string] {
  const scopes = new Scopes(changes);
  const requests = changes.map((change) => requestOf(change, scopes));
  const locks = new Set<number>();
  changes.forEach(({ kind, key, delta, operators, guard: { pos, keys } = {} }) => {
    const { app, usr } = scopes.of(key);
    const isLocked = (part: 'app' | 'user'): boolean => {
      // A scope that only one change moves is locked by its update, which saves a statement.
      const isMovedAmongOthers = (changes.length > 1 || locksAll) && !isEmpty(delta[part]);
      const isLookedAt = [pos?.[part], keys?.[part], operators?.[part]].some((each) => each !== undefined);
      return isMovedAmongOthers || kind === 'update' || isLookedAt;
    };
    if (isLocked('app')) {
      locks.add(app);
    }
    if (usr !== undefined && isLocked('user')) {
      locks.add(usr);
    }
  });
  const sorted = [...locks].sort((a, b) => a - b);
  return [
    jsonArrayOf(scopes.list),
    jsonArrayOf(sessionsOf(requests, changes)),
    plainArrayOf(sorted),
    jsonArrayOf(requests),
  ];
}

/** An array of JSON values, as Postgres reads it. */
function jsonArrayOf(items: readonly unknown[]): string {
  return arrayOf(items.map((item) => JSON.stringify(item)));
}

/** The meaning of an answer of the function. */
export function outcomeIn(answer: readonly unknown[], change: Change): Outcome {
  switch (answer[0]) {
    case 'exists':
      return sessionExists(change);
    case 'not-found':
      return sessionNotFound(change);
    case 'conflict':
      return answer[1] === undefined ? wrongState() : wrongRevision(change, answer[1] as number);
    case 'fenced':
      return fenced(answer[1] as number, change.guard?.fence ?? 0);
    case 'misfit':
      return misfitOf(change, answer[1] as number, answer[2] as OperatorFault);
    case 'limit':
      return beyondIn(answer as unknown as Beyond, change);
    case 'late':
      return refusedBefore(change, textIn(answer[1] as Text));
    case 'duplicate':
      return duplicateIn(answer as Duplicate, change);
    default:
      return writtenIn(answer as Written, change);
  }
}

type Text = string | null | undefined;
type Written = readonly [
  number,
  number,
  number,
  last: Text,
  app: Text,
  user: Text,
  appChanges?: ReportedChanges | null,
  userChanges?: ReportedChanges | null,
  results?: Text,
  expires?: number | null,
];
type Duplicate = readonly [
  ...[string, number, number, number, last: Text, app: Text, user: Text],
  data: Text,
  results?: Text,
  digest?: Text,
  expires?: number | null,
];

function writtenIn(
  [rev, app, user, last, appMark, userMark, appChanges, userChanges, results, expires]: Written,
  { kind, key }: Change,
): Committed {
  const { appName, userId = '' } = key;
  const ofApp = deltaOf(appChanges, scopeTitle({ app: appName }));
  const ofUser = deltaOf(userChanges, scopeTitle({ app: appName, user: userId }));
  const before = beforeOf(textIn(appMark), textIn(userMark), textIn(last));
  return {
    ...{ rev, prev: kind === 'append' ? rev - 1 : null, pos: { app, user } },
    ...changedOf(ofApp, ofUser),
    before,
    ...resultsIn(results, sessionTitle(key)),
    ...expiresIn(expires),
  };
}

function duplicateIn(
  [, rev, app, user, last, appMark, userMark, data, results, digest, expires]: Duplicate,
  { kind, key }: Change,
): Committed {
  const before = beforeOf(textIn(appMark), textIn(userMark), textIn(last));
  const committed: Committed = {
    rev,
    prev: kind === 'update' ? null : rev,
    pos: { app, user },
    duplicate: true,
    before,
  };
  const answer = typeof data === 'string' ? { ...committed, data: fromColumn(data) } : committed;
  return {
    ...answer,
    ...resultsIn(results, sessionTitle(key)),
    ...defined({ digest: textIn(digest) }),
    ...expiresIn(expires),
  };
}

/** See `Committed.expires`. */
export function expiresIn(expires: number | null | undefined): Pick<Committed, 'expires'> {
  return typeof expires === 'number' ? { expires } : {};
}

/** The reason why a change can never be written, if there is one. */
export function sizeRefusal({ id, call = '', key, delta, operators }: Change): StoreError | undefined {
  const names = (['app', 'user', 'session'] as const).flatMap((part) => [
    ...Object.keys(delta[part]?.set ?? {}),
    ...namesOf(operators, part),
  ]);
  for (const text of [id, call, key.appName, key.userId ?? '', key.sessionId ?? '', ...names]) {
    // No character has more than three bytes for each of its units.
    const size = text.length * 3 > TEXT_LIMIT ? new TextEncoder().encode(toColumn(text)).length : 0;
    if (size > TEXT_LIMIT) {
      return tooBig(`the id or name "${text.slice(0, 40)}…"`, size, TEXT_LIMIT);
    }
  }
  return undefined;
}

function sessionsOf(requests: readonly Request[], changes: readonly Change[]): BatchSession[] {
  const sessions: BatchSession[] = [];
  requests.forEach(({ kind, app, usr, session, id, digest, time, ttl, expires }, index) => {
    if (usr !== undefined && session !== undefined) {
      const user = toColumn(changes[index]?.key.userId ?? '');
      sessions.push({
        i: index + 1,
        usr,
        session,
        ...(kind === 'create' && { created: id, app, user_id: user, digest, time, ttl, expires }),
      });
    }
  });
  return sessions.sort(inLockOrder);
}

function requestOf(change: Change, scopes: Scopes): Request {
  const { id, kind, key, time, event, delta, guard, call, attempt, digest, reservation, known } = change;
  const { app, usr } = scopes.of(key);
  const [user, session] = [usr === undefined ? undefined : delta.user, kind === 'update' ? undefined : delta.session];
  const { keys = {} } = guard ?? {};
  const [ofSession, ofApp, ofUser] = [set('session', session), set('app', delta.app), set('user', user)];
  const sets = [...ofApp, ...ofUser, ...ofSession];
  const unsets = [...unset('app', delta.app), ...unset('user', user), ...unset('session', session)];
  const expected = [
    ...[...set('app', keys.app), ...set('user', keys.user), ...set('session', keys.session)],
    ...[...unset('app', keys.app), ...unset('user', keys.user), ...unset('session', keys.session)],
  ];
  const ops = operatorsOf(change);
  const room = roomOf(change, [ofSession, ofApp, ofUser].map(growthOf));
  const appScope = scopeOf(app, movedNames(change, 'app'), known?.pos?.app, known?.marks?.app);
  const userScope =
    usr === undefined ? undefined : scopeOf(usr, movedNames(change, 'user'), known?.pos?.user, known?.marks?.user);
  const moving = [appScope, userScope].filter((scope) => scope !== undefined);
  const parts = [guard?.rev, guard?.pos, guard?.fence];
  const isGuarded = parts.some((part) => part !== undefined) || expected.length > 0;
  return {
    kind,
    app,
    usr,
    session: key.sessionId === undefined ? undefined : toColumn(key.sessionId),
    id: toColumn(id),
    time,
    ...((kind === 'append' || event !== undefined) && { at: event?.time ?? time, data: toColumn(event?.data ?? '') }),
    scopes: moving.length > 0 ? moving : undefined,
    moves: moving.some(([, names]) => names !== null) || undefined,
    app_known: appScope?.[2],
    user_known: userScope?.[2],
    call: call === undefined || call === id ? undefined : toColumn(call),
    attempt,
    digest: digest === undefined ? undefined : toColumn(digest),
    reservation: partsOfReservation(reservation),
    set: sets.length > 0 ? sets : undefined,
    unset: unsets.length > 0 ? unsets : undefined,
    ops:
      ops.length > 0
        ? ops.map(({ scope, name, kind, operand, expected: value }) => [scope, toColumn(name), kind, operand, value])
        : undefined,
    room: room && (leastOf(room) ?? Number.MAX_SAFE_INTEGER),
    limits: room && limitsText(change.limits),
    ...(kind === 'create' && endOf(change.expires)),
    created: guard?.created === undefined ? undefined : toColumn(guard.created),
    ...(isGuarded && {
      guard: {
        fence: guard?.fence,
        rev: guard?.rev,
        app: guard?.pos?.app,
        user: guard?.pos?.user,
        keys: expected.length > 0 ? expected : undefined,
      },
    }),
  };
}

/** The end of a session that begins; no member where it has none. */
function endOf({ ttl = Infinity, at = Infinity }: Expiry | { ttl?: never; at?: never } = {}): Pick<
  Request,
  'ttl' | 'expires'
> {
  return { ...(Number.isFinite(ttl) && { ttl }), ...(Number.isFinite(at) && { expires: at }) };
}

/** One entry, or none where the scope is neither moved nor known. A position without its mark proves nothing. */
function scopeOf(
  place: number,
  names: readonly string[] | null,
  pos: number | undefined,
  mark: string | undefined,
): Scope | undefined {
  if (mark !== undefined && pos !== undefined && Number.isSafeInteger(pos)) {
    return [place, names, pos, toColumn(mark)];
  }
  return names === null ? undefined : [place, names];
}

function set(scope: Entry[0], { set: values = {} }: Delta = {}): Entry[] {
  return Object.keys(values).map((name) => [scope, toColumn(name), JSON.stringify(values[name])]);
}

function growthOf(entries: readonly Entry[]): Growth {
  return growthBy(entries.map(([, name, value]) => [name, value ?? '']));
}

function unset(scope: Entry[0], { unset: names = [] }: Delta = {}): Entry[] {
  return names.map((name) => [scope, toColumn(name), null]);
}
