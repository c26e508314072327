// What could not be brought over, or not as it is.

import { StatepadError, isStatepadError, type ErrorCode } from '../model/errors.js';
import type { ScopeKey } from './readers/reader.js';

/** How many problems a result lists. */
const MOST = 1000;

/** Something that is not in the service as it is in the database. */
export interface AdkProblem {
  readonly appName: string;
  /** Absent where it is about the values of an app. */
  readonly userId?: string;
  /** Absent where it is about the values of an app or a user. */
  readonly sessionId?: string;
  /** What is wrong, and where. */
  readonly reason: string;
  /** The code of the error, where it is one: `LIMIT_EXCEEDED` for a pickle that comes to too much. */
  readonly code?: ErrorCode;
  /** True when the session, or the values, are in the service all the same. */
  readonly imported: boolean;
}

/** What the database or the service says of one session, and not of the others. */
const OF_ONE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'INVALID_ARGUMENT',
  'VALUE_NOT_JSON',
  'SESSION_EXISTS',
  'SESSION_NOT_FOUND',
  'STATE_CONFLICT',
  'EVENT_ID_CONFLICT',
  'LIMIT_EXCEEDED',
  'STORE_CORRUPT',
]);

/** True when an error is about one session: the others can go on. */
export function isOfOne(error: unknown): error is StatepadError {
  return isStatepadError(error) && OF_ONE.has(error.code);
}

/** Whose problem it is. */
export type Place = ScopeKey & { readonly sessionId?: string | undefined };

/** Collects problems: the first of them are listed, all of them are counted. */
export class AdkProblems {
  readonly #problems: AdkProblem[] = [];
  #count = 0;

  /** How many there are in all. */
  get count(): number {
    return this.#count;
  }

  /** The first of them, in the order in which they were found. */
  get list(): readonly AdkProblem[] {
    return Object.freeze([...this.#problems]);
  }

  add({ appName, userId, sessionId }: Place, reason: string, imported: boolean, code?: ErrorCode): void {
    this.#count += 1;
    if (this.#problems.length < MOST) {
      const place = {
        appName,
        ...(userId !== undefined && { userId }),
        ...(sessionId !== undefined && { sessionId }),
      };
      this.#problems.push(Object.freeze({ ...place, reason, ...(code !== undefined && { code }), imported }));
    }
  }

  /** Adds an error that is about one session or one scope; throws any other. */
  addError(place: Place, error: unknown): void {
    if (!isOfOne(error)) {
      throw error;
    }
    const where = error.id === undefined || error.id === place.sessionId ? '' : `event "${error.id}": `;
    this.add(place, where + error.message, false, error.code);
  }
}
