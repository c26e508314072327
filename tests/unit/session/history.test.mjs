// The past of a session: whatever shows it, whoever writes meanwhile, and whatever its store has lost.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, runs } from '../../support/fixtures.mjs';
import { gate } from '../../support/gate.mjs';

const named = { appName: 'app', userId: 'u', id: 's' };
const setting = (stateDelta) => ({ author: 'agent', actions: { stateDelta } });
const notFound = { code: 'SESSION_NOT_FOUND', id: 's' };
const values = (steps) => plain(steps.map(({ to }) => to ?? null));

/** A session that began with `n: 0` and has set `n` to its revision since. */
async function counted(service, revisions) {
  const session = await service.createSession({ ...KEY, state: { n: 0 } });
  for (let n = 1; n <= revisions; n++) {
    await service.appendEvent({ session, event: setting({ n }) });
  }
  return session;
}

/** Fails unless a handle tells all of the past of a session that has been counted, up to its own revision. */
async function tellsAll(service, session, revision) {
  const all = Array.from({ length: revision + 1 }, (_, n) => n);
  assert.deepEqual(values(await service.history(session, 'n')), all);
  for (const n of all) {
    assert.deepEqual(plain(await service.stateAt(session, n)), { n });
  }
  await assert.rejects(service.stateAt(session, revision + 1), {
    code: 'INVALID_ARGUMENT',
    path: 'revision',
    actual: revision,
  });
}

describe('whatever shows a session', () => {
  for (const cachedEvents of [0, 1, 1000]) {
    test(`tells all of its past up to what it shows, while another service writes: room for ${cachedEvents} events`, async () => {
      const store = memoryStore();
      const [here, there] = [new SessionService({ store, cachedEvents }), new SessionService({ store })];
      const writer = await counted(there, 0);
      const held = [];
      for (let n = 1; n <= 4; n++) {
        await there.appendEvent({ session: writer, event: setting({ n }) });
        await here.createSession({ ...KEY, sessionId: `other${n}` });
        await tellsAll(here, named, n);
        held.push(
          [await here.getSession({ ...KEY, config: { numRecentEvents: 0 } }), n],
          [await here.getSession({ ...KEY, config: { afterTimestamp: Infinity } }), n],
          [(await here.listSessions(KEY)).sessions.find(({ id }) => id === 's'), n],
          [await here.getSession(KEY), n],
        );
      }
      for (const [session, revision] of held) {
        await tellsAll(here, session, revision);
        assert.equal(session.revision, revision, 'asking moves no handle');
      }
    });
  }

  test('tells the past though an append leads its handle elsewhere meanwhile', async () => {
    const inner = memoryStore();
    let hold = Promise.resolve();
    let asked = () => undefined;
    const load = async (session, query, context) => {
      if (query.events?.to === 0) {
        asked();
        await hold;
      }
      return await inner.load(session, query, context);
    };
    const [here, there] = [
      new SessionService({ store: { ...inner, load, watch: undefined }, cachedEvents: 1 }),
      new SessionService({ store: inner }),
    ];
    const writer = await counted(there, 3);
    const handle = await here.getSession({ ...KEY, config: { numRecentEvents: 0 } });
    const [asking, held] = [gate(), gate()];
    [asked, hold] = [asking.open, held.opened];
    const answer = here.stateAt(handle, 1);
    await asking.opened;
    await here.createSession({ ...KEY, sessionId: 'other' });
    for (let n = 4; n <= 6; n++) {
      await there.appendEvent({ session: writer, event: setting({ n }) });
    }
    await here.getSession({ ...KEY, config: { numRecentEvents: 1 } });
    await here.appendEvent({ session: handle, event: setting({ n: 7 }) });
    held.open();
    assert.deepEqual(plain(await answer), { n: 1 });
    await tellsAll(here, handle, 7);
  });
});

