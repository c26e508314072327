// Reservations of a store: an update asks for one where others come between again and again.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { APP, KEY, USER } from '../../support/fixtures.mjs';
import { TARGETS, soon, reservingStore } from './reserving-store.mjs';

describe('a reservation is requested', () => {
  const places = [
    ['session', ['n'], KEY],
    ['session', ['user:n'], USER],
    ['session', ['n', 'app:n'], APP],
    ['session', ['n', 'user:n'], USER],
    ['user', ['user:n'], USER],
    ['user', ['user:n', 'app:n'], APP],
    ['app', ['app:n'], APP],
  ];
  for (const [by, names, target] of places) {
    test(`from the second time on that others have come between, at the widest scope: ${names} through the ${by}`, async () => {
      for (const meets of [0, 1, 2, 4]) {
        const { service, asked, sent, reservations, log, counting } = await reservingStore();
        const state = await service.updateState(TARGETS[by], counting(names, meets));
        assert.deepEqual(
          names.map((name) => state[name]),
          names.map(() => meets + 1),
        );
        assert.deepEqual(
          asked.map((each) => each.target),
          meets < 2 ? [] : [target],
        );
        // It is kept over what comes between later, and every change from then on carries it.
        assert.deepEqual(
          sent.map(({ reservation }) => reservation),
          [undefined, undefined, 'reservation 1', 'reservation 1', 'reservation 1'].slice(0, meets + 1),
        );
        assert.deepEqual(
          sent.map((change) => 'reservation' in change),
          sent.map((_, index) => index >= 2),
        );
        assert.deepEqual(
          reservations.map(({ released }) => released),
          meets < 2 ? [] : [0],
          'the change has given it back',
        );
        if (meets >= 2) {
          const order = log.slice(log.indexOf('reserve'));
          assert.equal(order[1], 'read', 'and then it is read');
          assert.ok(log.indexOf('reserve') > log.indexOf('write', log.indexOf('write') + 1));
        }
      }
    });
  }

  test('at the scope that is written, too, and at the widest where all keys were looked at', async () => {
    for (const [by, answer, target] of [
      ['session', { n: 1, 'app:seen': true }, APP],
      ['session', { n: 1, 'user:seen': true }, USER],
      ['user', { 'user:n': 1, 'app:seen': true }, APP],
    ]) {
      const { service, asked, counting } = await reservingStore();
      const name = Object.keys(answer)[0];
      await service.updateState(
        TARGETS[by],
        counting([name], 2, () => answer),
      );
      assert.deepEqual(
        asked.map((each) => each.target),
        [target],
      );
    }
    for (const by of ['session', 'user', 'app']) {
      const { service, theirs, asked } = await reservingStore();
      let runs = 0;
      await service.updateState(TARGETS[by], async (state) => {
        const count = Object.keys(state).length;
        if ((runs += 1) <= 2) await theirs.updateState(APP, () => ({ [`app:${runs}`]: true }));
        return { 'app:count': count };
      });
      assert.deepEqual(
        asked.map((each) => each.target),
        [APP],
      );
    }
  });

  test('for a time that goes by how long the last attempt took, and waited for no longer than one try of the store may take', async (context) => {
    for (const [timeout, wait] of [
      [undefined, 5_000],
      [60_000, 5_000],
      [700, 700],
    ]) {
      const { store, asked, counting } = await reservingStore();
      await new SessionService({ store, timeout }).updateState(APP, counting(['app:n'], 2));
      const [{ times, context: given }] = asked;
      assert.ok(times.hold >= 500 && times.hold <= 10_000, `${times.hold}`);
      assert.equal(times.wait, wait);
      assert.equal(given.signal.aborted, false);
    }
    const { service, asked, counting } = await reservingStore();
    let now = 0;
    context.mock.method(performance, 'now', () => now);
    await service.updateState(
      APP,
      counting(['app:n'], 2, () => void (now += 1_000)),
    );
    await service.updateState(
      USER,
      counting(['user:n'], 2, () => void (now += 60_000)),
    );
    assert.deepEqual(
      asked.map(({ times }) => times.hold),
      [2_500, 10_000],
    );
  });

  test('in all tries of a change', async () => {
    const { service, sent, tries, counting } = await reservingStore();
    tries.push(undefined, undefined, 'refused', 'lost');
    const { 'app:n': n } = await service.updateState(APP, counting(['app:n'], 2));
    assert.equal(n, 3);
    assert.deepEqual(
      sent.map(({ reservation, attempt }) => [reservation, attempt]),
      [
        [undefined, undefined],
        [undefined, undefined],
        ['reservation 1', undefined],
        ['reservation 1', 2],
        ['reservation 1', 3],
      ],
    );
  });
});

