// The store in Redis over damaged sessions and values: its refusals, and the parts that it still reads and writes.
// With a server of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { clients } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf, update, values } from './words.mjs';

const why = whyNoRedisServer();

if (why) {
  test('redis when something is damaged', { skip: why });
} else {
  const { admin, clientOf, newPrefix, fresh, contentsOf } = await serverForTests(startRedisServer);

  const damages = {
    'a value that is no JSON': (prefix) => admin.hset(`${prefix}:{app}:s:=bad\0user`, '=a', '1:{"a'),
    'a number that JavaScript cannot hold': (prefix) =>
      admin.hset(`${prefix}:{app}:s:=bad\0user`, '=a', '1:9007199254740993'),
    'no revision': (prefix) => admin.hdel(`${prefix}:{app}:s:=bad\0user`, 'r'),
    'a revision that is no number': (prefix) => admin.hset(`${prefix}:{app}:s:=bad\0user`, 'r', 'x'),
    'no creation': (prefix) => admin.hdel(`${prefix}:{app}:s:=bad\0user`, 'c'),
    'no values and no creation at all': (prefix) => admin.del(`${prefix}:{app}:s:=bad\0user`),
    'values of another type': async (prefix) => {
      await admin.del(`${prefix}:{app}:s:=bad\0user`);
      await admin.set(`${prefix}:{app}:s:=bad\0user`, 'x');
    },
  };

  for (const [name, damage] of Object.entries(damages)) {
    test(`a session with ${name} is corrupt, and the others go on`, async () => {
      const { store, prefix } = await fresh();
      const bad = keyOf('bad');
      await store.commit(create('bad', bad, { session: values({ a: 1 }) }), context);
      await store.commit(append('e', bad), context);
      await damage(prefix);
      await assert.rejects(store.load(bad, {}, context), { name: 'StoreError', code: 'corrupt' });
      const { rows, corrupt, total } = await store.list({ app: 'app', descending: false }, context);
      assert.deepEqual([rows.map(({ key }) => key), corrupt, total], [[keyOf('s')], [bad], 2]);
      assert.equal((await store.commit(append('e', keyOf('s')), context)).rev, 1);
    });
  }

  for (const [name, key] of [
    ['events', 'e'],
    ['times', 't'],
    ['ids', 'i'],
    ['values', 's'],
  ]) {
    test(`a session whose ${name} were dropped is corrupt, and is not written to`, async () => {
      const { store, prefix } = await fresh();
      await store.commit(append('e', keyOf('s')), context);
      await admin.del(`${prefix}:{app}:${key}:=s\0user`);
      const before = await contentsOf(prefix);
      await assert.rejects(store.load(keyOf('s'), {}, context), { code: 'corrupt' });
      await assert.rejects(store.commit(append('f', keyOf('s')), context), { code: 'corrupt' });
      await assert.rejects(store.commit(create('new', keyOf('s')), context), {
        code: key === 's' ? 'corrupt' : /corrupt|exists/,
      });
      assert.deepEqual(await contentsOf(prefix), before);
      await store.remove(keyOf('s'), context);
      assert.equal(await store.load(keyOf('s'), {}, context), null);
      assert.equal((await store.commit(create('new', keyOf('s')), context)).rev, 0);
    });
  }

  for (const list of ['sessions', 'l:user']) {
    test(`a session that is missing in ${list} is corrupt to writers, and so is one of which nothing but that is left`, async () => {
      const { store, prefix } = await fresh();
      const member = '=s\0user';
      const refused = async (change) => {
        const before = await contentsOf(prefix);
        await assert.rejects(store.commit(change, context), { name: 'StoreError', code: 'corrupt' });
        assert.deepEqual(await contentsOf(prefix), before);
      };
      await store.commit(append('e', keyOf('s')), context);
      await admin.zrem(`${prefix}:{app}:${list}`, member);
      await refused(append('f', keyOf('s')));
      await refused(create('new', keyOf('s')));
      // Now it is in this list alone.
      await admin.del(...['s', 'e', 't', 'i'].map((part) => `${prefix}:{app}:${part}:${member}`));
      for (const other of ['sessions', 'l:user']) {
        await (other === list
          ? admin.zadd(`${prefix}:{app}:${other}`, 1_000, member)
          : admin.zrem(`${prefix}:{app}:${other}`, member));
      }
      await refused(create('new', keyOf('s')));
      await refused(append('f', keyOf('s')));
      await store.remove(keyOf('s'), context);
      assert.equal((await store.commit(create('new', keyOf('s')), context)).rev, 0);
    });
  }

  test('a session that does not say any more who created it is not taken for the one that is to be deleted', async () => {
    const { store, prefix } = await fresh();
    await admin.hdel(`${prefix}:{app}:s:=s\0user`, 'c');
    const before = await contentsOf(prefix);
    await assert.rejects(store.remove(keyOf('s'), context, { created: 'c' }), { name: 'StoreError', code: 'corrupt' });
    assert.deepEqual(await contentsOf(prefix), before);
    await store.remove(keyOf('s'), context);
    assert.equal(await store.load(keyOf('s'), {}, context), null);
    await store.remove(keyOf('s'), context, { created: 'c' });
  });

  for (const key of ['e', 't', 's']) {
    test(`a session that has nothing but its beginning is corrupt without its ${key}, too, and can be made again`, async () => {
      const { store, prefix } = await fresh();
      const began = { ...create('began', keyOf('began')), event: { id: 'began', time: 1_000, data: '"began"' } };
      await store.commit(began, context);
      await admin.del(`${prefix}:{app}:${key}:=began\0user`);
      await assert.rejects(store.load(keyOf('began'), {}, context), { code: 'corrupt' });
      await assert.rejects(store.commit(began, context), { code: 'corrupt' });
      await store.remove(keyOf('began'), context);
      const anew = { ...create('anew', keyOf('began')), event: { id: 'anew', time: 1_000, data: '"anew"' } };
      assert.equal((await store.commit(anew, context)).duplicate, undefined);
      const { events } = await store.load(keyOf('began'), { events: { from: 0 } }, context);
      assert.deepEqual(events, [{ rev: 0, data: '"anew"', pos: { app: 1, user: 0 } }]);
    });
  }

  test("a user's value that cannot be read sets that user's sessions aside; an app's makes its list corrupt", async () => {
    const { store, prefix } = await fresh();
    await store.commit(create('c', keyOf('s', 'bad'), { user: values({ a: 1 }) }), context);
    await admin.hset(`${prefix}:{app}:u:bad`, '=a', '1:');
    const { rows, corrupt } = await store.list({ app: 'app', descending: true }, context);
    assert.deepEqual([rows.map(({ key }) => key), corrupt], [[keyOf('s')], [keyOf('s', 'bad')]]);
    await assert.rejects(store.loadScope({ app: 'app', user: 'bad' }, context), { code: 'corrupt' });
    await admin.hset(`${prefix}:{app}:app`, '=b', 'x');
    await assert.rejects(store.list({ app: 'app', descending: true }, context), { code: 'corrupt' });
    await assert.rejects(store.loadScope({ app: 'app' }, context), { code: 'corrupt' });
  });

  const torn = {
    'some of them dropped': [
      'session',
      (base, { sessionId, userId }, index) => {
        const key = `${base}s:=${sessionId}\0${userId}`;
        return index % 2 === 0 ? admin.del(key) : admin.hset(key, '=name', '1:{');
      },
    ],
    'of users that cannot be read': ['user', (base, { userId }) => admin.hset(`${base}u:${userId}`, '=name', '1:{')],
  };

  for (const [name, [part, tear]] of Object.entries(torn)) {
    for (const [library, make] of Object.entries(clients)) {
      test(`${library}: a list is followed past corrupt sessions, ${name}`, async () => {
        const [client, prefix] = [await clientOf(make), newPrefix()];
        const damage = async (keys) => {
          for (const [index, key] of keys.entries()) await tear(`${prefix}:{app}:`, key, index);
        };
        await checkCorruptPages({ part, open: () => redisStore(client, { prefix }), damage });
      });
    }
  }

  for (const [name, key, change] of [
    ['the version has', 'a', append('e', keyOf('s'))],
    ['the app has', 'app', append('e', keyOf('s'), { app: values({ b: 2 }) })],
    ['the moves of the app have', 'moves', append('e', keyOf('s'), { app: values({ b: 2 }) })],
    ['the user has', 'u:user', append('e', keyOf('s'), { user: values({ b: 2 }) })],
    ['the moves of the user have', 'm:user', append('e', keyOf('s'), { user: values({ b: 2 }) })],
    ['the refused calls have', 'refused', append('e', keyOf('s'), {}, { attempt: 2, guard: { rev: 7 } })],
    ['the removed sessions have', 'removed', create('n', keyOf('n'))],
    ['the list has', 'sessions', append('e', keyOf('s'))],
    ["the user's list has", 'l:user', append('e', keyOf('s'))],
    ['the updates have', 'updates', update('u', { appName: 'app' }, { app: values({ b: 2 }) })],
    ['the notes have', 'notes', update('u', { appName: 'app' }, { app: values({ b: 2 }) })],
    ['the session has', 's:=s\0user', append('e', keyOf('s'))],
    ['its events have', 'e:=s\0user', append('e', keyOf('s'))],
    ['its times have', 't:=s\0user', append('e', keyOf('s'))],
    ['its ids have', 'i:=s\0user', append('e', keyOf('s'))],
  ]) {
    test(`where something else sits in the place that ${name}, the change is rejected and another one is not`, async () => {
      const { store, prefix } = await fresh();
      await admin.del(`${prefix}:{app}:${key}`);
      await admin.pfadd(`${prefix}:{app}:${key}`, 'something');
      const before = await contentsOf(prefix);
      await assert.rejects(store.commit(change, context), { name: 'StoreError', code: 'rejected' });
      assert.deepEqual(await contentsOf(prefix), before);
      const other = create('o', keyOf('o', 'other', 'other'));
      const answers = await store.commitMany([change, other], context);
      assert.deepEqual(
        answers.map(({ code = 'written' }) => code),
        ['rejected', 'written'],
      );
    });
  }

  test('of a batch of one app, a session that is not to be read does not keep the others from being written', async () => {
    const { store, prefix } = await fresh();
    await admin.set(`${prefix}:{app}:e:=foreign\0user`, 'x');
    const changes = ['a', 'foreign', 'b'].map((id) => create(id, keyOf(id), { app: values({ [id]: 1 }) }));
    const answers = await store.commitMany(changes, context);
    assert.deepEqual(
      answers.map(({ code = 'written' }) => code),
      ['written', 'rejected', 'written'],
    );
    assert.deepEqual((await store.loadScope({ app: 'app' }, context)).pos, 3);
  });
}
