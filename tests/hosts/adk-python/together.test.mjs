// One side changes sessions that the other has open, has made, or lists.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { withDatabase } from '../../stores/postgres/database.mjs';
import { startHost } from './python.mjs';

const keyOf = (sessionId, userId = 'ana') => ({ appName: 'tutor', userId, sessionId });
const nameOf = (session, user = 'ana') => ({ app: 'tutor', user, session });

await withDatabase(async (database) => {
  const pool = database.pool();
  const schema = database.schema();
  await pool.query(`create schema ${schema}`);

  const both = async (t, options = {}) => {
    const python = await startHost(database.url, schema);
    t.after(() => python.stop());
    await python.ask({ do: 'prepare' });
    await pool.query(`truncate ${schema}.sessions, ${schema}.events, ${schema}.app_states, ${schema}.user_states`);
    const service = new SessionService({ store: adkDatabaseStore(pool, { schema }), ...options });
    t.after(() => service.close());
    return { python, service };
  };
  const eventOf = (id, stateDelta = {}, more = {}) => ({
    id,
    invocationId: 'i',
    author: 'user',
    actions: { stateDelta },
    ...more,
  });
  const asStale = { name: 'StaleSessionError' };

  test('adk-python notices what we append to a session that it has in hand, also at the very time of its own event', async (t) => {
    const { python, service } = await both(t);
    await python.ask({ do: 'create', ...nameOf('s') });
    await python.ask({ do: 'append', ...nameOf('s'), event: { ...eventOf('p1'), timestamp: 1_700_000_000.123 } });
    await python.ask({ do: 'get', ...nameOf('s'), hold: 's' });

    const session = await service.getSession(keyOf('s'));
    const timestamp = 1_700_000_000_123;
    for (const id of ['n1', 'n2', 'n3']) {
      await service.appendEvent({ session, event: eventOf(id, {}, { timestamp }) });
      // The time of the session is that of the event, whatever tells adk-python that it has moved.
      assert.equal(session.lastUpdateTime, timestamp);
      assert.equal((await service.listSessions({ appName: 'tutor' })).sessions[0].lastUpdateTime, timestamp);
      const late = { ...eventOf(`late-${id}`), timestamp: 1_700_000_001 };
      await assert.rejects(python.ask({ do: 'append', held: 's', event: late }), asStale);
      await python.ask({ do: 'get', ...nameOf('s'), hold: 's' });
    }
    await python.ask({ do: 'append', held: 's', event: { ...eventOf('p2'), timestamp: 1_700_000_002 } });
    assert.deepEqual(
      (await service.getSession(keyOf('s'))).events.map(({ id }) => id),
      ['p1', 'n1', 'n2', 'n3', 'p2'],
    );
  });

  test('events of one millisecond are read by both in the order in which we have appended them', async (t) => {
    const { python, service } = await both(t);
    const session = await service.createSession(keyOf('s'));
    const timestamp = 1_700_000_000_000;
    const ids = ['m', 'z', 'a', 'y', 'b', 'k'];
    for (const id of ids) await service.appendEvent({ session, event: eventOf(id, {}, { timestamp }) });
    const told = await python.ask({ do: 'get', ...nameOf('s') });
    const read = await service.getSession(keyOf('s'));
    for (const { events } of [told, read, session])
      assert.deepEqual(
        events.map(({ id }) => id),
        ids,
      );
    assert.deepEqual([...new Set(told.events.map((event) => event.timestamp))], [timestamp / 1_000]);
    assert.equal(read.lastUpdateTime, timestamp);
    assert.equal((await service.listSessions({ appName: 'tutor' })).sessions[0].lastUpdateTime, timestamp);
  });

  test('a session that we have made is gone on with by adk-python, and the other way round', async (t) => {
    const { python, service } = await both(t);
    const ours = await service.createSession({ ...keyOf('ours'), state: { a: 1, 'app:b': [2], 'user:c': { d: 3 } } });
    await python.ask({ do: 'append', ...nameOf('ours'), event: eventOf('p1', { a: 2, 'app:x': 1, 'user:y': null }) });
    await service.appendEvent({ session: ours, event: eventOf('n1', { z: true }) });
    const expected = { a: 2, z: true, 'app:b': [2], 'app:x': 1, 'user:c': { d: 3 }, 'user:y': null };
    assert.deepEqual({ ...ours.state }, expected);
    assert.deepEqual((await python.ask({ do: 'get', ...nameOf('ours') })).state, expected);

    await python.ask({ do: 'create', ...nameOf('theirs'), state: { own: 1 } });
    const theirs = await service.getSession(keyOf('theirs'));
    assert.equal(theirs.revision, 0);
    await service.appendEvent({ session: theirs, event: eventOf('n1', { own: 2, 'user:c': 4 }) });
    const told = await python.ask({ do: 'get', ...nameOf('theirs') });
    assert.deepEqual(told.state, { own: 2, 'app:b': [2], 'app:x': 1, 'user:c': 4, 'user:y': null });
    assert.equal(told.lastUpdateTime, theirs.lastUpdateTime / 1_000);
  });

  test('a key that we delete is null in the event and gone from the state, for adk-python, too', async (t) => {
    const { python, service } = await both(t);
    const state = { a: 1, keep: 2, 'app:b': 1, 'user:c': 1 };
    const session = await service.createSession({ ...keyOf('s'), state });
    await service.appendEvent({ session, event: eventOf('n1', { a: DELETED, 'app:b': DELETED, 'user:c': DELETED }) });
    const told = await python.ask({ do: 'get', ...nameOf('s') });
    assert.deepEqual(told.state, { keep: 2 });
    assert.deepEqual(told.events[0].actions.stateDelta, { a: null, 'app:b': null, 'user:c': null });
    assert.deepEqual(told.events[0].customMetadata, { statepad: { deleted: ['a', 'app:b', 'user:c'] } });
    await python.ask({ do: 'append', ...nameOf('s'), event: eventOf('p1', { a: 'again' }) });
    assert.deepEqual({ ...(await service.getSession(keyOf('s'))).state }, { keep: 2, a: 'again' });
  });

  test('what one side deletes is gone for the other', async (t) => {
    const { python, service } = await both(t);
    const session = await service.createSession(keyOf('s'));
    await service.appendEvent({ session, event: eventOf('n1', { 'user:stays': 1 }) });
    await python.ask({ do: 'get', ...nameOf('s'), hold: 's' });
    await python.ask({ do: 'delete', ...nameOf('s') });
    await assert.rejects(service.appendEvent({ session, event: eventOf('n2') }), { code: 'SESSION_NOT_FOUND' });
    assert.equal(await service.getSession(keyOf('s')), undefined);

    await python.ask({ do: 'create', ...nameOf('s'), state: { new: 1 } });
    // The handle is of the session that was there before.
    await assert.rejects(service.appendEvent({ session, event: eventOf('n3') }), { code: 'SESSION_NOT_FOUND' });
    await python.ask({ do: 'get', ...nameOf('s'), hold: 's' });
    await service.deleteSession(keyOf('s'));
    await assert.rejects(python.ask({ do: 'append', held: 's', event: eventOf('p1') }), {
      name: 'SessionNotFoundError',
    });
    assert.equal(await python.ask({ do: 'get', ...nameOf('s') }), null);
    assert.deepEqual(await service.getUserState({ appName: 'tutor', userId: 'ana' }), { stays: 1 });
  });

  test('both may delete a session at the same time, and append to it meanwhile', async (t) => {
    const { python, service } = await both(t);
    for (let round = 0; round < 20; round++) {
      const session = await service.createSession(keyOf('s'));
      for (let index = 0; index < 5; index++) await service.appendEvent({ session, event: eventOf(`n${index}`) });
      const gone = (error) => assert.equal(error.code, 'SESSION_NOT_FOUND');
      await Promise.all([
        python.ask({ do: 'delete', ...nameOf('s') }),
        service.appendEvent({ session, event: eventOf('late') }).catch(gone),
        service.deleteSession(keyOf('s')),
      ]);
      assert.equal(await service.getSession(keyOf('s')), undefined);
    }
    const { rows } = await pool.query(`select count(*)::int as left from ${schema}.events`);
    assert.deepEqual(rows, [{ left: 0 }]);
  });

  test('both list the same sessions with the same state', async (t) => {
    const { python, service } = await both(t);
    for (const user of ['ana', 'bo']) {
      await service.createSession({ ...keyOf('n', user), state: { by: 'node', 'user:name': user } });
      await python.ask({ do: 'create', ...nameOf('p', user), state: { by: 'python', 'app:seen': user } });
    }
    const sorted = (sessions) => sessions.map((each) => JSON.stringify(each)).sort();
    const [ours, theirs] = [
      await service.listSessions({ appName: 'tutor' }),
      await python.ask({ do: 'list', app: 'tutor' }),
    ];
    assert.deepEqual(
      sorted(ours.sessions.map(({ id, userId, state }) => [userId, id, Object.entries(state).sort()])),
      sorted(theirs.map(({ id, user, state }) => [user, id, Object.entries(state).sort()])),
    );
    assert.equal(ours.sessions.length, 4);
  });

  test('adk-python reads the last events of a session, and so do we, in one order', async (t) => {
    const { python, service } = await both(t);
    const session = await service.createSession(keyOf('s'));
    for (const [id, timestamp] of [
      ['b', 2_000],
      ['c', 1_000],
      ['a', 2_000],
      ['d', 1_500],
    ]) {
      await service.appendEvent({ session, event: eventOf(id, {}, { timestamp }) });
    }
    const ids = ({ events }) => events.map(({ id }) => id);
    assert.deepEqual(ids(session), ['c', 'd', 'b', 'a']);
    const config = { num_recent_events: 2 };
    assert.deepEqual(ids(await python.ask({ do: 'get', ...nameOf('s'), config })), ['b', 'a']);
    assert.deepEqual(ids(await service.getSession({ ...keyOf('s'), config: { numRecentEvents: 2 } })), ['b', 'a']);
    const after = { after_timestamp: 1.5 };
    assert.deepEqual(ids(await python.ask({ do: 'get', ...nameOf('s'), config: after })), ['d', 'b', 'a']);
    assert.deepEqual(ids(await service.getSession({ ...keyOf('s'), config: { afterTimestamp: 1_500 } })), [
      'd',
      'b',
      'a',
    ]);
  });
});
