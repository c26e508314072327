// The cache of a service over a store: given up when it may be wrong, freed when it is not used, and never in the way.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

/** The memory of the module, taken when it is made. */
let wasm;
const { Instance } = WebAssembly;
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    wasm ??= this.exports.memory;
  }
};
const { SessionService, StoreError, ready } = await import('statepad');
const { memoryStore } = await import('statepad/stores/memory');
const { plain } = await import('../../contract/read.mjs');
const { KEY, connectionLost, hasCode } = await import('../../support/fixtures.mjs');
await ready();

const OTHER = { ...KEY, sessionId: 't' };
const event = (stateDelta = {}, id) => ({
  ...(id === undefined ? {} : { id }),
  author: 'agent',
  actions: { stateDelta },
});

/** A store, with `before` and `after` each call of `commit`; what they throw is thrown. */
function hooked(hooks = {}, more = {}) {
  const inner = memoryStore();
  const loads = [];
  const store = {
    ...inner,
    watch: undefined,
    ...more,
    load: async (key, query, context) => {
      loads.push(query);
      return await inner.load(key, query, context);
    },
    commit: async (change, context) => {
      await hooks.before?.(change);
      const committed = await inner.commit(change, context);
      await hooks.after?.(change);
      return committed;
    },
  };
  delete store.commitMany;
  const service = new SessionService({ store, retry: { attempts: 2, pause: 1 } });
  return { hooks, inner, loads, service, theirs: new SessionService({ store: inner }) };
}

describe('over a store of which nobody else writes, what is in memory is given up when its outcome is not known', () => {
  const open = async () => {
    const context = hooked({}, { exclusive: true });
    const session = await context.service.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0 } });
    const other = await context.service.createSession(OTHER);
    return { ...context, session, other };
  };

  test('an append that was written: its session shows it, and so do the others of the app and the user', async () => {
    for (const key of ['app:n', 'user:n', 'n']) {
      const { hooks, service, session } = await open();
      hooks.after = () => {
        throw connectionLost();
      };
      hooks.before = (change) => {
        if (change.attempt !== undefined) throw connectionLost();
      };
      await assert.rejects(service.appendEvent({ session, event: event({ [key]: 1 }) }), hasCode('COMMIT_UNKNOWN'));
      if (key !== 'n') assert.equal((await service.getSession(OTHER)).state[key], 1);
      const read = await service.getSession(KEY);
      assert.deepEqual([read.revision, read.state[key]], [1, 1]);
    }
  });

  test('an update of the app, and a creation', async () => {
    const { hooks, service } = await open();
    hooks.after = () => {
      throw connectionLost();
    };
    hooks.before = (change) => {
      if (change.attempt !== undefined) throw connectionLost();
    };
    await assert.rejects(
      service.updateState({ appName: 'app', userId: 'u' }, () => ({ 'app:n': 1 })),
      hasCode('COMMIT_UNKNOWN'),
    );
    assert.equal((await service.getSession(OTHER)).state['app:n'], 1);
    await assert.rejects(
      service.createSession({ ...KEY, sessionId: 'third', state: { 'user:n': 2 } }),
      hasCode('COMMIT_UNKNOWN'),
    );
    assert.equal((await service.getSession(OTHER)).state['user:n'], 2);
  });

  test('a deletion: the session is gone from memory, too', async () => {
    const { service, session, loads } = await open();
    loads.length = 0;
    await service.getSession(KEY);
    assert.equal(loads.length, 0, 'it was in memory');
    await service.deleteSession(KEY);
    assert.equal(await service.getSession(KEY), undefined);
    await assert.rejects(service.appendEvent({ session, event: event() }), hasCode('SESSION_NOT_FOUND'));
    await service.createSession(KEY);
    await assert.rejects(service.appendEvent({ session, event: event() }), hasCode('SESSION_NOT_FOUND'));
  });
});

test('a session that others have deleted can be created, also when it is in memory', async () => {
  const { service, theirs } = hooked();
  await service.createSession({ ...KEY, state: { old: 1 } });
  await theirs.deleteSession(KEY);
  const session = await service.createSession({ ...KEY, state: { anew: 1 } });
  assert.deepEqual(plain(session.state), { anew: 1 });
});

