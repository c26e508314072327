// An iterator that is created at its first `next`.

/** The source of the values; `end` ends it, also while `next` waits. */
interface EndableIterator<T> {
  next(): Promise<IteratorResult<T, undefined>>;
  end(): void;
}

/** Iterates over the source that `make` creates at the first `next`. Ended before that, it creates none. */
export function lazyIterator<T>(make: () => Promise<EndableIterator<T>>): AsyncIterableIterator<T, undefined> {
  let made: Promise<EndableIterator<T>> | undefined;
  let isEnded = false;
  return {
    next: async () => {
      if (isEnded) {
        return { done: true, value: undefined };
      }
      made ??= make();
      return await (await made).next();
    },
    return: async () => {
      isEnded = true;
      made?.then(
        (iterator) => iterator.end(),
        () => undefined,
      );
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
