// From JSON lines to a service that has other sessions already.

import { plannedOf } from './plan.js';
import { LinesReader, type FileScope, type FileSession } from './read.js';
import { linesOf, type Input } from './lines.js';
import { refuse } from './problems.js';
import { checkFunction, checkOptions, invalid } from '../checks/arguments.js';
import { describe, isObject } from '../model/value-types.js';
import { isStatepadError } from '../model/errors.js';
import { SessionService } from '../service/session-service.js';
import { Pacer } from '../transfer/pacer.js';
import { ImportProblems, type ImportProblem } from '../transfer/problems.js';
import { ScopeImport, type ScopeKey } from '../transfer/scopes.js';
import { Transfer, type ImportProgress } from '../transfer/transfer.js';
import type { Abortable, SessionKey } from '../model/types.js';

/** Options of `importLines`. */
export interface LinesImportOptions extends Abortable {
  /** Only the sessions for which this is true, and the values of their apps and users. */
  readonly only?: ((session: SessionKey) => boolean) | undefined;
  /** Reads and compares all, and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /** Called after each session. */
  readonly onProgress?: ((progress: LinesImportProgress) => void) | undefined;
}

/** The progress of an import of lines. */
export type LinesImportProgress = Omit<ImportProgress, 'corrected'>;

/** The result of an import of lines. */
export interface LinesImport extends LinesImportProgress {
  /** The differences between the service and the lines: the first 1,000 of them. */
  readonly problems: readonly ImportProblem[];
  /** The number of all problems. */
  readonly problemCount: number;
}

/**
 * Imports JSON lines into a service that may have other sessions, or some of these. The lines are those of
 * `exportLines`, or sessions as ADK gives them as JSON. They are read as they come: they need not fit into memory.
 *
 * Each session is created at its time, its events are appended unchanged, and it is read back and compared. Equal
 * sessions that exist stay as they are, and those with only the first of the events get the others: an import can be
 * repeated. A different session under the same key is a problem, and is not touched; nor is a session written of which
 * a line is broken. Problems do not stop the others.
 *
 * The values of an app, or of a user, become those of the lines. If the service has other sessions of the app or the
 * user, names that it had before keep their values, and those that differ are problems.
 *
 * Throws `INVALID_ARGUMENT` for lines of a newer version, and the errors of the service that concern more than one
 * session.
 *
 * @example
 * const { imported, problems } = await importLines(createReadStream('sessions.jsonl', 'utf8'), service);
 */
export async function importLines(
  input: string | Iterable<string> | AsyncIterable<string>,
  service: SessionService,
  options: LinesImportOptions = {},
): Promise<LinesImport> {
  checkImport(service, options);
  options.signal?.throwIfAborted();
  return await new LinesRun(service, options).run(input);
}

function checkImport(service: unknown, options: LinesImportOptions): void {
  if (!isObject(service) || typeof (service as { readonly logWriter?: unknown }).logWriter !== 'function') {
    invalid('service', 'must be a SessionService');
  }
  checkOptions(options, ['only', 'dryRun', 'onProgress', 'signal']);
  if (options.dryRun !== undefined && typeof options.dryRun !== 'boolean') {
    invalid('dryRun', `must be true or false, not ${describe(options.dryRun)}`);
  }
  for (const name of ['only', 'onProgress'] as const) {
    if (options[name] !== undefined) {
      checkFunction(options[name], name);
    }
  }
}

class LinesRun {
  readonly #service: SessionService;
  readonly #options: LinesImportOptions;
  readonly #target: SessionService;
  readonly #problems = new ImportProblems();
  readonly #pacer: Pacer;
  readonly #transfer: Transfer;
  readonly #reader = new LinesReader();
  /** Sessions with a broken line, and the reason. */
  readonly #broken = new Map<FileSession, { readonly line: number; readonly error: unknown }>();
  /** The apps and users whose sessions came, and the values that the lines say, by their names. */
  readonly #scopes = new Map<string, ScopeImport>();
  readonly #values = new Map<string, FileScope>();

