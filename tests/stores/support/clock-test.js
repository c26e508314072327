// Tests of stores in memory and of journals, by a clock that stands still.

import { mock, test } from 'node:test';

/** The time at which the clock of {@link clockTest} stands, in milliseconds since the epoch. */
export const NOW = 1_750_000_000_000;

/** A test whose clock stands still, except for what `run` does with `go`, by milliseconds since {@link NOW}. */
export function clockTest(name, run) {
  test(name, async () => {
    mock.timers.enable({ apis: ['Date'], now: NOW });
    try {
      await run((time) => mock.timers.setTime(NOW + time));
    } finally {
      mock.timers.reset();
    }
  });
}
