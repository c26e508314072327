// Runs the cases of rewind.json against the package's interface to the core.

import assert from 'node:assert/strict';
import { plain } from './read.mjs';
import { source } from '../support/source.mjs';

const { effectiveEvents, isMarker, planRedo, planRewind, HistoryEngine } = await source(
  'engine/rewind.ts',
  'engine/history.ts',
);

/** Checks the events that stand, and the effects of rewinds and a redo. */
export function runWalk({ log, effective, rewind, redo }) {
  const events = log.map(([invocationId, before]) => ({
    invocationId: invocationId ?? undefined,
    actions: { stateDelta: {}, ...(before !== undefined && { rewindBeforeInvocationId: before }) },
  }));
  assert.deepEqual(effectiveEvents(events), effective);
  assert.ok(effective.every((place) => !isMarker(events[place])));
  const told = (plan) => {
    assert.equal(plan?.before, plan && log[plan.to][0]);
    return plan === undefined ? null : { to: plan.to, concerned: plan.concerned };
  };
  for (const [before, wanted] of Object.entries(rewind)) {
    assert.deepEqual(told(planRewind(events, before)), wanted, before);
  }
  assert.deepEqual(told(planRedo(events)), redo);
}

/** Checks the writes that bring a session's own keys back. */
export function runRestoring({ writes, to, until = writes.length - 1, restores, order, shared = [] }) {
  const engine = new HistoryEngine();
  for (const { set = {}, unset = [] } of writes) {
    const delta = Object.fromEntries([...Object.entries(set), ...unset.map((key) => [key, null])]);
    assert.ok(engine.push({ delta, deleted: unset }));
  }
  const { delta, deleted } = engine.restoring(to, until);
  const { set = {}, unset = [] } = restores;
  assert.deepEqual(deleted, unset);
  assert.ok(deleted.every((key) => delta[key] === null));
  assert.deepEqual(
    plain(Object.fromEntries(Object.entries(delta).filter(([key]) => !deleted.includes(key)))),
    plain(set),
  );
  if (order !== undefined) {
    assert.deepEqual(Object.keys(delta), order);
  }
  for (const { of, keys } of shared) {
    assert.deepEqual(engine.sharedOf(of), keys);
  }
  engine.free();
}
