// A service over the tables of adk-python: what it does, and what it refuses by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELETED, increment, SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { append, codeOf, context, create, keyOf, withDatabase } from '../postgres/database.mjs';
import { emptyTables, schemaWithTables } from './tables.mjs';

const KEY = { appName: 'tutor', userId: 'ana', sessionId: 's' };

await withDatabase(async (database) => {
  const pool = database.pool({ max: 8 });
  const schema = await schemaWithTables(database, pool);
  const serviceOf = (t, options = {}) => {
    const service = new SessionService({ store: adkDatabaseStore(pool, { schema }), ...options });
    t.after(() => service.close());
    return service;
  };
  const opened = async (t, state = {}) => {
    await pool.query(emptyTables(schema));
    const service = serviceOf(t);
    return { service, session: await service.createSession({ ...KEY, state }) };
  };
  const eventOf = (id, stateDelta = {}, more = {}) => ({
    id,
    invocationId: 'i',
    author: 'user',
    actions: { stateDelta },
    ...more,
  });
  const refused = (message) => ({ code: 'INVALID_ARGUMENT', message });

  test('what needs revisions, beginnings, leases or operators is refused by name', async (t) => {
    const { service, session } = await opened(t, { n: 1 });
    await service.appendEvent({ session, event: eventOf('e1', { n: 2 }) });
    const none = /the store does not keep revisions/;
    await assert.rejects(service.stateAt(session, 0), refused(none));
    await assert.rejects(service.rewind(session, { before: 'i' }), refused(none));
    await assert.rejects(service.redo(session), refused(none));
    await assert.rejects(service.fork(session), refused(none));
    await assert.rejects(service.history({ appName: 'tutor', key: 'app:n' }), refused(none));
    await assert.rejects(service.lease(session), refused(/does not support leases/));
    const strict = { session, event: eventOf('e2'), expectedRevision: 1 };
    await assert.rejects(service.appendEvent(strict), refused(/does not compare revisions/));
    const counting = { session, event: eventOf('e2', { n: increment() }) };
    await assert.rejects(service.appendEvent(counting), refused(/does not keep operators/));
    assert.equal((await service.getSession(KEY)).revision, 1);
  });

  test('ids, names and values that the tables cannot keep are refused by name, and nothing is sent', async (t) => {
    const { service, session } = await opened(t);
    const long = 'x'.repeat(129);
    const create = (key) => service.createSession({ ...KEY, ...key });
    const add = (id, stateDelta, more) => service.appendEvent({ session, event: eventOf(id, stateDelta, more) });
    for (const [promise, message] of [
      [
        create({ appName: long }),
        /the name of the app has 129 characters, but the tables of adk-python keep at most 128/,
      ],
      [create({ userId: 'a\0b' }), /the id of the user has the character NUL/],
      [create({ sessionId: long }), /the id of the session has 129 characters/],
      [
        create({ sessionId: 'new', state: { 'app:a': { list: ['\0'] } } }),
        /the state of the app\["a"\]\["list"\]\[0\] has the character NUL/,
      ],
      [add(long), /the id of the event has 129 characters/],
      [
        add('e1', {}, { invocationId: 'i'.repeat(257) }),
        /the invocationId of event "e1" has 257 characters, .* keep at most 256/,
      ],
      [add('e1', { a: 'x\0' }), /the state of the session\["a"\] has the character NUL/],
      [add('e1', { 'b\0': 1 }), /a name in the state of the session has the character NUL/],
      [
        add('e1', {}, { content: { role: 'user', parts: [{ text: '\0' }] } }),
        /event "e1"\["content"\]\["parts"\]\[0\]\["text"\] has the/,
      ],
      [add('e1', {}, { timestamp: 1e15 }), /the time 1000000000000000 is not a date of the years 1 to 9999/],
    ]) {
      await assert.rejects(promise, ({ message: told }) => message.test(told) || assert.fail(told));
    }
    assert.equal(await service.getSession({ ...KEY, sessionId: long }), undefined);
    assert.equal(await service.getSession({ ...KEY, userId: 'a\0b' }), undefined);
    assert.equal((await service.listSessions({ appName: '\0' })).totalItems, 0);
    assert.deepEqual(await service.getAppState({ appName: long }), {});
    await service.deleteSession({ ...KEY, sessionId: long });
    const { rows } = await pool.query(`select count(*)::int as n from ${schema}.events`);
    assert.equal(rows[0].n, 0);
    // As long as may be, in characters, and with what JSON writes otherwise.
    const id = `${'名'.repeat(127)}😀`;
    await add(id, { [`it's "\\u0000" \\ $1`]: `'; drop table x; -- \\` });
    assert.deepEqual(
      { ...(await service.getSession(KEY)).state },
      { [`it's "\\u0000" \\ $1`]: `'; drop table x; -- \\` },
    );
  });

  test('an event that is sent again is the one that is there, however it lies in the tables', async (t) => {
    const { service } = await opened(t);
    const events = [
      eventOf('plain', { a: 1 }, { timestamp: 1_700_000_000_123 }),
      eventOf('fraction', {}, { timestamp: 1_700_000_000_123.456 }),
      eventOf('finer', {}, { timestamp: 1_234.567_890_1 }),
      { id: 'bare', author: 'user' },
      eventOf(
        'calls',
        {},
        {
          content: { role: 'model', parts: [{ functionCall: { id: 'f', name: 'n', args: { aB: null, c_d: 1e21 } } }] },
          longRunningToolIds: ['z', 'f'],
        },
      ),
      eventOf('empty', {}, { longRunningToolIds: [], customMetadata: {}, content: { role: 'user', parts: [] } }),
      eventOf('unknown', {}, { newMember: { deepMember: [1, { x: null }] }, branch: null }),
      eventOf('deleted', { a: DELETED }),
      eventOf('numbers', { big: 2 ** 53, small: 5e-324, large: 1.7976931348623157e308, less: -0.1, zero: 0 }),
    ];
    for (const event of events) {
      // Another service, as another process would have: it has nothing but what lies in the tables.
      const first = await service.appendEvent({ session: await service.getSession(KEY), event });
      const other = serviceOf(t);
      const session = await other.getSession({ ...KEY, config: { numRecentEvents: 0 } });
      const again = await other.appendEvent({ session, event });
      assert.deepEqual(again, first);
      await assert.rejects(other.appendEvent({ session, event: { ...event, author: 'other' } }), {
        code: 'EVENT_ID_CONFLICT',
      });
    }
    assert.equal((await service.getSession(KEY)).revision, events.length);
  });

  test('what comes between by another clock is shown in its place', async (t) => {
    const { service: one, session } = await opened(t);
    const two = serviceOf(t);
    const there = await two.getSession(KEY);
    await one.appendEvent({ session, event: eventOf('a', {}, { timestamp: 1_000 }) });
    await one.appendEvent({ session, event: eventOf('c', {}, { timestamp: 3_000 }) });
    await two.appendEvent({ session: there, event: eventOf('b', { b: 1 }, { timestamp: 2_000 }) });
    const ids = ({ events }) => events.map(({ id }) => id);
    assert.deepEqual(ids(there), ['a', 'b', 'c']);
    assert.deepEqual(ids(await one.getSession(KEY)), ['a', 'b', 'c']);
    await one.appendEvent({ session, event: eventOf('d', {}, { timestamp: 4_000 }) });
    assert.deepEqual(ids(session), ['a', 'b', 'c', 'd']);
    assert.equal(session.state.b, 1);
    const diverged = await adkDatabaseStore(pool, { schema }).load(
      KEY,
      { known: { created: 'x', rev: 3, last: 'c' }, events: { from: 4 } },
      context,
    );
    assert.deepEqual([diverged.rev, diverged.last, diverged.diverged], [4, 'd', undefined]);
    const { created } = diverged;
    for (const [known, isOther] of [
      [{ rev: 3, last: 'c' }, undefined],
      [{ rev: 2, last: 'c' }, true],
      [{ rev: 5, last: 'e' }, true],
      [{ rev: 4, last: 'd' }, undefined],
    ]) {
      const loaded = await adkDatabaseStore(pool, { schema }).load(KEY, { known: { created, ...known } }, context);
      assert.equal(loaded.diverged, isOther, JSON.stringify(known));
    }
  });

  test('a hundred updates by four services end at a hundred, in every scope, also of a row that was not there', async (t) => {
    const { service, session } = await opened(t, { n: 0 });
    const services = [service, serviceOf(t), serviceOf(t), serviceOf(t)];
    const add = (key) => (state) => ({ [key]: (state[key] ?? 0) + 1 });
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const each = services[index % services.length];
        await each.updateState({ appName: 'tutor', userId: 'ana', sessionId: 's' }, add('n'));
        await each.updateState({ appName: 'tutor', userId: 'ana' }, add('user:n'));
        await each.updateState({ appName: 'tutor' }, add('app:n'));
        await each.updateState({ appName: 'new', userId: 'bo' }, add('user:n'));
      }),
    );
    const { state } = await serviceOf(t).getSession(KEY);
    assert.deepEqual({ ...state }, { n: 100, 'user:n': 100, 'app:n': 100 });
    assert.deepEqual(await service.getUserState({ appName: 'new', userId: 'bo' }), { n: 100 });
    assert.equal((await service.getSession(KEY)).revision, 100);
    assert.equal(session.id, 's');
  });

  test('appends and deletions at once: what is acknowledged is there, and nothing comes back to life', async () => {
    await pool.query(emptyTables(schema));
    const store = adkDatabaseStore(pool, { schema });
    for (let round = 0; round < 20; round++) {
      await store.commit(create(`c${round}`), context);
      const appends = Array.from({ length: 4 }, (_, index) =>
        store.commit(append(`e${index}`, { app: { set: { n: index } } }), context),
      );
      const [, again, ...codes] = await Promise.all([
        store.remove(keyOf(), context),
        codeOf(store.commit(create(`d${round}`), context)),
        ...appends.map(codeOf),
      ]);
      assert.ok(
        codes.every((code) => ['none', 'not-found'].includes(code)),
        codes.join(),
      );
      assert.ok(['none', 'exists'].includes(again));
      const { rows } = await pool.query(`select count(*)::int as lost from ${schema}.events event where not exists (
        select from ${schema}.sessions session where session.id = event.session_id)`);
      assert.equal(rows[0].lost, 0);
      await store.remove(keyOf(), context);
    }
  });

  /** A session that was created anew, and what its name was before. */
  const createdAnew = async () => {
    await pool.query(emptyTables(schema));
    const store = adkDatabaseStore(pool, { schema });
    await store.commit(create('c1'), context);
    const { created } = await store.load(keyOf(), {}, context);
    await store.remove(keyOf(), context);
    await store.commit(create('c2'), context);
    return { store, created };
  };

  test('a session that was created anew is another one, also in the same millisecond', async () => {
    const { store, created } = await createdAnew();
    assert.equal(await codeOf(store.commit(append('e1', {}, keyOf(), { guard: { created } }), context)), 'not-found');
    await store.remove(keyOf(), context, { created });
    const { time, created: other } = await store.load(keyOf(), {}, context);
    assert.notEqual(other, created);
    assert.equal(time, 1);
  });

  test('an event of another session than the one that is named is no duplicate', async () => {
    const { store, created } = await createdAnew();
    await store.commit(append('e1'), context);
    assert.equal(await codeOf(store.commit(append('e1', {}, keyOf(), { guard: { created } }), context)), 'not-found');
  });

  test('a value that the tables cannot keep is no reason before others', async () => {
    await pool.query(emptyTables(schema));
    const store = adkDatabaseStore(pool, { schema });
    const guarded = (id) => append(id, {}, keyOf(), { guard: { keys: { app: { set: { a: '\0' } } } } });
    assert.equal(await codeOf(store.commit(guarded('e1'), context)), 'not-found');
    await store.commit(create('c1'), context);
    assert.equal(await codeOf(store.commit(guarded('e1'), context)), 'conflict');
    await store.commit(append('e1'), context);
    assert.equal((await store.commit(guarded('e1'), context)).duplicate, true);
  });

  test('the guard of a creation is looked at, once it is known that there is no session', async () => {
    await pool.query(emptyTables(schema));
    const store = adkDatabaseStore(pool, { schema });
    const expecting = (values) => ({ guard: { keys: { app: { set: values } } } });
    const guarded = (id, values, key) => ({ ...create(id, { user: { set: { u: 1 } } }, key), ...expecting(values) });
    assert.equal(await codeOf(store.commit(guarded('c1', { a: 1 }), context)), 'conflict');
    assert.equal(await store.load(keyOf(), {}, context), null);
    await store.commit(create('c1', { app: { set: { a: 1 } } }), context);
    assert.equal(await codeOf(store.commit(guarded('c2', { a: 2 }), context)), 'exists');
    assert.equal(await codeOf(store.commit(guarded('c2', { a: 2 }, keyOf('two')), context)), 'conflict');
    await store.commit(guarded('c2', { a: 1 }, keyOf('two')), context);
    assert.deepEqual({ ...(await store.load(keyOf('two'), {}, context)).state.user }, { u: 1 });
  });

  test('an append locks no app and no user that it does not write', async (t) => {
    await pool.query(emptyTables(schema));
    const store = adkDatabaseStore(pool, { schema });
    await store.commit(create(), context);
    const holder = await pool.connect();
    t.after(() => holder.release());
    await holder.query(
      `begin; select from ${schema}.app_states for update; select from ${schema}.user_states for update`,
    );
    await store.commit(append('e1', { session: { set: { a: 1 } } }), context);
    const waiting = store.commit(append('e2', { app: { set: { a: 1 } } }), context);
    const outcome = await Promise.race([waiting, new Promise((resolve) => setTimeout(resolve, 100, 'waits'))]);
    await holder.query('commit');
    assert.equal(outcome, 'waits');
    assert.equal((await waiting).rev, 2);
  });

  test('positions tell values apart over one store, whoever writes them', async () => {
    await pool.query(emptyTables(schema));
    const [store, other] = [adkDatabaseStore(pool, { schema }), adkDatabaseStore(pool, { schema })];
    const made = await store.commit(create(), context);
    assert.deepEqual(made.pos, { app: 0, user: 0 });
    const own = await store.commit(append('e1', { app: { set: { a: 1 } } }), context);
    assert.deepEqual(own.pos, { app: 1, user: 0 });
    const known = { pos: own.pos };
    assert.deepEqual((await store.load(keyOf(), { known }, context)).state, { session: Object.create(null) });
    await other.commit(append('e2', { app: { set: { b: 2 } } }), context);
    const { pos, state } = await store.load(keyOf(), { known }, context);
    assert.ok(pos.app > 1);
    assert.deepEqual({ ...state.app }, { a: 1, b: 2 });
    // As adk-python does it: all of the state is written.
    await pool.query(`update ${schema}.app_states set state = '{"a": 3}'`);
    const next = await store.commit(append('e3', { app: { set: { c: 1 } } }), context);
    assert.ok(next.pos.app > pos.app + 1, 'what another has written is not passed over');
    assert.deepEqual({ ...(await store.loadScope({ app: 'a' }, context)).state }, { a: 3, c: 1 });
  });

  test('a window has the events that a query asks for, whatever is combined', async () => {
    await pool.query(emptyTables(schema));
    const store = adkDatabaseStore(pool, { schema });
    await store.commit(create(), context);
    const times = Array.from({ length: 30 }, (_, index) => 1_000 + ((index * 7) % 11) * 10);
    const events = times.map((time, index) => ({ id: `e${String(index).padStart(2, '0')}`, time }));
    for (const { id, time } of events) {
      const event = { id, time, data: JSON.stringify({ id }) };
      await store.commit(append(id, {}, keyOf(), { time, event }), context);
    }
    const inOrder = [...events].sort((one, other) => one.time - other.time || (one.id < other.id ? -1 : 1));
    const all = inOrder.map(({ id, time }, index) => ({ id, time, rev: index + 1 }));
    for (const from of [undefined, 0, 1, 5, 30, 31, 99]) {
      for (const to of [undefined, 0, 4, 5, 29, 40]) {
        for (const since of [undefined, 0, 1_050, 1_051.5, 1_100, 1e300, -1e300]) {
          for (const last of [undefined, 0, 1, 7, 99]) {
            const query = Object.fromEntries(
              Object.entries({ from, to, since, last }).filter(([, value]) => value !== undefined),
            );
            const found = all.filter(
              ({ rev, time }) => rev >= (from ?? 1) && rev <= (to ?? 30) && time >= (since ?? -Infinity),
            );
            const expected = last === undefined ? found : found.slice(found.length - Math.min(last, found.length));
            const loaded = await store.load(keyOf(), { events: query }, context);
            assert.deepEqual(
              loaded.events.map(({ rev, id }) => [rev, id]),
              expected.map(({ rev, id }) => [rev, id]),
              JSON.stringify(query),
            );
          }
        }
      }
    }
  });
});
