// Hints for what other connections write: which come, which do not, and what it costs to wait for them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clearInterval, setInterval } from 'node:timers';
import { sqliteStore } from 'statepad/stores/sqlite';
import { creation, event, key, libraries, observed, plain, update, withFile } from './libraries.mjs';

/** Watches with a store. `next` waits for hints, as long as none have come, and answers their texts. */
function watching(store) {
  let heard = [];
  let tell = () => {};
  const stop = store.watch((hint) => {
    heard.push(Object.values(hint).join(' '));
    tell();
  });
  const next = async (wanted) => {
    // To watch keeps no process alive.
    const waiting = setInterval(() => {}, 1_000);
    await new Promise((resolve) => {
      tell = () => heard.includes(wanted) && resolve();
      tell();
    });
    clearInterval(waiting);
    const found = heard;
    heard = [];
    return found;
  };
  return { stop, next };
}

for (const name of Object.keys(libraries)) {
  test(`${name}: hints name what has moved, been removed and been made anew, and nothing of one's own`, () =>
    withFile(name, async (file) => {
      const [store, other] = [plain(file.store({ pollMs: 5 })), plain(file.store())];
      await store.open({ migrate: 'create' });
      await other.open({ migrate: 'check' });
      const { stop, next } = watching(store);
      await store.commit(creation('s'));
      await store.commit(creation('t'));
      await store.loadScope({ app: 'b' });
      await store.load(key('later'), {});
      await other.commit(event('e1', { sessionId: 's' }));
      assert.deepEqual(await next('a u s'), ['a u s']);
      await store.commit(event('e2', { sessionId: 't', app: { set: { n: 1 } }, user: { set: { n: 1 } } }));
      await other.commit({ ...update('u1', { app: { set: { n: 1 } } }), key: { appName: 'b' } });
      assert.deepEqual(await next('b'), ['b']);
      await other.commitMany([
        event('e3', { sessionId: 't', app: { set: { n: 2 } } }),
        update('u2', { userId: 'u', user: { set: { n: 3 } } }),
        creation('later'),
      ]);
      assert.deepEqual((await next('a u')).sort(), ['a', 'a u', 'a u later', 'a u t']);
      await other.removeScope({ app: 'b' });
      assert.deepEqual(await next('b'), ['b']);
      await other.remove(key('t'));
      assert.deepEqual(await next('a u t'), ['a u t']);
      // Another session, at the revision that the first one had.
      await store.load(key('later'), {});
      await other.remove(key('later'));
      await other.commit({ ...creation('anew'), key: key('later') });
      assert.deepEqual(new Set(await next('a u later')), new Set(['a u later']));
      await store.loadScope({ app: 'c' });
      await store.readLog({ app: 'd' }, {});
      await store.remove(key('s'));
      await store.removeScope({ app: 'a' });
      await other.commit({ ...update('u3', { app: { set: { n: 1 } } }), key: { appName: 'd' } });
      assert.ok((await next('d')).every((text) => ['d', 'a', 'a u s'].includes(text)));
      stop();
    }));

  test(`${name}: stores on one connection hear of each other`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const [store, other] = [sqliteStore(database, { pollMs: 5 }), sqliteStore(database)].map(plain);
      await store.open({ migrate: 'create' });
      await store.commit(creation('s'));
      const first = watching(store);
      const second = watching(store);
      await store.load(key(), {});
      await other.commit(event('e1'));
      assert.deepEqual(await first.next('a u s'), ['a u s']);
      assert.deepEqual(await second.next('a u s'), ['a u s']);
      first.stop();
      first.stop();
      await other.commitMany([event('e2')]);
      assert.deepEqual(await second.next('a u s'), ['a u s']);
      second.stop();
    }));

  test(`${name}: a look at a file that nobody writes to reads one number, and a failing one is made again`, () =>
    withFile(name, async (file) => {
      const seen = [];
      let fails = 0;
      const before = (sql) => {
        seen.push(sql);
        if (fails > 0) {
          fails -= 1;
          throw new Error('busy');
        }
      };
      const store = plain(sqliteStore(observed(file.connect(), { before }), { pollMs: 1 }));
      const other = plain(file.store());
      await store.open({ migrate: 'create' });
      await other.open({ migrate: 'check' });
      await store.commit(creation('s'));
      const { stop, next } = watching(store);
      await store.load(key(), {});
      // Writes before the first poll are looked at once.
      const looks = async (count) => {
        while (seen.length < count) {
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        return new Set(seen);
      };
      await looks(seen.length + 5);
      seen.length = 0;
      assert.deepEqual(await looks(20), new Set(['PRAGMA data_version']));
      fails = 7;
      await other.commit(event('e1'));
      assert.deepEqual(await next('a u s'), ['a u s']);
      assert.equal(fails, 0);
      stop();
      seen.length = 0;
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.deepEqual(seen, []);
    }));

  test(`${name}: what was asked for last is remembered, not all that ever was`, () =>
    withFile(name, async (file) => {
      const [store, other] = [plain(file.store({ pollMs: 5, synchronous: 'normal' })), plain(file.store())];
      await store.open({ migrate: 'create' });
      await other.open({ migrate: 'check' });
      const { stop, next } = watching(store);
      for (let number = 0; number < 5_000; number++) {
        await store.loadScope({ app: `app ${number}` });
      }
      const change = (number) => ({
        ...update(`u${number}`, { app: { set: { n: 1 } } }),
        key: { appName: `app ${number}` },
      });
      await other.commitMany(Array.from({ length: 5_000 }, (_, number) => change(number)));
      const heard = await next('app 4999');
      assert.ok(heard.length >= 1_000 && heard.length <= 2_000, `${heard.length} hints`);
      stop();
    }));
}

const [first] = Object.keys(libraries);
test('a store that never looks gives no hints, and one whose connection is closed does not fail', async () => {
  const database = libraries[first](':memory:');
  const [never, often] = [sqliteStore(database, { pollMs: Infinity }), sqliteStore(database, { pollMs: 1 })].map(
    plain,
  );
  await often.open({ migrate: 'create' });
  const stops = [never, often].map((store) => store.watch(() => assert.fail('a hint came')));
  database.close();
  await new Promise((resolve) => setTimeout(resolve, 20));
  stops.forEach((stop) => stop());
});
