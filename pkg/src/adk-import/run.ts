// Imports the sessions of a database: they are read one by one, and written many at once.

import { StatepadError } from '../model/errors.js';
import { nameOf } from '../model/scope.js';
import { groupsOf, oneByOne, runInLockstep, type Steps } from '../transfer/lockstep.js';
import { differenceOf, isBeginningOf } from '../transfer/compare.js';
import { isOfOne, type AdkProblems } from '../transfer/problems.js';
import { planOf, type Planned } from './session.js';
import { ScopeImport, type ScopeResources } from '../transfer/scopes.js';
import type { Pacer } from '../transfer/pacer.js';
import type { AdkReader, Filter, SessionRow } from './readers/reader.js';
import type { LogWriter } from '../service/log-writer.js';
import type { SessionService } from '../service/session-service.js';
import type { Session, SessionKey } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The progress of an import. */
export interface AdkImportProgress {
  /** The number of sessions that are in the service, and equal to those of the database. */
  readonly sessions: number;
  /** The number of their events, as the database has them. */
  readonly events: number;
  /** The number of these sessions that end with an event that makes their state that of their row. */
  readonly corrected: number;
  /** The number of these sessions that this import has written: the others were there. */
  readonly imported: number;
  /** The number of sessions that could not be imported. */
  readonly failed: number;
}

/** The resources of an import. */
export interface ImportResources {
  readonly reader: AdkReader;
  /** The target of the import. */
  readonly service: SessionService;
  /** The service that is written to: one in memory for a dry run. */
  readonly target: SessionService;
  readonly problems: AdkProblems;
  readonly filter: Filter;
  readonly signal: Signal | undefined;
  readonly pacer: Pacer;
  /** See `Numbers`. */
  readonly areTexts: boolean;
  readonly onProgress: ((progress: AdkImportProgress) => void) | undefined;
}

type Counts = { -readonly [name in keyof AdkImportProgress]: AdkImportProgress[name] };

/** Imports everything. Answers the counts. */
export async function runImport(resources: ImportResources): Promise<AdkImportProgress> {
  return await new Run(resources).run();
}

/** The approximate number of sessions, and of their events, that are read before they are written. */
const WAVE = { sessions: 256, events: 10_000 };

/** A session that was read, and the report that is due once it is written. */
interface Waiting {
  readonly planned: Planned;
  readonly notes: readonly string[];
  readonly scopes: readonly ScopeImport[];
}

class Run {
  readonly #resources: ImportResources;
  readonly #scopes: ScopeResources;
  readonly #counts: Counts = { sessions: 0, events: 0, corrected: 0, imported: 0, failed: 0 };
  /** The app and the user of the current sessions: those of an app come together. */
  #app: ScopeImport | undefined;
  #user: ScopeImport | undefined;
  /** Sessions that were read and are not written yet, and the scopes whose sessions are complete. */
  #waiting: Waiting[] = [];
  #ended: { readonly users: ScopeImport[]; readonly apps: ScopeImport[] } = { users: [], apps: [] };

  constructor(resources: ImportResources) {
    this.#resources = resources;
    this.#scopes = { ...resources, service: resources.target };
  }

  async run(): Promise<AdkImportProgress> {
    const { reader, filter, target: written, signal, problems, pacer: breath } = this.#resources;
    const writer = await written.logWriter({ signal });
    for await (const row of reader.sessions(filter)) {
      await breath.pause();
      await this.#read(row, await this.#enter(row.key));
      if (this.#isWave) {
        await this.#write(writer);
      }
    }
    this.#leaveApp();
    await this.#write(writer);
    await this.#scopesAlone('app', { appName: filter.appName });
    await this.#scopesAlone('user', filter);
    for (const { events, ...key } of await reader.orphans(filter)) {
      problems.add(key, `there are ${events} events, and no session`, false);
    }
    return Object.freeze({ ...this.#counts });
  }

  /** Switches to the scopes of another app or user, if this one is another's. */
  async #enter({ appName, userId }: SessionKey): Promise<readonly [app: ScopeImport, user: ScopeImport]> {
    if (this.#app?.key.appName !== appName) {
      this.#leaveApp();
    } else if (this.#user?.key.userId !== userId) {
      this.#leaveUser();
    }
    this.#app ??= await ScopeImport.begin({ appName }, this.#scopes);
    this.#user ??= await ScopeImport.begin({ appName, userId }, this.#scopes);
    return [this.#app, this.#user];
  }

  #leaveUser(): void {
    this.#ended.users.push(...(this.#user === undefined ? [] : [this.#user]));
    this.#user = undefined;
  }

  #leaveApp(): void {
    this.#leaveUser();
    this.#ended.apps.push(...(this.#app === undefined ? [] : [this.#app]));
    this.#app = undefined;
  }

