// Signals: their type, also where the host's types are not known, and waiting no longer than until one is aborted.

/** The host's `AbortSignal`. Without its types (`lib: ["dom"]`, `@types/node`) nothing is known about it. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : object;

/** Waits for a promise, but no longer than until `signal` is aborted: its reason is thrown then. */
export async function orAborted<T>(
  promise: Promise<T>,
  signal: Signal | undefined,
  reason?: () => unknown,
): Promise<T> {
  if (signal === undefined) {
    return await promise;
  }
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject((reason?.() ?? signal.reason) as Error);
    if (signal.aborted) {
      stop();
    }
    signal.addEventListener('abort', stop);
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    // A later rejection has no listener left.
    promise.catch(() => undefined);
  }
}
