// The iterators that have begun and are not over: the end of their client ends them.

/** Iterators that have begun. */
export class OpenIterators {
  readonly #open = new Set<AsyncIterableIterator<unknown, undefined>>();

  /** An iterator over the same values, which counts as open from its first `next` to its end. */
  add<T>(iterator: AsyncIterableIterator<T, undefined>): AsyncIterableIterator<T, undefined> {
    const end = (): void => void this.#open.delete(iterator);
    return {
      next: async () => {
        this.#open.add(iterator);
        try {
          const result = await iterator.next();
          if (result.done === true) {
            end();
          }
          return result;
        } catch (error) {
          end();
          throw error;
        }
      },
      return: async () => {
        end();
        return (await iterator.return?.()) ?? { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Ends all of them: calls of `next` that wait are answered with the end. */
  close(): void {
    for (const iterator of this.#open) {
      void iterator.return?.().catch(() => undefined);
    }
    this.#open.clear();
  }
}
