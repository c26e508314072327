// The cases of tests/cases, held against @google/adk. Where it answers otherwise, adk-differences.json says so and why: a
// difference that is not in that list fails, and so does one in the list that is none any more.

import assert from 'node:assert/strict';
import { isFinalResponse } from '@google/adk';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { adkRuns } from './adk.mjs';
import { casesOf } from './read.mjs';

const { differences } = JSON.parse(readFileSync(new URL('adk-differences.json', import.meta.url), 'utf8'));
const reasons = new Map(differences.flatMap(({ reason, cases }) => cases.map((name) => [name, reason])));
const known = new Set();

for (const [file, run] of Object.entries(adkRuns)) {
  describe(file, () => {
    const all = casesOf(file);
    for (const given of all.cases) {
      const name = `${file}: ${given.name}`;
      known.add(name);
      if (reasons.has(name)) {
        test(`${given.name} (differs on purpose: ${reasons.get(name)})`, async () => {
          await assert.rejects(async () => await run(given, all), `ADK agrees by now: take "${name}" off the list`);
        });
      } else {
        test(given.name, async () => await run(given, all));
      }
    }
  });
}

describe('event', () => {
  for (const { name, event, final } of casesOf('event').final) {
    test(`${name}: ${final ? '' : 'not '}final`, () => assert.equal(isFinalResponse({ actions: {}, ...event }), final));
  }
});

describe('the list of differences', () => {
  test('names only cases that there are, each once', () => {
    const named = differences.flatMap(({ cases }) => cases);
    assert.deepEqual(named.filter((name) => !known.has(name)), []);
    assert.equal(new Set(named).size, named.length);
  });
  test('has a reason for each', () => {
    differences.forEach(({ reason, cases }) => assert.ok(reason.length >= 20 && cases.length > 0, reason));
  });
});
