// A point that a test holds something at.

/**
 * A promise, and what resolves it: with a value where the one who waits wants one.
 *
 * @returns {{ open: (value?: unknown) => void, opened: Promise<unknown> }}
 */
export function gate() {
  /** @type {(value?: unknown) => void} */
  let open = () => {};
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}
