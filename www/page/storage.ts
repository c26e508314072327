// The place of the page's sessions: the browser's IndexedDB, or memory where the browser refuses that.

import { SessionService, isStatepadError } from 'statepad';
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
  /** The reason for which nothing is stored; `undefined` where everything is. */
  readonly refusal: unknown;
  /** The stored sessions could not be read, and were deleted. */
  readonly isAnew?: boolean;
}

/** The app of the page's own sessions. */
export const APP = 'demo';

/**
 * The name of the page's own database, unless the address has another: it alone is deleted when it cannot be read, as
 * anybody can make an address.
 */
export const DATABASE = 'statepad-demo';

/**
 * Opens the sessions that the browser keeps under a name. `onTrouble` is told when a write fails, and `undefined` when
 * one goes well again.
 */
async function openStorage(name: string, onTrouble: (trouble: unknown) => void): Promise<Storage> {
  const store = observed(indexedDBStore(name) as Batching, onTrouble);
  // The database of an earlier version is upgraded.
  const service = new SessionService({ store, migrate: 'upgrade' });
  try {
    await service.listSessions({ appName: APP, limit: 1 });
    return { service, watch: (onHint) => store.watch?.(onHint) ?? (() => undefined), refusal: undefined };
  } catch (error) {
    return { service: new SessionService(), watch: undefined, refusal: error };
  }
}

/**
 * As {@link openStorage}. Sessions that a build with another layout has stored under the page's own name are deleted,
 * once, whichever tab comes first. If that fails, nothing is stored.
 */
async function openOwnStorage(name: string, onTrouble: (trouble: unknown) => void): Promise<Storage> {
  const storage = await openStorage(name, onTrouble);
  if (name !== DATABASE || !isUnreadable(storage)) {
    return storage;
  }
  const beginAnew = async (): Promise<Storage> => {
    // Another tab may have begun anew since.
    const found = await openStorage(name, onTrouble);
    if (!isUnreadable(found)) {
      return found;
    }
    await deleteDatabase(name);
    const made = await openStorage(name, onTrouble);
    return { ...made, isAnew: made.refusal === undefined };
  };
  try {
    return await navigator.locks.request(`${name}: begin anew`, beginAnew);
  } catch {
    return storage;
  }
}

/** Returns true if the database has another content than this page reads, or the browser stores nothing. */
function isUnreadable({ refusal }: Storage): boolean {
  return isStatepadError(refusal) && refusal.code === 'STORE_UNSUITABLE';
}

/** Deletes a database, as soon as other tabs have let go of it: those of this page do so when they are asked. */
function deleteDatabase(name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(name);
    request.onsuccess = () => resolve();
    request.onerror = () => reject(request.error ?? new Error('the browser gave no reason'));
  });
}

/** So long the browser's storage may take before that is told, in ms. */
const SLOW_MS = 2000;

/**
 * As {@link openOwnStorage}. `onSlow` is told when the browser does not answer, with what goes on without its storage.
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
    return await Promise.race([openOwnStorage(name, onTrouble), isUnwanted]);
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

/** The text for a user whose write has failed. */
export function troubleText(trouble: unknown): string {
  const causes = causesOf(trouble);
  if (causes.some(({ name }) => name === 'QuotaExceededError')) {
    return 'The browser’s storage for this page is full: the last change was not written. Delete a session, or free some space, and try again.';
  }
  return `The last change was not written: ${causes[0]?.message ?? String(trouble)}`;
}

/** The text for a user whose sessions were deleted, as they could not be read. */
export const ANEW =
  'Another version of this page has saved sessions here in a form that this one cannot read. They have been deleted, and you start with an empty page.';

/** The reason for which nothing is stored, as a sentence. */
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
