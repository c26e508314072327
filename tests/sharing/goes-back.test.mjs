// A store goes back, and others write the same revisions and positions: no service goes on serving what is not there,
// and nothing is acknowledged on top of it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { plain } from '../contract/read.mjs';
import { storeThatGoesBack } from './goes-back.mjs';
import { KEY } from '../support/fixtures.mjs';

const retry = { attempts: 1 };
const event = (id, stateDelta = {}) => ({ id, author: 'agent', timestamp: 1, actions: { stateDelta } });
const ids = ({ events }) => events.map(({ id }) => id);

/** A session as the store has it, in the form in which a service shows it. */
async function stored(back, key = KEY) {
  const found = await back.has(key);
  if (found === null) return undefined;
  const full = (prefix, values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value]));
  const { session, app, user } = found.state;
  const state = plain({ ...session, ...full('app:', app), ...full('user:', user) });
  return { state, ids: found.events.map(({ data }) => JSON.parse(data).id), revision: found.rev };
}

const shown = (session) => session && { state: plain(session.state), ids: ids(session), revision: session.revision };

async function open(options) {
  const back = storeThatGoesBack(options);
  const [ours, theirs] = [
    new SessionService({ store: back.store, retry }),
    new SessionService({ store: back.store, retry }),
  ];
  return { back, ours, theirs };
}

/** A service has two events, the store goes back by one, and others write another second one. */
async function diverged(options) {
  const { back, ours, theirs } = await open(options);
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0 } });
  await ours.appendEvent({ session, event: event('1', { x: 1, 'app:n': 1, 'user:n': 1 }) });
  const snapshot = back.snapshot();
  await ours.appendEvent({ session, event: event('2', { x: 2, y: 2, 'app:n': 2, 'user:n': 2, 'app:lost': 2 }) });
  await back.restore(snapshot);
  const other = async (id) =>
    await theirs.appendEvent({
      session: await theirs.getSession(KEY),
      event: event(id, { x: id, 'app:n': id, 'user:n': id }),
    });
  return { back, ours, theirs, session, other };
}

test('what others have written at the same revision is read', async () => {
  const { back, ours, session, other } = await diverged();
  await other('theirs');
  const read = await ours.getSession(KEY);
  assert.deepEqual(shown(read), await stored(back));
  assert.deepEqual(ids(read), ['1', 'theirs']);
  assert.deepEqual(ids(session), ['1', '2'], 'a handle does not move by itself');
  assert.equal(read.state['app:lost'], undefined);
});

for (const count of [0, 1, 2]) {
  test(`an append after ${count} events of others is stored at the store's revision, and its handle shows the store's log`, async () => {
    const { back, ours, session, other } = await diverged();
    for (let number = 0; number < count; number++) await other(`theirs ${number}`);
    await ours.appendEvent({ session, event: event('3', { z: 3, 'app:m': 3 }) });
    assert.deepEqual(shown(session), await stored(back));
    assert.equal(ids(session).at(-1), '3');
    assert.equal(session.state.y, undefined);
    await ours.appendEvent({ session, event: event('4') });
    assert.deepEqual(shown(session), await stored(back));
  });
}

test('an event that the store has lost is not acknowledged as a repetition: it is stored again', async () => {
  for (const count of [0, 1]) {
    const { back, ours, session, other } = await diverged();
    for (let number = 0; number < count; number++) await other(`theirs ${number}`);
    await ours.appendEvent({ session, event: event('2', { x: 2, y: 2, 'app:n': 2, 'user:n': 2, 'app:lost': 2 }) });
    assert.equal((await stored(back)).ids.at(-1), '2');
    assert.deepEqual(shown(session), await stored(back));
    await ours.appendEvent({ session, event: event('2', { x: 2, y: 2, 'app:n': 2, 'user:n': 2, 'app:lost': 2 }) });
    assert.equal((await stored(back)).ids.filter((id) => id === '2').length, 1);
  }
});

test('windows over the events show those of the store', async () => {
  for (const config of [
    { numRecentEvents: 1 },
    { numRecentEvents: 0 },
    { afterTimestamp: 0 },
    { afterTimestamp: 2 },
    { numRecentEvents: 5 },
  ]) {
    const { ours, other } = await diverged();
    const window = await ours.getSession({ ...KEY, config });
    await other('theirs');
    const read = await ours.getSession({ ...KEY, config });
    const all = ['1', 'theirs'].filter(() => (config.afterTimestamp ?? 0) < 2);
    const expected = all.slice(Math.max(0, all.length - (config.numRecentEvents ?? Infinity)));
    assert.deepEqual(ids(read), expected, JSON.stringify(config));
    await ours.appendEvent({ session: window, event: event('3') });
    assert.equal(ids(window).at(-1), '3');
    assert.equal(ids(window).includes('2'), false);
  }
});

