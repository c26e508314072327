// Reservations of a store are released, however an update ends, and nothing depends on them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER, hasCode } from '../../support/fixtures.mjs';
import { soon, reservingStore } from './reserving-store.mjs';

describe('a reservation is released', () => {
  const enough = new Error('enough');
  test('when the function throws, or writes nothing, or what it must not', async () => {
    for (const [last, expected] of [
      [
        () => {
          throw enough;
        },
        (error) => error === enough,
      ],
      [() => ({}), undefined],
      [() => ({ n: 1 }), hasCode('INVALID_ARGUMENT')],
      [() => ({ 'app:n': 1n }), hasCode('VALUE_NOT_JSON')],
      [() => 'no delta', hasCode('INVALID_ARGUMENT')],
    ]) {
      const { service, reservations, counting } = await reservingStore();
      const update = service.updateState(
        APP,
        counting(['app:n'], 2, (runs) => (runs > 2 ? last() : undefined)),
      );
      await (expected === undefined ? update : assert.rejects(update, expected));
      assert.deepEqual(
        reservations.map(({ released }) => released),
        [1],
      );
    }
  });

  test('when the call is aborted: while the function runs, or while the reservation is waited for', async () => {
    for (const when of ['function', 'waiting', 'coming']) {
      const controller = new AbortController();
      let context;
      let give;
      const answer = (newReservation, given) => {
        if (when === 'function') return newReservation();
        context = given;
        return new Promise((resolve) => {
          const reservation = newReservation();
          give = () => resolve(reservation);
          if (when === 'coming') give();
          void Promise.resolve().then(() => controller.abort(enough));
        });
      };
      const { service, reservations, log, counting } = await reservingStore({ answer });
      const abort = (runs) => void (when === 'function' && runs === 3 && controller.abort(enough));
      const update = service.updateState(APP, counting(['app:n'], 2, abort), { signal: controller.signal });
      await assert.rejects(update, (error) => error === enough);
      if (when !== 'function') assert.equal(context.signal.aborted, true, 'the store is told');
      give?.();
      await soon();
      assert.deepEqual(
        reservations.map(({ released }) => released),
        [1],
        when,
      );
      assert.equal(log.filter((what) => what === 'write').length, 2);
    }
  });

  test('when it is unknown whether the change was written, or the attempts are used up, or the session has gone', async () => {
    const lost = await reservingStore();
    lost.tries.push(
      undefined,
      undefined,
      ...Array(3).fill(() => {
        throw new Error('the connection was lost');
      }),
    );
    await assert.rejects(lost.service.updateState(APP, lost.counting(['app:n'], 2)), hasCode('COMMIT_UNKNOWN'));
    assert.deepEqual(
      lost.reservations.map(({ released }) => released),
      [1],
    );

    const used = await reservingStore();
    await assert.rejects(
      used.service.updateState(APP, used.counting(['app:n'], 9), { attempts: 3 }),
      hasCode('STATE_CONFLICT'),
    );
    assert.deepEqual(
      used.reservations.map(({ released }) => released),
      [1],
    );
    const few = await reservingStore();
    await assert.rejects(
      few.service.updateState(APP, few.counting(['app:n'], 9), { attempts: 2 }),
      hasCode('STATE_CONFLICT'),
    );
    assert.deepEqual(few.asked, []);

    const gone = await reservingStore();
    const remove = (runs) => (runs === 3 ? gone.theirs.deleteSession(KEY) : undefined);
    const count = gone.counting(['n'], 2);
    let runs = 0;
    await assert.rejects(
      gone.service.updateState(KEY, async (state) => [await count(state), await remove((runs += 1))][0]),
      hasCode('SESSION_NOT_FOUND'),
    );
    assert.deepEqual(
      gone.reservations.map(({ released }) => released),
      [1],
    );
  });

  test('when it comes after the service has gone on without it, or was closed', async () => {
    for (const ends of ['timeout', 'close']) {
      let give;
      let asked;
      const isAsked = new Promise((resolve) => (asked = resolve));
      const answer = (newReservation) => new Promise((resolve) => ((give = () => resolve(newReservation())), asked()));
      const { store, reservations, counting } = await reservingStore({ answer });
      const service = new SessionService({ store, timeout: ends === 'timeout' ? 30 : 10_000 });
      const update = service.updateState(APP, counting(['app:n'], 2));
      const outcome = update.then(
        ({ 'app:n': n }) => n,
        ({ code }) => code,
      );
      await isAsked;
      if (ends === 'close') await service.close();
      assert.equal(await outcome, ends === 'close' ? 'CLOSED' : 3);
      give();
      await soon();
      assert.deepEqual(
        reservations.map(({ released }) => released),
        [1],
        ends,
      );
    }
  });
});

