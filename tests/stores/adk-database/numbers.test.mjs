// Numbers that others have written and JavaScript cannot hold: 2^53 + 1 is a common key of databases.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStatepadError, SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { withDatabase } from '../postgres/database.mjs';
import { emptyTables, schemaWithTables } from './tables.mjs';

const BIG = '9007199254740993';
const KEY = { appName: 'tutor', userId: 'ana', sessionId: 's' };
const OTHER = { ...KEY, sessionId: 'other' };

await withDatabase(async (database) => {
  const pool = database.pool({ max: 4 });
  const schema = await schemaWithTables(database, pool);

  /** A service over tables in which adk-python has written these states of the app, the user and the session. */
  async function opened(t, { app = '{}', user = '{}', session = '{}', events = [] }, options = {}) {
    await pool.query(emptyTables(schema));
    await pool.query(`insert into ${schema}.app_states values ('tutor', '${app}', now())`);
    await pool.query(`insert into ${schema}.user_states values ('tutor', 'ana', '${user}', now())`);
    for (const [id, state] of [
      ['s', session],
      ['other', '{}'],
    ]) {
      const columns = 'app_name, user_id, id, state, create_time, update_time';
      const values = `'tutor', 'ana', '${id}', '${state}', now(), now()`;
      await pool.query(`insert into ${schema}.sessions (${columns}) values (${values})`);
    }
    for (const [index, data] of events.entries()) {
      const columns = 'id, app_name, user_id, session_id, invocation_id, timestamp, event_data';
      const values = `'e${index}', 'tutor', 'ana', 's', 'i', now() + interval '${index} s', '${data}'`;
      await pool.query(`insert into ${schema}.events (${columns}) values (${values})`);
    }
    const service = new SessionService({ store: adkDatabaseStore(pool, { schema, ...options }), retry: { pause: 1 } });
    t.after(() => service.close());
    return service;
  }

  const textOf = async (table, where = 'true') =>
    (await pool.query(`select state::text as text from ${schema}.${table} where ${where}`)).rows.map(
      ({ text }) => text,
    );
  const corrupt = (message) => (error) => {
    assert.ok(isStatepadError(error) && error.code === 'STORE_CORRUPT', error.stack);
    assert.match(error.message, message);
    return true;
  };

  test('a number that cannot be held is told by its key and its value, and never rounded', async (t) => {
    for (const [state, key] of [
      [{ session: `{"id": ${BIG}, "a": 1}` }, /the value of "id" of session "s" has the number 9007199254740993,/],
      [{ user: `{"id": ${BIG}}` }, /the value of "id" of user "ana" has the number 9007199254740993,/],
      [
        { app: `{"ids": [1, {"x": ${BIG}}]}` },
        /the value of "ids" of app "tutor" has the number 9007199254740993 at \[1\]\.x,/,
      ],
      [
        { session: '{"rate": 0.12345678901234567890}' },
        /"rate" of session "s" has the number 0\.12345678901234567890,/,
      ],
    ]) {
      const service = await opened(t, state);
      await assert.rejects(service.getSession(KEY), corrupt(key));
      const seen = [
        () => service.updateState(KEY, (values) => ({ n: Object.keys(values).length })),
        () => service.updateState(KEY, ({ id }) => ({ id })),
      ];
      for (const run of seen) {
        await assert.rejects(run(), corrupt(/which JavaScript cannot represent/));
      }
    }
    const service = await opened(t, { app: `{"id": ${BIG}}` });
    await assert.rejects(service.getAppState({ appName: 'tutor' }), corrupt(/with the option integers: 'bigint'/));
    await assert.rejects(
      service.updateState({ appName: 'tutor' }, () => ({ 'app:n': 1 })),
      corrupt(/"id" of app "tutor"/),
    );
    assert.deepEqual(await textOf('app_states'), [`{"id": ${BIG}}`]);
  });

  test('a session that has one does not spoil the others', async (t) => {
    const service = await opened(t, { session: `{"id": ${BIG}}` });
    const { sessions, totalItems } = await service.listSessions({ appName: 'tutor' });
    assert.deepEqual([sessions.map(({ id }) => id), totalItems], [['other'], 2]);
    const session = await service.getSession(OTHER);
    await service.appendEvent({ session, event: { actions: { stateDelta: { n: 1, 'app:n': 2 } } } });
    assert.deepEqual(await textOf('sessions', "id = 's'"), [`{"id": ${BIG}}`]);
  });

  test('doubles that JSONB writes in full are no trouble', async (t) => {
    const service = await opened(t, {
      session: '{"far": 1e300, "near": 1e-7, "half": 0.1, "even": 9007199254740992}',
    });
    const { state } = await service.getSession(KEY);
    assert.deepEqual({ ...state }, { far: 1e300, near: 1e-7, half: 0.1, even: 2 ** 53 });
    await service.updateState(KEY, (values) => ({ sum: values.far + values.even }));
    assert.equal((await service.getSession(KEY)).state.sum, 1e300);
  });

  test('an event that has one is told when it is read, and the others are read', async (t) => {
    const part = (value) => `{"content": {"parts": [{"function_call": {"name": "f", "args": {"id": ${value}}}}]}}`;
    const service = await opened(t, { events: [part(BIG), part(7), part('"x"')] });
    const config = { numRecentEvents: 2 };
    assert.equal((await service.getSession({ ...KEY, config })).events.length, 2);
    const told =
      /event 1 of session "s" has the number 9007199254740993 at content\.parts\[0\]\.functionCall\.args\.id,/;
    await assert.rejects(service.getSession(KEY), corrupt(told));
  });

  test('by an option they come as bigints, and keep their digits where they are not touched', async (t) => {
    const integers = 'bigint';
    const event = `{"content": {"parts": [{"function_call": {"name": "f", "args": {"id": -${BIG}}}}]}}`;
    const states = { app: `{"id": ${BIG}}`, user: `{"ids": [${BIG}, 1]}`, session: '{"id": 18446744073709551616}' };
    const service = await opened(t, { ...states, events: [event] }, { integers });
    const session = await service.getSession(KEY);
    assert.deepEqual(
      { ...session.state },
      { id: 2n ** 64n, 'app:id': 2n ** 53n + 1n, 'user:ids': [2n ** 53n + 1n, 1] },
    );
    assert.equal(session.events[0].content.parts[0].functionCall.args.id, -(2n ** 53n) - 1n);
    await service.appendEvent({ session, event: { actions: { stateDelta: { n: 1, 'app:n': 2, 'user:n': 3 } } } });
    assert.equal(session.state['app:id'], 2n ** 53n + 1n);
    const told = await service.updateState(KEY, ({ id, n }) => ({ n: n + 1, odd: id % 2n === 1n }));
    assert.deepEqual([told.n, told.odd], [2, false]);
    await service.updateState({ appName: 'tutor' }, (values) => ({ 'app:last': String(values['app:id']) }));
    assert.match((await textOf('app_states'))[0], new RegExp(`"id": ${BIG}[,}]`));
    assert.match((await textOf('user_states'))[0], new RegExp(`"ids": \\[${BIG}, 1\\]`));
    assert.match((await textOf('sessions', "id = 's'"))[0], /"id": 18446744073709551616[,}]/);
    assert.equal((await service.getAppState({ appName: 'tutor' })).last, BIG);
    const { sessions } = await service.listSessions({ appName: 'tutor' });
    assert.equal(sessions.find(({ id }) => id === 's').state.id, 2n ** 64n);
  });

  test('values that others change meanwhile are compared by all their digits', async (t) => {
    const service = await opened(t, { app: `{"id": ${BIG}}` }, { integers: 'bigint' });
    let runs = 0;
    await service.updateState({ appName: 'tutor' }, async ({ 'app:id': id }) => {
      runs += 1;
      if (runs === 1) {
        // As a double it is the same.
        await pool.query(`update ${schema}.app_states set state = '{"id": 9007199254740992}'`);
      }
      return { 'app:seen': String(id) };
    });
    assert.deepEqual([runs, (await service.getAppState({ appName: 'tutor' })).seen], [2, '9007199254740992']);
  });

  test('a number that is no integer, or too long, cannot be read by the option either', async (t) => {
    const service = await opened(t, { session: '{"rate": 0.12345678901234567890}' }, { integers: 'bigint' });
    await assert.rejects(service.getSession(KEY), corrupt(/"rate" of session "s" has the number 0\.1234/));
  });
});
