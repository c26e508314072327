// React's hooks over a session that is kept up to date.

import {
  createContext,
  createElement,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
  type FunctionComponent,
  type ReactNode,
} from 'react';
import { ProvidedSession, type UseSessionResult, type UseSuspenseSessionResult } from './provided-session.js';
import { StatepadError } from '../model/errors.js';
import { sameJson } from '../model/json.js';
import type { Json, Session, SessionKey } from '../model/types.js';
import type { SessionSource } from '../model/watch.js';

/** The props of {@link SessionProvider}. */
export interface SessionProviderProps {
  /**
   * The source of the session: a `SessionService`, or a client of `statepad/client`. Make it once, outside of the
   * component: providers of one source share their watches.
   */
  readonly source: SessionSource;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /**
   * The session as the server has read it: shown at once, and while the page is hydrated. The first one counts. A
   * session of another app, user or id is not shown. `plainSession` makes one that a server component can pass.
   */
  readonly initial?: Session | null | undefined;
  /**
   * True to keep showing the previous session while another one of the same user is loading: as `previous` of
   * `useSession`, and to the selector of `useSessionState`. False by default.
   */
  readonly keepPrevious?: boolean | undefined;
  readonly children?: ReactNode;
}

const ProvidedContext = createContext<ProvidedSession | undefined>(undefined);

/**
 * Provides a session to the components in it. It is read and watched while one of them shows it, once for all
 * providers of one source that name it.
 *
 * @example
 * <SessionProvider source={service} appName="tutor" userId="ana" sessionId={id}>
 *   <Topic />
 * </SessionProvider>
 */
export const SessionProvider: FunctionComponent<SessionProviderProps> = (props) => {
  const { source, appName, userId, sessionId, initial, keepPrevious = false, children } = props;
  const key = useMemo<SessionKey>(() => ({ appName, userId, sessionId }), [appName, userId, sessionId]);
  // Only the first `initial` of a session counts: later reads are newer.
  const first = useRef(initial);
  first.current = initial;
  const before = useRef<ProvidedSession | undefined>(undefined);
  const provided = useMemo(() => {
    const shown = keepPrevious ? before.current?.snapshot() : undefined;
    return new ProvidedSession(source, key, first.current, shown?.session ?? shown?.previous);
  }, [source, key, keepPrevious]);
  useEffect(() => {
    before.current = provided;
  }, [provided]);
  return createElement(ProvidedContext.Provider, { value: provided }, children);
};

/** The session of the enclosing provider. */
export function useProvided(): ProvidedSession {
  const provided = useContext(ProvidedContext);
  if (provided === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'there is no <SessionProvider> around this component');
  }
  return provided;
}

/**
 * The session of the enclosing provider, its status, and `refetch`. The component renders again after each change of
 * the session, its user's and its app's values. Unchanged values stay the same objects.
 *
 * Throws `INVALID_ARGUMENT` outside of a `SessionProvider`.
 */
export function useSession(): UseSessionResult {
  const provided = useProvided();
  return useSyncExternalStore(provided.subscribe, provided.snapshot, provided.serverSnapshot);
}

/**
 * As {@link useSession}, for a component in a `<Suspense>`: it is suspended until the session was read, or is known
 * to be missing. An error is thrown to the enclosing error boundary, unless there is an earlier session. To try
 * again, call `refetch` of {@link useSession} in a component outside, and reset the boundary.
 *
 * On a server nothing is read: without an `initial` it throws `INVALID_ARGUMENT` there, React sends the fallback, and
 * the page replaces it with the session.
 */
export function useSuspenseSession(): UseSuspenseSessionResult {
  const provided = useProvided();
  const isServer = typeof window === 'undefined';
  const { subscribe, snapshot, serverSnapshot } = provided;
  const shown = useSyncExternalStore(subscribe, snapshot, isServer ? serverSnapshot : () => hydrated(provided));
  if (shown.status === 'loading') {
    if (isServer) {
      const message = 'initial is missing: <SessionProvider> reads nothing while a server renders';
      throw new StatepadError('INVALID_ARGUMENT', message, { path: 'initial' });
    }
    // React takes promises that are thrown, and renders again when they are settled.
    // eslint-disable-next-line @typescript-eslint/only-throw-error
    throw provided.view.load();
  }
  if (shown.status === 'error' && shown.session === undefined) {
    throw shown.error;
  }
  return shown;
}

/** The initial session, or else the one that was read: nothing that the server could not render is hydrated. */
function hydrated(provided: ProvidedSession): UseSessionResult {
  const serverSnapshot = provided.serverSnapshot();
  return serverSnapshot.status === 'loading' ? provided.snapshot() : serverSnapshot;
}

/**
 * A selection from the state of the session: `useSessionState((state) => state['user:name'])`. The component renders
 * again only when the result changes: it is neither the same nor equal as JSON, unless `isEqual` decides otherwise.
 * Without a session, the state is an empty record.
 *
 * Throws `INVALID_ARGUMENT` outside of a `SessionProvider`.
 */
export function useSessionState<T>(
  select: (state: Readonly<Record<string, Json>>) => T,
  isEqual: (before: T, after: T) => boolean = sameJson,
): T {
  const { subscribe, snapshot, serverSnapshot } = useProvided();
  const last = useRef<Selected<T> | undefined>(undefined);
  const selected = (from: UseSessionResult): T => {
    const state = (from.session ?? from.previous)?.state ?? NO_STATE;
    const before = last.current;
    if (before?.state === state && before.select === select) {
      return before.value;
    }
    const answer = select(state);
    const value = before !== undefined && isEqual(before.value, answer) ? before.value : answer;
    last.current = { state, select, value };
    return value;
  };
  return useSyncExternalStore(
    subscribe,
    () => selected(snapshot()),
    () => selected(serverSnapshot()),
  );
}

const NO_STATE: Readonly<Record<string, Json>> = Object.freeze({});

/** The last selection, with its state and its function. */
interface Selected<T> {
  readonly state: Readonly<Record<string, Json>>;
  readonly select: (state: Readonly<Record<string, Json>>) => T;
  readonly value: T;
}