  constructor(service: SessionService, options: LinesImportOptions) {
    const { dryRun = false, signal, onProgress } = options;
    this.#service = service;
    this.#options = options;
    this.#target = dryRun ? new SessionService({ log: false }) : service;
    this.#pacer = new Pacer(signal);
    this.#transfer = new Transfer({
      service,
      target: this.#target,
      origin: 'the lines',
      problems: this.#problems,
      signal,
      pacer: this.#pacer,
      onProgress: onProgress && ((progress) => onProgress(withoutCorrected(progress))),
    });
  }

  async run(input: Input): Promise<LinesImport> {
    let line = 0;
    for await (const { text, fault } of linesOf(input)) {
      line += 1;
      await this.#pacer.pause();
      if (fault !== undefined || text.trim() !== '') {
        this.#take(text, line, fault);
      }
      await this.#takeSessions();
      if (this.#reader.kind === 'statepad') {
        await this.#finishScopes();
      }
    }
    await this.#takeSessions(true);
    await this.#finishScopes();
    const { list, count } = this.#problems;
    return Object.freeze({ ...withoutCorrected(this.#transfer.counts), problems: list, problemCount: count });
  }

  #take(text: string, line: number, fault: string | undefined): void {
    const { current } = this.#reader;
    try {
      if (fault !== undefined) {
        refuse(fault);
      }
      this.#reader.take(text, line);
    } catch (error) {
      if (!isStatepadError(error) || this.#reader.isTooNew) {
        throw error;
      }
      const { kind, current: now } = this.#reader;
      if (current === undefined || now !== current || kind === 'scope') {
        this.#problems.add({ line }, error.message, false, error.code);
      } else if (!this.#broken.has(current)) {
        // It may be an event of the session.
        this.#broken.set(current, { line, error });
      }
    }
  }

  /** Passes on the sessions that are complete; all of them at the end. */
  async #takeSessions(isEnd = false): Promise<void> {
    for (const session of this.#reader.takeSessions(isEnd)) {
      const { only = () => true } = this.#options;
      if (only(session.key)) {
        await this.#plan(session);
      }
      if (this.#transfer.isDue) {
        await this.#transfer.write();
      }
    }
    for (const scope of this.#reader.takeScopes()) {
      this.#values.set(nameOfScope(scope), scope);
    }
  }

  async #plan(session: FileSession): Promise<void> {
    const { appName, userId } = session.key;
    const broken = this.#broken.get(session);
    this.#broken.delete(session);
    if (broken !== undefined) {
      this.#transfer.failed({ ...session.key, line: broken.line }, broken.error);
      return;
    }
    const scopes = [await this.#scope({ appName }), await this.#scope({ appName, userId })];
    try {
      this.#transfer.add(plannedOf(session), [], scopes);
    } catch (error) {
      this.#transfer.failed({ ...session.key, line: session.line }, error);
    }
  }

  async #scope(key: ScopeKey): Promise<ScopeImport> {
    const name = nameOfScope(key);
    const known = this.#scopes.get(name);
    const scope = known ?? (await this.#begin(key));
    this.#scopes.set(name, scope);
    return scope;
  }

  async #begin(key: ScopeKey): Promise<ScopeImport> {
    return await ScopeImport.begin(key, {
      service: this.#service,
      target: this.#target,
      problems: this.#problems,
      signal: this.#options.signal,
      expected: async (scope) => await Promise.resolve(this.#values.get(nameOfScope(scope))?.state),
    });
  }

  /** Writes what waits, and finishes all scopes: what follows are lines of another export. */
  async #finishScopes(): Promise<void> {
    if (this.#options.only === undefined) {
      for (const { appName, userId } of this.#values.values()) {
        await this.#scope({ appName, userId });
      }
    }
    this.#scopes.forEach((scope) => this.#transfer.end(scope));
    await this.#transfer.write();
    this.#scopes.clear();
    this.#values.clear();
  }
}

function nameOfScope({ appName, userId }: ScopeKey): string {
  return JSON.stringify([appName, userId]);
}

function withoutCorrected({ sessions, events, imported, failed }: ImportProgress): LinesImportProgress {
  return { sessions, events, imported, failed };
}