  async #scopesAlone(of: 'app' | 'user', filter: Filter): Promise<void> {
    for await (const key of this.#resources.reader.scopesAlone(of, filter)) {
      await this.#resources.pacer.pause();
      await (await ScopeImport.begin(key, this.#scopes)).finish();
    }
  }

  async #read(row: SessionRow, scopes: readonly ScopeImport[]): Promise<void> {
    const { reader, areTexts } = this.#resources;
    const notes: string[] = [];
    const note = (reason: string): void => void notes.push(reason);
    try {
      this.#waiting.push({ planned: await planOf(row, reader, { areTexts, note }), notes, scopes });
    } catch (error) {
      this.#failed(row.key, error);
    }
  }

  /** True when enough sessions wait to be written. */
  get #isWave(): boolean {
    const events = this.#waiting.reduce((sum, { planned }) => sum + planned.events.length, 0);
    return this.#waiting.length >= WAVE.sessions || events >= WAVE.events;
  }

  /** Writes the waiting sessions, side by side; then the values of the scopes whose sessions are complete. */
  async #write(writer: LogWriter): Promise<void> {
    const { pacer: breath } = this.#resources;
    const pause = async (): Promise<void> => await breath.pause();
    // Sessions that write the same shared values are written one by one, so that the past of the values is consistent.
    const groups = groupsOf(this.#waiting, ({ planned }) => sharedBy(planned));
    const { users, apps } = this.#ended;
    this.#waiting = [];
    this.#ended = { users: [], apps: [] };
    await runInLockstep(
      groups.map((group) => oneByOne(group.map((waiting) => this.#session(waiting, writer)))),
      pause,
    );
    for (const ended of [users, apps]) {
      await runInLockstep(ended.map(finished), pause);
    }
  }

  async *#session({ planned, notes, scopes }: Waiting, writer: LogWriter): Steps {
    const { problems } = this.#resources;
    try {
      yield* this.#bring(planned, scopes, writer);
    } catch (error) {
      this.#failed(planned.key, error);
      return;
    }
    this.#counts.sessions += 1;
    this.#counts.events += planned.events.length - Number(planned.isCorrected);
    this.#counts.corrected += Number(planned.isCorrected);
    notes.forEach((reason) => problems.add(planned.key, reason, true));
    this.#tell();
  }

  #failed(key: SessionKey, error: unknown): void {
    this.#resources.problems.addError(key, error);
    this.#counts.failed += 1;
    this.#tell();
  }

  #tell(): void {
    this.#resources.onProgress?.({ ...this.#counts });
  }

  /** Writes a session, unless it is there, and compares it. Throws `SESSION_EXISTS` for another one under its key. */
  async *#bring(planned: Planned, scopes: readonly ScopeImport[], writer: LogWriter): Steps {
    const { service, target: written, signal } = this.#resources;
    const existing = await service.getSession({ ...planned.key, signal });
    yield;
    const isThere = existing !== undefined && !isBeginningOf(existing, planned);
    if (isThere) {
      refuseDifference(existing, planned, 'the service already has it');
    }
    if (existing !== undefined) {
      scopes.forEach((scope) => scope.countOwn());
    }
    if (!isThere) {
      const isContinued = existing !== undefined && service === written;
      yield* this.#make(planned, isContinued ? existing.events.length : undefined, writer);
      this.#counts.imported += 1;
    }
  }

  /** Writes a session, or its missing events, and reads it back. An incomplete one is deleted again. */
  async *#make(planned: Planned, begun: number | undefined, writer: LogWriter): Steps {
    const { target: written, service, signal } = this.#resources;
    const { key, created, beginning, events } = planned;
    const name = { appName: key.appName, userId: key.userId, id: key.sessionId };
    try {
      if (begun === undefined) {
        await writer.create({ ...key, state: beginning, signal }, created);
        yield;
      }
      for (const event of events.slice(begun ?? 0)) {
        signal?.throwIfAborted();
        await writer.append(name, event, signal);
        yield;
      }
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
}

/** Writes the values of a scope whose sessions are complete, in one step. */
async function* finished(scope: ScopeImport): Steps {
  await scope.finish();
}

/** The app and the user whose values a session writes. */
function sharedBy({ key: { appName, userId }, events }: Planned): readonly string[] {
  const scopes = new Set(events.flatMap(({ actions }) => Object.keys(actions?.stateDelta ?? {}).map(scopeOf)));
  return [
    ...(scopes.has('app') ? [JSON.stringify([appName])] : []),
    ...(scopes.has('user') ? [JSON.stringify([appName, userId])] : []),
  ];
}

function scopeOf(key: string): string {
  return nameOf(key)[0];
}

function refuseDifference(session: Session, planned: Planned, when: string): void {
  const difference = differenceOf(session, planned);
  if (difference !== undefined) {
    throw new StatepadError('STATE_CONFLICT', `${when}: ${difference}`, { id: planned.key.sessionId });
  }
}
