// The identity of a request, by which repeating it writes nothing again.

import { defined } from './defined.js';
import { StatepadError } from './errors.js';

/**
 * The identity of a request that writes. A request that is sent again has the same `id` and `digest`; the store knows
 * both for at least 24 hours.
 *
 * @internal
 */
export interface Once {
  /** The id of the change that the request makes, unique everywhere: a hash of its sender, its target and its key. */
  readonly id: string;
  /** A digest of its content, at most 100 characters. Another content under the same id is `KEY_REUSED`. */
  readonly digest: string;
  /**
   * Called when an earlier attempt of the request was carried out, before the operation resolves. `isKnown` is false
   * when the values that it resolves to are not certain to be those of that moment.
   */
  readonly onRepeated?: ((isKnown: boolean) => void) | undefined;
}

/**
 * The identity of a request as its event has it.
 *
 * @internal
 */
export interface EventRequest {
  /** Of the request: the event has it as `customMetadata.statepad.request`. */
  readonly digest: string;
  /** True when a refusal is the answer to the request, and not the reason for another attempt. */
  readonly isSingle: boolean;
}

/** The metadata of an event that a request writes: a repeated request finds the digest there. */
export function requestMetadata({ digest }: Pick<Once, 'digest'>): {
  readonly statepad: { readonly request: string };
} {
  return { statepad: { request: digest } };
}

/** The digest of the request that has written an event, if it was one with an identity. */
export function requestIn(customMetadata: unknown): unknown {
  return (customMetadata as { statepad?: { request?: unknown } | null } | null | undefined)?.statepad?.request;
}

/** The error for a request under the key of another one. */
export function keyReused(cause?: unknown): StatepadError {
  const message = 'the key belongs to another request: choose a new key for each request';
  return new StatepadError('KEY_REUSED', message, defined({ cause }));
}

/** The error for a request of which an earlier attempt was refused. */
export function refusedBefore(cause?: unknown): StatepadError {
  const message = 'an earlier attempt of the request was refused, and so are all later ones: use a new key';
  return new StatepadError('STATE_CONFLICT', message, defined({ cause }));
}
