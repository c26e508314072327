// One request to open an IndexedDB database, and the connection that comes of it.

import { nameOf, reasonOf, refusalOfOpening } from './errors.js';
import { createTables, numberOf, upgradeTables, type Schema } from './schema.js';

/**
 * The longest silence of the browser, in milliseconds, before `open` fails: it lets a request wait behind those of
 * other tabs, and reports neither that nor a mutual block.
 */
const QUEUED_TIMEOUT_MS = 5_000;

/** A connection to a database. */
export interface Opened {
  readonly database: IDBDatabase;
  /** It was closed since: by the browser, or to let another tab upgrade or delete the database. */
  isLost: boolean;
  /** Called when that happens. */
  onLost?: () => void;
}

/** The reports while a request waits. */
export interface Progress {
  /** Another connection is in the way. The request goes on. */
  readonly onBlocked: () => void;
  /** The browser has said nothing for too long. The request goes on. */
  readonly onQueued: () => void;
}

/**
 * Opens a database, or answers `undefined` and leaves everything as it is when there is none that suits: none at all,
 * or, when one is to be made or upgraded to a schema, another program's.
 */
export function openDatabase(
  factory: IDBFactory,
  name: string,
  { schema, onBlocked, onQueued }: Progress & { readonly schema?: Schema },
): Promise<Opened | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(refusalOfOpening(error, name));
    let request: IDBOpenDBRequest;
    try {
      request = factory.open(name, schema && numberOf(schema));
    } catch (error) {
      fail(error);
      return;
    }
    const timer = setTimeout(onQueued, QUEUED_TIMEOUT_MS);
    let isUnfit = false;
    request.onblocked = () => {
      clearTimeout(timer);
      onBlocked();
    };
    request.onupgradeneeded = () => {
      clearTimeout(timer);
      const { result: database, transaction } = request;
      const refuse = (): void => {
        isUnfit = true;
        transaction?.abort();
      };
      if (schema === undefined || transaction === null) {
        refuse();
      } else if (database.objectStoreNames.length === 0) {
        createTables(database, transaction, schema);
      } else {
        upgradeTables(database, transaction, schema, refuse);
      }
    };
    request.onsuccess = () => {
      clearTimeout(timer);
      resolve(openedOf(request.result));
    };
    request.onerror = (event) => {
      clearTimeout(timer);
      event.preventDefault();
      const reason = reasonOf(request);
      if (isUnfit && nameOf(reason) === 'AbortError') {
        resolve(undefined);
      } else {
        fail(reason);
      }
    };
  });
}

/**
 * A connection that closes itself as soon as another tab wants to upgrade or delete the database. The request for that
 * comes once, and may be right behind the success: it is listened for in the same turn.
 */
function openedOf(database: IDBDatabase): Opened {
  const opened: Opened = { database, isLost: false };
  const lose = (): void => {
    database.close();
    opened.isLost = true;
    opened.onLost?.();
  };
  database.onclose = lose;
  database.onversionchange = lose;
  return opened;
}
