// Changes on their way to the function that commits, and its answers on their way back.

import { StoreError } from '../../store-error.js';
import { fromColumn, toColumn } from './sql-text.js';
import { isEmpty } from './values.js';
import type { Change, Committed, Delta } from '../../store.js';

/** How long an id, a name of a value, of a user or of an app may be, in bytes: an index of Postgres cannot hold much more. */
const TEXT_LIMIT = 2_600;

/** A name in its scope, and its value as JSON; null where it is expected to be absent. */
type Entry = readonly [scope: 'app' | 'user' | 'session', name: string, value?: string | null];

/** A change as the function reads it. Scopes and the change itself are told by their places, from 1. */
interface Request {
  readonly i: number;
  readonly kind: Change['kind'];
  readonly app: number;
  readonly usr?: number | undefined;
  readonly user_id?: string | undefined;
  readonly session?: string | undefined;
  readonly id: string;
  readonly time: number;
  readonly at?: number;
  readonly data?: string;
  readonly app_moves: boolean;
  readonly user_moves: boolean;
  readonly set: readonly Entry[];
  readonly unset: readonly Entry[];
  readonly created?: string | undefined;
  readonly rev?: number | undefined;
  readonly app_pos?: number | undefined;
  readonly user_pos?: number | undefined;
  readonly keys?: readonly Entry[] | undefined;
}

/**
 * The text of a batch. The function makes the changes of one step together, so one that looks at values, or deletes them,
 * must not be in a step behind another that writes them.
 */
export function batchOf(changes: readonly Change[]): string {
  const scopes = new Scopes(changes);
  const steps: Request[][] = [];
  const locks = new Set<number>();
  let step: Request[] | undefined;
  let isWritten = false;
  const updates = new Set<string>();
  changes.forEach((change, index) => {
    const request = requestOf(change, index + 1, scopes);
    const { kind, id, app, usr, keys = [], unset, app_moves: appMoves, user_moves: userMoves } = request;
    const isLooking = [...keys, ...unset].some(([scope]) => scope !== 'session');
    if (step === undefined || (isLooking && isWritten) || (kind === 'update' && updates.has(id))) {
      step = [];
      steps.push(step);
      isWritten = false;
    }
    step.push(request);
    isWritten ||= appMoves || userMoves;
    const { pos, keys: guarded } = change.guard ?? {};
    if (appMoves || kind === 'update' || pos?.app !== undefined || guarded?.app !== undefined) {
      locks.add(app);
    }
    if (usr !== undefined && (userMoves || kind === 'update' || pos?.user !== undefined || guarded?.user !== undefined)) {
      locks.add(usr);
    }
    if (kind === 'update') {
      updates.add(id);
    }
  });
  const has = (test: (request: Request) => boolean): true | undefined => steps.some((requests) => requests.some(test)) || undefined;
  return JSON.stringify({
    scopes: scopes.names,
    locks: locks.size > 0 ? [...locks] : undefined,
    creates: has(({ kind }) => kind === 'create'),
    appends: has(({ kind }) => kind === 'append'),
    updates: has(({ kind }) => kind === 'update'),
    unsets: has(({ unset }) => unset.length > 0),
    steps,
  });
}

/** What an answer of the function means. */
export function committedOf(answer: readonly unknown[], { id, kind, key: { sessionId } }: Change): Committed | StoreError {
  const session = `session "${sessionId ?? ''}"`;
  switch (answer[0]) {
    case 'exists':
      return new StoreError('exists', `${session} exists already`);
    case 'not-found':
      return new StoreError('not-found', `${session} is not there`);
    case 'conflict': {
      const actual = answer[1] as number | undefined;
      return actual === undefined
        ? new StoreError('conflict', `the state is not what the change "${id}" expects`)
        : new StoreError('conflict', `${session} is at revision ${actual}, not where the change "${id}" expects it`, { actual });
    }
    case 'duplicate': {
      const [, rev, app, user, data] = answer as [string, number, number, number, string?];
      const found: Committed = { rev, prev: kind === 'update' ? null : rev, pos: { app, user }, duplicate: true };
      return data === undefined ? found : { ...found, data: fromColumn(data) };
    }
    default: {
      const [rev, app, user] = answer as [number, number, number];
      return { rev, prev: kind === 'append' ? rev - 1 : null, pos: { app, user } };
    }
  }
}

