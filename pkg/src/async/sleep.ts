// Waiting for a time.

import type { Signal } from './abort.js';

/** Waits some milliseconds, or until `signal` is aborted: throws its reason then, and leaves no timer. */
export async function sleep(time: number, signal?: Signal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, time);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
