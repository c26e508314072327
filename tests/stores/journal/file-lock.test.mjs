// Journals in files: one writer at a time, in a process and among processes.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileJournal } from 'statepad/stores/journal';
import { append, context, create, opened } from './support.mjs';
import { key, place, start } from './files.mjs';

test('a journal is open once: in a process', async () => {
  const { path, dir, lock, open } = place();
  const store = await open();
  await assert.rejects(
    open(),
    (error) => error.code === 'rejected' && /another store of this process has the journal open/.test(error.message),
  );
  symlinkSync(path, join(dir, 'other.journal'));
  await assert.rejects(opened(fileJournal(join(dir, 'other.journal'))), { code: 'rejected' });
  assert.ok(existsSync(lock), 'who is refused does not take the lock away');
  await store.commit(create(key, 'c'), context);
  await store.close();
  assert.ok(!existsSync(lock));
  await open();
});

test('a journal is open once: among processes, until the one that has it dies or closes it', async () => {
  const { path, dir, lock, open } = place();
  for (const end of ['SIGKILL', 'close']) {
    const { child, next } = start('hold', path);
    assert.equal(await next(), 'open');
    await assert.rejects(
      open(),
      (error) => error.code === 'rejected' && error.message.includes(`process ${child.pid} `),
    );
    const closed = once(child, 'close');
    end === 'close' ? child.stdin.write('close\n') : child.kill(end);
    await closed;
    assert.equal(existsSync(lock), end === 'SIGKILL');
    const store = await open();
    await store.close();
    assert.deepEqual(readdirSync(dir), ['sessions.journal']);
  }
});

const ours = (lock) => JSON.parse(readFileSync(lock, 'utf8'));

test(
  'a process that has the number of a dead one is not taken for it',
  { skip: process.platform !== 'linux' && 'only Linux tells when a process began' },
  async () => {
    const { lock, open } = place();
    const store = await open();
    const owner = ours(lock);
    await store.close();
    assert.equal(owner.pid, process.pid);
    writeFileSync(lock, JSON.stringify({ ...owner, id: 'theirs', start: String(Number(owner.start) - 1) }));
    await (await open()).close();
    writeFileSync(lock, JSON.stringify({ ...owner, id: 'theirs' }));
    await assert.rejects(open(), { code: 'rejected' });
  },
);

test(
  'a process that is dead and that nobody has asked for is dead',
  { skip: process.platform !== 'linux' && 'only Linux tells' },
  async () => {
    const { path, open } = place();
    // Its parent becomes a program that never asks how its children have ended.
    const { child, next } = start('hold', path, '"$@" & exec sleep 1000; :');
    assert.equal(await next(), 'open');
    const { pid } = ours(`${path}.lock`);
    assert.notEqual(pid, child.pid);
    process.kill(pid, 'SIGKILL');
    while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))) {
      await new Promise((done) => setTimeout(done, 5));
    }
    await open();
  },
);

test('of the owner of a lock elsewhere it counts whether it looks after it', async () => {
  const { lock, open } = place();
  const owner = { id: 'theirs', pid: process.pid, start: '1', place: 'another machine' };
  for (const text of [JSON.stringify(owner), '', '{"id":"../../x","pid":1,"place":""}']) {
    writeFileSync(lock, text);
    await assert.rejects(open(), { code: 'rejected' });
    const before = statSync(lock).mtimeMs / 1000 - 60;
    utimesSync(lock, before, before);
    await (await open()).close();
    assert.ok(!existsSync(lock));
  }
});

test('a lock that was taken away is not written under', async () => {
  const { lock, open } = place();
  const store = await open();
  await store.commit(create(key, 'c'), context);
  writeFileSync(lock, JSON.stringify({ ...ours(lock), id: 'theirs' }));
  const { now } = Date;
  // As if this process had been asleep.
  Date.now = () => now() + 60_000;
  try {
    await assert.rejects(store.commit(append(key, 'e1'), context), /has closed itself/);
  } finally {
    Date.now = now;
  }
  assert.equal(ours(lock).id, 'theirs', 'the lock of another is left alone');
});

