// The outcomes of requests with an identity in a service without a store: they end with the service.

import { isStatepadError, type ErrorCode } from '../../model/errors.js';
import { keyReused, refusedBefore, type Once } from '../../model/once.js';

/** The time for which an outcome is remembered, in milliseconds: a day. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/** The errors that refuse a request: those of the state that it found. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'EVENT_ID_CONFLICT',
  'INVALID_ARGUMENT',
  'LEASE_LOST',
  'LIMIT_EXCEEDED',
  'SESSION_EXISTS',
  'SESSION_NOT_FOUND',
  'SESSION_STALE',
  'STATE_CONFLICT',
]);

/** True for an error that refuses a request. It is certain that nothing was written then. */
export function isRefusal(error: unknown): boolean {
  return isStatepadError(error) && REFUSALS.has(error.code);
}

interface Outcome {
  readonly digest: string;
  readonly answer: Promise<unknown>;
  /** In milliseconds since the epoch. */
  readonly time: number;
}

/** Runs each request once. */
export class Outcomes {
  readonly #now: () => number;
  /** By the ids of the requests, the oldest first. */
  readonly #outcomes = new Map<string, Outcome>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Runs a request, or repeats the answer of its earlier attempt. Throws `KEY_REUSED` for another request under its
   * id, `STATE_CONFLICT` if the earlier attempt was refused. `copy` copies an answer that its caller may change.
   */
  async run<T>(once: Once, task: () => Promise<T>, copy: (answer: T) => T): Promise<T> {
    this.#forget();
    const { id, digest } = once;
    const earlier = this.#outcomes.get(id);
    if (earlier !== undefined) {
      return copy(await repeat<T>(once, earlier));
    }
    const answer = task();
    const remembered = answer.then(copy);
    remembered.catch(() => undefined);
    this.#outcomes.set(id, { digest, answer: remembered, time: this.#now() });
    try {
      return await answer;
    } catch (error) {
      if (!isRefusal(error)) {
        this.#outcomes.delete(id);
      }
      throw error;
    }
  }

  #forget(): void {
    const limit = this.#now() - REMEMBERED_MS;
    for (const [id, { time }] of this.#outcomes) {
      if (time > limit) {
        break;
      }
      this.#outcomes.delete(id);
    }
  }
}

async function repeat<T>({ digest, onRepeated }: Once, earlier: Outcome): Promise<T> {
  if (earlier.digest !== digest) {
    throw keyReused();
  }
  let answer: T;
  try {
    answer = (await earlier.answer) as T;
  } catch (error) {
    throw isRefusal(error) ? refusedBefore(error) : error;
  }
  onRepeated?.(true);
  return answer;
}