describe('a session that is gone', () => {
  const handles = {
    'a window': (service) => service.getSession({ ...KEY, config: { numRecentEvents: 0 } }),
    'a row of a list': async (service) => (await service.listSessions(KEY)).sessions[0],
    'all events, but not the creation': (service) => service.getSession(KEY),
    'its name': () => named,
  };
  for (const [name, read] of Object.entries(handles)) {
    test(`is not found by a handle that needs its store: ${name}`, async () => {
      const store = memoryStore();
      const [here, there] = [new SessionService({ store }), new SessionService({ store })];
      await counted(there, 3);
      const session = await read(here);
      await there.deleteSession(KEY);
      await assert.rejects(here.stateAt(session, 1), notFound);
      await assert.rejects(here.history(session, 'n'), notFound);
      await there.createSession({ ...KEY, state: { n: 'anew' } });
      if (session !== named) {
        await assert.rejects(here.stateAt(session, 0), notFound);
        await assert.rejects(here.history(session, 'n'), notFound);
      }
      assert.deepEqual(plain(await here.stateAt(named, 0)), { n: 'anew' });
    });
  }

  test('is told by a handle that has all of it, and by nothing else', async () => {
    for (const service of [new SessionService(), new SessionService({ store: memoryStore() })]) {
      const session = await counted(service, 2);
      await service.deleteSession(KEY);
      await tellsAll(service, session, 2);
      await assert.rejects(service.stateAt(named, 0), notFound);
      await service.createSession({ ...KEY, state: { n: 'anew' } });
      await tellsAll(service, session, 2);
      assert.deepEqual(values(await service.history(named, 'n')), ['anew']);
    }
  });
});

/** A service that reads what `change` made of each event before it was stored. */
async function readingBroken(change, write) {
  const inner = memoryStore({ log: false });
  const broken = (given) => ({ ...given, event: change(given) });
  const commit = async (given, context) => await inner.commit(broken(given), context);
  await write(new SessionService({ store: { ...inner, commit, commitMany: undefined } }));
  return new SessionService({ store: inner });
}

describe('a store without what a session began with', () => {
  const lost = [
    undefined,
    '',
    'null',
    '5',
    '{"timestamp":1}',
    '{"timestamp":"1","state":{}}',
    '{"timestamp":1,"state":null}',
    '{"timestamp":1,"state":[]}',
  ];
  for (const data of lost) {
    test(`has keys that no event wrote as they are, where the others come from the log: ${data}`, async () => {
      const change = ({ kind, event }) =>
        kind !== 'create' ? event : data === undefined ? undefined : { ...event, data };
      const service = await readingBroken(change, async (writer) => {
        const session = await writer.createSession({
          ...KEY,
          state: { kept: 1, moved: 2, gone: 3, 'user:kept': 4, 'app:moved': 5 },
        });
        await writer.appendEvent({ session, event: setting({ new: 6 }) });
        await writer.appendEvent({ session, event: setting({ moved: 7, gone: DELETED, 'app:moved': 8 }) });
      });
      const kept = { kept: 1, 'user:kept': 4 };
      assert.deepEqual(plain(await service.stateAt(named, 0)), kept);
      assert.deepEqual(plain(await service.stateAt(named, 1)), { ...kept, new: 6 });
      assert.deepEqual(plain(await service.stateAt(named, 2)), { ...kept, new: 6, moved: 7, 'app:moved': 8 });
      assert.deepEqual(await service.history(named, 'kept'), []);
      const [moved, ...more] = await service.history(named, 'moved');
      assert.deepEqual([moved.revision, 'from' in moved, moved.to, more], [2, false, 7, []]);
    });
  }

  test('has the key of a later event as an earlier handle shows it', async () => {
    const service = await readingBroken(
      ({ kind, event }) => (kind === 'create' ? undefined : event),
      (writer) => counted(writer, 0),
    );
    const [handle, earlier] = [await service.getSession(KEY), await service.getSession(KEY)];
    await service.appendEvent({ session: handle, event: setting({ m: 1 }) });
    const between = await service.getSession(KEY);
    await service.appendEvent({ session: handle, event: setting({ n: 2 }) });
    assert.deepEqual(plain(await service.stateAt(handle, 0)), {}, 'it is not known what n was');
    assert.deepEqual(plain(await service.stateAt(between, 0)), { n: 0 });
    assert.deepEqual(plain(await service.stateAt(earlier, 0)), { n: 0 });
  });
});