test('a window that was read from a longer log shows the end of the one that is there; until then what it showed', async () => {
  const { back, ours, theirs } = await open();
  const session = await ours.createSession(KEY);
  await ours.appendEvent({ session, event: event('1') });
  const snapshot = back.snapshot();
  for (const id of ['2', '3', '4', '5']) await ours.appendEvent({ session, event: event(id) });
  const [window, failing] = [
    await ours.getSession({ ...KEY, config: { numRecentEvents: 2 } }),
    await ours.getSession(KEY),
  ];
  await back.restore(snapshot);
  await theirs.getSession(KEY);
  await ours.getSession(KEY);
  await assert.rejects(
    ours.appendEvent({ session: failing, event: event('6'), expectedRevision: 5 }),
    ({ code }) => code === 'SESSION_STALE',
  );
  assert.deepEqual(ids(failing), ['1', '2', '3', '4', '5']);
  await ours.appendEvent({ session: window, event: event('7') });
  assert.deepEqual([ids(window), window.revision], [['1', '7'], 2]);
});

test('a window by time that is loaded in two steps', async () => {
  const { back, ours, other } = await diverged();
  const fresh = new SessionService({ store: back.store, retry, cachedEvents: 0 });
  const window = await fresh.getSession({ ...KEY, config: { afterTimestamp: 0 } });
  await other('theirs');
  assert.deepEqual(ids(window), ['1']);
  await fresh.appendEvent({ session: window, event: event('3') });
  assert.deepEqual(ids(window), ['1', 'theirs', '3']);
  await ours.close();
});

test('the past is told of what the store has', async () => {
  const { ours, other } = await diverged();
  await other('theirs');
  const read = await ours.getSession(KEY);
  assert.deepEqual(plain(await ours.stateAt(read, 1)).x, 1);
  assert.deepEqual(
    (await ours.history(read, 'x')).map(({ to }) => to),
    [1, 'theirs'],
  );
});

test('a session that left memory is compared when its handle brings it back', async () => {
  const back = storeThatGoesBack();
  const little = new SessionService({ store: back.store, retry, cachedEvents: 1 });
  const theirs = new SessionService({ store: back.store, retry });
  const session = await little.createSession(KEY);
  await little.appendEvent({ session, event: event('1', { x: 1 }) });
  const snapshot = back.snapshot();
  await little.appendEvent({ session, event: event('2', { x: 2 }) });
  await little.createSession({ ...KEY, sessionId: 'other' });
  await back.restore(snapshot);
  for (const id of ['a', 'b', 'c']) {
    await theirs.appendEvent({ session: await theirs.getSession(KEY), event: event(id, { x: id }) });
  }
  await little.appendEvent({ session, event: event('d', { y: 1 }) });
  assert.deepEqual(shown(session), await stored(back));
  assert.deepEqual(ids(session), ['1', 'a', 'b', 'c', 'd']);
});

test('a session that was created after the backup is gone', async () => {
  const { back, ours } = await open();
  const snapshot = back.snapshot();
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 1 } });
  await back.restore(snapshot);
  assert.equal(await ours.getSession(KEY), undefined);
  await assert.rejects(ours.appendEvent({ session, event: event('1') }), ({ code }) => code === 'SESSION_NOT_FOUND');
  const anew = await ours.createSession({ ...KEY, state: { 'app:m': 1 } });
  assert.deepEqual(shown(anew), await stored(back));
});

test('app and user state that is lost alone is noticed by its position, and by its mark', async () => {
  for (const others of [0, 1, 2]) {
    const { back, ours, theirs } = await open();
    const add = (name, value) =>
      ours.updateState({ appName: 'app', userId: 'u' }, () => ({ [`app:${name}`]: value, [`user:${name}`]: value }));
    const session = await ours.createSession(KEY);
    await add('one', 1);
    const snapshot = back.snapshot();
    await ours.getSession(KEY);
    await add('two', 2);
    await ours.getSession(KEY);
    await back.restore(snapshot);
    for (let number = 0; number < others; number++) {
      await theirs.updateState({ appName: 'app', userId: 'u' }, () => ({
        [`app:t${number}`]: number,
        [`user:t${number}`]: number,
      }));
    }
    await ours.appendEvent({ session, event: event('1', others === 2 ? {} : { 'app:own': 1, 'user:own': 1 }) });
    assert.deepEqual(shown(session), await stored(back), `${others}`);
    assert.deepEqual(shown(await ours.getSession(KEY)), await stored(back));
    const anew = await ours.createSession({ ...KEY, sessionId: 't', state: { 'app:last': 1 } });
    assert.deepEqual(shown(anew), await stored(back, { ...KEY, sessionId: 't' }));
  }
});

