// The sessions that are imported: those of the database of an ADK, of lines, or of any other address.

import { access } from 'node:fs/promises';
import { shownAddress, type Address } from '../addresses.js';
import { CommandError, UsageError } from '../errors.js';
import { piecesOf } from '../sources/lines.js';
import { openedSource } from '../sources/source.js';
import { openPool } from '../stores/postgres.js';
import { readOnlySqlite } from '../stores/sqlite.js';
import { CACHED_EVENTS, exportedLines } from '../work/exported.js';
import { isMeant, type Selection } from '../work/filter.js';
import { identifyAdk, importAdk, type AdkDatabaseHandle, type AdkImport } from '../../import-adk.js';
import { importLines, type LinesImport } from '../../jsonl.js';
import type { Secrets } from '../secrets.js';
import type { SessionKey, SessionService, StatepadError } from '../../index.js';

/** The part of an import that is the same for all origins. */
export interface ImportPlan {
  readonly selection: Selection;
  readonly dryRun: boolean;
  /** The conversion of numbers that JavaScript cannot hold, from the database of an ADK. */
  readonly integers: 'text' | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly sessions: number; readonly failed: number }) => void;
  /** Called for a session that the origin cannot read. */
  readonly onUnreadable: (session: SessionKey, error: StatepadError) => void;
}

/** The result of an import. */
export type Imported = LinesImport | AdkImport;

/** An origin that is open. */
export interface Origin {
  /** The address for people, with the maker of the database, if it is that of an ADK. */
  readonly name: string;
  readonly importInto: (service: SessionService, plan: ImportPlan) => Promise<Imported>;
  readonly close: () => Promise<void>;
}

/** The surroundings in which an origin is opened. */
export interface OriginOptions {
  readonly folder: string;
  readonly secrets: Secrets;
  readonly tokenFile: string | undefined;
  readonly onError: (error: unknown) => void;
}

/** Opens an origin. Throws `CommandError`. */
export async function openedOrigin(address: Address, options: OriginOptions): Promise<Origin> {
  if (options.tokenFile !== undefined && address.kind !== 'server') {
    throw new UsageError('--token-file is for the address of a server, https://HOST');
  }
  return (await adkOrigin(address, options)) ?? linesOrigin(address) ?? (await otherOrigin(address, options));
}

/** The database of an ADK, if it is one. Throws `CommandError`, also for a file that is not there. */
async function adkOrigin(address: Address, options: OriginOptions): Promise<Origin | undefined> {
  if (address.kind === 'adk-database') {
    const { pool, close } = await openPool(address.url, options).catch((error: unknown) => refuse(address, error));
    return await identified(address, pool, close);
  }
  if (address.kind !== 'sqlite') {
    return undefined;
  }
  await access(address.path).catch((error: unknown) => {
    throw new CommandError(`there is no database "${address.path}"`, { cause: error });
  });
  const database = await readOnlySqlite(address.path, options.folder).catch((error: unknown) =>
    refuse(address, error),
  );
  const origin = await identified(address, database, async () => {
    database.close();
    await Promise.resolve();
  });
  if (origin === undefined) {
    database.close();
  }
  return origin;
}

async function identified(
  address: Address,
  database: AdkDatabaseHandle,
  close: () => Promise<void>,
): Promise<Origin | undefined> {
  const { kind, signs } = await identifyAdk(database).catch((error: unknown) => refuse(address, error));
  if (kind === 'unknown') {
    if (address.kind === 'adk-database') {
      await close();
      throw new CommandError(`${shownAddress(address)} does not belong to a known ADK: ${signs.join('; ')}`);
    }
    return undefined;
  }
  return {
    name: `${shownAddress(address)} (${kind})`,
    importInto: async (service, { selection, dryRun, integers, signal, onProgress }) => {
      const { app, user, session } = selection.filter;
      const hasPatterns = [app, user].some(({ isOpen, only }) => !isOpen && only === undefined);
      const isNarrow = hasPatterns || !session.isOpen || (app.isOpen && !user.isOpen);
      const only = (key: SessionKey): boolean => app.matches(key.appName) && isMeant(selection.filter, key);
      return await importAdk(database, service, {
        appName: app.only,
        userId: app.only === undefined ? undefined : user.only,
        ...(isNarrow && { only }),
        dryRun,
        integers,
        signal,
        onProgress,
      });
    },
    close,
  };
}

/** A file of lines, which is read as it comes, or standard input. */
function linesOrigin(address: Address): Origin | undefined {
  if (address.kind !== 'lines') {
    return undefined;
  }
  const { path } = address;
  return {
    name: shownAddress(address),
    importInto: async (service, { selection: { filter }, dryRun, signal, onProgress }) => {
      const isOpen = filter.app.isOpen && filter.user.isOpen && filter.session.isOpen;
      const only = (key: SessionKey): boolean => filter.app.matches(key.appName) && isMeant(filter, key);
      const options = { dryRun, signal, onProgress, ...(!isOpen && { only }) };
      const imported = await importLines(piecesOf(path), service, options);
      if (isOpen && imported.sessions + imported.failed + imported.problemCount === 0) {
        throw new CommandError(`there is no session in ${shownAddress(address)}`);
      }
      return imported;
    },
    close: async () => undefined,
  };
}

async function otherOrigin(address: Address, options: OriginOptions): Promise<Origin> {
  const { source, name, close } = await openedSource(address, { ...options, cachedEvents: CACHED_EVENTS });
  return {
    name,
    importInto: async (service, { selection, dryRun, signal, onProgress, onUnreadable }) => {
      const lines = exportedLines(source, selection, { signal, onUnreadable });
      return await importLines(lines, service, { dryRun, signal, onProgress });
    },
    close,
  };
}

function refuse(address: Address, cause: unknown): never {
  throw cause instanceof CommandError
    ? cause
    : new CommandError(`${shownAddress(address)} cannot be opened`, { cause });
}
