// Journals in files: torn ends, full disks, disks that fail, and one writer at a time.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isStatepadError } from 'statepad';
import { callbackStore, fileJournal, journalStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened } from './support.mjs';

const key = { appName: 'app', userId: 'ü', sessionId: 's' };
const childScript = fileURLToPath(new URL('file-child.mjs', import.meta.url));
const cleanups = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

function folder() {
  const path = mkdtempSync(join(tmpdir(), 'statepad-file-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A path for a journal, and what opens it; what is open is closed in the end. */
function place(dir = folder()) {
  const path = join(dir, 'sessions.journal');
  const open = async (options = { sync: false }, migrate = 'create') => {
    const store = fileJournal(path, options);
    await opened(store, migrate);
    cleanups.push(() => store.close());
    return store;
  };
  return { path, lock: `${path}.lock`, dir, open };
}

/** Starts the other process; `next()` is what it says next. */
function start(what, path, before = '') {
  const child =
    before === ''
      ? spawn(process.execPath, [childScript, what, path])
      : spawn('sh', ['-c', `${before} "$@"`, 'sh', process.execPath, childScript, what, path]);
  child.stderr.pipe(process.stderr);
  cleanups.push(() => child.kill('SIGKILL'));
  const lines = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
  let text = '';
  const next = async () => {
    while (!text.includes('\n')) {
      const { value, done } = await lines.next();
      assert.ok(!done, 'the other process has ended');
      text += value;
    }
    const line = text.slice(0, text.indexOf('\n'));
    text = text.slice(line.length + 1);
    return JSON.parse(line);
  };
  return { child, next };
}

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
  assert.match(lines[0], /^V[0-9a-f]{8}2$/);
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
  // Where only the second copy of the key is damaged, nothing is lost.
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

/** What a process saw that wrote until there was no room, and what is in the file afterwards. */
async function checkFull({ code, cause, acknowledged, rev, fits }, causes, open) {
  assert.equal(code, 'unavailable');
  assert.ok(causes.includes(cause), cause);
  assert.equal(rev, acknowledged.length);
  const store = await open();
  const { events } = await loaded(store, { appName: 'app', userId: 'user', sessionId: 's' });
  assert.deepEqual(
    events.map(({ data }) => JSON.parse(data).id),
    [...acknowledged, ...(fits ? ['small'] : [])],
  );
}

test('a file that may not grow any more is as it was before, and can be written when it may', async () => {
  const { path, open } = place();
  const { child, next } = start('fill', path, 'ulimit -f 100; exec');
  const [answer] = await Promise.all([next(), once(child, 'close')]);
  assert.ok(answer.acknowledged.length > 3);
  assert.equal(readFileSync(path).at(-1), 10);
  await checkFull(answer, ['EFBIG'], open);
});

/** Makes a file system of 64 kB, if this process is allowed to. */
function smallDisk() {
  const dir = folder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', dir], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  cleanups.push(() => execFileSync('umount', [dir]));
  return dir;
}

test('on a full disk a change is unavailable and nothing is half written', async (t) => {
  const dir = smallDisk();
  if (dir === undefined) {
    // The limit of a process stands for the full disk in the test before.
    t.diagnostic('no file system can be mounted here');
    return;
  }
  const { path, open } = place(dir);
  const { child, next } = start('fill', path);
  const [answer] = await Promise.all([next(), once(child, 'close')]);
  assert.equal(readFileSync(path).at(-1), 10);
  await checkFull(answer, ['ENOSPC'], open);
});

/** Lets the journal of `open` have a file that fails as told. */
async function withFaults(open, faults) {
  const { open: openFile } = fs;
  fs.open = async (...args) => {
    const handle = await openFile(...args);
    return new Proxy(handle, {
      get: (target, name) => {
        const value = target[name];
        return typeof value !== 'function'
          ? value
          : (...given) => (faults[name] === undefined ? value.apply(target, given) : faults[name](target, ...given));
      },
    });
  };
  try {
    return await open({ sync: true });
  } finally {
    fs.open = openFile;
  }
}

const failing = (code) => async () => {
  throw Object.assign(new Error(`${code}: it does not work`), { code });
};

test('what the system writes in small pieces is written whole', async () => {
  const { path, open } = place();
  const faults = { write: (handle, bytes, offset) => handle.write(bytes, offset, Math.min(7, bytes.length - offset)) };
  const store = await withFaults(open, faults);
  await store.commit(create(key, 'c', { session: { set: { n: 1 } } }), context);
  await store.close();
  assert.equal(readFileSync(path, 'utf8').split('\n').length, 3);
  assert.equal((await loaded(await open(), key)).state.session.n, 1);
});

test('a write that fails in the middle is undone', async () => {
  const { path, open } = place();
  const faults = {};
  const store = await withFaults(open, faults);
  await store.commit(create(key, 'c'), context);
  const before = readFileSync(path);
  for (const code of ['ENOSPC', 'EDQUOT', 'EIO']) {
    let calls = 0;
    faults.write = async (handle, bytes, offset) =>
      calls++ === 0 ? handle.write(bytes, offset, bytes.length - 20) : await failing(code)();
    await assert.rejects(
      store.commit(append(key, 'e1'), context),
      (error) => error.code === 'unavailable' && error.cause.code === code,
    );
    assert.deepEqual(readFileSync(path), before);
  }
  // Where who may only append may not make a file shorter.
  let calls = 0;
  faults.write = async (handle, bytes, offset) =>
    calls++ === 0 ? handle.write(bytes, offset, 20) : await failing('ENOSPC')();
  faults.truncate = failing('EPERM');
  await assert.rejects(store.commit(append(key, 'e1'), context), { code: 'unavailable' });
  assert.deepEqual(readFileSync(path), before);
  faults.write = undefined;
  assert.equal((await store.commit(append(key, 'e1'), context)).duplicate, undefined);
  await store.close();
  assert.equal((await loaded(await open(), key)).rev, 1);
});

for (const [what, faults] of [
  ['a disk that does not take what was written', { datasync: failing('EIO') }],
  [
    'a write that fails and cannot be undone',
    {
      write: async (handle, bytes) => {
        await handle.write(bytes, 0, 10);
        await failing('EIO')();
      },
      truncate: failing('EIO'),
    },
  ],
  ['an end that cannot be brought to the disk', { write: failing('ENOSPC'), sync: failing('EIO') }],
]) {
  test(`${what} closes the journal: nobody knows what is in it until it is opened again`, async () => {
    const { lock, open } = place();
    const now = {};
    const store = await withFaults(open, now);
    await store.commit(create(key, 'c'), context);
    Object.assign(now, faults);
    await assert.rejects(
      store.commit(append(key, 'e1'), context),
      (error) => error.code === undefined && /has closed itself/.test(error.message),
    );
    Object.keys(now).forEach((name) => delete now[name]);
    for (const attempt of [() => store.commit(append(key, 'e1'), context), () => store.load(key, {}, context)]) {
      await assert.rejects(attempt(), (error) => error.code === undefined);
    }
    assert.ok(!existsSync(lock));
    const again = await open();
    const { rev } = await loaded(again, key);
    const { duplicate } = await again.commit(append(key, 'e1'), context);
    assert.equal(duplicate === true, rev === 1);
    assert.equal((await loaded(again, key)).rev, 1);
  });
}

test('a full disk keeps a journal from being opened for now', async () => {
  const { dir, open } = place();
  const { writeFile } = fs;
  fs.writeFile = failing('ENOSPC');
  try {
    await assert.rejects(open(), { code: 'unavailable' });
  } finally {
    fs.writeFile = writeFile;
  }
  assert.deepEqual(readdirSync(dir), ['sessions.journal']);
  await open();
});

test('a file that somebody else writes to or deletes is not written to any more', async () => {
  for (const meddle of [(path) => appendFileSync(path, 'x\n'), (path) => rmSync(path)]) {
    const { path, open } = place();
    const store = await open();
    await store.commit(create(key, 'c'), context);
    meddle(path);
    await assert.rejects(
      store.commit(append(key, 'e1'), context),
      (error) => error.code === undefined && /has closed itself/.test(error.message),
    );
  }
});

test('what was written is on the disk before it is acknowledged, and the name of a new file before all else', async () => {
  const { open } = place();
  const done = [];
  const spy =
    (name) =>
    async (handle, ...args) => {
      const answer = await handle[name](...args);
      done.push(name);
      return answer;
    };
  const store = await withFaults(open, { datasync: spy('datasync'), sync: spy('sync'), write: spy('write') });
  assert.deepEqual(done.splice(0), ['sync', 'datasync']);
  await store.commit(create(key, 'c'), context).then(() => done.push('acknowledged'));
  assert.deepEqual(done.splice(0), ['write', 'datasync', 'acknowledged']);
  await store.commitMany(
    Array.from({ length: 64 }, (_, index) => create({ ...key, sessionId: `${index}` }, `c${index}`)),
    context,
  );
  assert.deepEqual(done, ['write', 'datasync'], 'many at the cost of one');
});

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
    const before = Date.now() / 1000 - 60;
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
    await store.commit(
      { id: `u${number}`, kind: 'update', key: { appName: 'app' }, time: 3, delta: { app: { set: { u: number } } } },
      context,
    );
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
  assert.equal(
    (await again.commit({ id: 'u3', kind: 'update', key: { appName: 'app' }, time: 3, delta: {} }, context)).duplicate,
    true,
  );
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
    ...[undefined, null, {}, { persist: async () => undefined }, { persist: async () => undefined, restore: [] }].map(
      (functions) => () => callbackStore(functions),
    ),
  ]) {
    assert.throws(
      make,
      (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && error.path !== undefined,
    );
  }
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