test('a session that was created anew just before the write is another one', async () => {
  const { hooks, service, theirs } = hooked();
  const session = await service.createSession(KEY);
  const anew = async () => {
    hooks.before = undefined;
    await theirs.deleteSession(KEY);
    await theirs.createSession({ ...KEY, state: { anew: 1 } });
  };
  hooks.before = anew;
  await assert.rejects(service.appendEvent({ session, event: event({ x: 1 }) }), hasCode('SESSION_NOT_FOUND'));
  assert.deepEqual(plain((await theirs.getSession(KEY)).state), { anew: 1 });
  hooks.before = anew;
  const seen = [];
  await service.updateState(KEY, (state) => {
    seen.push(state.anew);
    return { y: seen.length };
  });
  const { state, revision } = await theirs.getSession(KEY);
  assert.deepEqual([plain(state), revision, seen.length], [{ anew: 1, y: 2 }, 1, 2]);
});

test('a session that was created anew is read, not joined to what memory has of the old one', async () => {
  const { service, theirs } = hooked();
  const old = await service.createSession({ ...KEY, state: { old: 1 } });
  await service.appendEvent({ session: old, event: event({}, 'old') });
  await theirs.deleteSession(KEY);
  const anew = await theirs.createSession({ ...KEY, state: { anew: 1 } });
  for (const id of ['1', '2']) await theirs.appendEvent({ session: anew, event: event({}, id) });
  const read = await service.getSession(KEY);
  assert.deepEqual([plain(read.state), read.events.map(({ id }) => id)], [{ anew: 1 }, ['1', '2']]);
  assert.deepEqual(
    old.events.map(({ id }) => id),
    ['old'],
  );
});

test('a repetition is found where it stands, also when earlier events are not in memory', async () => {
  const { theirs, inner } = hooked();
  const session = await theirs.createSession(KEY);
  for (const id of ['1', '2', '3']) await theirs.appendEvent({ session, event: event({ id }, id) });
  const service = new SessionService({ store: { ...inner, exclusive: true } });
  const window = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
  for (const id of ['4', '5'])
    await service.appendEvent({ session: window, event: { ...event({ id }, id), timestamp: 1 } });
  const again = await service.appendEvent({ session: window, event: { ...event({ id: '4' }, '4'), timestamp: 1 } });
  assert.equal(again, window.events[0]);
  await assert.rejects(
    service.appendEvent({ session: window, event: event({ id: 'other' }, '5') }),
    hasCode('EVENT_ID_CONFLICT'),
  );
});

describe('a change that is not made leaves nothing in the memory of the module', () => {
  const big = 'x'.repeat(100_000);
  /** The growth of the module, in bytes, when a task runs many times that could leak 100 kB each time. */
  const growth = async (task) => {
    for (let number = 0; number < 20; number++) await task(number);
    const before = wasm.buffer.byteLength;
    for (let number = 20; number < 320; number++) await task(number);
    return wasm.buffer.byteLength - before;
  };
  const cases = {
    'refused appends': async ({ hooks, service, session }) => {
      hooks.before = () => {
        throw new StoreError('rejected', 'no');
      };
      await assert.rejects(service.appendEvent({ session, event: event({ big }) }), hasCode('INVALID_ARGUMENT'));
    },
    'appends that were there': async ({ hooks, service, session, theirs }, number) => {
      const again = { ...event({ 'temp:x': 1, [`k${number % 2}`]: big }, `e${number}`), timestamp: 1 };
      hooks.before = async () => {
        hooks.before = undefined;
        await theirs.appendEvent({
          session: await theirs.getSession({ ...KEY, config: { numRecentEvents: 0 } }),
          event: { ...again, actions: { stateDelta: { [`k${number % 2}`]: big } } },
        });
      };
      await service.appendEvent({ session, event: again });
    },
    'creations of what is there': async ({ service, theirs }, number) => {
      const key = { ...KEY, userId: 'v', sessionId: `s${number}` };
      await theirs.createSession(key);
      await assert.rejects(service.createSession({ ...key, state: { big } }), hasCode('SESSION_EXISTS'));
    },
    'refused updates': async ({ hooks, service }) => {
      hooks.before = () => {
        throw new StoreError('rejected', 'no');
      };
      await assert.rejects(
        service.updateState({ appName: 'app' }, () => ({ 'app:big': big })),
        hasCode('INVALID_ARGUMENT'),
      );
    },
    'appends that the store cannot compare': async ({ inner }) => {
      const service = (growing.service ??= new SessionService({ store: { ...inner, guards: 'keys' } }));
      const session = (growing.session ??= await service.getSession(KEY));
      await assert.rejects(
        service.appendEvent({ session, event: event({ big }), expectedRevision: 0 }),
        hasCode('INVALID_ARGUMENT'),
      );
    },
  };
  const growing = {};
  for (const [name, task] of Object.entries(cases)) {
    test(name, async () => {
      const context = hooked();
      const session = await context.service.createSession(KEY);
      const grown = await growth(async (number) => {
        context.hooks.before = undefined;
        await task({ ...context, session }, number);
      });
      assert.ok(grown < 10_000_000, `${grown} bytes`);
    });
  }
});

