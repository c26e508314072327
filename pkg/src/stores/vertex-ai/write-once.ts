// Writing once, whatever gets lost: after an answer that does not come, the API is asked for the present state.

import { isStoreError } from '../../store/store-error.js';
import { asError, refusal, unavailable, type ApiError, type Outcome } from './answers.js';
import type { ApiClient } from './client.js';
import type { StoreContext } from '../../store/contract.js';

/**
 * The outcome of a write: it was done, `answer` being the reply to it or the result of a look, or it was refused.
 * `isSure`: no earlier try of it can come in any more.
 */
export type Written<T> =
  | { readonly kind: 'done'; readonly answer: T }
  | { readonly kind: 'refused'; readonly error: ApiError; readonly isSure: boolean };

/** A write, and how to find out whether it was done. */
export interface Write<T> {
  readonly send: () => Promise<Outcome>;
  /** Reads the answer of a done write. */
  readonly read: (body: unknown) => T;
  /** Looks whether it was done: `undefined` when it was not. */
  readonly look: () => Promise<T | undefined>;
}

/**
 * Sends a write, and never a second time before it is known that the first was not done. Throws `unavailable` when it
 * was surely not done, and an ordinary error when that is not known.
 */
export async function writeOnce<T>(client: ApiClient, write: Write<T>, caller: StoreContext): Promise<Written<T>> {
  let loss: unknown;
  for (let attempt = 1; ; attempt++) {
    const outcome = await sendAfter(write, loss);
    if (outcome.kind === 'done') {
      return { kind: 'done', answer: write.read(outcome.body) };
    }
    if (outcome.kind === 'refused') {
      return { kind: 'refused', error: outcome.error, isSure: loss === undefined };
    }
    await pauseUnlessLast(client, attempt, outcome.wait, caller);
    if (outcome.kind === 'unclear') {
      loss ??= outcome.isOver ? undefined : outcome.cause;
      const answer = await lookAfter(write, outcome.cause);
      if (answer !== undefined) {
        return { kind: 'done', answer };
      }
    }
    if (attempt >= client.attempts) {
      throw loss === undefined
        ? unavailable(outcome.kind === 'busy' ? asError(outcome.error) : outcome.cause)
        : mayComeIn(loss);
    }
  }
}

/** The meaning of a refusal for the caller. */
export function refusalOf({ error, isSure }: { readonly error: ApiError; readonly isSure: boolean }): Error {
  return isSure ? refusal(error) : mayComeIn(asError(error));
}

function mayComeIn(cause: unknown): Error {
  return new Error('the answer of the API was lost, and its request may still arrive', { cause });
}

/** Sending nothing this time says nothing about an earlier try whose answer was lost. */
async function sendAfter<T>({ send }: Write<T>, loss: unknown): Promise<Outcome> {
  try {
    return await send();
  } catch (error) {
    throw loss !== undefined && isStoreError(error) ? mayComeIn(error) : error;
  }
}

async function pauseUnlessLast(client: ApiClient, attempt: number, wait: number, caller: StoreContext): Promise<void> {
  if (attempt < client.attempts) {
    await client.pauseAfter(attempt, wait, caller);
  }
}

/** A failed look leaves the outcome unknown: no `StoreError`, which would say that nothing was written. */
async function lookAfter<T>(write: Write<T>, cause: unknown): Promise<T | undefined> {
  try {
    return await write.look();
  } catch {
    throw new Error('the answer of the API was lost, and its outcome could not be read', { cause });
  }
}
