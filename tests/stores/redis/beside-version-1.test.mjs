// An upgrade while processes of version 1 go on running: nothing that they were told is written gets lost, and nothing
// is written by them afterwards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { serverForTests } from './servers.mjs';
import { OLDER, callsOf, changeOf, found, putVersion1, removalOf, runVersion1, scopeRemovalOf } from './v1.mjs';
import { append, context, create, keyOf, numbers, update, values } from './words.mjs';

const NEWER = { name: 'StoreError', code: 'rejected', message: /has version 3, newer than 2: update statepad$/ };

const why = whyNoRedisServer();

if (why) {
  test('redis: an upgrade beside version 1', { skip: why });
} else {
  const { admin, newPrefix, contentsOf } = await serverForTests(startRedisServer);
  const send = (command) => admin.call(...command);

  test('nothing that version 1 sends after the upgrade is acknowledged or written, whatever it is', async () => {
    const prefix = newPrefix();
    await putVersion1(send, prefix);
    await redisStore(admin, { prefix }).open({ migrate: 'upgrade' }, context);
    const before = await contentsOf(prefix);
    // All that it once wrote, and more for each app and user that there is.
    const calls = callsOf(prefix);
    for (const {
      key: { appName: app, userId: user, sessionId: session },
    } of found.sessions.filter(({ key }) => key.appName !== '')) {
      calls.push(
        changeOf(prefix, {
          kind: 'append',
          id: 'late',
          app,
          user,
          session,
          sets: [
            ['a', 'x', 1],
            ['u', 'y', 1],
            ['s', 'z', 1],
          ],
        }),
      );
      calls.push(changeOf(prefix, { kind: 'create', id: 'late', app, user, session: 'late' }));
      calls.push(changeOf(prefix, { kind: 'update', id: 'late', app, user, sets: [['u', 'y', 1]] }));
      calls.push(
        removalOf(prefix, { app, user, session }),
        scopeRemovalOf(prefix, { app }),
        scopeRemovalOf(prefix, { app, user }),
      );
    }
    for (const call of calls) {
      const outcome = await runVersion1(admin, call).catch(({ message }) => message);
      const isRefused =
        /WRONGTYPE/.test(outcome) || (Array.isArray(outcome) && outcome.every(([status]) => status === 'failed'));
      // Where a user has no state there is none to delete.
      const hasState = call.keys[0].replace('}:u:', '}:v:') in before;
      const isNothing = call.script === 'removeScope' && outcome === 0 && !hasState;
      assert.ok(isRefused || isNothing, `${call.script} ${JSON.stringify(call.keys)}: ${JSON.stringify(outcome)}`);
    }
    assert.deepEqual(await contentsOf(prefix), before);
  });

  test('an app that version 2 has made first is closed to version 1', async () => {
    for (const change of [
      create('c', keyOf('session')),
      create('c', keyOf('session'), { user: values({ a: 1 }) }),
      update('u', { appName: 'app' }, { app: values({ a: 1 }) }),
      update('u', { appName: 'app', userId: 'user' }, { user: values({ a: 1 }) }),
    ]) {
      const prefix = newPrefix();
      const store = redisStore(admin, { prefix });
      await store.open({ migrate: 'create' }, context);
      await store.commit(change, context);
      const before = await contentsOf(prefix);
      for (const kind of ['create', 'append', 'update']) {
        const answer = await runVersion1(
          admin,
          changeOf(prefix, { kind, id: 'v1', session: 'other', sets: [['u', 'x', 1]] }),
        );
        assert.equal(answer[0][0], 'failed');
      }
      await assert.rejects(runVersion1(admin, removalOf(prefix, {})), /WRONGTYPE/);
      assert.deepEqual(await contentsOf(prefix), before);
    }
  });

  test('an app that version 1 has made after the upgrade is refused by every operation, until the next upgrade', async () => {
    for (const calls of [
      [{ kind: 'create', id: 'c' }],
      [
        {
          kind: 'create',
          id: 'c',
          sets: [
            ['a', 'n', 1],
            ['u', 'n', 1],
          ],
        },
        { kind: 'append', id: 'e', sets: [['u', 'n', 1]] },
      ],
      [{ kind: 'update', id: 'u', sets: [['u', 'n', 1]] }],
      [{ kind: 'update', id: 'u', sets: [['a', 'n', 1]] }],
      // What is left is a user's state alone.
      [{ kind: 'create', id: 'c', sets: [['u', 'n', 1]] }, 'removal'],
    ]) {
      const prefix = newPrefix();
      const store = redisStore(admin, { prefix });
      await store.open({ migrate: 'create' }, context);
      for (const call of calls) {
        await runVersion1(admin, call === 'removal' ? removalOf(prefix, {}) : changeOf(prefix, call));
      }
      const isLeft = calls.includes('removal');
      const before = await contentsOf(prefix);
      const key = keyOf('session');
      const operations = [
        () => store.commit(create('new', keyOf('new')), context),
        () => store.commit(append('e', key), context),
        () => store.commit(update('u2', { appName: 'app', userId: 'user' }, { user: values({ a: 1 }) }), context),
        () => store.loadScope({ app: 'app', user: 'user' }, context),
        () => store.removeScope({ app: 'app', user: 'user' }, context),
        ...(isLeft
          ? []
          : [
              () => store.load(key, {}, context),
              () => store.list({ app: 'app', descending: false }, context),
              () => store.loadScope({ app: 'app' }, context),
              () => store.remove(key, context),
              () => store.removeScope({ app: 'app' }, context),
            ]),
      ];
      for (const operation of operations) await assert.rejects(operation, OLDER);
      const { [`${prefix}:left`]: left, ...rest } = await contentsOf(prefix);
      assert.deepEqual(rest, before);
      assert.ok(left);
      await redisStore(admin, { prefix }).open({ migrate: 'upgrade' }, context);
      const n = {
        user: await store.loadScope({ app: 'app', user: 'user' }, context),
        app: await store.loadScope({ app: 'app' }, context),
      };
      const sets = calls.flatMap((call) => call.sets ?? []);
      for (const [scope, letter] of [
        ['app', 'a'],
        ['user', 'u'],
      ]) {
        assert.equal(n[scope].state.n, sets.some(([of]) => of === letter) ? 1 : undefined);
      }
      const loaded = await store.load(key, {}, context);
      assert.equal(loaded?.rev, isLeft || calls[0].kind === 'update' ? undefined : calls.length - 1);
      assert.equal(await admin.exists(`${prefix}:left`), 0);
      assert.equal(
        (await runVersion1(admin, changeOf(prefix, { kind: 'update', id: 'late', sets: [['u', 'n', 2]] })))[0][0],
        'failed',
      );
    }
  });

  test('a user and a session of version 1 that an upgrade has missed are refused, and the next one takes them', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    const key = keyOf('session');
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', key), context);
    await store.commit(append('e1', key), context);
    await store.commit(create('o', keyOf('session', 'other')), context);
    const ids = `${prefix}:{app}:i:=session\0user`;
    await admin.del(ids);
    await admin.hset(ids, 'e1', '1');
    await admin.hset(`${prefix}:{app}:u:other`, 'p', '3', 'n', '1', '=a', '1:7');
    for (const operation of [
      () => store.load(key, {}, context),
      () => store.commit(append('e2', key), context),
      () => store.remove(key, context),
      () => store.load(keyOf('session', 'other'), {}, context),
      () => store.commit(append('e1', keyOf('session', 'other')), context),
      () => store.list({ app: 'app', descending: true }, context),
    ])
      await assert.rejects(operation, OLDER);
    const answers = await store.commitMany([append('e2', key), create('fine', keyOf('fine', 'third'))], context);
    assert.deepEqual(
      answers.map(({ code = 'written' }) => code),
      ['rejected', 'written'],
    );
    await store.open({ migrate: 'upgrade' }, context);
    assert.equal((await store.load(key, {}, context)).last, 'e1');
    assert.deepEqual({ ...(await store.load(keyOf('session', 'other'), {}, context)).state.user }, { a: 7 });
    assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 3);
  });

  test('a store refuses an app, and everything, that a later version has taken over', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    const key = keyOf('session');
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', key), context);
    await admin.set(`${prefix}:{app}:a`, '3');
    const before = await contentsOf(prefix);
    for (const operation of [
      () => store.commit(append('e', key), context),
      () => store.commit(create('d', keyOf('other')), context),
      () => store.commit(update('u', { appName: 'app' }, { app: values({ a: 1 }) }), context),
      () => store.commitMany([append('e', key)], context),
      () => store.load(key, {}, context),
      () => store.list({ app: 'app', descending: true }, context),
      () => store.remove(key, context),
      () => store.loadScope({ app: 'app' }, context),
      () => store.removeScope({ app: 'app' }, context),
    ])
      await assert.rejects(operation, NEWER);
    assert.deepEqual(await contentsOf(prefix), before);
    assert.equal((await store.commit(create('c', keyOf('session', 'user', 'elsewhere')), context)).rev, 0);
    await admin.set(`${prefix}:version`, '3');
    for (const migrate of ['create', 'check', 'upgrade'])
      await assert.rejects(store.open({ migrate }, context), NEWER);
    assert.equal(await admin.get(`${prefix}:version`), '3');
  });

  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`nothing that version 1 was told is written gets lost while an upgrade runs: seed ${seed}`, async () => {
      const prefix = newPrefix();
      await putVersion1(send, prefix);
      const random = numbers(seed);
      const pick = (list) => list[random(list.length)];
      // What was acknowledged: the last event of each session, the last value of each user and app.
      const told = new Map();
      let step = 0;
      const writeSome = async () => {
        for (let times = random(3); times > 0; times--) {
          const [app, user, session] = [
            pick(['tutor', 'plain', 'users', 'late0', 'late1', 'late2']),
            pick(['ana', 'new']),
            pick(['s', 't']),
          ];
          const kind = pick(['create', 'append', 'update']);
          step += 1;
          const sets = pick([
            [],
            [['u', 'n', step]],
            [['a', 'n', step]],
            [
              ['a', 'n', step],
              ['u', 'n', step],
            ],
          ]);
          const outcome = await runVersion1(
            admin,
            changeOf(prefix, { kind, id: `v1-${step}`, app, user, session, sets }),
          ).catch(() => []);
          if (outcome[0]?.[0] !== 'written') continue;
          for (const [scope] of sets) told.set(JSON.stringify(scope === 'a' ? { app } : { app, user }), step);
          if (kind !== 'update')
            told.set(JSON.stringify(keyOf(session, user, app)), kind === 'append' ? `v1-${step}` : undefined);
        }
      };
      const between =
        (name) =>
        async (...args) => {
          await writeSome();
          const answer = await admin[name](...args);
          await writeSome();
          return answer;
        };
      const client = { defineCommand() {}, eval: between('eval'), evalsha: between('evalsha'), call: between('call') };
      await writeSome();
      await redisStore(client, { prefix }).open({ migrate: 'upgrade' }, context);
      await writeSome();
      assert.ok(told.size > 3);
      const store = redisStore(admin, { prefix });
      await store.open({ migrate: 'create' }, context);
      const ask = async (place) =>
        'appName' in place ? store.load(place, {}, context) : store.loadScope(place, context);
      for (let isUpgraded = false; ; isUpgraded = true) {
        let left = 0;
        for (const [text, expected] of told) {
          const place = JSON.parse(text);
          const answer = await ask(place).catch(({ code }) => code);
          if (answer === 'rejected') left += 1;
          else assert.equal('appName' in place ? answer.last : answer.state.n, expected, text);
        }
        if (left === 0) break;
        assert.ok(!isUpgraded);
        await redisStore(admin, { prefix }).open({ migrate: 'upgrade' }, context);
      }
    });
  }
}
