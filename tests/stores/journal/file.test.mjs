// Journals in files: how they are made, opened and closed, and what torn ends and damaged lines are taken for.

import assert from 'node:assert/strict';
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isStatepadError } from 'statepad';
import { callbackStore, fileJournal, journalStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened } from './support.mjs';
import { folder, key, place } from './files.mjs';

test('the file is made, and its lines are those of the journal', async () => {
  const { path, lock, dir, open } = place();
  const store = await open();
  assert.ok(existsSync(path) && existsSync(lock));
  await store.commit(create(key, 'c'), context);
  await store.commit(append(key, 'e1'), context);
  await store.close();
  assert.deepEqual(readdirSync(dir), ['sessions.journal']);
  const lines = readFileSync(path, 'utf8').split('\n');
  assert.equal(lines.length, 4);
  assert.match(lines[0], /^V[0-9a-f]{8}\[1,"[0-9a-f]{8}",0\]$/);
  assert.equal(lines[3], '');
  const again = await open();
  await again.commit(append(key, 'e2'), context);
  assert.deepEqual(readFileSync(path, 'utf8').split('\n').slice(0, 3), lines.slice(0, 3), 'nothing is ever changed');
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 5, 'nor are there lines that say nothing');
});

test('it says how durable a change is', () => {
  assert.equal(fileJournal('x').durability, 'disk');
  assert.equal(fileJournal('x', { sync: false }).durability, 'os');
});

test('what a file cannot be is rejected, and leaves nothing behind', async () => {
  const dir = folder();
  mkdirSync(join(dir, 'folder'));
  for (const path of [
    join(dir, 'folder'),
    join(dir, 'nowhere', 'x'),
    join(dir, 'folder', 'x', 'y'),
    '/dev/null',
    join(dir, 'x'.repeat(300)),
  ]) {
    await assert.rejects(opened(fileJournal(path)), { code: 'rejected' }, path);
  }
  assert.deepEqual(readdirSync(dir), ['folder']);
  assert.ok(!existsSync('/dev/null.lock'));
});

test('who may only look makes no file, and cuts nothing off before something is written', async () => {
  const { path, dir, open } = place();
  await assert.rejects(open({}, 'check'), { code: 'rejected' });
  assert.deepEqual(readdirSync(dir), []);
  const store = await open();
  await store.commit(create(key, 'c'), context);
  await store.close();
  appendFileSync(path, 'K12');
  const size = statSync(path).size;
  const looking = await open({ sync: false }, 'check');
  assert.equal((await loaded(looking, key)).rev, 0);
  assert.equal(statSync(path).size, size);
  await looking.commit(append(key, 'e1'), context);
  await looking.close();
  assert.equal((await loaded(await open(), key)).rev, 1);
  assert.ok(!readFileSync(path, 'utf8').includes('K12'));
});

test('a torn end is cut off when the journal is opened, at whatever byte it was torn', async () => {
  const { path, open } = place();
  const store = await open();
  await store.commit(create(key, 'c', { user: { set: { name: 'é' } } }), context);
  await store.commit(
    append(key, 'e1', { user: { set: { name: '日本' } }, session: { set: { '💡': '\n\t' } } }),
    context,
  );
  const before = await loaded(store, key);
  const start = statSync(path).size;
  await store.commit(
    append(key, 'e2', { user: { set: { name: '💡' } }, session: { set: { 日: '\u0000' } } }),
    context,
  );
  const after = await loaded(store, key);
  await store.close();
  const whole = readFileSync(path);
  for (let end = start; end < whole.length; end++) {
    writeFileSync(path, whole.subarray(0, end));
    const torn = await open();
    // Without its line feed the last line is still whole.
    assert.deepEqual(await loaded(torn, key), end < whole.length - 1 ? before : after, `torn at ${end - start}`);
    assert.equal(statSync(path).size, end < whole.length - 1 ? start : end);
    const { rev } = await torn.commit(append(key, 'e3'), context);
    await torn.close();
    const again = await open();
    assert.equal((await loaded(again, key)).rev, rev, `written behind what was torn at ${end - start}`);
    await again.close();
  }
});