describe('a log that cannot be read is told with its revision', () => {
  const broken = {
    'a delta that is a text': { actions: { stateDelta: 'x' } },
    'a delta that is a list': { actions: { stateDelta: [1] } },
    'deletions that are no list': {
      actions: { stateDelta: { n: null } },
      customMetadata: { statepad: { deleted: 'n' } },
    },
    'a deletion that the delta does not have': {
      actions: { stateDelta: { m: 1 } },
      customMetadata: { statepad: { deleted: ['n'] } },
    },
    'an event that is null': null,
  };
  for (const [name, event] of Object.entries(broken)) {
    test(name, async () => {
      const change = (given) =>
        given.event.data.includes('"n":2') ? { ...given.event, data: JSON.stringify(event) } : given.event;
      const service = await readingBroken(change, (writer) => counted(writer, 3));
      const session = await service.getSession(KEY);
      assert.deepEqual(plain(session.state), { n: 3 });
      for (let times = 0; times < 2; times++) {
        await assert.rejects(service.stateAt(session, 1), {
          code: 'STORE_CORRUPT',
          id: 's',
          message: /revision 2 of session "s"/,
        });
        await assert.rejects(service.history(session, 'n'), { code: 'STORE_CORRUPT' });
      }
      assert.deepEqual(
        plain(await service.stateAt(session, 3)),
        { n: 3 },
        'what it is now does not come from the log',
      );
    });
  }

  test('but an event without a delta wrote nothing', async () => {
    const change = (given) =>
      given.event.data.includes('"n":2')
        ? { ...given.event, data: '{"id":"e","timestamp":1,"actions":{"stateDelta":null}}' }
        : given.event;
    const service = await readingBroken(change, (writer) => counted(writer, 3));
    assert.deepEqual(values(await service.history(named, 'n')), [0, 1, 3]);
  });
});

test('answers are frozen through and through, and their events are those of the session', async () => {
  for (const service of [
    new SessionService({ now: () => 7 }),
    new SessionService({ now: () => 7, store: memoryStore() }),
  ]) {
    const session = await service.createSession({ ...KEY, state: { x: { list: [{}] } } });
    await service.appendEvent({ session, event: { invocationId: 'i', ...setting({ x: [{}], 'temp:t': 1 }) } });
    assert.equal(session.state['temp:t'], 1);
    for (const state of [await service.stateAt(session, 0), await service.stateAt(session, 1)]) {
      assert.deepEqual(Object.keys(state), ['x']);
      assert.equal(Object.getPrototypeOf(state), Object.prototype);
      assert.ok(isFrozen(state));
    }
    const steps = await service.history(session, 'x');
    assert.ok(isFrozen(steps));
    assert.equal(steps[1].event, session.events[0]);
    assert.deepEqual(plain(steps[0]), { revision: 0, timestamp: 7, to: { list: [{}] } });
    assert.deepEqual(Object.keys(steps[1]), ['revision', 'timestamp', 'event', 'from', 'to']);
  }
});

test('nobody is told who does not wait any more, and nothing by a service that is closed', async () => {
  const service = new SessionService({ store: memoryStore() });
  const session = await counted(service, 1);
  const reason = new Error('enough');
  await assert.rejects(service.stateAt(session, 0, { signal: AbortSignal.abort(reason) }), reason);
  await assert.rejects(service.history(session, 'n', { signal: AbortSignal.abort(reason) }), reason);
  await service.close();
  await assert.rejects(service.stateAt(session, 0), { code: 'CLOSED' });
});

