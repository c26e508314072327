// Suites run side by side, as far as they do not disturb each other.

import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { inLanes, secondsInLanes } from '../../scripts/lanes.mjs';
import { allSuites } from '../../scripts/suites.mjs';
import { runs } from '../support/fixtures.mjs';

/** Runs tasks that take no time but some turns, and checks whenever one starts that it may. */
async function followed(tasks, lanes) {
  const running = new Set();
  const done = new Set();
  let most = 0;
  const results = await inLanes(tasks, lanes, async (task) => {
    for (const other of running) {
      assert.ok(!task.alone && !other.alone, `${task.name} and ${other.name} at once`);
      assert.deepEqual(
        (task.shares ?? []).filter((name) => other.shares?.includes(name)),
        [],
      );
    }
    for (const name of task.after ?? [])
      assert.ok(done.has(name) || !tasks.some((other) => other.name === name), `${task.name} before ${name}`);
    running.add(task);
    most = Math.max(most, running.size);
    for (let turn = 0; turn < (task.seconds ?? 1); turn++) await undefined;
    running.delete(task);
    done.add(task.name);
    return task.name;
  });
  assert.deepEqual(
    results,
    tasks.map(({ name }) => name),
  );
  assert.equal(done.size, tasks.length);
  return most;
}

test('each task runs once, after what it waits for, beside nothing that it disturbs', async () => {
  const task = fc.record(
    {
      after: fc.array(fc.nat(9)),
      shares: fc.array(fc.constantFrom('cargo', 'heavy'), { maxLength: 2 }),
      alone: fc.boolean(),
      seconds: fc.integer({ min: 0, max: 20 }),
    },
    { requiredKeys: [] },
  );
  const property = fc.asyncProperty(
    fc.array(task, { maxLength: 10 }),
    fc.integer({ min: 1, max: 3 }),
    async (given, lanes) => {
      // Each waits for some that stand before it, and for some that are not there.
      const tasks = given.map((one, index) => ({
        ...one,
        name: `${index}`,
        after: (one.after ?? []).filter((at) => at < index || at >= given.length).map(String),
      }));
      // One that waits for another and is waited for by one that runs alone would be a knot of its own; alone ones
      // wait for all.
      const waits = tasks.map((one) => ({
        ...one,
        after: one.after.filter((name) => one.alone || !tasks[name]?.alone),
      }));
      assert.ok((await followed(waits, lanes)) <= lanes);
      assert.ok(secondsInLanes(waits, lanes) <= secondsInLanes(waits, 1));
    },
  );
  await fc.assert(property, { numRuns: runs(300) });
});

test('the suites of npm test fit together, and two at a time take less than two thirds of the time', async () => {
  const suites = allSuites();
  assert.equal(new Set(suites.map(({ name }) => name)).size, suites.length);
  assert.equal(await followed(suites, 2), 2);
  assert.ok(secondsInLanes(suites, 2) < (secondsInLanes(suites, 1) * 2) / 3);
});

test('tasks that wait for each other are told', async () => {
  const tasks = [
    { name: 'a', after: ['b'] },
    { name: 'b', after: ['a'] },
  ];
  await assert.rejects(
    inLanes(tasks, 2, async () => undefined),
    /wait for each other: a, b/,
  );
  assert.throws(() => secondsInLanes(tasks, 2), /wait for each other: a, b/);
});