test('sessions that were read or appended to leave memory when there is no room', async () => {
  for (const use of [
    (service, key) => service.getSession({ ...key, config: { afterTimestamp: 2 } }),
    async (service, key) => await service.appendEvent({ session: await service.getSession(key), event: event() }),
    (service, key) =>
      service.appendEvent({ session: { appName: 'app', userId: 'u', id: key.sessionId }, event: event() }),
    (service, key) => service.updateState(key, () => ({ x: 1 })),
    async (service, key) =>
      await service.stateAt(await service.getSession({ ...key, config: { numRecentEvents: 0 } }), 0),
    async (service, key) =>
      await service
        .appendEvent({ session: await service.getSession(key), event: event(), expectedRevision: 0 })
        .catch(() => undefined),
  ]) {
    const inner = memoryStore();
    const loads = [];
    const load = async (...given) => {
      loads.push(given[1]);
      return await inner.load(...given);
    };
    const service = new SessionService({ store: { ...inner, exclusive: true, load }, cachedEvents: 3 });
    const keys = Array.from({ length: 10 }, (_, number) => ({ ...KEY, sessionId: `s${number}` }));
    const theirs = new SessionService({ store: inner });
    for (const key of keys) {
      const session = await theirs.createSession(key);
      await theirs.appendEvent({ session, event: event({}, '1') });
      await theirs.appendEvent({ session, event: event({}, '2') });
    }
    for (const key of keys) await use(service, key);
    loads.length = 0;
    // A session in memory needs no load.
    for (const key of keys) await service.getSession({ ...key, config: { numRecentEvents: 0 } });
    assert.ok(loads.length >= 9, `${use}: ${loads.length} loads`);
  }
});

test('a session of more events than there is room for is not loaded for each append', async () => {
  const inner = memoryStore();
  let loads = 0;
  const load = async (...given) => {
    loads += 1;
    return await inner.load(...given);
  };
  const service = new SessionService({ store: { ...inner, load }, cachedEvents: 10 });
  const session = await service.createSession(KEY);
  for (let number = 1; number <= 50; number += 1) {
    await service.appendEvent({ session, event: event({ number }, `${number}`) });
  }
  assert.equal(loads, 0);
  // Another one takes its place.
  await service.appendEvent({ session: await service.createSession({ ...KEY, sessionId: 'other' }), event: event() });
  await service.appendEvent({ session, event: event({ number: 51 }, '51') });
  assert.equal(loads, 1);
  assert.deepEqual([session.events.length, session.state.number], [51, 51]);
});

