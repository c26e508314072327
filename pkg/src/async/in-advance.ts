// Reads ahead: the next items are on their way while one is used.

/**
 * The answers of a function for items, in the order of the items. At most `ahead` calls are on their way beyond the
 * answer that is in use. Throws the first error of a call, or of the items, in that order.
 */
export async function* inAdvance<Item, Answer>(
  items: Iterable<Item> | AsyncIterable<Item>,
  ahead: number,
  read: (item: Item) => Promise<Answer>,
): AsyncGenerator<Answer, void, undefined> {
  const waiting: Promise<Answer>[] = [];
  for await (const item of items) {
    const answer = read(item);
    // Its turn to be awaited may never come.
    answer.catch(() => undefined);
    waiting.push(answer);
    if (waiting.length > ahead) {
      yield await (waiting.shift() as Promise<Answer>);
    }
  }
  for (const answer of waiting) {
    yield await answer;
  }
}
