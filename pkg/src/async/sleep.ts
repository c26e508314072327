// Letting time pass.

import type { Signal } from './abort.js';

/** Waits some milliseconds, or until `signal` is aborted: its reason is thrown then, and no timer is left. */
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
