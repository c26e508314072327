// Times on the command line.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { timeIn, shownTime, UsageError } = await source('cli/output/times.ts', 'cli/errors.ts');

const NOW = Date.UTC(2026, 0, 31, 12);

/** Texts, and the times that they mean. */
const TIMES = [
  ['90s', NOW - 90_000],
  ['30m', NOW - 1_800_000],
  ['1.5h', NOW - 5_400_000],
  ['3d', NOW - 3 * 86_400_000],
  ['1w', NOW - 7 * 86_400_000],
  ['2026-01-31T09:30:00Z', Date.UTC(2026, 0, 31, 9, 30)],
  ['2026-01-31', Date.UTC(2026, 0, 31)],
];

describe('a time on the command line', () => {
  for (const [text, time] of TIMES) {
    it(`${text} is ${new Date(time).toISOString()}`, () => assert.equal(timeIn('--since', text, NOW), time));
  }

  for (const text of ['', '3', 'h', '2 h', '-2h', 'yesterday', '31.1.2026', '2026-13-01']) {
    it(`${JSON.stringify(text)} is refused`, () =>
      assert.throws(
        () => timeIn('--since', text, NOW),
        (error) => error instanceof UsageError && /^--since takes a time/.test(error.message),
      ));
  }

  it('is shown in UTC, to the second', () => {
    assert.equal(shownTime(Date.UTC(2026, 0, 31, 9, 30, 1, 999)), '2026-01-31 09:30:01Z');
    assert.equal(shownTime(1e300), '1e+300');
  });
});
