// Turns of a store: an update asks for one where others come between again and again, and nothing depends on it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER, hasCode } from '../support/fixtures.mjs';

const TARGETS = { session: KEY, user: USER, app: APP };
const soon = () => new Promise((resolve) => setImmediate(resolve));

/**
 * A store in memory that gives turns. `log` tells in order what was asked of it, `asked` with what. `answer` makes the
 * answer to `reserve`; `tries` says what becomes of each try to write: `lost` writes and loses the answer, `refused`
 * writes nothing, a function runs before.
 */
function turnStore({ answer, inner = memoryStore() } = {}) {
  const [log, asked, sent, tries] = [[], [], [], []];
  const turns = [];
  const newTurn = (more = {}) => {
    const turn = {
      id: `turn ${turns.length + 1}`,
      contended: false,
      released: 0,
      release: async () => void (log.push('release'), (turn.released += 1)),
      ...more,
    };
    turns.push(turn);
    return turn;
  };
  const store = {
    ...inner,
    watch: undefined,
    load: async (...args) => (log.push('read'), await inner.load(...args)),
    loadScope: async (...args) => (log.push('read'), await inner.loadScope(...args)),
    commit: async (change, context) => {
      log.push('write');
      sent.push(change);
      const next = tries.shift();
      if (next === 'refused') throw Object.assign(new Error('busy'), { name: 'StoreError', code: 'unavailable' });
      if (typeof next === 'function') await next();
      const committed = await inner.commit(change, context);
      if (next === 'lost') throw new Error('the connection was lost');
      return committed;
    },
    reserve: async (target, times, context) => {
      log.push('reserve');
      asked.push({ target, times, context });
      return await (answer === undefined ? newTurn() : answer(newTurn, context));
    },
  };
  delete store.commitMany;
  const service = new SessionService({ store, retry: { attempts: 3, pause: 0 } });
  const theirs = new SessionService({ store: inner });
  /** Counts `names` up; others come between the first `meets` times. Says which run it is. */
  const counting = (names, meets, after = () => undefined) => {
    let runs = 0;
    return async (state) => {
      runs += 1;
      const next = Object.fromEntries(names.map((name) => [name, (state[name] ?? 0) + 1]));
      if (runs <= meets)
        await theirs.updateState(KEY, (other) =>
          Object.fromEntries(names.map((name) => [name, (other[name] ?? 0) + 1])),
        );
      return after(runs) ?? next;
    };
  };
  const open = async () => {
    await theirs.createSession(KEY);
    return { store, service, theirs, log, asked, sent, tries, turns, counting };
  };
  return open();
}

describe('a turn is asked for', () => {
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
        const { service, asked, sent, turns, log, counting } = await turnStore();
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
          sent.map(({ turn }) => turn),
          [undefined, undefined, 'turn 1', 'turn 1', 'turn 1'].slice(0, meets + 1),
        );
        assert.deepEqual(
          sent.map((change) => 'turn' in change),
          sent.map((_, index) => index >= 2),
        );
        assert.deepEqual(
          turns.map(({ released }) => released),
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
      const { service, asked, counting } = await turnStore();
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
      const { service, theirs, asked } = await turnStore();
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
      const { store, asked, counting } = await turnStore();
      await new SessionService({ store, timeout }).updateState(APP, counting(['app:n'], 2));
      const [{ times, context: given }] = asked;
      assert.ok(times.hold >= 500 && times.hold <= 10_000, `${times.hold}`);
      assert.equal(times.wait, wait);
      assert.equal(given.signal.aborted, false);
    }
    const { service, asked, counting } = await turnStore();
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
    const { service, sent, tries, counting } = await turnStore();
    tries.push(undefined, undefined, 'refused', 'lost');
    const { 'app:n': n } = await service.updateState(APP, counting(['app:n'], 2));
    assert.equal(n, 3);
    assert.deepEqual(
      sent.map(({ turn, attempt }) => [turn, attempt]),
      [
        [undefined, undefined],
        [undefined, undefined],
        ['turn 1', undefined],
        ['turn 1', 2],
        ['turn 1', 3],
      ],
    );
  });
});

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

  test('when it is not known whether the change was written, or the attempts are used up, or the session has gone', async () => {
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

describe('where others were met just now', () => {
  test('the next update begins with a turn, for a second', async (context) => {
    let now = 1_000;
    context.mock.method(performance, 'now', () => now);
    for (const [by, name, target] of [
      ['app', 'app:n', APP],
      ['session', 'app:n', APP],
      ['session', 'n', KEY],
      ['user', 'user:n', USER],
    ]) {
      const { service, asked, sent, log, counting } = await turnStore();
      await service.updateState(TARGETS[by], counting([name], 2));
      log.length = asked.length = sent.length = 0;
      now += 999;
      await service.updateState(TARGETS[by], counting([name], 0));
      assert.deepEqual(
        [[...new Set(log)], asked.map((each) => each.target), sent.map(({ turn }) => turn)],
        [['reserve', 'read', 'write'], [target], ['turn 2']],
        `${name} through the ${by}`,
      );
      log.length = 0;
      // Nobody waited for that one or behind it, so it is not remembered any longer.
      now += 1;
      await service.updateState(TARGETS[by], counting([name], 1));
      assert.equal(log.includes('reserve'), false);
    }
  });

  test('for a second more each time that a turn was waited for', async (context) => {
    let now = 1_000;
    context.mock.method(performance, 'now', () => now);
    const { service, asked, counting } = await turnStore({ answer: (newTurn) => newTurn({ contended: true }) });
    await service.updateState(APP, counting(['app:n'], 2));
    for (let round = 2; round < 5; round++) {
      now += 999;
      await service.updateState(APP, counting(['app:n'], 0));
      assert.equal(asked.length, round);
    }
  });

  test('an update of another session begins with a turn when it meets others there once', async () => {
    const { service, theirs, sent, counting } = await turnStore();
    await service.updateState(KEY, counting(['app:n'], 2));
    const other = { ...KEY, sessionId: 't' };
    await theirs.createSession(other);
    sent.length = 0;
    await service.updateState(other, counting(['app:n'], 1));
    assert.deepEqual(
      sent.map(({ turn }) => turn),
      [undefined, 'turn 2'],
    );
    sent.length = 0;
    await service.updateState(other, counting(['n'], 0));
    assert.deepEqual(
      sent.map(({ turn }) => turn),
      [undefined],
    );
  });

  test('only of so many targets', async (context) => {
    context.mock.method(performance, 'now', () => 1_000);
    const { service, theirs, asked } = await turnStore();
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

test('only the first of the queue in a process asks, and what is read comes after its turn', async () => {
  const waiting = [];
  let most = 0;
  const answer = (newTurn) =>
    new Promise((resolve) => {
      waiting.push(() => resolve(newTurn({ contended: true })));
      most = Math.max(most, waiting.length);
    });
  const { service, theirs, asked, sent, counting } = await turnStore({ answer });
  const keys = Array.from({ length: 8 }, (_, index) => ({ ...KEY, sessionId: `s${index}` }));
  await Promise.all(keys.map((key) => theirs.createSession(key)));
  const first = service.updateState(APP, counting(['app:n'], 2));
  const all = [first, ...keys.map((key) => service.updateState(key, counting(['app:n'], 2)))];
  let done = false;
  void Promise.all(all).finally(() => (done = true));
  while (!done) {
    const give = waiting.shift();
    if (give !== undefined) {
      // Others write while the turn is waited for: what the update before has left is too old then.
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
