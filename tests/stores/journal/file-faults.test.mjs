// Journals in files: full disks, and disks that fail.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import sync from 'node:fs';
import fs from 'node:fs/promises';
import { test } from 'node:test';
import { moves } from '../support/moved.mjs';
import { append, context, create, loaded } from './support.mjs';
import { cleanups, failing, folder, key, place, start } from './files.mjs';

/** Checks the report of a process that wrote until there was no room, and the content of the file afterwards. */
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

/**
 * Lets the journal of `open` have a file that fails as told. `faults.write` stands for both ways to write, of which
 * one answers at once and the other one later: it gets a function that writes so, and what is to be written.
 */
async function withFaults(open, faults) {
  const { open: openFile } = fs;
  const { writeSync } = sync;
  const written = new Set();
  const write = (real, ...given) => (faults.write === undefined ? real(...given) : faults.write(real, ...given));
  fs.open = async (...args) => {
    const handle = await openFile(...args);
    written.add(handle.fd);
    const writeLater = async (...given) => (await handle.write(...given)).bytesWritten;
    return new Proxy(handle, {
      get: (target, name) => {
        if (name === 'write') {
          return async (...given) => ({ bytesWritten: await write(writeLater, ...given) });
        }
        const value = target[name];
        return typeof value !== 'function'
          ? value
          : (...given) => (faults[name] === undefined ? value.apply(target, given) : faults[name](target, ...given));
      },
    });
  };
  sync.writeSync = (fd, ...given) => {
    const real = (...args) => writeSync(fd, ...args);
    return written.has(fd) ? write(real, ...given) : real(...given);
  };
  cleanups.push(() => (sync.writeSync = writeSync));
  try {
    return await open({ sync: true });
  } finally {
    fs.open = openFile;
  }
}

/** A function that writes, and fails. */
const refusing = (code) => () => {
  throw Object.assign(new Error(`${code}: it does not work`), { code });
};

/** An event that is written at once, and one that is so long that another thread writes it. */
const LENGTHS = { short: 10, long: 100_000 };
const longer = (id, length) => append(key, id, { session: { set: { text: 'x'.repeat(length) } } });

for (const [which, length] of Object.entries(LENGTHS)) {
  test(`what the system writes in small pieces is written whole (a ${which} event)`, async () => {
    const { path, open } = place();
    const piece = Math.max(7, length >> 4);
    let pieces = 0;
    const faults = {
      write: (write, bytes, offset) => {
        pieces += 1;
        return write(bytes, offset, Math.min(piece, bytes.length - offset));
      },
    };
    const store = await withFaults(open, faults);
    await store.commit(create(key, 'c', { session: { set: { n: 1 } } }), context);
    await store.commit(longer('e1', length), context);
    assert.ok(pieces > 16);
    await store.close();
    assert.equal(readFileSync(path, 'utf8').split('\n').length, 4);
    const { session } = (await loaded(await open(), key)).state;
    assert.deepEqual({ ...session }, { n: 1, text: 'x'.repeat(length) });
  });

  test(`a write that fails in the middle is undone (a ${which} event)`, () => checkUndone(length));
}

async function checkUndone(length) {
  const { path, open } = place();
  const faults = {};
  const store = await withFaults(open, faults);
  await store.commit(create(key, 'c'), context);
  const before = readFileSync(path);
  for (const code of ['ENOSPC', 'EDQUOT', 'EIO']) {
    let calls = 0;
    faults.write = (write, bytes, offset) =>
      calls++ === 0 ? write(bytes, offset, bytes.length - 20) : refusing(code)();
    await assert.rejects(
      store.commit(longer('e1', length), context),
      (error) => error.code === 'unavailable' && error.cause.code === code,
    );
    assert.deepEqual(readFileSync(path), before);
  }
  // A process that may only append may not make a file shorter.
  let calls = 0;
  faults.write = (write, bytes, offset) => (calls++ === 0 ? write(bytes, offset, 20) : refusing('ENOSPC')());
  faults.truncate = failing('EPERM');
  await assert.rejects(store.commit(longer('e1', length), context), { code: 'unavailable' });
  assert.deepEqual(readFileSync(path), before);
  faults.write = undefined;
  assert.equal((await store.commit(longer('e1', length), context)).duplicate, undefined);
  await store.close();
  assert.equal((await loaded(await open(), key)).rev, 1);
}

for (const [what, faults] of [
  ['a disk that does not take what was written', { datasync: failing('EIO') }],
  [
    'a write that fails and cannot be undone',
    {
      write: (write, bytes) => {
        write(bytes, 0, 10);
        refusing('EIO')();
      },
      truncate: failing('EIO'),
    },
  ],
  ['an end that cannot be brought to the disk', { write: refusing('ENOSPC'), sync: failing('EIO') }],
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

test('a file that somebody else writes to is not written to any more', async () => {
  const { path, open } = place();
  const store = await open();
  await store.commit(create(key, 'c'), context);
  appendFileSync(path, 'x\n');
  await assert.rejects(
    store.commit(append(key, 'e1'), context),
    (error) => error.code === undefined && /has closed itself/.test(error.message),
  );
});

for (const [how, { move, back, told }] of Object.entries(moves)) {
  test(`a file that was ${how} takes no change, and each one when it is back`, async () => {
    const { path, open } = place();
    const store = await open();
    await store.commit(create(key, 'c'), context);
    await store.commit(append(key, 'e1'), context);
    const before = readFileSync(path);
    move(path);
    for (const refused of [append(key, 'e2'), create({ ...key, sessionId: 't' }, 'd')]) {
      await assert.rejects(store.commit(refused, context), { code: 'unavailable', message: told });
    }
    back(path);
    assert.deepEqual(readFileSync(path), before, 'nothing went to the file meanwhile');
    assert.equal((await store.commit(append(key, 'e2'), context)).rev, 2);
  });

  test(`a file that is ${how} while a change is flushed does not keep it`, async () => {
    const { path, open } = place();
    const faults = {};
    const store = await withFaults(open, faults);
    await store.commit(create(key, 'c'), context);
    const before = readFileSync(path);
    faults.datasync = async (handle) => {
      await handle.datasync();
      move(path);
    };
    await assert.rejects(store.commit(append(key, 'e1'), context), { code: 'unavailable', message: told });
    delete faults.datasync;
    back(path);
    assert.deepEqual(readFileSync(path), before);
    const { duplicate, rev } = await store.commit(append(key, 'e1'), context);
    assert.deepEqual([duplicate, rev], [undefined, 1]);
  });
}

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
  const write = (real, ...given) => {
    done.push('write');
    return real(...given);
  };
  const store = await withFaults(open, {
    datasync: spy('datasync'),
    sync: spy('sync'),
    // Of what another thread does for a commit, there is the flush alone.
    stat: spy('stat'),
    write,
  });
  assert.deepEqual(
    done.splice(0).filter((name) => name !== 'stat'),
    ['sync', 'datasync'],
  );
  await store.commit(create(key, 'c'), context).then(() => done.push('acknowledged'));
  assert.deepEqual(done.splice(0), ['write', 'datasync', 'acknowledged']);
  await store.commitMany(
    Array.from({ length: 64 }, (_, index) => create({ ...key, sessionId: `${index}` }, `c${index}`)),
    context,
  );
  assert.deepEqual(done, ['write', 'datasync'], 'many at the cost of one');
});
