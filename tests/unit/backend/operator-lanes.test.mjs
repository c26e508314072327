// Operators that a service resolves itself: its writers take turns at each scope that they meet in, and each comes
// through. Nothing here measures time: calls of the store take some turns of the event loop.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SessionService, append, increment } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { runs } from '../../support/fixtures.mjs';
import { event } from './scripted-store.mjs';

const turns = async (count) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** A store in memory that resolves no operators, takes some turns for each call, and counts what is sent. */
function unresolved() {
  const inner = memoryStore();
  const sent = [];
  const slowly =
    (call) =>
    async (...args) => {
      await turns(2);
      return await call(...args);
    };
  const store = { ...inner, resolves: undefined, watch: undefined, commitMany: undefined };
  store.load = slowly(inner.load);
  store.loadScope = slowly(inner.loadScope);
  store.commit = slowly(async (change, context) => {
    sent.push(change);
    return await inner.commit(change, context);
  });
  return { store, sent };
}

const places = {
  'a store that resolves none': () => unresolved().store,
  'an encrypted store': () => encryptedStore(unresolved().store, { keys: [{ id: '1', key: Buffer.alloc(32, 7) }] }),
};

const appends = (delta) => (service, session) => service.appendEvent({ session, event: event(delta()) });
const updates = (delta, target) => (service, session) => service.updateState(target(session), delta);
const ofApp = ({ appName }) => ({ appName });
const ofUser = ({ appName, userId }) => ({ appName, userId });
const count = (...keys) => Object.fromEntries(keys.map((key) => [key, increment()]));

/** The writes of two users of one app, again and again. */
const pairs = {
  'appends of one app key and one of their own users': [
    appends(() => count('app:n', 'user:m')),
    appends(() => count('app:n', 'user:m')),
  ],
  'appends of one app key, one of them with a user key': [
    appends(() => count('app:n')),
    appends(() => count('user:m', 'app:n')),
  ],
  'appends of one app key, one of them with another one': [
    appends(() => count('app:n')),
    appends(() => count('app:n', 'app:m')),
  ],
  'appends of one app key each': [appends(() => count('app:n')), appends(() => count('app:m'))],
  'an append and an update of the app': [appends(() => count('app:n')), updates(() => count('app:n'), ofApp)],
  'an append and an update of a user': [
    appends(() => count('app:n')),
    updates(() => count('app:n', 'user:m'), ofUser),
  ],
  'an append and an update of a session': [
    appends(() => count('app:n')),
    updates(
      () => count('app:n'),
      (session) => session,
    ),
  ],
  'updates of the app and of a user': [updates(() => count('app:n'), ofApp), updates(() => count('app:n'), ofUser)],
  'an operator and a value under its key': [appends(() => count('app:n')), appends(() => ({ 'app:n': 1 }))],
  'an operator and a value under another key': [appends(() => count('app:n')), appends(() => ({ 'app:m': 1 }))],
};

for (const [place, open] of Object.entries(places)) {
  describe(`two users of one app over ${place}: each comes through`, () => {
    for (const [name, pair] of Object.entries(pairs)) {
      test(name, async () => {
        const service = new SessionService({ store: open() });
        const done = [0, 0];
        const sessions = await Promise.all(
          pair.map((_, index) => service.createSession({ appName: 'app', userId: `u${index}`, sessionId: 's' })),
        );
        // Before it counts: code that is loaded at the first call comes when it comes.
        for (const [index, step] of pair.entries()) await step(service, sessions[index]);
        const run = async (step, index) => {
          const session = sessions[index];
          while (done[0] + done[1] < 40) {
            await step(service, session);
            done[index] += 1;
          }
        };
        await Promise.all(pair.map(run));
        assert.ok(Math.min(...done) >= 10, `${done}`);
      });
    }
  });
}

test('appends of one service never meet, whatever keys they share: each is sent once', async () => {
  const keys = fc.subarray(['n', 'user:n', 'user:m', 'app:n', 'app:m'], { minLength: 1 });
  const step = fc.record({ by: fc.nat(2), keys, plain: fc.constantFrom(undefined, 'app:x', 'user:x') });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 16 }), async (steps) => {
      const { store, sent } = unresolved();
      const service = new SessionService({ store });
      const users = [0, 1, 2].map((number) => ({ appName: 'app', userId: `u${number}`, sessionId: 's' }));
      const sessions = await Promise.all(users.map((user) => service.createSession(user)));
      sent.length = 0;
      const total = {};
      await Promise.all(
        steps.map(async ({ by, keys: names, plain }) => {
          names.forEach((name) => {
            const owner = name.startsWith('app:') ? name : `${by} ${name}`;
            total[owner] = (total[owner] ?? 0) + 1;
          });
          const delta = { ...count(...names), ...(plain && { [plain]: by }) };
          await service.appendEvent({ session: sessions[by], event: event(delta) });
        }),
      );
      assert.equal(sent.length, steps.length);
      const fresh = new SessionService({ store });
      for (const [by, user] of users.entries()) {
        const { state } = await fresh.getSession(user);
        for (const name of ['n', 'user:n', 'user:m', 'app:n', 'app:m']) {
          assert.equal(state[name], total[name.startsWith('app:') ? name : `${by} ${name}`], name);
        }
      }
    }),
    { numRuns: runs(60) },
  );
});

test('users whose operators are of their own keys do not wait for each other, nor does who reads', async () => {
  const { store } = unresolved();
  let release;
  const stuck = new Promise((resolve) => (release = resolve));
  const { commit } = store;
  store.commit = async (change, context) => {
    if (change.kind === 'append' && change.key.userId === 'slow') await stuck;
    return await commit(change, context);
  };
  const service = new SessionService({ store });
  const [slow, quick] = await Promise.all(
    ['slow', 'quick'].map((userId) => service.createSession({ appName: 'app', userId, sessionId: 's' })),
  );
  const delta = () => ({ 'user:l': append('x'), n: increment() });
  const late = service.appendEvent({ session: slow, event: event(delta()) });
  await service.appendEvent({ session: quick, event: event(delta()) });
  assert.deepEqual(await service.getUserState(quick), { l: ['x'] });
  assert.deepEqual(await service.getUserState(slow), {});
  release();
  await late;
  assert.deepEqual(await service.getUserState(slow), { l: ['x'] });
});
