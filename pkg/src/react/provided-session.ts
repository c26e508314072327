// The session that one provider gives to its components: the watched one, `initial` until then, and the previously
// shown one.

import { snapshotOf, type SessionView } from './session-view.js';
import { viewOf } from './views.js';
import type { LoadingSession, SessionSnapshot, SettledSession } from './snapshot.js';
import type { Session, SessionKey } from '../model/types.js';
import type { SessionSource } from '../model/watch.js';

/** The function that reads again. */
export interface Refetching {
  /** Reads the session again, even one that is missing or failed. Resolves when that has succeeded or failed. */
  readonly refetch: () => Promise<void>;
}

/** The answer of `useSession`: a snapshot, discriminated by `status`, and `refetch`. */
export type UseSessionResult = SessionSnapshot & Refetching;

/** The answer of `useSuspenseSession`. */
export type UseSuspenseSessionResult = SettledSession & Refetching;

/** One session of one provider. */
export class ProvidedSession {
  readonly source: SessionSource;
  readonly key: SessionKey;
  readonly #initial: Session | undefined;
  readonly #previous: Session | undefined;
  #last: { readonly of: SessionSnapshot; readonly answer: UseSessionResult } | undefined;

  /**
   * `initial` counts if it is of this session. So does `previous`, the session that the provider showed before, if it
   * is of the same user.
   */
  constructor(
    source: SessionSource,
    key: SessionKey,
    initial: Session | null | undefined,
    previous: Session | undefined,
  ) {
    this.source = source;
    this.key = key;
    this.#initial = isOfUser(key, initial) && initial.id === key.sessionId ? initial : undefined;
    this.#previous = isOfUser(key, previous) ? previous : undefined;
  }

  get view(): SessionView {
    return viewOf(this.source, this.key, this.#initial);
  }

  readonly subscribe = (listener: () => void): (() => void) => this.view.subscribe(listener);

  readonly refetch = async (): Promise<void> => await this.view.refetch();

  /** The snapshot to show. */
  readonly snapshot = (): UseSessionResult => this.#answer(this.view.snapshot);

  /** The snapshot on a server and during hydration: `initial`. */
  readonly serverSnapshot = (): UseSessionResult =>
    this.#answer(snapshotOf(this.#initial === undefined ? 'loading' : 'ready', this.#initial, undefined));

  /** Returns the same object for an equal snapshot. */
  #answer(snapshot: SessionSnapshot): UseSessionResult {
    const last = this.#last;
    const { status, session, error } = snapshot;
    const isLast = last?.of.status === status && last.of.session === session && last.of.error === error;
    if (!isLast) {
      this.#last = { of: snapshot, answer: Object.freeze({ ...this.#complete(snapshot), refetch: this.refetch }) };
    }
    return (this.#last as NonNullable<typeof last>).answer;
  }

  #complete(snapshot: SessionSnapshot): SessionSnapshot {
    if (this.#initial !== undefined && snapshot.session === undefined && snapshot.status !== 'missing') {
      return snapshotOf(snapshot.status === 'loading' ? 'ready' : snapshot.status, this.#initial, snapshot.error);
    }
    const loading: LoadingSession | undefined =
      snapshot.status === 'loading' && this.#previous !== undefined
        ? { status: 'loading', previous: this.#previous }
        : undefined;
    return loading ?? snapshot;
  }
}

/** True for a session of the same app and user as a key. */
function isOfUser(key: SessionKey, session: Session | null | undefined): session is Session {
  return session?.appName === key.appName && session.userId === key.userId;
}
