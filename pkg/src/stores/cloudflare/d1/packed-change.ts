// Changes on their way into D1: as rows, and in groups that a few statements write together.

import { fits } from '../sizes.js';
import { Load, packRow, type PackedRow } from './rows.js';
import { entryOf } from '../../sqlite-core/entries.js';
import { jsonColumn, scopeColumn } from '../../sqlite-core/statements.js';
import { toColumn } from '../../shared/column-text.js';
import { callOf, keyText } from '../../shared/keys.js';
import { isEmpty } from '../../shared/values.js';
import { STORED_SCOPES } from '../../../model/scope.js';
import { growthBy, valueBytes, type Size } from '../../shared/growth.js';
import { utf8Length } from '../../../model/utf8.js';
import type { Change, Delta } from '../../../store/contract.js';

/** `kind` in the rows. */
export const KINDS = { create: 0, append: 1, update: 2 } as const;

/** The columns of {@link PackedChange.head}. Absent parts of a guard are NULL. */
export const HEAD = [
  'i',
  'kind',
  'app',
  'user',
  'session',
  'id',
  'app_scope',
  'user_scope',
  'if_created',
  'if_rev',
  'if_app',
  'if_user',
  'if_fence',
  'moves_app',
  'moves_user',
  'time',
  'call',
  'attempt',
  'digest',
  'ttl',
  'ends',
  'most_events',
] as const;
/** The columns of {@link PackedChange.event}. */
export const EVENT = ['i', 'time', 'data'] as const;
/** The columns of {@link PackedChange.guards}: no `value` means that the name must be absent. */
export const GUARD = ['i', 'part', 'name', 'value'] as const;
/** The columns of {@link PackedChange.sets}. */
export const SET = ['i', 'part', 'name', 'nth', 'size', 'value'] as const;
/** The columns of {@link PackedChange.entries}. */
export const ENTRY = ['i', 'part', 'entry'] as const;
/** The columns of {@link PackedChange.touches}: `length` is that of the name; no `size` means that it is deleted. */
export const TOUCH = ['i', 'part', 'name', 'length', 'size'] as const;
/** The columns of {@link PackedChange.unsets}. */
export const UNSET = ['i', 'part', 'name', 'nth'] as const;

/**
 * A change as rows; each begins with the change's number among those of the request, and names a scope by its `part`.
 */
export interface PackedChange {
  readonly index: number;
  readonly change: Change;
  readonly head: PackedRow;
  readonly event: PackedRow | undefined;
  readonly guards: readonly PackedRow[];
  readonly sets: readonly PackedRow[];
  readonly unsets: readonly PackedRow[];
  /** The names that the change writes, each once, with the bytes of the name and of its value. */
  readonly touches: readonly PackedRow[];
  /** True if the change writes to the session. */
  readonly writesSession: boolean;
  /** What the change would add to each of its scopes if nothing were there: app, user, session. */
  readonly most: readonly Size[];
  /** The rows that are added to `recent` of the app and of the user. */
  readonly entries: readonly PackedRow[];
  /** The names of the change's scopes in the tables. */
  readonly appScope: string;
  readonly userScope: string | undefined;
}

/** A number that equals no revision, no position and no JSON text. */
const NEVER = -2;
const NO_JSON = '?';

/** Packs a change. */
export function packChange(change: Change, index: number): PackedChange {
  const { id, kind, key, time, event, delta, guard = {}, attempt, digest, expires, limits = {} } = change;
  const call = callOf(change);
  const { appName, userId, sessionId } = key;
  const appScope = scopeColumn(appName, undefined);
  const userScope = userId === undefined ? undefined : scopeColumn(appName, userId);
  // A change does not touch the scopes that its key does not name, whatever its delta says.
  const deltas = [
    delta.app,
    userId === undefined ? undefined : delta.user,
    sessionId === undefined ? undefined : delta.session,
  ];
  const hasEvent = kind === 'append' || (kind === 'create' && event !== undefined);
  const head = packRow([
    index,
    KINDS[kind],
    toColumn(appName),
    userId === undefined ? null : toColumn(userId),
    sessionId === undefined ? null : toColumn(sessionId),
    toColumn(id),
    appScope,
    userScope ?? null,
    guard.created === undefined ? null : toColumn(guard.created),
    whole(guard.rev),
    whole(guard.pos?.app),
    whole(guard.pos?.user),
    whole(guard.fence),
    isEmpty(deltas[0]) ? 0 : 1,
    isEmpty(deltas[1]) ? 0 : 1,
    time,
    toColumn(call),
    attempt === undefined ? 0 : 1,
    digest === undefined ? null : toColumn(digest),
    expires?.ttl ?? null,
    expires?.at ?? null,
    limit(limits.events),
  ]);
  return {
    index,
    change,
    head,
    event: hasEvent ? packRow([index, event?.time ?? time, toColumn(event?.data ?? '')]) : undefined,
    guards: STORED_SCOPES.flatMap((part, number) => guardRows(index, number, guard.keys?.[part])),
    sets: deltas.flatMap((part, number) => setRows(index, number, part)),
    unsets: deltas.flatMap((part, number) =>
      // They come before what is set.
      (part?.unset ?? []).map((name, nth, { length }) => packRow([index, number, toColumn(name), nth - length])),
    ),
    touches: deltas.flatMap((part, number) => touchRows(index, number, part)),
    writesSession: !isEmpty(deltas[2]),
    most: deltas.map((part = {}) => growthBy(part, () => undefined)),
    entries: deltas.slice(0, 2).flatMap((part, number) => {
      return part === undefined || isEmpty(part) ? [] : [packRow([index, number, entryOf(toColumn(call), part)])];
    }),
    appScope,
    userScope,
  };
}

