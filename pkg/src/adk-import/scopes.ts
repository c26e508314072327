// App and user values: sessions that are replayed write them, and in the end they are what the rows say.

import { valueDifference } from './compare.js';
import { makeScope } from '../jsonl/replay.js';
import type { Members } from '../jsonl/members.js';
import { isOfOne, type AdkProblems } from './problems.js';
import type { AdkReader, ScopeKey } from './readers/reader.js';
import type { SessionService } from '../service/session-service.js';
import type { Json } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** What scopes are brought over with. */
export interface ScopeParts {
  readonly reader: AdkReader;
  readonly service: SessionService;
  readonly problems: AdkProblems;
  readonly signal: Signal | undefined;
  /** See `Numbers`. */
  readonly areTexts: boolean;
}

/** An app, or a user in it, while its sessions are brought over. */
export class ScopeImport {
  readonly key: ScopeKey;
  readonly #parts: ScopeParts;
  readonly #before: Readonly<Record<string, Json>>;
  /** How many sessions the service had of it that are not known to be of the database. */
  #others: number;

  private constructor(key: ScopeKey, parts: ScopeParts, before: Readonly<Record<string, Json>>, others: number) {
    this.key = key;
    this.#parts = parts;
    this.#before = before;
    this.#others = others;
  }

  /** Looks at what the service has before anything is written. */
  static async begin(key: ScopeKey, parts: ScopeParts): Promise<ScopeImport> {
    const { service, signal } = parts;
    const before = await valuesBefore(key, parts);
    const hasValues = Object.keys(before).length > 0;
    const others = hasValues ? (await service.listSessions({ ...key, limit: 1, signal })).totalItems : 0;
    return new ScopeImport(key, parts, before, others);
  }

  /** The service has a session of this scope, and it is one of the database. */
  foundOwn(): void {
    this.#others -= 1;
  }

  /**
   * Makes the values what the rows say. Where the service has other sessions, what they have is kept: names that the
   * service had before keep their values, and that is told.
   */
  async finish(): Promise<void> {
    const { key } = this;
    const { problems } = this.#parts;
    try {
      const note = (reason: string): void => problems.add(key, reason, true);
      const rows = await this.#parts.reader.scope(key, { areTexts: this.#parts.areTexts, note });
      const isShared = this.#others > 0;
      const wanted = isShared ? { ...this.#before, ...without(rows, this.#before) } : rows;
      await this.#make(wanted);
      const difference = valueDifference(await valuesOf(key, this.#parts), rows);
      if (difference !== undefined) {
        const why = isShared ? ': the service had other sessions and values, which are kept' : '';
        problems.add(key, difference + why, isShared);
      }
    } catch (error) {
      problems.addError(key, error);
    }
  }

  /** Makes the values these, and in their order; a store that cannot write them need not, where they are equal. */
  async #make(wanted: Members): Promise<void> {
    const { service, signal } = this.#parts;
    const { appName, userId } = this.key;
    try {
      await makeScope({ appName, userId, state: wanted }, service, { signal });
    } catch (error) {
      if (!isOfOne(error) || valueDifference(await valuesOf(this.key, this.#parts), wanted) !== undefined) {
        throw error;
      }
    }
  }
}

/** None where the service cannot tell: a store may know the values of an app with its sessions only. */
async function valuesBefore(key: ScopeKey, parts: ScopeParts): Promise<Record<string, Json>> {
  try {
    return await valuesOf(key, parts);
  } catch (error) {
    if (isOfOne(error)) {
      return {};
    }
    throw error;
  }
}

async function valuesOf(
  { appName, userId }: ScopeKey,
  { service, signal }: ScopeParts,
): Promise<Record<string, Json>> {
  return userId === undefined
    ? await service.getAppState({ appName, signal })
    : await service.getUserState({ appName, userId, signal });
}

function without(values: Members, names: object): Members {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !Object.hasOwn(names, name)));
}
