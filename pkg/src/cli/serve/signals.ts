// The signals that end a server.

import process from 'node:process';

/**
 * The time after a signal in which the next one counts as the same, in milliseconds: on a terminal, Ctrl-C reaches a
 * program that npx has started twice, by the terminal and by npx.
 */
const SAME_MS = 1_000;
/** The interval of looks at the parent process, in milliseconds. */
const PARENT_MS = 250;

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The signals to end. */
export interface EndSignals {
  /** Resolves with the name of the first one. */
  readonly first: Promise<string>;
  /** Resolves with the name of a later one, which asks for the end at once. */
  readonly second: Promise<string>;
}

/** Listens to signals from now on. */
export function endSignals(): EndSignals {
  let onFirst: (signal: string) => void = () => undefined;
  let onSecond: (signal: string) => void = () => undefined;
  const first = new Promise<string>((resolve) => {
    onFirst = resolve;
  });
  const second = new Promise<string>((resolve) => {
    onSecond = resolve;
  });
  let begin: number | undefined;
  const receive = (signal: string): void => {
    if (begin === undefined) {
      begin = performance.now();
      onFirst(signal);
    } else if (performance.now() - begin > SAME_MS) {
      onSecond(signal);
    }
  };
  SIGNALS.forEach((signal) => process.on(signal, receive));
  if (process.env['npm_command'] !== undefined) {
    onEndOfParent(() => {
      // After a signal it is a consequence of that one.
      if (begin === undefined) {
        receive('the end of npm');
      }
    });
  }
  return { first, second };
}

/**
 * Calls a function when the parent has ended. npx starts a program by a shell, and passes a signal on to that shell,
 * which ends and leaves the program behind.
 */
function onEndOfParent(onEnd: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) {
      clearInterval(timer);
      onEnd();
    }
  }, PARENT_MS);
  timer.unref();
}
