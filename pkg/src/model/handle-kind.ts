// The objects that users hold as sessions. Each kind of them shows what the view behind it says.

import { defined } from './defined.js';
import { StatepadError } from './errors.js';
import { isObject } from './value-types.js';
import type { Session, SessionKey } from './types.js';

/** The members of a session, as they are read from a view. */
export interface ViewReader<View> {
  readonly key: (view: View) => SessionKey;
  readonly state: (view: View) => Session['state'];
  readonly events: (view: View) => Session['events'];
  readonly lastUpdateTime: (view: View) => number;
  readonly revision: (view: View) => number;
  /** Absent: sessions of this kind do not expire. */
  readonly expireTime?: (view: View) => number | undefined;
}

/** Handles of one kind. */
export interface HandleKind<View> {
  /** Creates a handle: frozen, with own enumerable members, so that it can be spread, printed and cloned. */
  readonly make: (view: View) => Session;
  /** The view behind a handle of this kind, or `undefined` for any other object. */
  readonly viewOf: (session: unknown) => View | undefined;
}

/** Marks the handles of all copies of the package. */
const brand = Symbol.for('statepad.session');

/** True for a handle of any kind, also one of another copy of the package. */
export function isAnyHandle(session: unknown): boolean {
  return isObject(session) && brand in session;
}

/** Makes a kind of handles. */
export function handleKind<View extends object>(read: ViewReader<View>): HandleKind<View> {
  /** One getter for all handles: a closure for each would cost more than the rest of a read. */
  const member = (name: Exclude<keyof ViewReader<View>, 'key'>): PropertyDescriptor => {
    const valueOf = read[name] ?? (() => undefined);
    return {
      enumerable: true,
      get(this: Handle): unknown {
        return valueOf(Handle.view(this) as View);
      },
      // Sloppy scripts would ignore a write to a getter.
      set(): never {
        throw new StatepadError('INVALID_ARGUMENT', `${name} is read-only: append an event`, { path: name });
      },
    };
  };
  const [STATE, EVENTS] = [member('state'), member('events')];
  const [LAST_UPDATE_TIME, REVISION] = [member('lastUpdateTime'), member('revision')];
  const EXPIRE_TIME = member('expireTime');

  class Handle implements Session {
    readonly #view: View;
    readonly id: string;
    readonly appName: string;
    readonly userId: string;
    declare readonly state: Session['state'];
    declare readonly events: Session['events'];
    declare readonly lastUpdateTime: number;
    declare readonly revision: number;
    declare readonly expireTime?: number;

    constructor(view: View) {
      const { appName, userId, sessionId } = read.key(view);
      this.#view = view;
      this.id = sessionId;
      this.appName = appName;
      this.userId = userId;
      Object.defineProperty(this, 'state', STATE);
      Object.defineProperty(this, 'events', EVENTS);
      Object.defineProperty(this, 'lastUpdateTime', LAST_UPDATE_TIME);
      Object.defineProperty(this, 'revision', REVISION);
      // A session that expires does so from its creation on: most do not, and have no such member.
      if (read.expireTime?.(view) !== undefined) {
        Object.defineProperty(this, 'expireTime', EXPIRE_TIME);
      }
      Object.freeze(this);
    }

    static view(session: unknown): View | undefined {
      return typeof session === 'object' && session !== null && #view in session ? session.#view : undefined;
    }

    static {
      // A console shows the values, not the getters.
      Object.defineProperty(this.prototype, Symbol.for('nodejs.util.inspect.custom'), {
        value(this: Handle) {
          const { id, appName, userId, state, events, lastUpdateTime, revision, expireTime } = this;
          return { id, appName, userId, state, events, lastUpdateTime, revision, ...defined({ expireTime }) };
        },
      });
      Object.defineProperty(this.prototype, 'constructor', { value: Object });
      Object.defineProperty(this.prototype, brand, { value: true });
    }
  }

  return { make: (view) => new Handle(view), viewOf: (session) => Handle.view(session) };
}
