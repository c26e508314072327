// Imports the sessions of a database: they are read one by one, and written many at once.

import { planOf } from './session.js';
import { ScopeImport, type ScopeKey, type ScopeResources } from '../transfer/scopes.js';
import { Transfer, type ImportProgress, type TransferResources } from '../transfer/transfer.js';
import type { AdkReader, Filter, SessionRow } from './readers/reader.js';
import type { SessionKey } from '../model/types.js';

/** The resources of an import. */
export interface ImportResources extends Omit<TransferResources, 'origin'> {
  readonly reader: AdkReader;
  readonly filter: Filter;
  /** The sessions that are meant; all when it is absent. */
  readonly only: ((session: SessionKey) => boolean) | undefined;
  /** See `Numbers`. */
  readonly areTexts: boolean;
}

/** Imports everything. Answers the counts. */
export async function runImport(resources: ImportResources): Promise<ImportProgress> {
  return await new Run(resources).run();
}

class Run {
  readonly #resources: ImportResources;
  readonly #scopes: ScopeResources;
  readonly #transfer: Transfer;
  /** The app and the user of the current sessions: those of an app come together. */
  #app: ScopeImport | undefined;
  #user: ScopeImport | undefined;

  constructor(resources: ImportResources) {
    const { reader, areTexts } = resources;
    this.#resources = resources;
    this.#scopes = { ...resources, expected: async (key, note) => await reader.scope(key, { areTexts, note }) };
    this.#transfer = new Transfer({ ...resources, origin: 'the database' });
  }

  async run(): Promise<ImportProgress> {
    const { reader, filter, only, pacer } = this.#resources;
    for await (const row of reader.sessions(filter)) {
      await pacer.pause();
      if (only?.(row.key) === false) {
        continue;
      }
      await this.#read(row, await this.#enter(row.key));
      if (this.#transfer.isDue) {
        await this.#transfer.write();
      }
    }
    this.#leaveApp();
    await this.#transfer.write();
    if (only === undefined) {
      await this.#withoutSessions();
    }
    return this.#transfer.counts;
  }

  /** Imports the values that no session has, and reports the events that none has. */
  async #withoutSessions(): Promise<void> {
    const { reader, filter, problems } = this.#resources;
    await this.#scopesAlone('app', { appName: filter.appName });
    await this.#scopesAlone('user', filter);
    for (const { events, ...key } of await reader.orphans(filter)) {
      problems.add(key, `there are ${events} events, and no session`, false);
    }
  }

  /** Switches to the scopes of another app or user, if this one is another's. */
  async #enter({ appName, userId }: SessionKey): Promise<readonly [app: ScopeImport, user: ScopeImport]> {
    if (this.#app?.key.appName !== appName) {
      this.#leaveApp();
    } else if (this.#user?.key.userId !== userId) {
      this.#leaveUser();
    }
    this.#app ??= await this.#begin({ appName });
    this.#user ??= await this.#begin({ appName, userId });
    return [this.#app, this.#user];
  }

  async #begin(key: ScopeKey): Promise<ScopeImport> {
    return await ScopeImport.begin(key, this.#scopes);
  }

  #leaveUser(): void {
    if (this.#user !== undefined) {
      this.#transfer.end(this.#user);
      this.#user = undefined;
    }
  }

  #leaveApp(): void {
    this.#leaveUser();
    if (this.#app !== undefined) {
      this.#transfer.end(this.#app);
      this.#app = undefined;
    }
  }

  async #scopesAlone(of: 'app' | 'user', filter: Filter): Promise<void> {
    for await (const key of this.#resources.reader.scopesAlone(of, filter)) {
      await this.#resources.pacer.pause();
      await (await this.#begin(key)).finish();
    }
  }

  async #read(row: SessionRow, scopes: readonly ScopeImport[]): Promise<void> {
    const { reader, areTexts } = this.#resources;
    const notes: string[] = [];
    const note = (reason: string): void => void notes.push(reason);
    try {
      this.#transfer.add(await planOf(row, reader, { areTexts, note }), notes, scopes);
    } catch (error) {
      this.#transfer.failed(row.key, error);
    }
  }
}
