// Turns of the event loop.

/** Of Node, Bun and Deno. */
const { setImmediate } = globalThis as { readonly setImmediate?: (task: () => void) => unknown };

let ending: Promise<void> | undefined;

/**
 * Resolves when this turn of the event loop has read all that has arrived, for all who wait for it at once. Requests
 * of several connections go on together then, and what they write shares calls of the store.
 */
export function endOfTurn(): Promise<void> {
  ending ??= new Promise((resolve) => {
    const end = (): void => {
      ending = undefined;
      resolve();
    };
    if (setImmediate === undefined) {
      end();
    } else {
      setImmediate(end);
    }
  });
  return ending;
}