test('a lock is confirmed by the clock of the file system, whatever that of the process says', async () => {
  const { lock, open } = place();
  const store = await open();
  await store.commit(create(key, 'c'), context);
  utimesSync(lock, 1, 1);
  const { now } = Date;
  Date.now = () => now() - 86_400_000;
  try {
    await store.commit(append(key, 'e1'), context);
  } finally {
    Date.now = now;
  }
  const beside = `${lock}.beside`;
  writeFileSync(beside, '');
  assert.ok(Math.abs(statSync(lock).mtimeMs - statSync(beside).mtimeMs) < 60_000);
  assert.ok(ours(lock).id);
});

test('of many that see the same dead owner one takes its place', async () => {
  const { path, lock, dir, open } = place();
  const first = await open();
  const owner = ours(lock);
  await first.close();
  for (let round = 0; round < 30; round++) {
    writeFileSync(lock, JSON.stringify({ ...owner, id: `dead-${round}`, start: '1' }));
    // One that died while it took the place of another.
    if (round % 3 === 0) {
      writeFileSync(`${lock}.dead-${round}`, JSON.stringify({ ...owner, id: `deader-${round}`, start: '1' }));
    }
    const stores = Array.from({ length: 8 }, () => fileJournal(path, { sync: false }));
    const outcomes = await Promise.allSettled(stores.map((store) => opened(store)));
    const winners = stores.filter((_, index) => outcomes[index].status === 'fulfilled');
    assert.equal(winners.length, 1, `round ${round}`);
    outcomes.forEach(({ reason }) => assert.ok(reason === undefined || reason.code === 'rejected', reason?.stack));
    await winners[0].close();
    assert.deepEqual(readdirSync(dir), ['sessions.journal'], `round ${round}`);
  }
});

test('who sees a dead owner looks again before it takes its place: another may have been faster', async () => {
  const { lock, open } = place();
  const first = await open();
  const owner = ours(lock);
  await first.close();
  writeFileSync(lock, JSON.stringify({ ...owner, id: 'dead', start: '1' }));
  const { link } = fs;
  let faster;
  fs.link = async (from, to) => {
    if (to === `${lock}.dead` && faster === undefined) {
      faster = open();
      await faster;
    }
    return await link(from, to);
  };
  try {
    await assert.rejects(open(), { code: 'rejected' });
  } finally {
    fs.link = link;
  }
  const store = await faster;
  assert.equal((await store.commit(create(key, 'c'), context)).rev, 0);
  await store.close();
  assert.ok(!existsSync(lock), 'the lock was its own to the end');
});

test('of several processes that see the same dead owner one takes its place', async () => {
  const { path, lock, open } = place();
  const first = await open();
  const owner = ours(lock);
  await first.close();
  writeFileSync(lock, JSON.stringify({ ...owner, start: '1' }));
  const others = Array.from({ length: 4 }, () => start('open', path));
  await Promise.all(others.map(async ({ next }) => assert.equal(await next(), 'ready')));
  others.forEach(({ child }) => child.stdin.write('go\n'));
  const answers = await Promise.all(others.map(({ next }) => next()));
  assert.equal(answers.filter((answer) => answer === 'open').length, 1, JSON.stringify(answers));
  assert.equal(answers.filter(({ code }) => code === 'rejected').length, 3, JSON.stringify(answers));
});

test('who holds a journal is said: this process, or which other one', async () => {
  const { path, open } = place();
  await open();
  await assert.rejects(open(), { code: 'rejected', message: /another store of this process has the journal open/ });
  const other = place();
  const { child, next } = start('hold', other.path);
  assert.equal(await next(), 'open');
  await assert.rejects(other.open(), {
    code: 'rejected',
    message: new RegExp(`process ${child.pid} has the journal open`),
  });
  assert.ok(path);
});
