// Timers that keep the process running, and those that do not.

/** Lets a timer keep the process running, or not. Elsewhere than in Node, Bun and the like no timer does. */
export function keepRunning(timer: unknown, isKept: boolean): void {
  const { ref, unref } = (timer ?? {}) as { ref?(): void; unref?(): void };
  (isKept ? ref : unref)?.call(timer);
}
