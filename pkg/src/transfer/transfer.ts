// Writes sessions from elsewhere into a service: many at once, each compared with its origin afterwards.

import { StatepadError } from '../model/errors.js';
import { nameOf } from '../model/scope.js';
import { groupsOf, oneByOne, runInLockstep, type Steps } from './lockstep.js';
import { differenceOf, isBeginningOf } from './compare.js';
import { isOfOne, type ImportProblems, type Place } from './problems.js';
import type { Planned } from './planned.js';
import type { Pacer } from './pacer.js';
import type { ScopeImport } from './scopes.js';
import type { LogWriter } from '../service/log-writer.js';
import type { SessionService } from '../service/session-service.js';
import type { Session } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The progress of an import. */
export interface ImportProgress {
  /** The number of sessions that are in the service, and equal to those of their origin. */
  readonly sessions: number;
  /** The number of their events, as their origin has them. */
  readonly events: number;
  /** The number of these sessions that end with an event that makes their state that of their row in a database. */
  readonly corrected: number;
  /** The number of these sessions that this import has written: the others were there. */
  readonly imported: number;
  /** The number of sessions that could not be imported. */
  readonly failed: number;
}

/** The resources of a transfer. */
export interface TransferResources {
  /** The service that may have the sessions already. */
  readonly service: SessionService;
  /** The service that is written to: one in memory for a dry run. */
  readonly target: SessionService;
  /** The place that the sessions come from, in messages: `the database`. */
  readonly origin: string;
  readonly problems: ImportProblems;
  readonly signal: Signal | undefined;
  readonly pacer: Pacer;
  readonly onProgress: ((progress: ImportProgress) => void) | undefined;
}

type Counts = { -readonly [name in keyof ImportProgress]: ImportProgress[name] };

/** The approximate number of sessions, and of their events, that are read before they are written. */
const WAVE = { sessions: 256, events: 10_000 };

/** A session that was read, and the report that is due once it is written. */
interface Waiting {
  readonly planned: Planned;
  readonly notes: readonly string[];
  readonly scopes: readonly ScopeImport[];
}

/** Sessions on their way into a service. */
export class Transfer {
  readonly #resources: TransferResources;
  readonly #counts: Counts = { sessions: 0, events: 0, corrected: 0, imported: 0, failed: 0 };
  #writer: LogWriter | undefined;
  /** Sessions that were read and are not written yet, and the scopes whose sessions are complete. */
  #waiting: Waiting[] = [];
  #waitingEvents = 0;
  #ended: { readonly users: ScopeImport[]; readonly apps: ScopeImport[] } = { users: [], apps: [] };

  constructor(resources: TransferResources) {
    this.#resources = resources;
  }

  /** The counts so far. */
  get counts(): ImportProgress {
    return Object.freeze({ ...this.#counts });
  }

  /** Adds a session of two scopes, its app and its user. `notes` are problems that change nothing. */
  add(planned: Planned, notes: readonly string[], scopes: readonly ScopeImport[]): void {
    this.#waiting.push({ planned, notes, scopes });
    this.#waitingEvents += planned.events.length;
  }

  /** Adds a scope all of whose sessions were added: it is finished behind them. */
  end(scope: ScopeImport): void {
    (scope.key.userId === undefined ? this.#ended.apps : this.#ended.users).push(scope);
  }

  /** True when enough sessions wait to be written. */
  get isDue(): boolean {
    return this.#waiting.length >= WAVE.sessions || this.#waitingEvents >= WAVE.events;
  }

  /** Writes the waiting sessions, side by side; then the values of the scopes whose sessions are complete. */
  async write(): Promise<void> {
    const { pacer } = this.#resources;
    const pause = async (): Promise<void> => await pacer.pause();
    const writer = (this.#writer ??= await this.#resources.target.logWriter({ signal: this.#resources.signal }));
    // Sessions that write the same shared values are written one by one, so that the past of the values is consistent.
    const groups = groupsOf(this.#waiting, ({ planned }) => sharedBy(planned));
    const { users, apps } = this.#ended;
    this.#waiting = [];
    this.#waitingEvents = 0;
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
      this.failed(planned.key, error);
      return;
    }
    this.#counts.sessions += 1;
    this.#counts.events += planned.events.length - Number(planned.isCorrected);
    this.#counts.corrected += Number(planned.isCorrected);
    notes.forEach((reason) => problems.add(planned.key, reason, true));
    this.#tell();
  }

  /** Counts a session that could not be read or written. Throws an error that concerns more than this session. */
  failed(place: Place, error: unknown): void {
    this.#resources.problems.addError(place, error);
    this.#counts.failed += 1;
    this.#tell();
  }

  #tell(): void {
    this.#resources.onProgress?.({ ...this.#counts });
  }

  /** Writes a session, unless it is there, and compares it. Throws `SESSION_EXISTS` for another one under its key. */
  async *#bring(planned: Planned, scopes: readonly ScopeImport[], writer: LogWriter): Steps {
    const { service, target: written, signal, origin } = this.#resources;
    const existing = await service.getSession({ ...planned.key, signal });
    yield;
    const isThere = existing !== undefined && !isBeginningOf(existing, planned);
    if (isThere) {
      refuseDifference(existing, planned, 'the service already has it', origin);
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
    const { target: written, service, signal, origin } = this.#resources;
    const { key, created, end, beginning, events } = planned;
    const name = { appName: key.appName, userId: key.userId, id: key.sessionId };
    try {
      if (begun === undefined) {
        await writer.create({ ...key, state: beginning, signal }, created, end);
        yield;
      }
      for (const event of events.slice(begun ?? 0)) {
        signal?.throwIfAborted();
        await writer.append(name, event, signal);
        yield;
      }
      const session = (await written.getSession({ ...key, signal })) as Session;
      refuseDifference(session, planned, 'it was written, and read back', origin);
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
function sharedBy({ key: { appName, userId }, beginning, events }: Planned): readonly string[] {
  const deltas = [beginning, ...events.map(({ actions }) => actions?.stateDelta ?? {})];
  const scopes = new Set(deltas.flatMap((delta) => Object.keys(delta).map(scopeOf)));
  return [
    ...(scopes.has('app') ? [JSON.stringify([appName])] : []),
    ...(scopes.has('user') ? [JSON.stringify([appName, userId])] : []),
  ];
}

function scopeOf(key: string): string {
  return nameOf(key)[0];
}

function refuseDifference(session: Session, planned: Planned, when: string, origin: string): void {
  const difference = differenceOf(session, planned, origin);
  if (difference !== undefined) {
    throw new StatepadError('STATE_CONFLICT', `${when}: ${difference}`, { id: planned.key.sessionId });
  }
}
