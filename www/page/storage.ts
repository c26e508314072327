// Where the page keeps its sessions: in the browser's IndexedDB, or in memory where the browser refuses that.

import { SessionService } from 'statepad';
import {
  isStoreError,
  type Change,
  type Committed,
  type Hint,
  type SessionStore,
  type StoreError,
} from 'statepad/store';
import { indexedDBStore } from 'statepad/stores/indexeddb';

/** The page's sessions. */
export interface Storage {
  readonly service: SessionService;
  /** Tells what other tabs write. */
  readonly watch: ((onHint: (hint: Hint) => void) => () => void) | undefined;
  /** Why nothing is kept; `undefined` where it is. */
  readonly refusal: unknown;
}

/** The app of the page's own sessions. */
export const APP = 'demo';

/**
 * Opens the sessions that the browser keeps under a name. `onTrouble` is told when a write fails, and `undefined` when
 * one goes well again.
 */
async function openStorage(name: string, onTrouble: (trouble: unknown) => void): Promise<Storage> {
  const store = observed(indexedDBStore(name) as Batching, onTrouble);
  // What an earlier version of the page has kept is brought up to date.
  const service = new SessionService({ store, migrate: 'upgrade' });
  try {
    await service.listSessions({ appName: APP, limit: 1 });
    return { service, watch: (onHint) => store.watch?.(onHint) ?? (() => undefined), refusal: undefined };
  } catch (error) {
    return { service: new SessionService(), watch: undefined, refusal: error };
  }
}

/** So long the browser's storage may take before that is told, in ms. */
const SLOW_MS = 2000;

/**
 * As {@link openStorage}. `onSlow` is told when the browser does not answer, with what goes on without its storage.
 */
export async function openPatiently(
  name: string,
  {
    onTrouble,
    onSlow,
  }: { readonly onTrouble: (trouble: unknown) => void; readonly onSlow: (goOn: () => void) => void },
): Promise<Storage> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isUnwanted = new Promise<Storage>((resolve) => {
    timer = setTimeout(() => onSlow(() => resolve(unsavedStorage())), SLOW_MS);
  });
  try {
    return await Promise.race([openStorage(name, onTrouble), isUnwanted]);
  } finally {
    clearTimeout(timer);
  }
}

/** Sessions in memory, for a user who does not want to wait for the browser's storage. */
function unsavedStorage(): Storage {
  return {
    service: new SessionService(),
    watch: undefined,
    refusal: new Error('You chose to continue without saving.'),
  };
}

/** What to tell a user whose write has failed. */
export function troubleText(trouble: unknown): string {
  const causes = causesOf(trouble);
  if (causes.some(({ name }) => name === 'QuotaExceededError')) {
    return 'The browser’s storage for this page is full: the last change was not written. Delete a session, or free some space, and try again.';
  }
  return `The last change was not written: ${causes[0]?.message ?? String(trouble)}`;
}

/** Why nothing is kept, as a sentence. */
export function refusalText(refusal: unknown): string {
  return `Nothing is saved: reloading the page loses everything. ${causesOf(refusal)[1]?.message ?? causesOf(refusal)[0]?.message ?? ''}`.trim();
}

function causesOf(error: unknown): Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** A store that writes several changes at once. */
type Batching = SessionStore & Required<Pick<SessionStore, 'commitMany'>>;

/** A store whose writes are told of: the service tries again for a while before it gives up. */
function observed(store: Batching, onTrouble: (trouble: unknown) => void): SessionStore {
  const isTrouble = (answer: unknown): boolean =>
    isStoreError(answer) && ['unavailable', 'rejected'].includes(answer.code);
  const told = async <T>(write: Promise<T>, troubleOf: (answer: T) => unknown): Promise<T> => {
    try {
      const answer = await write;
      onTrouble(troubleOf(answer));
      return answer;
    } catch (error) {
      onTrouble(isStoreError(error) && !isTrouble(error) ? undefined : error);
      throw error;
    }
  };
  return {
    ...store,
    commit: (change: Change, context): Promise<Committed> => told(store.commit(change, context), () => undefined),
    commitMany: (changes: readonly Change[], context): Promise<readonly (Committed | StoreError)[]> =>
      told(store.commitMany(changes, context), (answers) => answers.find(isTrouble)),
  };
}
