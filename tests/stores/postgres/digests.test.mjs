// The digests and the owners that the store in Postgres keeps: those of batches, and the rows that they leave.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append, create, keyOf, openedStore, update, withDatabase, withLite } from './database.mjs';

/** The codes and the digests of some outcomes. */
const seen = (outcomes) => outcomes.map(({ code, duplicate, digest }) => [code ?? duplicate ?? 'written', digest]);

function digestTests(name, pool, schemaOf) {
  test(`${name}: an event of a batch whose call was refused before has the digest of that refusal`, async () => {
    const store = await openedStore(pool, { schema: schemaOf() });
    const keys = ['s', 't'].map((id) => keyOf(id));
    await store.commitMany(keys.map((key) => create(`c${key.sessionId}`, {}, key)));
    const refused = { call: 'late\0', attempt: 2, digest: 'a\0\x01', guard: { rev: 7 } };
    const plain = append('e3', {}, keyOf('s'), { call: 'no digest' });
    await store.commitMany([
      append('e1', {}, keyOf('s'), refused),
      append('e3', {}, keyOf('s'), { call: 'no digest', attempt: 2, guard: { rev: 7 } }),
    ]);
    const batches = [
      [append('e1', {}, keyOf('s'), { call: 'late\0' }), append('e2', {}, keyOf('t'))],
      [append('e4', {}, keyOf('t')), plain],
    ];
    const outcomes = [];
    for (const batch of batches) outcomes.push(...(await store.commitMany(batch)));
    assert.deepEqual(seen(outcomes), [
      ['conflict', 'a\0\x01'],
      ['written', undefined],
      ['written', undefined],
      ['conflict', undefined],
    ]);
  });

  test(`${name}: a call that a batch has twice is refused with the digest of the first`, async () => {
    const store = await openedStore(pool, { schema: schemaOf() });
    const guard = { pos: { app: 5 } };
    const late = (call, attempt, digest) => ({
      ...update('late', { app: { set: { a: 1 } } }),
      ...{ call, attempt, guard },
      ...(digest !== undefined && { digest }),
    });
    const batch = [late('one', 2, 'first'), late('two', 2), late('one', 3, 'second'), late('two', 3, 'third')];
    const expected = [
      ['conflict', undefined],
      ['conflict', undefined],
      ['conflict', 'first'],
      ['conflict', undefined],
    ];
    assert.deepEqual(seen(await store.commitMany(batch)), expected);
    const again = batch.map((change) => ({ ...change, attempt: 4, digest: 'later' }));
    assert.deepEqual(seen(await store.commitMany(again)), [expected[2], expected[1], expected[2], expected[1]]);
  });

  test(`${name}: there is an owner for each session, and none for another`, async () => {
    const schema = schemaOf();
    const store = await openedStore(pool, { schema });
    const keys = ['s', 't'].flatMap((id) => ['u', 'v', 'w'].map((user) => keyOf(id, user)));
    await store.commitMany(keys.map((key) => create(`c ${key.sessionId} ${key.userId}`, {}, key)));
    await store.commitMany([
      create('other', {}, keyOf('s', 'u')),
      create('x', {}, keyOf('x', 'x'), { guard: { pos: { app: 5 } } }),
      { ...create('y', {}, keyOf('y', 'u')), guard: { keys: { app: { set: { a: 1 } } } } },
      create('z', {}, keyOf('z', 'v')),
    ]);
    for (const user of ['u', 'v']) await store.remove(keyOf('s', user), { created: `c s ${user}` });
    await store.remove(keyOf('t', 'w'), { created: 'another' });
    await store.commit(create('again', {}, keyOf('s', 'v')));
    const rows = async (text) => (await pool.query(text.replaceAll('%', schema))).rows;
    const owned = await rows('select app, id, usr from %.owners order by 1, 2, 3');
    assert.deepEqual(owned, await rows('select app, id, usr from %.sessions order by 1, 2, 3'));
    assert.deepEqual(
      [await store.owners('a', 's'), await store.owners('a', 't'), await store.owners('a', 'y')],
      [['v', 'w'], ['u', 'v', 'w'], []],
    );
  });

  test(`${name}: an id and a user may have 2,600 bytes each, and be owner and owned`, async () => {
    const store = await openedStore(pool, { schema: schemaOf() });
    // No two parts are alike, so that nothing of it is compressed away.
    const long = (seed) =>
      Array.from({ length: 2_600 }, (_, at) => String.fromCharCode(33 + ((at * at * seed + at * 31) % 90))).join('');
    const key = keyOf(long(7), long(11), long(13));
    await store.commit(create('c', {}, key));
    assert.deepEqual(await store.owners(key.appName, key.sessionId), [key.userId]);
    assert.deepEqual(await store.listUsers(key.appName, { limit: 1 }), { names: [key.userId], more: false });
    assert.deepEqual(await store.listApps({ limit: 1 }), { names: [key.appName], more: false });
    await store.remove(key);
    assert.deepEqual(await store.owners(key.appName, key.sessionId), []);
  });
}

await withDatabase((database) => digestTests('postgres', database.pool(), () => database.schema()));

await withLite((lite) => {
  let count = 0;
  digestTests('PGlite', lite, () => `schema_${count++}`);
});