/** Why a change can never be written, if it cannot. */
export function refusalOf({ id, key, delta }: Change): StoreError | undefined {
  const names = [delta.app, delta.user, delta.session].flatMap((part) => Object.keys(part?.set ?? {}));
  for (const text of [id, key.appName, key.userId ?? '', key.sessionId ?? '', ...names]) {
    // No character has more than three bytes for each of its units.
    const size = text.length * 3 > TEXT_LIMIT ? new TextEncoder().encode(toColumn(text)).length : 0;
    if (size > TEXT_LIMIT) {
      const message = `"${text.slice(0, 40)}…" has ${size} bytes: ids and names have at most ${TEXT_LIMIT} here`;
      return new StoreError('rejected', message, { size, limit: TEXT_LIMIT });
    }
  }
  return undefined;
}

/** All scopes of a batch, in an order that is the same in every batch. */
class Scopes {
  /** Apps, then users with their apps. */
  readonly names: readonly (readonly string[])[];
  readonly #places = new Map<string, { readonly app: number; readonly users: Map<string, number> }>();

  constructor(changes: readonly Change[]) {
    const apps = [...new Set(changes.map(({ key }) => key.appName))].sort();
    const names: string[][] = apps.map((app) => [toColumn(app)]);
    apps.forEach((app, index) => this.#places.set(app, { app: index + 1, users: new Map() }));
    for (const appName of apps) {
      const users = new Set(changes.flatMap(({ key }) => (key.appName === appName && key.userId !== undefined ? [key.userId] : [])));
      for (const user of [...users].sort()) {
        this.#places.get(appName)?.users.set(user, names.push([toColumn(appName), toColumn(user)]));
      }
    }
    this.names = names;
  }

  /** The places of an app and of its user. */
  of({ appName, userId }: Change['key']): { app: number; usr: number | undefined } {
    const { app, users } = this.#places.get(appName) ?? { app: 0, users: undefined };
    return { app, usr: userId === undefined ? undefined : users?.get(userId) };
  }
}

function requestOf({ id, kind, key, time, event, delta, guard = {} }: Change, i: number, scopes: Scopes): Request {
  const { app, usr } = scopes.of(key);
  const [user, session] = [usr === undefined ? undefined : delta.user, kind === 'update' ? undefined : delta.session];
  const { keys } = guard;
  const expected = keys && [
    ...[...set('app', keys.app), ...set('user', keys.user), ...set('session', keys.session)],
    ...[...unset('app', keys.app), ...unset('user', keys.user), ...unset('session', keys.session)],
  ];
  return {
    i,
    kind,
    app,
    usr,
    user_id: kind === 'create' ? toColumn(key.userId ?? '') : undefined,
    session: key.sessionId === undefined ? undefined : toColumn(key.sessionId),
    id: toColumn(id),
    time,
    ...(kind === 'append' && { at: event?.time ?? time, data: toColumn(event?.data ?? '') }),
    app_moves: !isEmpty(delta.app),
    user_moves: !isEmpty(user),
    set: [...set('app', delta.app), ...set('user', user), ...set('session', session)],
    unset: [...unset('app', delta.app), ...unset('user', user), ...unset('session', session)],
    created: guard.created === undefined ? undefined : toColumn(guard.created),
    rev: guard.rev,
    app_pos: guard.pos?.app,
    user_pos: guard.pos?.user,
    keys: expected,
  };
}

function set(scope: Entry[0], { set: values = {} }: Delta = {}): Entry[] {
  return Object.keys(values).map((name) => [scope, toColumn(name), JSON.stringify(values[name])]);
}

function unset(scope: Entry[0], { unset: names = [] }: Delta = {}): Entry[] {
  return names.map((name) => [scope, toColumn(name), null]);
}
