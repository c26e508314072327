// The changes that processes, or a service, write while something is killed; and the checks of the result.

import assert from 'node:assert/strict';
import { plain } from '../contract/read.mjs';

const author = 'agent';
const userId = 'user';
export const sessionIds = ['a', 'b', 'c'];
/** The number of changes that may be on their way at once, and so may be there without having been acknowledged. */
export const atOnce = sessionIds.length;

/** The sessions of an app, which others may have created. */
export async function openSessions(service, appName) {
  return await Promise.all(
    sessionIds.map((sessionId) => service.getOrCreateSession({ appName, userId, sessionId, state: { count: 0 } })),
  );
}

/**
 * Writes without end, until `isOver()`, one change after the other and several at a time: events with a key of each
 * scope, and counters now and then. Tells the id of each that is acknowledged.
 */
export async function writeOn(service, sessions, round, acknowledge, isOver = () => false) {
  const write = async (number, session) => {
    const id = `${round} ${number}`;
    if (number % 5 === 2) {
      const { appName, id: sessionId } = session;
      await service.updateState(
        { appName, userId, sessionId },
        (state) => ({ count: state.count + 1, 'app:count': (state['app:count'] ?? 0) + 1 }),
        { invocationId: id },
      );
    } else {
      const text = 'é'.repeat(number % 7 === 0 ? 5_000 : 10);
      const stateDelta = { [`app:${session.id}`]: id, [`user:${session.id}`]: id, [`k${number % 4}`]: id };
      await service.appendEvent({
        session,
        event: {
          id,
          invocationId: 'i',
          author,
          content: { parts: [{ text: `${id} ${text}` }] },
          actions: { stateDelta },
        },
      });
    }
    acknowledge(id);
  };
  for (let number = 0; !isOver();) {
    if (number % 4 === 3) {
      await Promise.all(sessions.map((session, index) => write(number + index, session)));
      number += sessions.length;
    } else {
      await write(number, sessions[number % sessions.length]);
      number += 1;
    }
  }
}

/**
 * Checks an app with a service and a store that have seen nothing of it yet: each session's state is what its events
 * say in their order, no event is there twice or in part, counters and positions are as many as the events. Answers
 * the ids, in the order of each session.
 */
export async function check(service, store, appName) {
  const ids = [];
  const app = {};
  let [count, moves] = [0, 0];
  const context = { signal: new AbortController().signal };
  for (const sessionId of sessionIds) {
    const session = await service.getSession({ appName, userId, sessionId });
    if (session === undefined) {
      continue;
    }
    const raw = await store.load({ appName, userId, sessionId }, {}, context);
    assert.equal(raw.rev, session.events.length);
    assert.deepEqual(
      raw.events.map(({ rev }) => rev),
      session.events.map((_, index) => index + 1),
    );
    const state = { count: 0 };
    for (const [index, event] of session.events.entries()) {
      assert.deepEqual(JSON.parse(raw.events[index].data), plain(event));
      const isUpdate = event.author !== author;
      const id = isUpdate ? event.invocationId : event.id;
      ids.push(id);
      if (!isUpdate) {
        assert.ok(event.content.parts[0].text.startsWith(`${id} é`));
        assert.equal(Object.keys(event.actions.stateDelta).length, 3);
      } else {
        count += 1;
        assert.equal(event.actions.stateDelta.count, state.count + 1);
      }
      moves += 1;
      Object.assign(state, event.actions.stateDelta);
    }
    const names = Object.keys(state).filter((name) => name !== 'app:count');
    assert.deepEqual(
      Object.fromEntries(names.map((name) => [name, session.state[name]])),
      Object.fromEntries(names.map((name) => [name, state[name]])),
    );
    Object.keys(session.state).forEach((name) =>
      assert.ok(name in state || /^(app|user):/.test(name), `${name} was never written here`),
    );
    Object.assign(
      app,
      Object.fromEntries(names.filter((name) => name.startsWith('app:')).map((name) => [name.slice(4), state[name]])),
    );
  }
  assert.equal(new Set(ids).size, ids.length, 'no event is there twice');
  const scope = await store.loadScope({ app: appName }, context);
  assert.deepEqual({ ...scope.state }, { ...app, ...(count > 0 && { count }) });
  assert.equal(scope.pos, moves, 'the app has moved once for each event');
  return ids;
}

/** Checks what a round has written: all that it acknowledged, and no more than was on its way at the end. */
export function checkRound(ids, round, acknowledged) {
  const mine = new Set(ids.filter((id) => id.startsWith(`${round} `)));
  for (const id of acknowledged) {
    assert.ok(mine.has(id), `${id} was acknowledged and is not there`);
  }
  assert.ok(
    mine.size <= acknowledged.length + atOnce,
    `round ${round}: ${acknowledged.length} acknowledged, ${mine.size} there`,
  );
  return mine.size;
}
