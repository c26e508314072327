// An iterator that is made when it is first asked.

/** What makes the changes, once it is asked; `end` ends it, whatever it waits for. */
interface EndableIterator<T> {
  next(): Promise<IteratorResult<T, undefined>>;
  end(): void;
}

/** Iterates over what `make` makes at the first question. Ended before that, it makes nothing. */
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
