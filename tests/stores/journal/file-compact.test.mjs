// Journals in files that are compacted.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { mock, test } from 'node:test';
import { append, context, create, loaded, update } from './support.mjs';
import { failing, key, place } from './files.mjs';

/** Sessions that come and go and write to their app and user. */
async function busyJournal(open) {
  const store = await open();
  const session = (sessionId) => ({ ...key, sessionId });
  for (let number = 0; number < 20; number++) {
    const here = session(`s${number % 4}`);
    const event = { id: `c${number}`, time: 1, data: `"the beginning of ${number}"` };
    await store.commit(create(here, event.id, { app: { set: { [`k${number % 3}`]: number } } }, { event }), context);
    await store.commit(
      append(here, `e${number}`, { user: { set: { secret: number } }, session: { set: { n: 'x'.repeat(1_000) } } }),
      context,
    );
    await store.commit(append(here, `f${number}`), context);
    await store.commit(update({ appName: 'app' }, `u${number}`, { app: { set: { u: number } } }), context);
    if (number < 17) {
      await store.remove(here, context);
    }
  }
  const keys = ['s0', 's1', 's2', 's3'].map(session);
  const all = { events: { from: 0 } };
  const see = async (store) =>
    JSON.stringify([
      await Promise.all(keys.map((key) => loaded(store, key, all))),
      await store.loadScope({ app: 'app', user: key.userId }, context),
    ]);
  const before = await see(store);
  await store.close();
  return { see, before };
}

test('compacting takes out what was removed, and nothing else', async () => {
  const { path, dir, open } = place();
  const { see, before } = await busyJournal(open);
  const size = statSync(path).size;
  const compact = await open({ sync: false, compact: true });
  assert.equal(await see(compact), before);
  assert.ok(statSync(path).size < size / 2, `${statSync(path).size} of ${size}`);
  const text = readFileSync(path, 'utf8');
  assert.ok(!text.includes('"id":"f5"') && text.includes('"id":"f19"'));
  assert.ok(!text.includes('beginning of 5') && text.includes('beginning of 19'));
  await compact.commit(append({ ...key, sessionId: 's1' }, 'g1'), context);
  const after = await see(compact);
  await compact.close();
  const again = await open({ sync: false, compact: true });
  assert.equal(await see(again), after);
  assert.equal((await again.commit(append({ ...key, sessionId: 's1' }, 'e17'), context)).duplicate, true);
  assert.equal((await again.commit(update({ appName: 'app' }, 'u3'), context)).duplicate, true);
  await again.close();
  assert.deepEqual(readdirSync(dir), ['sessions.journal']);
});

test('what cannot be compacted stays as it is', async () => {
  const { path, dir, open } = place();
  const { see, before } = await busyJournal(open);
  const text = readFileSync(path, 'utf8');
  // Only looking.
  const looking = await open({ sync: false, compact: true }, 'check');
  assert.equal(await see(looking), before);
  await looking.close();
  assert.equal(readFileSync(path, 'utf8'), text);
  // No room.
  const { rename } = fs;
  fs.rename = failing('ENOSPC');
  await assert.rejects(open({ sync: false, compact: true }), { code: 'unavailable' });
  fs.rename = rename;
  assert.equal(readFileSync(path, 'utf8'), text);
  assert.deepEqual(readdirSync(dir), ['sessions.journal']);
  // Something is damaged.
  const damaged = text.replace('"id":"f19"', '"id":"F19"');
  writeFileSync(path, damaged);
  const partly = await open({ sync: false, compact: true });
  assert.equal(await loaded(partly, { ...key, sessionId: 's3' }), 'corrupt');
  await partly.close();
  assert.equal(readFileSync(path, 'utf8'), damaged);
  writeFileSync(path, text.replace(/^.*\n.*\n/, 'nonsense\n'));
  await assert.rejects(open({ sync: false, compact: true }), { code: 'corrupt' });
  assert.deepEqual(readdirSync(dir), ['sessions.journal']);
});

test('who waits for a lock reads the file that is there when it has it', async () => {
  const { path, open } = place();
  const { see, before } = await busyJournal(open);
  // Between the opening of the file and that of the lock, another one compacts it.
  const { realpath } = fs;
  fs.realpath = async (...args) => {
    fs.realpath = realpath;
    await (await open({ sync: false, compact: true })).close();
    return await realpath(...args);
  };
  const store = await open();
  fs.realpath = realpath;
  assert.equal(await see(store), before);
  await store.commit(append({ ...key, sessionId: 's1' }, 'g1'), context);
  assert.ok(readFileSync(path, 'utf8').includes('g1'));
});