// The logs of shared scopes alone have the writes to them; past.test.mjs has the law for services with those logs.
describe('the past is what was there, under random events of sessions that share a user', () => {
  const names = [
    'x',
    'y',
    '',
    '1',
    '__proto__',
    'constructor',
    'app:x',
    'app:y',
    'user:x',
    'user:__proto__',
    'temp:x',
  ];
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(DELETED), fc.constant(null));
  const delta = fc
    .array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 5 })
    .map((entries) => Object.fromEntries(entries));
  const creations = fc.array(delta, { minLength: 1, maxLength: 3 });
  const appends = fc.array(fc.record({ who: fc.nat(2), delta, asks: fc.boolean() }), { maxLength: 15 });
  const kinds = {
    'in memory': () => ({ log: false }),
    'over a store': () => ({ store: memoryStore({ log: false }) }),
    'over a store, with no room': () => ({ store: memoryStore({ log: false }), cachedEvents: 0 }),
  };
  for (const [kind, options] of Object.entries(kinds)) {
    test(kind, async () => {
      const property = fc.asyncProperty(creations, appends, async (states, steps) => {
        const shared = options();
        const service = new SessionService(shared);
        const sessions = [];
        for (const [index, state] of states.entries()) {
          sessions.push({ handle: await service.createSession({ ...KEY, sessionId: `s${index}`, state }), seen: [] });
        }
        sessions.forEach(({ handle, seen }) => seen.push(stored(handle)));
        for (const { who, delta: stateDelta, asks } of steps) {
          const { handle, seen } = sessions[who % sessions.length];
          await service.appendEvent({ session: handle, event: setting(stateDelta) });
          seen.push(stored(handle));
          if (asks) {
            await tells(service, handle, seen, sessions.length === 1);
          }
        }
        const reader = shared.store === undefined ? service : new SessionService(shared);
        for (const {
          handle: { appName, userId, id },
          seen,
        } of sessions) {
          await tells(service, { appName, userId, id }, seen, sessions.length === 1);
          await tells(
            reader,
            await reader.getSession({ appName, userId, sessionId: id, config: { numRecentEvents: 1 } }),
            seen,
            sessions.length === 1,
          );
        }
      });
      await fc.assert(property, { numRuns: runs(150) });
    });
  }

  /** The entries of a state that are stored, in their order. */
  function stored({ state }) {
    return plain(Object.entries(state).filter(([name]) => !name.startsWith('temp:')));
  }

  /**
   * Fails unless a session tells what was seen of it after each append: of shared keys only where nobody else wrote.
   */
  async function tells(service, session, seen, isAlone) {
    const known = (name) => isAlone || !/^(app|user):/.test(name);
    for (const [revision, entries] of seen.entries()) {
      const told = Object.entries(await service.stateAt(session, revision)).filter(([name]) => known(name));
      assert.deepEqual(
        plain(told),
        entries.filter(([name]) => known(name)),
        `revision ${revision}`,
      );
    }
    for (const name of names) {
      const steps = await service.history(session, name);
      steps.forEach(({ revision }, index) => assert.ok(index === 0 || revision > steps[index - 1].revision));
      steps.forEach((step, index) =>
        assert.deepEqual(valueIn(step, 'from'), index === 0 ? [] : valueIn(steps[index - 1], 'to')),
      );
      if (known(name)) {
        for (const [revision, entries] of seen.entries()) {
          const last = steps.findLast((step) => step.revision <= revision) ?? {};
          const wanted = entries.filter(([other]) => other === name).map(([, given]) => given);
          assert.deepEqual(valueIn(last, 'to'), wanted, `${name} at revision ${revision}`);
        }
      }
    }
  }

  /** A value of a step, or none: `null` is a value. */
  function valueIn(step, member) {
    return Object.hasOwn(step, member) ? [plain(step[member])] : [];
  }
});

function isFrozen(value) {
  return (
    typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  );
}
