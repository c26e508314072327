// A service that is behind in a session: what the answer to its own next append tells is not loaded once more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { observed } from './observed-store.mjs';
import { KEY, setting } from '../support/fixtures.mjs';

/** Two services over one store that gives no hints: of the first one, it is known what it is asked to load. */
function services() {
  const store = { ...memoryStore(), watch: undefined };
  const { store: first, loads, answers } = observed(store);
  return { store, ours: new SessionService({ store: first }), theirs: new SessionService({ store }), loads, answers };
}

test('an append to a session that others have moved, with its app and its user, loads what is new of the session alone', async () => {
  const { ours, theirs, loads, answers } = services();
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0, n: 0 } });
  const other = await theirs.getSession(KEY);
  for (let number = 1; number <= 3; number += 1) {
    const moves = (own) => setting({ 'app:n': number, 'user:n': number, n: number, [`app:${own} ${number}`]: number });
    await theirs.appendEvent({ session: other, event: moves('theirs') });
    loads.length = answers.length = 0;
    await ours.appendEvent({ session, event: moves('ours') });
    assert.equal(loads.length, 1);
    const [{ known, events }] = loads;
    assert.deepEqual(known.pos, { app: 1 + 2 * number, user: 1 + 2 * number });
    assert.deepEqual(events, { from: 2 * number - 1 });
    const [{ state, changed }] = answers;
    assert.deepEqual([Object.keys(state), changed], [['session'], undefined]);
    assert.equal(session.revision, 2 * number);
    const there = await theirs.getSession(KEY);
    assert.deepEqual(Object.entries(session.state), Object.entries(there.state));
  }
});

test('services that append in turn show the same, in the same order, whatever each has set and deleted', async () => {
  const { store, ours, theirs } = services();
  const session = await ours.createSession(KEY);
  const handles = [
    { service: ours, session },
    { service: theirs, session: await theirs.getSession(KEY) },
  ];
  // Values of which each may be there or not: 0 deletes.
  const value = (number) => (number === 0 ? DELETED : number);
  for (let number = 0; number < 60; number += 1) {
    const { service, session } = handles[(number * 7) % 3 === 0 ? 0 : 1];
    await service.appendEvent({
      session,
      event: setting({
        [`app:k${number % 5}`]: value(number % 3),
        [`user:k${number % 4}`]: value(number % 5),
        [`k${number % 3}`]: value(number % 2),
      }),
    });
    const fresh = await new SessionService({ store }).getSession(KEY);
    assert.deepEqual(Object.entries(session.state), Object.entries(fresh.state));
    assert.equal(session.events.length, number + 1);
  }
});
