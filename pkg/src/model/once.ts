// The identity of a request, by which repeating it writes nothing again.

/**
 * The identity of a request that writes. A request that is sent again has the same `id` and `digest`; the store knows
 * both for at least 24 hours.
 *
 * @internal
 */
export interface Once {
  /** The id of the change that the request makes, unique everywhere: a hash of its sender, its target and its key. */
  readonly id: string;
  /** A digest of its content. Another content under the same id is `KEY_REUSED`. */
  readonly digest: string;
  /**
   * Called when an earlier attempt of the request was carried out, before the operation resolves. `isKnown` is false
   * when the values that it resolves to are not certain to be those of that moment.
   */
  readonly onRepeated?: ((isKnown: boolean) => void) | undefined;
}
