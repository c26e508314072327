// The type of abort signals, also where the host's types are missing, and waiting until one is aborted.

/** The host's `AbortSignal`; without its types (`lib: ["dom"]`, `@types/node`) any object. */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : object;

/** Waits for a promise, but no longer than until `signal` is aborted. Throws the signal's reason then. */
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
    // A later rejection has no listener any more.
    promise.catch(() => undefined);
  }
}