function setRows(index: number, part: number, delta: Delta | undefined): PackedRow[] {
  return Object.entries(delta?.set ?? {}).map(([name, value], nth) => {
    const json = jsonColumn(value);
    return packRow([index, part, toColumn(name), nth, utf8Length(json), json]);
  });
}

function touchRows(index: number, part: number, { set = {}, unset = [] }: Delta = {}): PackedRow[] {
  const row = (name: string, size: number | null): PackedRow =>
    packRow([index, part, toColumn(name), utf8Length(name), size]);
  return [
    ...Object.entries(set).map(([name, value]) => row(name, valueBytes(value))),
    ...[...new Set(unset)].filter((name) => !Object.hasOwn(set, name)).map((name) => row(name, null)),
  ];
}

/** A limit as a column has it; NULL where there is none. */
function limit(value = Infinity): number | null {
  return Number.isFinite(value) ? value : null;
}

function guardRows(index: number, part: number, { set = {}, unset = [] }: Delta = {}): PackedRow[] {
  return [
    ...unset.map((name) => packRow([index, part, toColumn(name), null])),
    ...Object.entries(set).map(([name, value]) => {
      const json = jsonColumn(value);
      return packRow([index, part, toColumn(name), fits(json) ? json : NO_JSON]);
    }),
  ];
}

function whole(value: number | undefined): number | null {
  return value === undefined ? null : Number.isSafeInteger(value) ? value : NEVER;
}

/**
 * Splits changes into groups: the statements of a group first look at all its guards, then write all of it, deletions
 * first. So none of a group may look at what another one before it writes, or delete it.
 */
export function groupsOf(changes: readonly PackedChange[]): PackedChange[][] {
  const groups: Group[] = [];
  for (const change of changes) {
    if (groups.at(-1)?.add(change) !== true) {
      const group = new Group();
      group.add(change);
      groups.push(group);
    }
  }
  return groups.map(({ changes: members }) => members);
}

class Group {
  readonly changes: PackedChange[] = [];
  readonly #load = new Load();
  /** The sessions, and the ids of updates. */
  readonly #identities = new Set<string>();
  /** The scopes that are written to. */
  readonly #moved = new Set<string>();

  /** Adds a change, unless it does not go together with the others; nothing more can be added then. */
  add(packed: PackedChange): boolean {
    const {
      change: { delta, guard = {} },
      head,
      event,
      guards,
      touches,
      entries,
      appScope,
      userScope,
    } = packed;
    const identity = identityOf(packed);
    const meets = (scope: string | undefined, part: 'app' | 'user'): boolean =>
      scope !== undefined &&
      this.#moved.has(scope) &&
      (guard.pos?.[part] !== undefined || guard.keys?.[part] !== undefined || (delta[part]?.unset?.length ?? 0) > 0);
    if (this.#identities.has(identity) || meets(appScope, 'app') || meets(userScope, 'user')) {
      return false;
    }
    if (!this.#load.add([head, ...(event === undefined ? [] : [event]), ...guards, ...entries], touches)) {
      return false;
    }
    this.changes.push(packed);
    this.#identities.add(identity);
    if (!isEmpty(delta.app)) {
      this.#moved.add(appScope);
    }
    if (userScope !== undefined && !isEmpty(delta.user)) {
      this.#moved.add(userScope);
    }
    return true;
  }
}

function identityOf({ change: { id, key, kind }, appScope, userScope }: PackedChange): string {
  return kind === 'update' ? `${userScope ?? appScope} ${id}` : keyText(key);
}
