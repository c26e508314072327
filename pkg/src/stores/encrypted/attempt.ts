// Gathers the facts that are needed before an encrypted change can be tried.
//
// Two things only the wrapper can see: the revision that an event will have, to which it is bound, and the equality of
// values with those that a guard expects. Both are turned into a guard that the inner store can look at: a revision,
// and positions.

import { wrongState } from '../../store/refusals.js';
import { isStoreError, type StoreError } from '../../store/store-error.js';
import { keyText } from '../shared/keys.js';
import { isEmpty } from '../shared/values.js';
import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import type { Home, Records } from './records.js';
import type { Change, Delta, Guard, Loaded, Pos, SessionStore, StoreContext, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The creation and the revision of a session when it was last read or written. */
export interface Place {
  readonly created: string;
  readonly rev: number;
}

/** One attempt to write a change. */
export interface Attempt {
  /** The place that it is bound to. */
  readonly place: Place;
  /** The guard that the inner store looks at. */
  readonly guard: Guard;
  /** Guarded values were read and compared: the guard names the positions at which they were read. */
  readonly hasLooked?: true;
  /** The reason why it cannot be written: the guard is one that never holds, and only a duplicate can come of it. */
  readonly refusal?: StoreError;
  /** There was no such session: the guard never holds. */
  readonly isAbsent?: true;
}

/** A scope as it was read. */
interface ScopeSnapshot {
  readonly at: number;
  readonly values: Values;
}

/** The number of places that are remembered. */
const MOST_PLACES = 10_000;
/** A guard that never holds: positions begin with 0. */
export const NEVER: Partial<Pos> = { app: -1 };
const NOTHING: ScopeSnapshot = { at: 0, values: {} };

/** Prepares attempts, and remembers the places of sessions. */
export class Attempts {
  readonly #inner: SessionStore;
  readonly #records: Records;
  readonly #places = new Map<string, Place>();

  constructor(inner: SessionStore, records: Records) {
    this.#inner = inner;
    this.#records = records;
  }

  /** Remembers the place of a session, or forgets it. A wrong one costs one more attempt. */
  saw(key: SessionKey, place: Place | undefined): void {
    const text = keyText(key);
    this.#places.delete(text);
    if (place === undefined) {
      return;
    }
    this.#places.set(text, { created: place.created, rev: place.rev });
    if (this.#places.size > MOST_PLACES) {
      for (const oldest of this.#places.keys()) {
        this.#places.delete(oldest);
        break;
      }
    }
  }

  /** Finds the place to bind a change to, and a guard that says the same as its own in the inner store's terms. */
  async next(change: Change, context: StoreContext): Promise<Attempt> {
    const { kind, id, key } = change;
    const { keys = {}, ...guard } = change.guard ?? {};
    // If the caller guards a position, too, the values must have been read at that position.
    const hasPos = (scope: StoredScope): boolean => scope !== 'session' && guard.pos?.[scope] !== undefined;
    const scopes = isGuardedByValues(change)
      ? STORED_SCOPES.filter((scope) => !isEmpty(keys[scope]) || hasPos(scope))
      : [];
    if (kind !== 'append') {
      return this.#looked(
        change,
        { created: id, rev: 0 },
        guard,
        await this.#look(scopes, change, undefined, context),
      );
    }
    const known = this.#placeOf(key as SessionKey, guard);
    if (known !== undefined && !scopes.includes('session')) {
      return this.#looked(change, known, guard, await this.#look(scopes, change, undefined, context));
    }
    const loaded = await this.#inner.load(key as SessionKey, { events: { last: 0 } }, context);
    if (loaded === null) {
      return { place: { created: guard.created ?? '', rev: 0 }, guard: { ...guard, pos: NEVER }, isAbsent: true };
    }
    const place = { created: guard.created ?? loaded.created, rev: guard.rev ?? loaded.rev };
    return this.#looked(change, place, guard, await this.#look(scopes, change, loaded, context));
  }

  /**
   * The place that is known without reading. For an unknown session, the refusal of revision 0 will tell the revision.
   */
  #placeOf(key: SessionKey, guard: Guard): Place | undefined {
    const known = this.#places.get(keyText(key));
    const created = guard.created ?? known?.created;
    return created === undefined
      ? undefined
      : { created, rev: guard.rev ?? (known?.created === created ? known.rev : 0) };
  }

  /** Reads scopes; those of a loaded session are there. */
  async #look(
    scopes: readonly StoredScope[],
    { kind, key: { appName: app, userId: user } }: Change,
    loaded: Loaded | undefined,
    context: StoreContext,
  ): Promise<ReadonlyMap<StoredScope, ScopeSnapshot>> {
    const read = async (scope: StoredScope): Promise<ScopeSnapshot> => {
      if (scope === 'session') {
        return kind === 'append' && loaded !== undefined
          ? { at: loaded.rev, values: loaded.state.session ?? {} }
          : NOTHING;
      }
      if (loaded !== undefined) {
        return { at: loaded.pos[scope], values: loaded.state[scope] ?? {} };
      }
      if (scope === 'user' && user === undefined) {
        return NOTHING;
      }
      const name = scope === 'user' && user !== undefined ? { app, user } : { app };
      const { pos: at, state: values } = await this.#inner.loadScope(name, context);
      return { at, values };
    };
    return new Map(await Promise.all(scopes.map(async (scope) => [scope, await read(scope)] as const)));
  }

  /** The attempt that rests on the scopes as they were read. */
  async #looked(
    change: Change,
    place: Place,
    guard: Guard,
    scopes: ReadonlyMap<StoredScope, ScopeSnapshot>,
  ): Promise<Attempt> {
    const { created, rev } = place;
    const session = change.kind === 'append' ? { created } : {};
    const refusal = await this.#refusal(change, place, scopes);
    if (refusal !== undefined) {
      // A duplicate is looked for all the same. Besides, only what the caller has asked for may fail.
      return { place, guard: { ...guard, ...session, pos: NEVER }, hasLooked: true, refusal };
    }
    const own: Guard = change.kind === 'append' ? { ...guard, created, rev } : guard;
    if (scopes.size === 0) {
      return { place, guard: own };
    }
    const [app, user] = [scopes.get('app'), scopes.get('user')];
    const pos = { ...(app && { app: app.at }), ...(user && { user: user.at }), ...guard.pos };
    return { place, guard: { ...own, pos }, hasLooked: true };
  }

  /** The reason why the guard does not hold for the scopes as they were read. */
  async #refusal(
    change: Change,
    { created, rev }: Place,
    scopes: ReadonlyMap<StoredScope, ScopeSnapshot>,
  ): Promise<StoreError | undefined> {
    const { kind, key, guard = {} } = change;
    try {
      for (const [scope, { at, values }] of scopes) {
        const isThere = scope === 'session' ? kind !== 'append' || rev === at : (guard.pos?.[scope] ?? at) === at;
        if (!isThere || !(await this.#holds(guard.keys?.[scope] ?? {}, values, homeOf(scope, key, created)))) {
          return wrongState();
        }
      }
      return undefined;
    } catch (error) {
      if (isStoreError(error) && error.code === 'corrupt') {
        return error;
      }
      throw error;
    }
  }

  async #holds({ set = {}, unset = [] }: Delta, values: Values, home: Home | undefined): Promise<boolean> {
    const names = Object.keys(set);
    if (home === undefined) {
      return names.length === 0;
    }
    for (const name of unset) {
      if (Object.hasOwn(values, await this.#records.nameOf(name, home))) {
        return false;
      }
    }
    for (const name of names) {
      const stored = await this.#records.nameOf(name, home);
      const sealed = Object.hasOwn(values, stored) ? values[stored] : undefined;
      const { value } = sealed === undefined ? {} : await this.#records.openValue(stored, sealed, home);
      if (value === undefined || JSON.stringify(value) !== JSON.stringify(set[name])) {
        return false;
      }
    }
    return true;
  }
}

/** The home of a change's values in a scope; `undefined` when it has no such place. */
export function homeOf(scope: StoredScope, key: Change['key'], created: string): Home | undefined {
  const { appName: app, userId: user, sessionId } = key;
  if (scope === 'app') {
    return { scope, app };
  }
  if (user === undefined) {
    return undefined;
  }
  if (scope === 'user') {
    return { scope, app, user };
  }
  return sessionId === undefined ? undefined : { scope, key: { appName: app, userId: user, sessionId }, created };
}

/** True if a change is guarded by values, which the inner store cannot compare. */
export function isGuardedByValues({ guard }: Change): boolean {
  return STORED_SCOPES.some((scope) => !isEmpty(guard?.keys?.[scope]));
}
