// Brings over the sessions of a database, one after the other.

import { StatepadError } from '../model/errors.js';
import { differenceOf, isBeginningOf } from './compare.js';
import { isOfOne, type AdkProblems } from './problems.js';
import { planOf, type Planned } from './session.js';
import { ScopeImport, type ScopeParts } from './scopes.js';
import type { AdkReader, Filter, ScopeKey, SessionRow } from './readers/reader.js';
import type { LogWriter } from '../service/log-writer.js';
import type { SessionService } from '../service/session-service.js';
import type { EventInit, Session, SessionKey } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** How far it is. */
export interface AdkImportProgress {
  /** How many sessions are in the service, and equal to those of the database. */
  readonly sessions: number;
  /** How many events they have in all, as the database has them. */
  readonly events: number;
  /** How many of these sessions end with an event that makes their state what their row says. */
  readonly corrected: number;
  /** How many of these sessions have been written by this import: the others were there. */
  readonly imported: number;
  /** How many sessions could not be brought over. */
  readonly failed: number;
}

/** What an import works with. */
export interface ImportParts {
  readonly reader: AdkReader;
  /** Where the sessions are to be. */
  readonly service: SessionService;
  /** Where they are written: another service in memory, when nothing is to be written. */
  readonly written: SessionService;
  readonly problems: AdkProblems;
  readonly filter: Filter;
  readonly signal: Signal | undefined;
  readonly onProgress: ((progress: AdkImportProgress) => void) | undefined;
}

type Counts = { -readonly [name in keyof AdkImportProgress]: AdkImportProgress[name] };

/** Brings all of it over. Answers how much there was. */
export async function runImport(parts: ImportParts): Promise<AdkImportProgress> {
  return await new Run(parts).run();
}

class Run {
  readonly #parts: ImportParts;
  readonly #scopes: ScopeParts;
  readonly #counts: Counts = { sessions: 0, events: 0, corrected: 0, imported: 0, failed: 0 };
  /** The app and the user whose sessions come now: those of an app come one after the other. */
  #app: ScopeImport | undefined;
  #user: ScopeImport | undefined;

  constructor(parts: ImportParts) {
    this.#parts = parts;
    this.#scopes = { ...parts, service: parts.written };
  }

  async run(): Promise<AdkImportProgress> {
    const { reader, filter, written, signal, problems } = this.#parts;
    const writer = await written.logWriter({ signal });
    for await (const row of reader.sessions(filter)) {
      signal?.throwIfAborted();
      await this.#enter(row.key);
      await this.#session(row, writer);
      this.#parts.onProgress?.({ ...this.#counts });
    }
    await this.#leave();
    await this.#scopesAlone('app', { appName: filter.appName });
    await this.#scopesAlone('user', filter);
    for (const { events, ...key } of await reader.orphans(filter)) {
      problems.add(key, `there are ${events} events, and no session`, false);
    }
    return Object.freeze({ ...this.#counts });
  }

  /** Goes on with the sessions of another app or user, when this one is another's. */
  async #enter({ appName, userId }: SessionKey): Promise<void> {
    if (this.#user?.key.userId !== userId || this.#app?.key.appName !== appName) {
      await this.#user?.finish();
      this.#user = undefined;
    }
    if (this.#app?.key.appName !== appName) {
      await this.#app?.finish();
      this.#app = await ScopeImport.begin({ appName }, this.#scopes);
    }
    this.#user ??= await ScopeImport.begin({ appName, userId }, this.#scopes);
  }

  async #leave(): Promise<void> {
    await this.#user?.finish();
    await this.#app?.finish();
  }

  async #scopesAlone(of: 'app' | 'user', filter: Filter): Promise<void> {
    for await (const key of this.#parts.reader.scopesAlone(of, filter)) {
      this.#parts.signal?.throwIfAborted();
      await (await this.#begin(key)).finish();
    }
  }

  async #begin(key: ScopeKey): Promise<ScopeImport> {
    return await ScopeImport.begin(key, this.#scopes);
  }

  async #session(row: SessionRow, writer: LogWriter): Promise<void> {
    const { reader, problems } = this.#parts;
    const { key } = row;
    const notes: string[] = [];
    try {
      const planned = await planOf(row, reader, (note) => void notes.push(note));
      await this.#bring(planned, writer);
      this.#counts.sessions += 1;
      this.#counts.events += planned.events.length - Number(planned.isCorrected);
      this.#counts.corrected += Number(planned.isCorrected);
      notes.forEach((note) => problems.add(key, note, true));
    } catch (error) {
      this.#counts.failed += 1;
      problems.addError(key, error);
    }
  }

  /** Makes a session what it is to be, and compares it. Throws `SESSION_EXISTS` for another one under its key. */
  async #bring(planned: Planned, writer: LogWriter): Promise<void> {
    const { service, written, signal } = this.#parts;
    const found = await service.getSession({ ...planned.key, signal });
    if (found !== undefined && !isBeginningOf(found, planned)) {
      refuseDifference(found, planned, 'the service has it already');
      this.#foundOwn();
      return;
    }
    if (found !== undefined) {
      this.#foundOwn();
    }
    const isContinued = found !== undefined && service === written;
    await this.#write(planned, isContinued ? found.events.length : undefined, writer);
    this.#counts.imported += 1;
  }

  /** Writes a session, or the events that it lacks, and reads it back. What was not written whole is taken away. */
  async #write(planned: Planned, begun: number | undefined, writer: LogWriter): Promise<void> {
    const { written, service, signal } = this.#parts;
    const { key, created, beginning, events } = planned;
    try {
      if (begun === undefined) {
        await writer.create({ ...key, state: beginning, signal }, created);
      }
      await this.#append(key, events.slice(begun ?? 0), writer);
      const session = (await written.getSession({ ...key, signal })) as Session;
      refuseDifference(session, planned, 'it was written, and read back');
    } catch (error) {
      if (begun === undefined && isOfOne(error) && error.code !== 'SESSION_EXISTS') {
        await written.deleteSession(key);
      }
      throw error;
    }
    if (service !== written) {
      await written.deleteSession(key);
    }
  }

  async #append(key: SessionKey, events: readonly EventInit[], writer: LogWriter): Promise<void> {
    const { signal } = this.#parts;
    const name = { appName: key.appName, userId: key.userId, id: key.sessionId };
    for (const event of events) {
      signal?.throwIfAborted();
      await writer.append(name, event, signal);
    }
  }

  #foundOwn(): void {
    this.#app?.foundOwn();
    this.#user?.foundOwn();
  }
}

function refuseDifference(session: Session, planned: Planned, when: string): void {
  const difference = differenceOf(session, planned);
  if (difference !== undefined) {
    throw new StatepadError('STATE_CONFLICT', `${when}: ${difference}`, { id: planned.key.sessionId });
  }
}
