// App and user values: replayed sessions write them, and at the end they are those of the rows.

import { valueDifference } from './compare.js';
import { makeScope } from '../jsonl/replay.js';
import type { Members } from '../jsonl/members.js';
import { isOfOne, type AdkProblems } from './problems.js';
import type { AdkReader, ScopeKey } from '../adk-import/readers/reader.js';
import type { SessionService } from '../service/session-service.js';
import type { Json } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The resources for the import of a scope. */
export interface ScopeResources {
  readonly reader: AdkReader;
  readonly service: SessionService;
  readonly problems: AdkProblems;
  readonly signal: Signal | undefined;
  /** See `Numbers`. */
  readonly areTexts: boolean;
}

/** An app, or a user in it, during the import of its sessions. */
export class ScopeImport {
  readonly key: ScopeKey;
  readonly #resources: ScopeResources;
  readonly #before: Readonly<Record<string, Json>>;
  /** The number of its sessions in the service that are not known to be of the database. */
  #others: number;

  private constructor(
    key: ScopeKey,
    resources: ScopeResources,
    before: Readonly<Record<string, Json>>,
    others: number,
  ) {
    this.key = key;
    this.#resources = resources;
    this.#before = before;
    this.#others = others;
  }

  /** Reads the values of the service before anything is written. */
  static async begin(key: ScopeKey, resources: ScopeResources): Promise<ScopeImport> {
    const { service, signal } = resources;
    const before = await valuesBefore(key, resources);
    const hasValues = Object.keys(before).length > 0;
    const others = hasValues ? (await service.listSessions({ ...key, limit: 1, signal })).totalItems : 0;
    return new ScopeImport(key, resources, before, others);
  }

  /** Counts a session of this scope in the service as one of the database. */
  countOwn(): void {
    this.#others -= 1;
  }

  /**
   * Makes the values those of the rows. If the service has other sessions, their values take precedence: names that
   * the service had before keep their values, which is reported as a problem.
   */
  async finish(): Promise<void> {
    const { key } = this;
    const { problems } = this.#resources;
    try {
      const note = (reason: string): void => problems.add(key, reason, true);
      const rows = await this.#resources.reader.scope(key, { areTexts: this.#resources.areTexts, note });
      const isShared = this.#others > 0;
      const target = isShared ? { ...this.#before, ...without(rows, this.#before) } : rows;
      await this.#make(target);
      const difference = valueDifference(await valuesOf(key, this.#resources), rows);
      if (difference !== undefined) {
        const why = isShared ? ': the service had other sessions and values, which are kept' : '';
        problems.add(key, difference + why, isShared);
      }
    } catch (error) {
      problems.addError(key, error);
    }
  }

  /** Makes the values these, in their order; a store that cannot write them need not, if they are equal. */
  async #make(target: Members): Promise<void> {
    const { service, signal } = this.#resources;
    const { appName, userId } = this.key;
    try {
      await makeScope({ appName, userId, state: target }, service, { signal });
    } catch (error) {
      if (!isOfOne(error) || valueDifference(await valuesOf(this.key, this.#resources), target) !== undefined) {
        throw error;
      }
    }
  }
}

/** None where the service cannot read them: a store may know the values of an app with its sessions only. */
async function valuesBefore(key: ScopeKey, resources: ScopeResources): Promise<Record<string, Json>> {
  try {
    return await valuesOf(key, resources);
  } catch (error) {
    if (isOfOne(error)) {
      return {};
    }
    throw error;
  }
}

async function valuesOf(
  { appName, userId }: ScopeKey,
  { service, signal }: ScopeResources,
): Promise<Record<string, Json>> {
  return userId === undefined
    ? await service.getAppState({ appName, signal })
    : await service.getUserState({ appName, userId, signal });
}

function without(values: Members, names: object): Members {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(names, name)));
}