describe('changes that go together', () => {
  const open = async (commitMany) => {
    const inner = memoryStore();
    const calls = [];
    const store = {
      ...inner,
      watch: undefined,
      commit: async (change, context) => {
        calls.push([change.id]);
        return await inner.commit(change, context);
      },
      commitMany: async (changes, context) => {
        calls.push(changes.map(({ id }) => id));
        return await commitMany(changes, context, inner);
      },
    };
    const service = new SessionService({ store, retry: { attempts: 3, pause: 1 } });
    const sessions = [];
    for (const sessionId of ['1', '2', '3']) sessions.push(await service.createSession({ ...KEY, sessionId }));
    calls.length = 0;
    const append = (session, index) => service.appendEvent({ session, event: event({ index }, `e${index}`) });
    return { sessions, calls, all: () => Promise.allSettled(sessions.map(append)) };
  };

  test('a store that refuses all of them because of one: each goes alone, and the bad one alone fails', async () => {
    const { sessions, calls, all } = await open(async (changes) => {
      throw new StoreError('rejected', `no: ${changes.length}`);
    });
    const outcomes = await all();
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    );
    assert.deepEqual(calls, [['e0', 'e1', 'e2'], ['e0'], ['e1'], ['e2']]);
    assert.deepEqual(
      sessions.map(({ revision }) => revision),
      [1, 1, 1],
    );
    const some = await open(async (changes, context, inner) => {
      if (changes.length > 1) throw new StoreError('rejected', 'one is bad');
      return await inner.commitMany(changes, context);
    });
    some.calls.length = 0;
    assert.deepEqual(
      (await some.all()).map(({ status }) => status),
      ['fulfilled', 'fulfilled', 'fulfilled'],
    );
  });

  test('a store that answers more or fewer changes than it was given says nothing: they are sent again', async () => {
    for (const odd of [(answers) => [...answers, answers[0]], (answers) => answers.slice(1), () => []]) {
      let isOdd = true;
      const { calls, all } = await open(async (changes, context, inner) => {
        const answers = await inner.commitMany(changes, context);
        const given = isOdd ? odd(answers) : answers;
        isOdd = false;
        return given;
      });
      assert.deepEqual(
        (await all()).map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'fulfilled'],
      );
      assert.deepEqual(calls.flat().toSorted(), ['e0', 'e0', 'e1', 'e1', 'e2', 'e2']);
    }
  });
});

describe('over a store that tells no marks', () => {
  /** The answer of a store, without the members that stores may leave out. */
  const bare = (answer) =>
    Object.fromEntries(
      Object.entries(answer).filter(([name]) => !['changed', 'marks', 'last', 'before'].includes(name)),
    );
  const open = (strip) => {
    const { commit, load, list, remove, loadScope } = memoryStore();
    const asked = { load: 0, loadScope: 0 };
    const service = new SessionService({
      store: {
        list,
        remove,
        commit: async (...args) => strip(await commit(...args)),
        load: async (...args) => {
          asked.load += 1;
          const loaded = await load(...args);
          return loaded && strip(loaded);
        },
        loadScope: async (...args) => {
          asked.loadScope += 1;
          return strip(await loadScope(...args));
        },
      },
    });
    return { service, asked };
  };

  test('what is in memory counts as before: it is asked no more often than one that tells them', async () => {
    const outcomes = [];
    for (const strip of [(answer) => answer, bare]) {
      const { service, asked } = open(strip);
      const session = await service.createSession({ ...KEY, state: { n: 0, 'user:n': 0, 'app:n': 0 } });
      for (const name of ['n', 'user:n', 'app:n', 'n']) {
        await service.appendEvent({ session, event: event({ [name]: 1 }) });
        await service.updateState(KEY, (state) => ({ [name]: state[name] + 1 }));
        await service.getSession(KEY);
      }
      const other = await service.createSession(OTHER);
      await service.appendEvent({ session: other, event: event({ 'app:n': 3 }) });
      await service.appendEvent({ session, event: event({ 'user:n': 3 }) });
      outcomes.push({ asked, state: plain((await service.getSession(KEY)).state) });
    }
    const [told, untold] = outcomes;
    assert.deepEqual(untold, told);
    assert.deepEqual(told.state, { n: 2, 'app:n': 3, 'user:n': 3 });
    assert.equal(told.asked.loadScope, 0);
  });
});