test('space at the end that nobody has written to is a torn end', async () => {
  const { path, open } = place();
  const store = await open();
  await store.commit(create(key, 'c'), context);
  await store.close();
  const whole = readFileSync(path);
  for (const end of ['\0'.repeat(4096), `${whole.subarray(0, 9)}${'\0'.repeat(100)}`]) {
    writeFileSync(path, Buffer.concat([whole, Buffer.from(end)]));
    const again = await open();
    assert.equal((await loaded(again, key)).rev, 0);
    assert.equal(statSync(path).size, whole.length);
    await again.close();
  }
});

test('a line that is complete and damaged is not torn, not even the last one', async () => {
  const { path, open } = place();
  const store = await open();
  await store.commit(create(key, 'c'), context);
  await store.commit(append(key, 'e1'), context);
  await store.close();
  const whole = readFileSync(path, 'utf8');
  const cut = (length) => `${whole.slice(0, whole.length - length)}\n`;
  // Damage to the second copy of the key alone loses nothing.
  for (const [text, rev] of [
    [cut(60)],
    [cut(100)],
    [whole.replace(/e1/g, 'e2')],
    [cut(30), 1],
    [`${whole.slice(0, -1)}X`, 1],
  ]) {
    writeFileSync(path, text);
    const damaged = await open();
    const answer = await loaded(damaged, key);
    assert.equal(answer.rev ?? answer, rev ?? 'corrupt', text);
    await damaged.close();
    assert.equal(readFileSync(path, 'utf8'), text, 'nothing is overwritten');
  }
});

test('a file that is no journal is not touched', async () => {
  const { path, dir } = place();
  for (const text of ['hello', 'hello\nworld\n', 'Kind regards']) {
    writeFileSync(path, text);
    await assert.rejects(opened(fileJournal(path)), { code: 'corrupt' });
    assert.equal(readFileSync(path, 'utf8'), text);
    assert.deepEqual(readdirSync(dir), ['sessions.journal'], 'no lock stays behind');
  }
});

test('lines are longer than what is read at a time', async () => {
  const { open } = place();
  const store = await open();
  const text = '日é💡x'.repeat(400_000);
  await store.commit(create(key, 'c'), context);
  await store.commitMany(
    [
      append(key, 'e1', { session: { set: { text } } }),
      create({ ...key, sessionId: 't' }, 'c2', { app: { set: { text } } }),
    ],
    context,
  );
  await store.close();
  const again = await open();
  assert.equal((await again.load(key, {}, context)).state.session.text, text);
  assert.equal((await again.loadScope({ app: 'app' }, context)).state.text, text);
});

test('a path, functions or options that can be none are refused at once', () => {
  for (const make of [
    ...[
      [],
      [''],
      [5],
      [null],
      ['x', null],
      ['x', 5],
      ['x', { synk: true }],
      ['x', { sync: 'yes' }],
      ['x', { compact: 1 }],
    ].map((args) => () => fileJournal(...args)),
    ...[undefined, null, 5, fileJournal, {}, { append: async () => undefined }, { append: 1, read: () => [] }].map(
      (medium) => () => journalStore(medium),
    ),
    ...[undefined, null, {}, { restore: () => [] }, { persist: async () => undefined, restore: [] }].map(
      (functions) => () => callbackStore(functions),
    ),
  ]) {
    assert.throws(
      make,
      (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && error.path !== undefined,
    );
  }
});

test('a closed journal answers nothing', async () => {
  const { open } = place();
  const store = await open();
  await store.commit(create(key, 'c'), context);
  await store.close();
  for (const attempt of [() => store.commit(append(key, 'e1'), context), () => store.load(key, {}, context)]) {
    await assert.rejects(attempt(), /is not open/);
  }
  // It can be opened again.
  await opened(store);
  assert.equal((await loaded(store, key)).rev, 0);
  await store.close();
});