describe('where others were met just now', () => {
  test('the next update begins with a reservation, for a second', async (context) => {
    let now = 1_000;
    context.mock.method(performance, 'now', () => now);
    for (const [by, name, target] of [
      ['app', 'app:n', APP],
      ['session', 'app:n', APP],
      ['session', 'n', KEY],
      ['user', 'user:n', USER],
    ]) {
      const { service, asked, sent, log, counting } = await reservingStore();
      await service.updateState(TARGETS[by], counting([name], 2));
      log.length = asked.length = sent.length = 0;
      now += 999;
      await service.updateState(TARGETS[by], counting([name], 0));
      assert.deepEqual(
        [[...new Set(log)], asked.map((each) => each.target), sent.map(({ reservation }) => reservation)],
        [['reserve', 'read', 'write'], [target], ['reservation 2']],
        `${name} through the ${by}`,
      );
      log.length = 0;
      // Nobody waited for that one or behind it, so it is not remembered any longer.
      now += 1;
      await service.updateState(TARGETS[by], counting([name], 1));
      assert.equal(log.includes('reserve'), false);
    }
  });

  test('for a second more each time that a reservation was waited for', async (context) => {
    let now = 1_000;
    context.mock.method(performance, 'now', () => now);
    const answer = (newReservation) => newReservation({ contended: true });
    const { service, asked, counting } = await reservingStore({ answer });
    await service.updateState(APP, counting(['app:n'], 2));
    for (let round = 2; round < 5; round++) {
      now += 999;
      await service.updateState(APP, counting(['app:n'], 0));
      assert.equal(asked.length, round);
    }
  });

  test('an update of another session begins with a reservation when it meets others there once', async () => {
    const { service, theirs, sent, counting } = await reservingStore();
    await service.updateState(KEY, counting(['app:n'], 2));
    const other = { ...KEY, sessionId: 't' };
    await theirs.createSession(other);
    sent.length = 0;
    await service.updateState(other, counting(['app:n'], 1));
    assert.deepEqual(
      sent.map(({ reservation }) => reservation),
      [undefined, 'reservation 2'],
    );
    sent.length = 0;
    await service.updateState(other, counting(['n'], 0));
    assert.deepEqual(
      sent.map(({ reservation }) => reservation),
      [undefined],
    );
  });

  test('only of so many targets', async (context) => {
    context.mock.method(performance, 'now', () => 1_000);
    const { service, theirs, asked } = await reservingStore();
    const meet = async (appName, meets) => {
      let runs = 0;
      await service.updateState({ appName }, async (state) => {
        const n = state['app:n'] ?? 0;
        if ((runs += 1) <= meets) await theirs.updateState({ appName }, () => ({ 'app:n': n + 1 }));
        return { 'app:n': n + 1 };
      });
    };
    await Promise.all(Array.from({ length: 1_001 }, (_, index) => meet(`app ${index}`, 2)));
    asked.length = 0;
    await Promise.all(Array.from({ length: 1_001 }, (_, index) => meet(`app ${index}`, 0)));
    assert.equal(asked.length, 1_000);
  });
});

test('only the first of the queue in a process asks, and what is read comes after its reservation', async () => {
  const waiting = [];
  let most = 0;
  const answer = (newReservation) =>
    new Promise((resolve) => {
      waiting.push(() => resolve(newReservation({ contended: true })));
      most = Math.max(most, waiting.length);
    });
  const { service, theirs, asked, sent, counting } = await reservingStore({ answer });
  const keys = Array.from({ length: 8 }, (_, index) => ({ ...KEY, sessionId: `s${index}` }));
  await Promise.all(keys.map((key) => theirs.createSession(key)));
  const first = service.updateState(APP, counting(['app:n'], 2));
  const all = [first, ...keys.map((key) => service.updateState(key, counting(['app:n'], 2)))];
  let done = false;
  void Promise.all(all).finally(() => (done = true));
  while (!done) {
    const give = waiting.shift();
    if (give !== undefined) {
      // Others write while the reservation is waited for: what the update before has left is too old then.
      await theirs.updateState(APP, (state) => ({ 'app:n': state['app:n'] + 1 }));
      sent.length = 0;
      give();
    }
    await soon();
  }
  await Promise.all(all);
  assert.equal(most, 1);
  assert.ok(asked.length >= 8);
  assert.equal((await service.getAppState(APP)).n, 9 * 3 + asked.length);
});
