// A store goes back, whatever happens, in whatever order: what services show and acknowledge is what it has.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { plain } from '../contract/read.mjs';
import { event, ids, retry, shown, stored, storeThatGoesBack } from './goes-back.mjs';

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
