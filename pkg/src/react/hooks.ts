// React's hooks over a session that is kept up to date.

import {
  createContext,
  createElement,
  useCallback,
  useContext,
  useMemo,
  useRef,
  useSyncExternalStore,
  type FunctionComponent,
  type ReactNode,
} from 'react';
import { SessionView, type SessionSnapshot } from './session-view.js';
import { StatepadError } from '../model/errors.js';
import { sameJson } from '../model/json.js';
import type { Json, Session, SessionKey } from '../model/types.js';
import type { SessionSource } from '../model/watch.js';

/** What {@link SessionProvider} takes. */
export interface SessionProviderProps {
  /** Where the session is read from and watched: a `SessionService`, or `sseSource` of `statepad/sse`. */
  readonly source: SessionSource;
  readonly appName: string;
  readonly userId: string;
  readonly sessionId: string;
  /** The session as the server has read it: shown at once, and while the page is hydrated. */
  readonly initial?: Session | undefined;
  readonly children?: ReactNode;
}

const ViewContext = createContext<SessionView | undefined>(undefined);

/**
 * Gives a session to the components in it. It is read and watched while one of them shows it.
 *
 * @example
 * <SessionProvider source={service} appName="tutor" userId="ana" sessionId={id}>
 *   <Topic />
 * </SessionProvider>
 */
export const SessionProvider: FunctionComponent<SessionProviderProps> = (props) => {
  const { source, appName, userId, sessionId, initial, children } = props;
  const key = useMemo<SessionKey>(() => ({ appName, userId, sessionId }), [appName, userId, sessionId]);
  // Only the first `initial` of a session counts: what is read is newer.
  const first = useRef(initial);
  first.current = initial;
  const view = useMemo(() => new SessionView(source, key, first.current), [source, key]);
  return createElement(ViewContext.Provider, { value: view }, children);
};

/**
 * The session of the provider around, and how it stands with it. The component is rendered anew after each change of
 * the session, its user's and its app's values. What has not changed stays the same object, value by value.
 *
 * Throws `INVALID_ARGUMENT` without a `SessionProvider` around.
 */
export function useSession(): SessionSnapshot {
  return useView((snapshot) => snapshot, Object.is);
}

/**
 * What a function selects from the state of the session: `useSessionState((state) => state['user:name'])`. The
 * component is rendered anew only when the answer is another one: not the same, and not equal as JSON, unless
 * `isEqual` says otherwise. While there is no session, the state is an empty record.
 *
 * Throws `INVALID_ARGUMENT` without a `SessionProvider` around.
 */
export function useSessionState<T>(
  select: (state: Readonly<Record<string, Json>>) => T,
  isEqual: (before: T, after: T) => boolean = sameJson,
): T {
  return useView(({ session }) => select(session?.state ?? NO_STATE), isEqual);
}

const NO_STATE: Readonly<Record<string, Json>> = Object.freeze({});

/** What is selected from a snapshot: the answer before, when it is equal. */
function useView<T>(select: (snapshot: SessionSnapshot) => T, isEqual: (before: T, after: T) => boolean): T {
  const view = useContext(ViewContext);
  if (view === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'there is no <SessionProvider> around this component');
  }
  const subscribe = useCallback((listener: () => void) => view.subscribe(listener), [view]);
  const last = useRef<Selected<T> | undefined>(undefined);
  const current = (): T => {
    const { snapshot } = view;
    const before = last.current;
    if (before?.snapshot === snapshot && before.select === select) {
      return before.value;
    }
    const selected = select(snapshot);
    const value = before !== undefined && isEqual(before.value, selected) ? before.value : selected;
    last.current = { snapshot, select, value };
    return value;
  };
  return useSyncExternalStore(subscribe, current, current);
}

/** What was selected last, of what and by what. */
interface Selected<T> {
  readonly snapshot: SessionSnapshot;
  readonly select: (snapshot: SessionSnapshot) => T;
  readonly value: T;
}