describe('nothing depends on reservations', () => {
  const answers = {
    'none in time': () => undefined,
    'a store that fails': () => {
      throw new Error('no');
    },
    'a reservation that cannot be released': (newReservation) =>
      newReservation({
        release: () => {
          throw new Error('no');
        },
      }),
  };
  for (const [name, answer] of Object.entries(answers)) {
    test(`${name}: the update goes on`, async () => {
      const { service, asked, sent, counting } = await reservingStore({ answer });
      const { 'app:n': n } = await service.updateState(APP, counting(['app:n'], 5));
      assert.equal(n, 6);
      assert.equal(asked.length, 1, 'and does not ask again');
      assert.equal('reservation' in sent.at(-1), name.startsWith('a reservation'));
      await assert.rejects(
        service.updateState(
          USER,
          counting(['user:n'], 2, (runs) => {
            if (runs > 2) throw new RangeError('no');
          }),
        ),
        RangeError,
      );
    });
  }

  test('a store without reservations is used as before', async () => {
    const { store, log, sent, counting } = await reservingStore();
    delete store.reserve;
    const { 'app:n': n } = await new SessionService({ store }).updateState(APP, counting(['app:n'], 5));
    assert.deepEqual([n, log.includes('reserve'), sent.some((change) => 'reservation' in change)], [6, false, false]);
  });

  test('a function that updates what it is updating does not wait for its own reservation', async () => {
    // Whoever has a reservation keeps it until it has written: the answer to a second request would never come.
    let count = 0;
    const answer = (newReservation) => ((count += 1) === 1 ? newReservation() : new Promise(() => undefined));
    for (const waits of [false, true]) {
      count = 0;
      const { service, asked, counting } = await reservingStore({ answer });
      const inner = counting(['app:n'], 3);
      let runs = 0;
      const count2 = counting(['app:m'], 2);
      await service.updateState(APP, async (state) => {
        const delta = await count2(state);
        if ((runs += 1) === 3) {
          if (waits) await new Promise((resolve) => setTimeout(resolve, 1));
          await service.updateState(APP, inner);
        }
        return delta;
      });
      assert.deepEqual({ ...(await service.getAppState(APP)) }, { m: 3, n: 4 });
      assert.equal(asked.length, 1);
    }
  });

  test('an encrypted store gives the reservations of its inner store', async () => {
    const { store, asked, sent } = await reservingStore();
    const keys = [{ id: 'k', key: new Uint8Array(32) }];
    const encrypted = encryptedStore(store, { keys });
    let meets = 0;
    const service = new SessionService({ store: encrypted });
    const theirs = new SessionService({ store: encryptedStore({ ...store, reserve: undefined }, { keys }) });
    await service.updateState(APP, async (state) => {
      if ((meets += 1) <= 2) await theirs.updateState(APP, (other) => ({ 'app:c': (other['app:c'] ?? 0) + 1 }));
      return { 'app:c': (state['app:c'] ?? 0) + 1 };
    });
    assert.deepEqual([asked.length, sent.at(-1).reservation], [1, 'reservation 1']);
    assert.equal('reserve' in encryptedStore(memoryStore(), { keys }), false);
  });
});
