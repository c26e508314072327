// The users of an engine: who has the session of an id, and who has any.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { APP, ENGINE, call, context, create, keyOf, opened, requestsOf } from './words.mjs';

test('an id has one owner in an engine, whom one request finds, whoever has made the session', async () => {
  const { vertex, store } = opened();
  const owners = (id, app = APP) => requestsOf(vertex, () => store.owners(app, id, context));
  assert.deepEqual(await owners('monday'), [['getSession'], []]);
  await store.commit(create('c', keyOf('monday', 'ana')), context);
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=tuesday`, { userId: 'bob' });
  assert.deepEqual(await owners('monday'), [['getSession'], ['ana']]);
  assert.deepEqual(await owners('tuesday'), [['getSession'], ['bob']]);
  await assert.rejects(store.commit(create('d', keyOf('monday', 'bob')), context), { code: 'exists' });
  assert.deepEqual((await owners('monday'))[1], ['ana']);
  await store.remove(keyOf('monday', 'ana'), context);
  assert.deepEqual((await owners('monday'))[1], []);
  await store.commit(create('e', keyOf('monday', 'bob')), context);
  assert.deepEqual((await owners('monday'))[1], ['bob']);
});

test('an id that the API does not take has no owner, and is not asked for', async () => {
  const { vertex, store } = opened();
  for (const id of ['', 'Monday', '-', 'a/b', '../sessions', 'x'.repeat(64), 'é']) {
    assert.deepEqual(await requestsOf(vertex, () => store.owners(APP, id, context)), [[], []]);
  }
  await assert.rejects(store.owners('no engine', 'Monday', context), { code: 'rejected' });
});

test('users are sorted by their bytes, and are those of a session each', async () => {
  const { vertex, store } = opened();
  const users = ['😀', 'b', 'B', 'é', '\ue000', 'a', 'a"b\\'];
  for (const [index, user] of [...users, ...users].entries()) {
    await store.commit(create(`c${index}`, keyOf(`s${index}`, user)), context);
  }
  const sorted = ['B', 'a', 'a"b\\', 'b', 'é', '\ue000', '😀'];
  const [requests, page] = await requestsOf(vertex, () => store.listUsers(APP, {}, context));
  assert.deepEqual([requests.length, page], [1, { names: sorted, more: false }]);
  assert.deepEqual(await store.listUsers(APP, { after: 'aa', limit: 2 }, context), {
    names: ['b', 'é'],
    more: true,
  });
  await store.remove(keyOf('s1', 'b'), context);
  assert.deepEqual((await store.listUsers(APP, {}, context)).names, sorted);
  await store.remove(keyOf('s8', 'b'), context);
  assert.deepEqual((await store.listUsers(APP, {}, context)).names.includes('b'), false);
});

test('apps are not listed', () => {
  assert.equal(opened().store.listApps, undefined);
});
