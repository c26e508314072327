// The principal of an HTTP request, and the sessions that it may see.

import { requestOf, type Incoming } from './incoming.js';
import { checkFunction, checkOptionalString, checkOptions, invalid } from '../checks/arguments.js';
import { isStatepadError, StatepadError, type ErrorCode } from '../model/errors.js';
import { describe } from '../model/value-types.js';
import { isWellFormed } from '../model/json.js';
import { isTemp, nameOf, STORED_SCOPES, type StoredScope } from '../model/scope.js';
import type { WatchKey } from '../model/watch.js';

/** A work on the storage of an app. */
export type StorageWork = 'sweep';

/** The granted names, or all. */
export type Granted = readonly string[] | 'all';

/**
 * The identity behind a request, and its rights. A request is compared with them, and never changed.
 *
 * @example
 * // A user sees its own sessions, its own values, and those of the app.
 * const principal = { id: 'ana', apps: ['tutor'], users: ['ana'] };
 */
export interface Principal {
  /** A stable name: limits for each client are counted under it. Those without one count as one client. */
  readonly id?: string | undefined;
  /** The apps. */
  readonly apps: Granted;
  /** The users in these apps, by their ids; none of them with `[]`. */
  readonly users: Granted;
  /** The sessions of these users, by their ids; all of them unless told otherwise. */
  readonly sessions?: Granted | undefined;
  /**
   * The scopes whose values it may read and watch; all by default. So a user reads the `app:` values of its apps, as
   * every session shows them. Keys of other scopes are removed wherever they would appear: in states, events and
   * changes.
   */
  readonly reads?: readonly StoredScope[] | undefined;
  /**
   * The scopes whose keys it may write. By default `['session', 'user']`, and with a list of `sessions` `['session']`:
   * `app:` keys, which all users share, have to be granted. With `[]` it only reads. A request that writes a key of
   * another scope is refused whole. To create, append to and delete sessions takes `'session'`.
   */
  readonly writes?: readonly StoredScope[] | undefined;
  /**
   * The works on the storage that it may start in its apps; none by default. They reach all users of an app, whatever
   * `users`, `sessions` and `writes` say: `'sweep'` removes what has expired. To start them on all apps at once takes
   * `apps: 'all'`.
   */
  readonly may?: readonly StorageWork[] | undefined;
  /** The time when it ends, as a `Date` or in milliseconds since the epoch: streams end then. */
  readonly ends?: Date | number | undefined;
}

const MEMBERS = ['id', 'apps', 'users', 'sessions', 'reads', 'writes', 'may', 'ends'];
const SCOPES: readonly StoredScope[] = [...STORED_SCOPES].reverse();
const WORKS: readonly StorageWork[] = ['sweep'];

/**
 * The answer of `authorize`: a principal; a `Response` that refuses; or `undefined`, which is answered with status
 * 401.
 */
export type Authorized = Principal | Response | undefined;

/** Returns the principal of a request. It must not read the request's body. */
export type Authorize = (request: Request) => Authorized | Promise<Authorized>;

/** For demos, and programs that only their own machine reaches: everyone may read and write everything. */
const EVERYONE: Principal = Object.freeze({ apps: 'all', users: 'all', writes: SCOPES, may: WORKS });
const everyone = (): Principal => EVERYONE;

/** The function that returns principals: the caller's, or one for everyone. Throws `INVALID_ARGUMENT`. */
export function authorizerOf(authorize: Authorize | undefined, insecure: boolean): Authorize {
  if (typeof insecure !== 'boolean') {
    invalid('insecure', 'must be true or false');
  }
  if (authorize === undefined && insecure) {
    return everyone;
  }
  if (insecure) {
    invalid('insecure', 'cannot go together with authorize');
  }
  if (authorize === undefined) {
    invalid('authorize', 'is missing: it identifies the client; a demo can set insecure: true');
  }
  checkFunction(authorize, 'authorize');
  return authorize;
}

/** The rights of a principal that was checked. */
export class Rights {
  readonly id: string;
  /** The time when it ends, in milliseconds since the epoch; `undefined`: never. */
  readonly ends: number | undefined;
  readonly #apps: Granted;
  readonly #users: Granted;
  readonly #sessions: Granted;
  readonly #reads: readonly StoredScope[];
  readonly #writes: readonly StoredScope[];
  readonly #may: readonly StorageWork[];