const session = (sessionId) => ({ ...key, sessionId });
const compacting = (open) => open({ sync: false, compact: true });

test('what removed sessions have changed stays when it is compacted, also where ids of their events are the same', async () => {
  const { open } = place();
  const store = await compacting(open);
  for (const name of ['one', 'two']) {
    await store.commit(create(session(name), name), context);
    await store.commit(
      append(session(name), 'e1', { app: { set: { [name]: 1 } }, user: { set: { [name]: 1 } } }),
      context,
    );
    await store.remove(session(name), context);
  }
  const refused = append(session('one'), 'late', {}, { attempt: 2 });
  await assert.rejects(store.commit(refused, context), { code: 'not-found' });
  const before = [
    await store.loadScope({ app: key.appName }, context),
    await store.loadScope({ app: key.appName, user: key.userId }, context),
  ];
  await store.close();
  const again = await compacting(open);
  assert.deepEqual(
    [
      await again.loadScope({ app: key.appName }, context),
      await again.loadScope({ app: key.appName, user: key.userId }, context),
    ],
    before,
  );
  assert.equal(before[0].mark, 'e1');
  await again.commit(create(session('one'), 'anew'), context);
  await assert.rejects(again.commit(append(session('one'), 'late'), context), { code: 'conflict' });
  for (const name of ['one', 'two'])
    assert.equal((await again.commit(create(session(name), name), context)).duplicate, true);
  await again.close();
});

test('digests stay when a file is compacted', async () => {
  const { path, open } = place();
  const store = await compacting(open);
  const with1 = { digest: 'digest 1' };
  const late = update({ appName: 'app' }, 'late', {}, { ...with1, attempt: 2, guard: { pos: { app: 7 } } });
  await store.commit(create(session('gone'), 'gone', { session: { set: { secret: 1 } } }, with1), context);
  await store.commit(create(session('live'), 'live', {}, with1), context);
  await store.commit(update({ appName: 'app' }, 'u', { app: { set: { a: 1 } } }, with1), context);
  await assert.rejects(store.commit(late, context), { code: 'conflict' });
  await store.remove(session('gone'), context);
  await store.close();
  // The first one compacts what the store has written, the second one what the first has left.
  for (const round of [1, 2]) {
    await (await compacting(open)).close();
    assert.doesNotMatch(readFileSync(path, 'utf8'), /secret/);
    const again = await open();
    const with2 = { digest: 'digest 2' };
    for (const change of [
      create(session('gone'), 'gone', {}, with2),
      create(session('live'), 'live', {}, with2),
      update({ appName: 'app' }, 'u', {}, with2),
    ]) {
      const { duplicate, digest } = await again.commit(change, context);
      assert.deepEqual([duplicate, digest], [true, 'digest 1'], `${change.id}, ${round}`);
    }
    await assert.rejects(again.commit({ ...late, ...with2 }, context), { code: 'conflict', digest: 'digest 1' });
    await again.close();
  }
});

test('what is remembered of removals and refusals goes out of a compacted file after some days', async () => {
  const { path, open } = place();
  const text = () => readFileSync(path, 'utf8');
  const [start, day] = [Date.now(), 86_400_000];
  mock.timers.enable({ apis: ['Date'], now: start });
  try {
    const store = await compacting(open);
    for (const name of ['one', 'two']) await store.commit(create(session(name), name), context);
    await assert.rejects(
      store.commit(append(session('one'), 'late', {}, { attempt: 2, guard: { rev: 7 } }), context),
      {
        code: 'conflict',
      },
    );
    await store.remove(session('one'), context);
    await store.close();
    await (await compacting(open)).close();
    assert.match(text(), /"late"/);
    assert.match(text(), /"created":"one"/);
    mock.timers.setTime(start + 3 * day);
    const later = await compacting(open);
    await later.remove(session('two'), context);
    await later.close();
    await (await compacting(open)).close();
    assert.doesNotMatch(text(), /"late"|"created":"one"/);
    assert.match(text(), /"created":"two"/);
  } finally {
    mock.timers.reset();
  }
});
