// Several processes on one SQLite file.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { creation, event, hasLog, key, libraries, plain, rows, withFile } from './libraries.mjs';

const script = fileURLToPath(new URL('process.mjs', import.meta.url));

/** Starts a process. `lines` are what it says, one after the other; `ended` is how it ended, and never fails. */
function start(library, path, ...args) {
  const child = spawn(process.execPath, [script, library, path, ...args.map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'close').then(([code, signal]) => signal ?? code);
  return { child, lines, ended };
}

for (const name of Object.keys(libraries)) {
  test(`${name}: four processes that open a new file at once, and write, lose nothing`, () =>
    withFile(name, async (file) => {
      const writers = ['w1', 'w2', 'w3', 'w4'];
      const count = hasLog(name) ? 10 : 3;
      const processes = writers.map((writer) => start(name, file.path, 'write', writer, count));
      assert.deepEqual(await Promise.all(processes.map(({ ended }) => ended)), [0, 0, 0, 0]);

      const store = plain(file.store());
      await store.open({ migrate: 'check' });
      const ids = writers.flatMap((writer) => Array.from({ length: count }, (_, number) => `${writer} ${number}`));
      const shared = await store.load(key('shared'), {});
      assert.equal(shared.rev, ids.length);
      assert.deepEqual(shared.pos, { app: ids.length, user: ids.length });
      assert.deepEqual(
        shared.events.map(({ rev }) => rev),
        ids.map((_, at) => at + 1),
      );
      assert.deepEqual(shared.events.map(({ data }) => JSON.parse(data).id).sort(), ids.sort());
      assert.deepEqual(
        Object.keys(shared.state.session)
          .filter((each) => each !== 'last')
          .sort(),
        ids,
      );
      assert.deepEqual(Object.keys(shared.state.app).sort(), ids);
      assert.deepEqual(
        Object.entries(shared.state.user).sort(),
        writers.map((writer) => [writer, count - 1]),
      );
      const page = await store.list({ app: 'a', descending: false });
      assert.deepEqual(page.rows.map(({ key: { sessionId }, rev }) => [sessionId, rev]).sort(), [
        ['shared', ids.length],
        ...writers.map((writer) => [writer, count]),
      ]);
      assert.equal(page.total, 5);
    }));

  test(`${name}: increments of several processes all count, each once, and none is tried twice`, () =>
    withFile(name, async (file) => {
      const count = hasLog(name) ? 20 : 3;
      const writers = ['w1', 'w2', 'w3'];
      const processes = writers.map((writer) => start(name, file.path, 'increment', writer, count));
      const said = processes.map(async ({ lines }) => {
        const seen = [];
        for await (const line of lines) {
          seen.push(Number(line));
        }
        return seen;
      });
      const seen = (await Promise.all(said)).flat();
      assert.deepEqual(await Promise.all(processes.map(({ ended }) => ended)), [0, 0, 0]);
      const store = plain(file.store());
      await store.open({ migrate: 'check' });
      const total = writers.length * count;
      assert.deepEqual({ ...(await store.loadScope({ app: 'a' })).state }, { n: total });
      const numbers = Array.from({ length: total }, (_, index) => index + 1);
      assert.deepEqual(
        seen.sort((a, b) => a - b),
        numbers,
      );
      const { base, entries } = await store.readLog({ app: 'a' }, {});
      assert.equal(base, 0);
      assert.deepEqual(
        entries.map(({ pos, writes: [{ from = 0, to }] }) => [pos, from, to]),
        numbers.map((number) => [number, number - 1, number]),
      );
    }));

  if (process.platform !== 'win32') {
    test(`${name}: a process that was stopped, overtaken in its lease, and goes on, writes nothing`, () =>
      withFile(name, async (file) => {
        const store = plain(file.store());
        await store.open({ migrate: 'create' });
        await store.commit(creation('s'));
        const { child, lines, ended } = start(name, file.path, 'lease', 'first', 1_000);
        const next = async () => (await lines.next()).value;
        assert.equal(await next(), 'leased 1');
        child.stdin.write('write\n');
        assert.equal(await next(), 'write: done');
        await assert.rejects(store.lease(key(), { holder: 'second', ttl: 60_000 }), { code: 'held' });
        child.kill('SIGSTOP');
        let lease;
        while (lease === undefined) {
          lease = await store.lease(key(), { holder: 'second', ttl: 60_000 }).catch(({ code, until }) => {
            assert.equal(code, 'held');
            return new Promise((resolve) => setTimeout(resolve, until - Date.now()));
          });
        }
        assert.equal(lease.fence, 2);
        const guard = { fence: 2 };
        await store.commit(event('mine', { guard, app: { set: { second: 1 } } }));
        // It finds them as soon as it goes on.
        child.stdin.write('write\nretry\nrenew\nrelease\nwrite\nend\n');
        child.kill('SIGCONT');
        assert.deepEqual(
          [await next(), await next(), await next(), await next(), await next()],
          ['write: fenced 2', 'retry: fenced 2', 'renew: fenced 2', 'release: fenced 2', 'write: fenced 2'],
        );
        assert.equal(await ended, 0);
        await store.commit(event('mine too', { guard }));
        const { events, state } = await store.load(key(), {});
        assert.deepEqual(
          events.map(({ id }) => id),
          ['first 1', 'mine', 'mine too'],
        );
        assert.deepEqual({ ...state.app }, { first: 1, second: 1 });
      }));
  }

  test(`${name}: one who watches hears of what another process has done to what it has read, and of nothing else`, () =>
    withFile(name, async (file) => {
      const store = plain(file.store({ pollMs: 5, busyTimeout: 60_000 }));
      await store.open({ migrate: 'create' });
      await store.commit(creation('shared'));
      const heard = new Map();
      let tell = () => {};
      const stop = store.watch((hint) => {
        heard.set(JSON.stringify(Object.values(hint)), hint);
        tell();
      });
      await store.load(key('shared'), {});
      await store.load(key('unmoved', 'v'), {});
      const { ended } = start(name, file.path, 'write', 'w', 2);
      const wanted = ['["a","u","shared"]', '["a"]', '["a","u"]'];
      await new Promise((resolve) => {
        tell = () => wanted.every((text) => heard.has(text)) && resolve();
      });
      assert.equal(await ended, 0);
      stop();
      assert.deepEqual([...heard.keys()].sort(), [...wanted].sort());
    }));

  test(`${name}: a process that watches ends all the same`, () =>
    withFile(name, async (file) => {
      const { child, lines, ended } = start(name, file.path, 'watch', '', 0);
      child.stdin.end();
      assert.equal((await lines.next()).value, 'watching');
      assert.equal(await ended, 0);
    }));

  test(`${name}: a change waits for another process that is soon done`, () =>
    withFile(name, async (file) => {
      const store = plain(file.store({ busyTimeout: 60_000 }));
      await store.open({ migrate: 'create' });
      const { lines, ended } = start(name, file.path, 'lock', '', 300);
      assert.equal((await lines.next()).value, 'locked');
      await store.commit(creation('s'));
      assert.equal(await ended, 0);
      assert.equal((await store.load(key('s'), {})).rev, 0);
    }));

  if (hasLog(name)) {
    test(`${name}: what a killed process has said to be done is there, and nothing half`, () =>
      withFile(name, async (file) => {
        const { child, lines, ended } = start(name, file.path, 'write', 'w', 100_000);
        let said = -1;
        while (said < 20) {
          said = Number((await lines.next()).value.split(' ')[1]);
        }
        child.kill('SIGKILL');
        assert.equal(await ended, 'SIGKILL');
        for await (const line of lines) {
          said = Number(line.split(' ')[1]);
        }

        const database = file.connect();
        const store = plain(file.store());
        await store.open({ migrate: 'check' });
        assert.deepEqual(Object.values(rows(database, 'PRAGMA integrity_check')[0]), ['ok']);
        const shared = await store.load(key('shared'), {});
        const own = await store.load(key('w'), {});
        // The one that it was at may be there, or not.
        assert.ok(shared.rev >= said + 1 && shared.rev <= said + 3, `${shared.rev} of ${said + 1}`);
        assert.ok(own.rev === shared.rev || own.rev === shared.rev - 1);
        assert.ok(own.rev >= said + 1);
        assert.equal(shared.events.length, shared.rev);
        assert.equal(Object.keys(shared.state.session).length, shared.rev + 1);
        assert.deepEqual(shared.pos, { app: shared.rev, user: own.rev });
        for (const [scope, pos] of [
          [{ app: 'a' }, shared.rev],
          [{ app: 'a', user: 'u' }, own.rev],
        ]) {
          const { base, entries } = await store.readLog(scope, {});
          assert.equal(base, 0);
          assert.deepEqual(
            entries.map((entry) => [entry.pos, entry.writes.length]),
            Array.from({ length: pos }, (_, at) => [at + 1, 1]),
          );
        }
        assert.equal((await store.commit(event('next', { sessionId: 'shared' }))).rev, shared.rev + 1);
      }));
  }
}
