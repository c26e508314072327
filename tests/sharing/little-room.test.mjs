// A service with room for few events, and many sessions over a store: those that nobody uses are dropped, and come
// back.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteFiles } from './databases.mjs';
import { observed } from './observed.mjs';
import { openStore } from './places.mjs';

const [SESSIONS, EVENTS, CACHED] = [200, 5, 50];
/** The number of sessions with their events that have room, one more for each session itself. */
const ROOM = Math.ceil(CACHED / (EVENTS + 1));

const files = sqliteFiles();
after(files.stop);

const kinds = {
  // Nobody is told what others do, so that whatever is loaded was asked for.
  memory: async () => ({ store: { ...memoryStore(), watch: undefined }, end: async () => {} }),
  sqlite: async () => await openStore(files.newPlace()),
};

const numbers = (count) => Array.from({ length: count }, (_, index) => index);
const keyOf = (number) => ({
  appName: 'a',
  userId: `u${number % 7}`,
  sessionId: `s${String(number).padStart(3, '0')}`,
});
const ids = (session) => session.events.map(({ id }) => id);
const idsOf = (count) => numbers(count).map((index) => `e${index}`);

/** Events of a session. Their times are in no order. */
const TIMES = [50, 10, 40, 20, 30];
const eventOf = (number, index) => ({
  id: `e${index}`,
  author: 'agent',
  timestamp: TIMES[index % TIMES.length],
  actions: {
    stateDelta: { last: index, [`k${index}`]: number, 'app:last': `${number} ${index}`, [`user:k${number}`]: index },
  },
});

/** The state of its own that the session of that number shows after so many events. */
function ownState(number, count) {
  return { last: count - 1, ...Object.fromEntries(numbers(count).map((index) => [`k${index}`, number])) };
}

function own(session) {
  return Object.fromEntries(Object.entries(session.state).filter(([key]) => !key.includes(':')));
}

/** A service with little room after it has written all sessions, their handles, and what it loads from now on. */
async function withSessions(kind, use, options = { cachedEvents: CACHED }) {
  const { store: inner, end } = await kinds[kind]();
  const { store, loads } = observed(inner);
  const service = new SessionService({ store, ...options });
  try {
    const handles = [];
    for (const number of numbers(SESSIONS)) {
      handles.push(await service.createSession(keyOf(number)));
    }
    for (const index of numbers(EVENTS)) {
      await Promise.all(
        handles.map((session, number) => service.appendEvent({ session, event: eventOf(number, index) })),
      );
    }
    loads.length = 0;
    await use(service, handles, loads);
  } finally {
    await service.close();
    await end();
  }
}

