// Turns of a store are given back, however an update ends, and nothing depends on them.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER, hasCode } from '../../support/fixtures.mjs';
import { soon, turnStore } from './reserving-store.mjs';

describe('a turn is given back', () => {
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
      const { service, turns, counting } = await turnStore();
      const update = service.updateState(
        APP,
        counting(['app:n'], 2, (runs) => (runs > 2 ? last() : undefined)),
      );
      await (expected === undefined ? update : assert.rejects(update, expected));
      assert.deepEqual(
        turns.map(({ released }) => released),
        [1],
      );
    }
  });

  test('when the call is aborted: while the function runs, or while the turn is waited for', async () => {
    for (const when of ['function', 'waiting', 'coming']) {
      const controller = new AbortController();
      let context;
      let give;
      const answer = (newTurn, given) => {
        if (when === 'function') return newTurn();
        context = given;
        return new Promise((resolve) => {
          const turn = newTurn();
          give = () => resolve(turn);
          if (when === 'coming') give();
          void Promise.resolve().then(() => controller.abort(enough));
        });
      };
      const { service, turns, log, counting } = await turnStore({ answer });
      const abort = (runs) => void (when === 'function' && runs === 3 && controller.abort(enough));
      const update = service.updateState(APP, counting(['app:n'], 2, abort), { signal: controller.signal });
      await assert.rejects(update, (error) => error === enough);
      if (when !== 'function') assert.equal(context.signal.aborted, true, 'the store is told');
      give?.();
      await soon();
      assert.deepEqual(
        turns.map(({ released }) => released),
        [1],
        when,
      );
      assert.equal(log.filter((what) => what === 'write').length, 2);
    }
  });

  test('when it is unknown whether the change was written, or the attempts are used up, or the session has gone', async () => {
    const lost = await turnStore();
    lost.tries.push(
      undefined,
      undefined,
      ...Array(3).fill(() => {
        throw new Error('the connection was lost');
      }),
    );
    await assert.rejects(lost.service.updateState(APP, lost.counting(['app:n'], 2)), hasCode('COMMIT_UNKNOWN'));
    assert.deepEqual(
      lost.turns.map(({ released }) => released),
      [1],
    );

    const used = await turnStore();
    await assert.rejects(
      used.service.updateState(APP, used.counting(['app:n'], 9), { attempts: 3 }),
      hasCode('STATE_CONFLICT'),
    );
    assert.deepEqual(
      used.turns.map(({ released }) => released),
      [1],
    );
    const few = await turnStore();
    await assert.rejects(
      few.service.updateState(APP, few.counting(['app:n'], 9), { attempts: 2 }),
      hasCode('STATE_CONFLICT'),
    );
    assert.deepEqual(few.asked, []);

    const gone = await turnStore();
    const remove = (runs) => (runs === 3 ? gone.theirs.deleteSession(KEY) : undefined);
    const count = gone.counting(['n'], 2);
    let runs = 0;
    await assert.rejects(
      gone.service.updateState(KEY, async (state) => [await count(state), await remove((runs += 1))][0]),
      hasCode('SESSION_NOT_FOUND'),
    );
    assert.deepEqual(
      gone.turns.map(({ released }) => released),
      [1],
    );
  });

  test('when it comes after the service has gone on without it, or was closed', async () => {
    for (const ends of ['timeout', 'close']) {
      let give;
      let asked;
      const isAsked = new Promise((resolve) => (asked = resolve));
      const answer = (newTurn) => new Promise((resolve) => ((give = () => resolve(newTurn())), asked()));
      const { store, turns, counting } = await turnStore({ answer });
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
        turns.map(({ released }) => released),
        [1],
        ends,
      );
    }
  });
});

describe('nothing depends on turns', () => {
  const answers = {
    'none in time': () => undefined,
    'a store that fails': () => {
      throw new Error('no');
    },
    'a turn that cannot be given back': (newTurn) =>
      newTurn({
        release: () => {
          throw new Error('no');
        },
      }),
  };
  for (const [name, answer] of Object.entries(answers)) {
    test(`${name}: the update goes on`, async () => {
      const { service, asked, sent, counting } = await turnStore({ answer });
      const { 'app:n': n } = await service.updateState(APP, counting(['app:n'], 5));
      assert.equal(n, 6);
      assert.equal(asked.length, 1, 'and does not ask again');
      assert.equal('turn' in sent.at(-1), name.startsWith('a turn'));
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

  test('a store without turns is used as before', async () => {
    const { store, log, sent, counting } = await turnStore();
    delete store.reserve;
    const { 'app:n': n } = await new SessionService({ store }).updateState(APP, counting(['app:n'], 5));
    assert.deepEqual([n, log.includes('reserve'), sent.some((change) => 'turn' in change)], [6, false, false]);
  });

  test('a function that updates what it is updating does not wait for its own turn', async () => {
    // Whoever has a turn keeps it until it has written: an answer to a second one would never come.
    let count = 0;
    const answer = (newTurn) => ((count += 1) === 1 ? newTurn() : new Promise(() => undefined));
    for (const waits of [false, true]) {
      count = 0;
      const { service, asked, counting } = await turnStore({ answer });
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

  test('an encrypted store gives the turns of the other one', async () => {
    const { store, asked, sent } = await turnStore();
    const keys = [{ id: 'k', key: new Uint8Array(32) }];
    const encrypted = encryptedStore(store, { keys });
    let meets = 0;
    const service = new SessionService({ store: encrypted });
    const theirs = new SessionService({ store: encryptedStore({ ...store, reserve: undefined }, { keys }) });
    await service.updateState(APP, async (state) => {
      if ((meets += 1) <= 2) await theirs.updateState(APP, (other) => ({ 'app:c': (other['app:c'] ?? 0) + 1 }));
      return { 'app:c': (state['app:c'] ?? 0) + 1 };
    });
    assert.deepEqual([asked.length, sent.at(-1).turn], [1, 'turn 1']);
    assert.equal('reserve' in encryptedStore(memoryStore(), { keys }), false);
  });
});