test('over a store of which nobody else writes, an append notices', async () => {
  const back = storeThatGoesBack({ exclusive: true });
  const ours = new SessionService({ store: back.store, retry });
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 1 } });
  await ours.appendEvent({ session, event: event('1', { x: 1 }) });
  const snapshot = back.snapshot();
  await ours.appendEvent({ session, event: event('2', { x: 2, 'app:n': 2 }) });
  await back.restore(snapshot);
  await ours.appendEvent({ session, event: event('3', { y: 3 }) });
  assert.deepEqual(shown(session), await stored(back));
  assert.deepEqual(shown(await ours.getSession(KEY)), await stored(back));
});

test('without marks, a lower revision and a lower position are noticed all the same', async () => {
  const { back, ours, session } = await diverged({ without: ['marks', 'changed'] });
  await ours.appendEvent({ session, event: event('3', { z: 3 }) });
  assert.deepEqual(shown(session), await stored(back));
  const again = await diverged({ without: ['marks', 'changed'] });
  assert.deepEqual(shown(await again.ours.getSession(KEY)), await stored(again.back));
});

// Whatever happens, in whatever order.

const operation = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append'),
      by: fc.nat(1),
      at: fc.nat(2),
      name: fc.constantFrom('k', 'app:k', 'user:k', 'app:l'),
      isDeletion: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('update'),
      by: fc.nat(1),
      at: fc.nat(2),
      name: fc.constantFrom('k', 'app:k', 'user:k'),
      isDeletion: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('read'),
      by: fc.nat(1),
      at: fc.nat(2),
      last: fc.option(fc.nat(3), { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('create', 'delete', 'again'), by: fc.nat(1), at: fc.nat(2) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('snapshot') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore'), which: fc.nat(5) }) },
);
const HOMES = [
  ['u', 's0'],
  ['u', 's1'],
  ['v', 's2'],
].map(([userId, sessionId]) => ({ appName: 'app', userId, sessionId }));

describe('whatever is read or acknowledged is what the store has', () => {
  for (const cachedEvents of [100_000, 3]) {
    for (const without of [[], ['changed']]) {
      test(`two services with room for ${cachedEvents} events, a store that tells all but ${without.join() || 'nothing'}`, () =>
        fc.assert(
          fc.asyncProperty(fc.array(operation, { minLength: 10, maxLength: 60 }), async (operations) => {
            const back = storeThatGoesBack({ without });
            const services = [0, 1].map(() => new SessionService({ store: back.store, retry, cachedEvents }));
            const handles = [new Map(), new Map()];
            const snapshots = [];
            const last = new Map();
            /** By event, how many snapshots were taken before it. */
            const snapshotsAt = new Map();
            for (const key of HOMES) await services[0].createSession(key);
            snapshots.push(back.snapshot());
            let count = 0;
            for (const { kind, by, at, which, name, isDeletion, last: numRecentEvents } of operations) {
              const [service, key] = [services[by], HOMES[at]];
              const value = `${kind} ${(count += 1)}`;
              if (kind === 'snapshot') {
                snapshots.push(back.snapshot());
              } else if (kind === 'restore') {
                await back.restore(snapshots[which % snapshots.length]);
              } else if (kind === 'read') {
                const session = await service.getSession({
                  ...key,
                  config: numRecentEvents === undefined ? undefined : { numRecentEvents },
                });
                const expected = await stored(back, key);
                const window =
                  numRecentEvents === undefined
                    ? expected?.ids
                    : expected?.ids.slice(Math.max(0, expected.ids.length - numRecentEvents));
                assert.deepEqual(shown(session), expected && { ...expected, ids: window });
                if (session !== undefined && numRecentEvents === undefined) handles[by].set(at, session);
              } else if (kind === 'create') {
                if ((await back.has(key)) === null) {
                  const session = await service.createSession({ ...key, state: { 'app:k': value, k: value } });
                  handles[by].set(at, session);
                  assert.deepEqual(shown(session), await stored(back, key));
                }
              } else if (kind === 'delete') {
                await service.deleteSession(key);
                assert.equal(await back.has(key), null);
              } else if (kind === 'update') {
                const exists = (await back.has(key)) !== null;
                const target =
                  name === 'k' ? key : name === 'user:k' ? { appName: 'app', userId: key.userId } : { appName: 'app' };
                const result = await service
                  .updateState(target, (state) => ({
                    [name]: isDeletion ? DELETED : `${state[name] ?? ''}`.slice(-20) + value,
                  }))
                  .catch(({ code }) => code);
                if (name === 'k' && !exists) {
                  assert.equal(result, 'SESSION_NOT_FOUND');
                } else if (exists) {
                  const { state } = await stored(back, key);
                  const scope = Object.entries(state).filter(
                    ([each]) =>
                      name === 'k' || each.startsWith('app:') || (name === 'user:k' && each.startsWith('user:')),
                  );
                  assert.deepEqual(plain(result), Object.fromEntries(scope));
                }
              } else {
                // An append through a handle that may be of a log that is gone; `again` sends the last event once
                // more.
                const session = handles[by].get(at) ?? (await service.getSession(key));
                if (session === undefined) continue;
                handles[by].set(at, session);
                const given =
                  kind === 'again' ? last.get(session) : event(value, { [name]: isDeletion ? DELETED : value });
                if (given === undefined) continue;
                // An event that comes back at its old revision after other events: the store tells a log by its
                // revision and its last event, and a restored one with this event there looks the same.
                const isAway = kind === 'again' && !(await stored(back, key))?.ids.includes(given.id);
                if (isAway && snapshotsAt.get(given.id) < snapshots.length) continue;
                if (kind !== 'again') snapshotsAt.set(given.id, snapshots.length);
                last.set(session, given);
                try {
                  await service.appendEvent({ session, event: given });
                  assert.deepEqual(shown(session), await stored(back, key));
                  assert.ok(ids(session).includes(given.id));
                } catch (error) {
                  assert.equal(error.code, 'SESSION_NOT_FOUND', error.stack);
                  handles[by].delete(at);
                }
              }
            }
            for (const service of services) {
              for (const key of HOMES) assert.deepEqual(shown(await service.getSession(key)), await stored(back, key));
            }
          }),
          { numRuns: 150, includeErrorInReport: true },
        ));
    }
  }
});

test('whatever was under way when the store went back, all services come to show what it has', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(operation, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 }),
      fc.infiniteStream(fc.nat(3)),
      async (batches, delays) => {
        const back = storeThatGoesBack();
        const later = async () => {
          for (let left = delays.next().value; left > 0; left--) await new Promise((resolve) => setImmediate(resolve));
        };
        // Answers overtake each other.
        const slow =
          (method) =>
          async (...args) => {
            await later();
            try {
              return await back.store[method](...args);
            } finally {
              await later();
            }
          };
        const store = Object.fromEntries(
          Object.entries(back.store).map(([name, value]) => [name, typeof value === 'function' ? slow(name) : value]),
        );
        const services = [0, 1].map(() => new SessionService({ store, retry, cachedEvents: 5 }));
        for (const key of HOMES) await services[0].createSession(key);
        const handles = await Promise.all(
          services.map((service) => Promise.all(HOMES.map((key) => service.getSession(key)))),
        );
        const snapshots = [back.snapshot()];
        let count = 0;
        for (const batch of batches) {
          await Promise.allSettled(
            batch.map(async ({ kind, by, at, which, name, isDeletion }) => {
              const [service, key] = [services[by], HOMES[at]];
              const delta = { [name ?? 'k']: isDeletion ? DELETED : `${kind} ${(count += 1)}` };
              if (kind === 'snapshot') snapshots.push(back.snapshot());
              else if (kind === 'restore') await back.restore(snapshots[which % snapshots.length]);
              else if (kind === 'read') await service.getSession(key);
              else if (kind === 'update') await service.updateState(key, () => delta);
              else if (kind === 'append')
                await service.appendEvent({ session: handles[by][at], event: event(`${(count += 1)}`, delta) });
            }),
          );
          for (const [by, service] of services.entries()) {
            for (const [at, key] of HOMES.entries()) {
              assert.deepEqual(shown(await service.getSession(key)), await stored(back, key));
              await service.appendEvent({ session: handles[by][at], event: event(`${(count += 1)}`) });
              assert.deepEqual(shown(handles[by][at]), await stored(back, key));
            }
          }
        }
      },
    ),
    { numRuns: 100, includeErrorInReport: true },
  ));