for (const kind of Object.keys(kinds)) {
  test(`${kind}: every handle goes on showing its session, and can append, however many there are`, () =>
    withSessions(kind, async (service, handles, loads) => {
      handles.forEach((session, number) => {
        assert.deepEqual(ids(session), idsOf(EVENTS));
        assert.deepEqual(own(session), ownState(number, EVENTS));
      });
      assert.equal(loads.length, 0);

      for (const [number, session] of handles.entries()) {
        await service.appendEvent({ session, event: eventOf(number, EVENTS) });
        assert.deepEqual(ids(session), idsOf(EVENTS + 1));
        assert.deepEqual(own(session), ownState(number, EVENTS + 1));
        assert.equal(session.state['app:last'], `${number} ${EVENTS}`);
        assert.equal(session.state[`user:k${number}`], EVENTS);
        assert.equal(session.revision, EVENTS + 1);
      }
      // All of them were dropped but a few, and each was loaded once, from the last event on that its handle knows.
      assert.ok(loads.length <= SESSIONS, `${loads.length} loads`);
      assert.ok(loads.length >= SESSIONS - ROOM, `${loads.length} loads`);
      assert.deepEqual(
        [...new Set(loads.map(({ events }) => JSON.stringify(events)))],
        [JSON.stringify({ from: EVENTS })],
      );

      // The last one is still there.
      loads.length = 0;
      await service.appendEvent({ session: handles.at(-1), event: eventOf(SESSIONS - 1, EVENTS + 1) });
      assert.equal(loads.length, 0);

      for (const [number, session] of handles.entries()) {
        const read = await service.getSession(keyOf(number));
        assert.deepEqual(ids(read), idsOf(number === SESSIONS - 1 ? EVENTS + 2 : EVENTS + 1));
        assert.deepEqual(ids(session), ids(read));
        assert.deepEqual(own(session), own(read));
      }
    }));

  test(`${kind}: with room for all, nothing is loaded`, () =>
    withSessions(
      kind,
      async (service, handles, loads) => {
        for (const [number, session] of handles.entries()) {
          await service.appendEvent({ session, event: eventOf(number, EVENTS) });
        }
        assert.equal(loads.length, 0);
      },
      {},
    ));

  test(`${kind}: all sessions at once have no room either, and are complete`, () =>
    withSessions(kind, async (service, handles) => {
      await Promise.all(
        handles.flatMap((session, number) => [
          service.appendEvent({ session, event: eventOf(number, EVENTS) }),
          service.appendEvent({ session, event: eventOf(number, EVENTS + 1) }),
          service.updateState({ appName: 'a' }, ({ 'app:n': n = 0 }) => ({ 'app:n': n + 1 })),
        ]),
      );
      for (const [number, session] of handles.entries()) {
        assert.deepEqual(ids(session), idsOf(EVENTS + 2));
        assert.deepEqual(own(session), ownState(number, EVENTS + 2));
        const read = await service.getSession(keyOf(number));
        assert.deepEqual(ids(read), idsOf(EVENTS + 2));
        assert.equal(read.state['app:n'], SESSIONS);
      }
    }));

  test(`${kind}: windows of sessions that are not in memory are right, and can append`, () =>
    withSessions(kind, async (service) => {
      for (const [config, shown] of [
        [{ numRecentEvents: 2 }, ['e3', 'e4']],
        [{ numRecentEvents: 0 }, []],
        [{ numRecentEvents: EVENTS + 1 }, idsOf(EVENTS)],
        [{ afterTimestamp: 30 }, ['e0', 'e2', 'e4']],
        [{ afterTimestamp: 30, numRecentEvents: 2 }, ['e2', 'e4']],
        [{ afterTimestamp: 51 }, []],
        [{ afterTimestamp: -1 }, idsOf(EVENTS)],
      ]) {
        const windows = [];
        for (const number of numbers(SESSIONS).filter((each) => each % 10 === 0)) {
          const session = await service.getSession({ ...keyOf(number), config });
          assert.deepEqual(ids(session), shown, JSON.stringify(config));
          assert.deepEqual(own(session), ownState(number, EVENTS));
          assert.equal(session.revision, EVENTS);
          windows.push(session);
        }
        // They show the same when the session has been dropped meanwhile, and what comes after.
        for (const session of windows) {
          assert.deepEqual(ids(session), shown);
          await service.appendEvent({
            session,
            event: { id: 'more', timestamp: 0, author: 'agent', actions: { stateDelta: { more: 1 } } },
          });
          assert.deepEqual(ids(session), [...shown, 'more']);
          assert.equal(session.state.more, 1);
        }
        for (const { appName, userId, id: sessionId } of windows) {
          await service.deleteSession({ appName, userId, sessionId });
          const session = await service.createSession({ appName, userId, sessionId });
          for (const index of numbers(EVENTS)) {
            await service.appendEvent({ session, event: eventOf(Number(sessionId.slice(1)), index) });
          }
        }
      }
    }));

  test(`${kind}: the rows of a list can append`, () =>
    withSessions(kind, async (service) => {
      const rows = [];
      for (let cursor; rows.length < SESSIONS;) {
        const page = await service.listSessions({ appName: 'a', limit: 60, ...(cursor && { cursor }) });
        assert.equal(page.totalItems, SESSIONS);
        rows.push(...page.sessions);
        cursor = page.cursor;
      }
      const numberOf = ({ id }) => Number(id.slice(1));
      assert.deepEqual(
        rows.map(numberOf).sort((a, b) => a - b),
        numbers(SESSIONS),
      );
      for (const session of rows) {
        const number = numberOf(session);
        assert.deepEqual([ids(session), own(session)], [[], ownState(number, EVENTS)]);
        await service.appendEvent({ session, event: eventOf(number, EVENTS) });
        assert.deepEqual([ids(session), own(session)], [[`e${EVENTS}`], ownState(number, EVENTS + 1)]);
        assert.equal(session.revision, EVENTS + 1);
        assert.equal(session.state[`user:k${number}`], EVENTS);
      }
      for (const number of numbers(SESSIONS)) {
        assert.deepEqual(ids(await service.getSession(keyOf(number))), idsOf(EVENTS + 1));
      }
    }));
}
