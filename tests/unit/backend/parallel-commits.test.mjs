// The number of calls of a store that are under way at a time, and the distribution of waiting changes among them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, setting } from '../../support/fixtures.mjs';
import { turn } from './scripted-store.mjs';

/** A service with so many sessions over a store that holds back each call that writes, until it is released. */
async function heldService(parallelCommits, count) {
  const inner = memoryStore();
  const held = [];
  let isHeld = false;
  const store = {
    ...inner,
    watch: undefined,
    ...(parallelCommits !== undefined && { parallelCommits }),
    commitMany: async (changes, context) => {
      if (isHeld) await new Promise((release) => held.push({ size: changes.length, release }));
      return await Promise.all(changes.map((change) => inner.commit(change, context)));
    },
    commit: async (change, context) => (await store.commitMany([change], context))[0],
  };
  const service = new SessionService({ store, timeout: 600_000 });
  const sessions = await Promise.all(
    Array.from({ length: count }, (_, i) => service.createSession({ ...KEY, sessionId: `s${i}` })),
  );
  isHeld = true;
  return { service, sessions, held };
}

const append = (service, sessions, id) =>
  sessions.map((session) => service.appendEvent({ session, event: setting({ 'app:n': id, own: id }, { id }) }));

for (const [parallelCommits, sizes] of [
  [undefined, [64]],
  [1, [64]],
  [2, [32, 32]],
  [3, [22, 21, 21]],
]) {
  test(`64 changes at once go to a store that wants ${parallelCommits} calls at a time in batches of ${sizes}`, async () => {
    const { service, sessions, held } = await heldService(parallelCommits, 64);
    const pending = append(service, sessions, 'e1');
    await turn();
    assert.deepEqual(
      held.map(({ size }) => size),
      sizes,
    );
    // Answers may come in any order.
    while (held.length > 0) {
      held.pop().release();
      await turn();
    }
    await Promise.all(pending);
    assert.ok(sessions.every((session) => session.revision === 1 && session.state['app:n'] === 'e1'));
    await service.close();
  });
}

test('few changes are not torn apart, and those that come meanwhile wait for a call to end', async () => {
  const { service, sessions, held } = await heldService(2, 12);
  const pending = append(service, sessions.slice(0, 6), 'e1');
  await turn();
  assert.deepEqual(
    held.map(({ size }) => size),
    [6],
  );
  pending.push(...append(service, sessions.slice(6, 8), 'e1'));
  await turn();
  assert.deepEqual(
    held.map(({ size }) => size),
    [6, 2],
  );
  pending.push(...append(service, sessions.slice(8), 'e1'));
  held[1].release();
  await turn();
  assert.deepEqual(
    held.map(({ size }) => size),
    [6, 2, 4],
  );
  held.forEach(({ release }) => release());
  await Promise.all(pending);
  await service.close();
});
