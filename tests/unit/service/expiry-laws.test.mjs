// Random histories of sessions that expire, against a naive model: an expired session never comes back, and nothing
// else is touched.

import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

const { now } = Date;
after(() => {
  Date.now = now;
});

const IDS = ['a', 'b', 'c'];
const id = fc.constantFrom(...IDS);
const end = fc.oneof(
  fc.record({ ttl: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ expireTime: fc.integer({ min: 1, max: 30 }) }),
  fc.constant({}),
);
const step = fc.oneof(
  fc.record({ do: fc.constant('create'), id, end }),
  fc.record({ do: fc.constant('append'), id, value: fc.nat(9), service: fc.nat(1) }),
  fc.record({ do: fc.constant('late'), id, value: fc.nat(9), service: fc.nat(1) }),
  fc.record({ do: fc.constant('update'), id, value: fc.nat(9), service: fc.nat(1) }),
  fc.record({ do: fc.constant('clock'), by: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ do: fc.constant('sweep'), limit: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant('delete'), id, service: fc.nat(1) }),
);

/** The sessions as they should be. */
class Model {
  time = 1000;
  count = 0;
  sessions = new Map();
  user = 0;

  find(sessionId) {
    const session = this.sessions.get(sessionId);
    return session !== undefined && session.expires > this.time ? session : undefined;
  }

  create(sessionId, { ttl, expireTime }) {
    const expires = expireTime ?? (ttl === undefined ? Infinity : this.time + ttl);
    this.sessions.set(sessionId, { number: (this.count += 1), ttl, expires, x: undefined, revision: 0 });
  }

  write(session, value) {
    session.x = value;
    session.revision += 1;
    session.expires = session.ttl === undefined ? session.expires : this.time + session.ttl;
    this.user += 1;
  }
}

async function codeOf(task) {
  try {
    await task();
    return undefined;
  } catch (error) {
    return error.code;
  }
}

/** Runs a history over two services of one place; in memory they are the same one. */
async function run(services, steps) {
  const model = new Model();
  const handles = new Map();
  Date.now = () => model.time;
  const keyOf = (sessionId) => ({ appName: 'app', userId: 'u', sessionId });
  const event = (value, name) => ({ id: name, actions: { stateDelta: { x: value, 'user:n': model.user + 1 } } });
  for (const [number, each] of steps.entries()) {
    const service = services[each.service ?? 0];
    const there = model.find(each.id);
    const missing = there === undefined ? 'SESSION_NOT_FOUND' : undefined;
    switch (each.do) {
      case 'clock':
        model.time += each.by;
        break;
      case 'create': {
        const { ttl, expireTime } = each.end;
        const asked = expireTime === undefined ? { ttl } : { expireTime: model.time + expireTime };
        const create = async () => handles.set(each.id, await service.createSession({ ...keyOf(each.id), ...asked }));
        assert.equal(await codeOf(create), there && 'SESSION_EXISTS');
        if (there === undefined) {
          model.create(each.id, asked);
        }
        break;
      }
      case 'append': {
        const session = { appName: 'app', userId: 'u', id: each.id };
        const append = () => service.appendEvent({ session, event: event(each.value, `e${number}`) });
        assert.equal(await codeOf(append), missing);
        if (there !== undefined) {
          model.write(there, each.value);
        }
        break;
      }
      case 'late': {
        // Through the handle of the last creation that succeeded, whatever has become of its session.
        const session = handles.get(each.id);
        if (session !== undefined) {
          const append = () => services[0].appendEvent({ session, event: event(each.value, `e${number}`) });
          assert.equal(await codeOf(append), missing);
          if (there !== undefined) {
            model.write(there, each.value);
            assert.equal(session.expireTime ?? Infinity, there.expires);
          }
        }
        break;
      }
      case 'update': {
        const update = () => service.updateState(keyOf(each.id), () => ({ x: each.value, 'user:n': model.user + 1 }));
        assert.equal(await codeOf(update), missing);
        if (there !== undefined) {
          model.write(there, each.value);
        }
        break;
      }
      case 'sweep':
        await service.sweep({ limit: each.limit });
        break;
      case 'delete':
        await service.deleteSession(keyOf(each.id));
        model.sessions.delete(each.id);
        break;
    }
    for (const reader of services) {
      for (const sessionId of IDS) {
        const session = await reader.getSession(keyOf(sessionId));
        const { x, revision, expires } = model.find(sessionId) ?? {};
        assert.deepEqual(
          [session?.state.x, session?.revision, session && (session.expireTime ?? Infinity)],
          [x, revision, expires],
        );
      }
      const { sessions } = await reader.listSessions({ appName: 'app' });
      const listed = sessions.map((session) => session.id).sort();
      assert.deepEqual(
        listed,
        IDS.filter((each) => model.find(each) !== undefined),
      );
      const { n = 0 } = await reader.getUserState({ appName: 'app', userId: 'u' });
      assert.equal(n, model.user);
    }
  }
}

const PLACES = {
  'in memory': (clock) => {
    const service = new SessionService({ now: clock });
    return [service, service];
  },
  'over a store that two services share': (clock) => {
    const store = memoryStore();
    return [new SessionService({ store, now: clock }), new SessionService({ store, now: clock, cachedEvents: 0 })];
  },
  // The clock of the store alone decides.
  'over a store whose clock is ahead of the service': (clock) => {
    const store = memoryStore();
    return [new SessionService({ store, now: () => clock() - 15 }), new SessionService({ store, now: clock })];
  },
};

describe('an expired session never comes back, and nothing else is touched, under random histories', () => {
  for (const [place, open] of Object.entries(PLACES)) {
    it(place, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          await run(
            open(() => Date.now()),
            steps,
          );
        }),
        { numRuns: 60 },
      );
    });
  }
});
