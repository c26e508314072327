// The problems of an import: content that is missing in the service, or differs.

import { defined } from '../model/defined.js';
import { StatepadError, isStatepadError, type ErrorCode } from '../model/errors.js';

/** The number of problems that a result lists. */
const MOST = 1000;

/** A difference between the service and the content that is imported. */
export interface ImportProblem {
  /** The line of the content, from 1, where that has lines. */
  readonly line?: number;
  /** Absent for a line that names no session. */
  readonly appName?: string;
  /** Absent for the values of an app. */
  readonly userId?: string;
  /** Absent for the values of an app or a user. */
  readonly sessionId?: string;
  /** The reason, with its place. */
  readonly reason: string;
  /** The code of the error, if it has one: `LIMIT_EXCEEDED` for a pickle that expands to too much. */
  readonly code?: ErrorCode;
  /** True when the session, or the values, are in the service all the same. */
  readonly imported: boolean;
}

/** Codes of errors that concern one session, and not the others. */
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

/** True when an error concerns one session: the others can go on. */
export function isOfOne(error: unknown): error is StatepadError {
  return isStatepadError(error) && OF_ONE.has(error.code);
}

/** The scope, the session or the line of a problem. */
export interface Place {
  readonly line?: number | undefined;
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Collects problems: the first of them are listed, all of them are counted. */
export class ImportProblems {
  readonly #problems: ImportProblem[] = [];
  #count = 0;

  /** The number of all problems. */
  get count(): number {
    return this.#count;
  }

  /** The first problems, in order. */
  get list(): readonly ImportProblem[] {
    return Object.freeze([...this.#problems]);
  }

  add({ line, appName, userId, sessionId }: Place, reason: string, imported: boolean, code?: ErrorCode): void {
    this.#count += 1;
    if (this.#problems.length < MOST) {
      const place = defined({ line, appName, userId, sessionId });
      this.#problems.push(Object.freeze({ ...place, reason, ...defined({ code }), imported }));
    }
  }

  /** Adds an error that concerns one session or one scope; throws any other. */
  addError(place: Place, error: unknown): void {
    if (!isOfOne(error)) {
      throw error;
    }
    const where = error.id === undefined || error.id === place.sessionId ? '' : `event "${error.id}": `;
    this.add(place, where + error.message, false, error.code);
  }
}
