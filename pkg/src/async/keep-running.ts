// Timers that keep the process running, and those that do not.

/** A timer of Node, and of hosts like it. */
interface RefTimer {
  readonly ref?: () => void;
  readonly unref?: () => void;
}

/** Lets a timer keep the process running, or not. In a browser there is neither. */
export function keepRunning(timer: unknown, isKept: boolean): void {
  const known = timer as RefTimer | undefined;
  if (isKept) {
    known?.ref?.();
  } else {
    known?.unref?.();
  }
}