  /** Throws `INVALID_ARGUMENT` unless it is a complete principal: an omission grants nothing. */
  constructor(input: unknown) {
    if (typeof input !== 'object' || input === null) {
      invalid('authorize', `must return a principal, a Response or undefined, not ${describe(input)}`);
    }
    checkOptions(input, MEMBERS, 'principal');
    const { id, apps, users, sessions = 'all', reads = SCOPES, writes, may = [], ends } = input as Principal;
    checkOptionalString(id, 'principal.id');
    this.id = id ?? '';
    this.#apps = granted(apps, 'principal.apps');
    this.#users = granted(users, 'principal.users');
    this.#sessions = granted(sessions, 'principal.sessions');
    this.#reads = chosenOf(reads, SCOPES, 'principal.reads');
    const written = writes ?? (sessions === 'all' ? ['session', 'user'] : ['session']);
    this.#writes = chosenOf(written, SCOPES, 'principal.writes');
    this.#may = chosenOf(may, WORKS, 'principal.may');
    this.ends = endOf(ends);
  }

  /** True when it has ended by now. */
  get isOver(): boolean {
    return this.ends !== undefined && this.ends <= Date.now();
  }

  /** True when it may read the values of a scope. */
  reads(scope: StoredScope): boolean {
    return this.#reads.includes(scope);
  }

  /** True when it may write keys of a scope. */
  writes(scope: StoredScope): boolean {
    return this.#writes.includes(scope);
  }

  /** The apps that it may see. */
  get apps(): Granted {
    return this.#apps;
  }

  /** The users that it may see, in these apps. */
  get users(): Granted {
    return this.#users;
  }

  /** The sessions that it may see, of these users. */
  get sessions(): Granted {
    return this.#sessions;
  }

  /** True when it may read all scopes. */
  get readsAll(): boolean {
    return SCOPES.every((scope) => this.reads(scope));
  }

  /** True when nothing in a session that it may see is hidden from it. */
  get seesAll(): boolean {
    return this.readsAll && this.#sessions === 'all';
  }

