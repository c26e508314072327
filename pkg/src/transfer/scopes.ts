// App and user values: replayed sessions write them, and at the end they are those of their origin.

import { valueDifference } from './compare.js';
import { makeScope } from './make-scope.js';
import { isOfOne, type ImportProblems } from './problems.js';
import type { Members, ScopeKey } from './planned.js';
import type { SessionService } from '../service/session-service.js';
import type { Json } from '../model/types.js';
import type { Signal } from '../async/abort.js';

export type { ScopeKey };

/** The resources for the import of a scope. */
export interface ScopeResources {
  /** The service whose values may take precedence. */
  readonly service: SessionService;
  /** The service that is written to. */
  readonly target: SessionService;
  readonly problems: ImportProblems;
  readonly signal: Signal | undefined;
  /**
   * The values of a scope in their origin; `undefined` where that does not have them, and those that the sessions
   * wrote count. `note` reports a problem that changes nothing.
   */
  readonly expected: (key: ScopeKey, note: (reason: string) => void) => Promise<Members | undefined>;
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
   * Makes the values those of their origin. If the service has other sessions, its values take precedence: names that
   * it had before keep their values, which is reported as a problem.
   */
  async finish(): Promise<void> {
    const { key } = this;
    const { problems, expected } = this.#resources;
    try {
      const values = await expected(key, (reason) => problems.add(key, reason, true));
      const rows = values ?? (await this.#now());
      const isShared = this.#others > 0;
      const aim = isShared ? { ...this.#before, ...without(rows, this.#before) } : rows;
      await this.#make(aim);
      const difference = valueDifference(await this.#now(), rows);
      if (difference !== undefined) {
        const why = isShared ? ': the service had other sessions and values, which are kept' : '';
        problems.add(key, difference + why, isShared);
      }
    } catch (error) {
      problems.addError(key, error);
    }
  }

  /** Makes the values these, in their order; a store that cannot write them need not, if they are equal. */
  async #make(values: Members): Promise<void> {
    const { target, signal } = this.#resources;
    const { appName, userId } = this.key;
    try {
      await makeScope({ appName, userId, state: values }, target, { signal });
    } catch (error) {
      if (!isOfOne(error) || valueDifference(await this.#now(), values) !== undefined) {
        throw error;
      }
    }
  }

  /** The values of the service that is written to. */
  async #now(): Promise<Record<string, Json>> {
    const { target: service, signal } = this.#resources;
    return await valuesOf(this.key, { service, signal });
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
  { service, signal }: Pick<ScopeResources, 'service' | 'signal'>,
): Promise<Record<string, Json>> {
  return userId === undefined
    ? await service.getAppState({ appName, signal })
    : await service.getUserState({ appName, userId, signal });
}

function without(values: Members, names: object): Members {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(names, name)));
}
