// The cases of tests/cases, held against @google/adk. Where it answers otherwise, adk-differences.json says why, and
// what its answer is: a difference that is not in that list fails, and so does one in the list that is none any more,
// or another one.

import assert from 'node:assert/strict';
import { isFinalResponse } from '@google/adk';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { adkAnswer, adkRuns } from './adk.mjs';
import { casesOf } from './read.mjs';

const { differences } = JSON.parse(readFileSync(new URL('adk-differences.json', import.meta.url), 'utf8'));
const reasons = new Map(
  differences.flatMap(({ reason, cases }) =>
    Object.entries(cases).map(([name, answer]) => [name, { reason, answer }]),
  ),
);
const known = new Set();

for (const [file, run] of Object.entries(adkRuns)) {
  describe(file, () => {
    const all = casesOf(file);
    for (const given of all.cases) {
      const name = `${file}: ${given.name}`;
      known.add(name);
      if (reasons.has(name)) {
        const { reason, answer } = reasons.get(name);
        test(`${given.name} (differs on purpose: ${reason})`, async () => {
          const actual = await adkAnswer(run, given, all);
          assert.notEqual(actual, undefined, `ADK agrees by now: take "${name}" off the list`);
          assert.deepEqual(
            actual,
            answer,
            `ADK answers otherwise by now: write down "${name}" as ${JSON.stringify(actual)}`,
          );
        });
      } else {
        test(given.name, async () => await run(given, all));
      }
    }
  });
}

describe('event', () => {
  for (const { name, event, final } of casesOf('event').final) {
    test(`${name}: ${final ? '' : 'not '}final`, () =>
      assert.equal(isFinalResponse({ actions: {}, ...event }), final));
  }
});

describe('the list of differences', () => {
  test('names only cases that there are, each once', () => {
    const named = differences.flatMap(({ cases }) => Object.keys(cases));
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
    assert.equal(new Set(named).size, named.length);
  });
  test('has a reason for each', () => {
    differences.forEach(({ reason, cases }) =>
      assert.ok(reason.length >= 20 && Object.keys(cases).length > 0, reason),
    );
  });
});