  /** True when it may see a session with this id, of the users that it may see. */
  hasSessionId(sessionId: string): boolean {
    return has(this.#sessions, sessionId);
  }

  /** True when it may see a session of an app that it may see. */
  seesSession({ userId, sessionId }: { readonly userId: string; readonly sessionId: string }): boolean {
    return has(this.#users, userId) && has(this.#sessions, sessionId) && this.reads('session');
  }

  /** True when it may see the target. */
  sees({ appName, userId, sessionId }: WatchKey): boolean {
    if (!has(this.#apps, appName)) {
      return false;
    }
    if (userId === undefined) {
      return sessionId === undefined && this.reads('app');
    }
    return sessionId === undefined
      ? has(this.#users, userId) && this.reads('user')
      : this.seesSession({ userId, sessionId });
  }

  /** Throws `FORBIDDEN` when it may not see the target, present or not. */
  check(target: WatchKey): void {
    if (!this.sees(target)) {
      throw notVisible();
    }
  }

  /** Throws `FORBIDDEN` when it may see nothing in an app. */
  checkApp(appName: string): void {
    if (!has(this.#apps, appName)) {
      throw notVisible();
    }
  }

  /** Throws `FORBIDDEN` when it may see no sessions of an app, or of a user in it. */
  checkSessions({ appName, userId }: { readonly appName: string; readonly userId?: string | undefined }): void {
    this.checkApp(appName);
    if (!this.reads('session') || (userId !== undefined && !has(this.#users, userId))) {
      throw notVisible();
    }
  }

  /**
   * Throws `FORBIDDEN` when it may not create a session of a user: under this id, or under a generated one when that
   * is `undefined`.
   */
  checkCreation({ appName, userId, sessionId }: WatchKey & { readonly userId: string }): void {
    if (sessionId !== undefined) {
      this.checkWrite({ appName, userId, sessionId });
      return;
    }
    this.checkSessions({ appName, userId });
    if (this.#sessions !== 'all' || !this.writes('session')) {
      throw new StatepadError('FORBIDDEN', 'the client may not create a session under a generated id');
    }
  }

  /** Throws `FORBIDDEN` when it may not see the target, present or not, or not write to it. */
  checkWrite(target: WatchKey): void {
    this.check(target);
    this.checkWritesTo(target.sessionId !== undefined ? 'session' : target.userId !== undefined ? 'user' : 'app');
  }

  /** Throws `FORBIDDEN` when it may not write keys of a scope. */
  checkWritesTo(scope: StoredScope): void {
    if (!this.writes(scope)) {
      throw new StatepadError('FORBIDDEN', `the client may not write to the ${scope}`);
    }
  }

  /** Throws `FORBIDDEN` when it may not start a work on an app, or without one on all apps. */
  checkWork(work: StorageWork, appName: string | undefined): void {
    if (!this.#may.includes(work)) {
      throw new StatepadError('FORBIDDEN', `the client may not ${work}`);
    }
    if (appName === undefined && this.#apps !== 'all') {
      throw new StatepadError('FORBIDDEN', `the client may ${work} only one of its apps at a time`);
    }
    if (appName !== undefined) {
      this.checkApp(appName);
    }
  }

  /** Throws `FORBIDDEN` for the first key that it may not write. `temp:` keys are stored by nobody. */
  checkKeys(keys: Iterable<string>): void {
    for (const key of keys) {
      const [scope] = nameOf(key);
      if (!isTemp(key) && !this.writes(scope)) {
        throw new StatepadError('FORBIDDEN', `the client may not write ${JSON.stringify(key)}`, { key });
      }
    }
  }
}

/** The codes of errors of `authorize` that clients see. Any other error is a fault of the server. */
const PUBLIC_CODES: readonly ErrorCode[] = [
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'TOO_MANY_REQUESTS',
  'STORE_UNAVAILABLE',
  'CLOSED',
];

/**
 * The rights of the requester. Throws `UNAUTHENTICATED` when `authorize` does not know it, and an error without a
 * code, which is a fault of the server, when `authorize` fails or answers something else than a principal.
 */
export async function authorized(authorize: Authorize, request: Incoming): Promise<Rights | Response> {
  const rights = await rightsOf(authorize, request).catch((error: unknown) => {
    if (isStatepadError(error) && !PUBLIC_CODES.includes(error.code)) {
      throw new TypeError(`authorize: ${error.message}`, { cause: error });
    }
    throw error;
  });
  if (rights === undefined || (rights instanceof Rights && rights.isOver)) {
    throw new StatepadError('UNAUTHENTICATED', 'the client is not authenticated');
  }
  return rights;
}

async function rightsOf(authorize: Authorize, request: Incoming): Promise<Rights | Response | undefined> {
  const answer = authorize === everyone ? EVERYONE : await authorize(requestOf(request));
  return answer === undefined || answer instanceof Response ? answer : new Rights(answer);
}

function notVisible(): StatepadError {
  return new StatepadError('FORBIDDEN', 'the client may not see the target');
}

function has(granted: Granted, name: string): boolean {
  return granted === 'all' || granted.includes(name);
}

function granted(input: unknown, path: string): Granted {
  if (input === 'all') {
    return input;
  }
  if (!isTexts(input)) {
    invalid(path, input === undefined ? 'is missing' : `must be a list of names, or 'all', not ${describe(input)}`);
  }
  return [...input];
}

function chosenOf<Name extends string>(input: readonly Name[], known: readonly Name[], path: string): readonly Name[] {
  if (!isTexts(input) || !input.every((name) => known.includes(name))) {
    invalid(path, `must be a list of ${known.join(', ')}`);
  }
  return [...input];
}

function isTexts(input: unknown): input is readonly string[] {
  return Array.isArray(input) && input.every((name) => typeof name === 'string' && isWellFormed(name));
}

function endOf(input: Date | number | undefined): number | undefined {
  const time = input instanceof Date ? input.getTime() : input;
  if (time !== undefined && (typeof time !== 'number' || Number.isNaN(time))) {
    invalid('principal.ends', 'must be a valid Date or a number of milliseconds since the epoch');
  }
  return time;
}
