// The IndexedDB store with sessions that end, what it counts, and what sweeps leave of the rows.

/* global BroadcastChannel */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser } from './browser.mjs';

const bytes = (text) => Buffer.byteLength(text);
const sum = (numbers) => numbers.reduce((all, number) => all + number, 0);

/** The owner of values in a text: the key of a scope, or the number of a session. */
const homeText = (home) => JSON.stringify(home);

/** The sizes that rows of scopes and sessions should have, by their values. */
function countedSizes({ scopes, sessions, values }) {
  const sizeOf = (home) => {
    const own = values.filter((row) => homeText(row.home) === homeText(home));
    return { keys: own.length, bytes: sum(own.map(({ name, text }) => bytes(name) + bytes(text))) };
  };
  return {
    scopes: scopes.map(({ scope }) => sizeOf(scope)),
    sessions: sessions.map(({ number }) => sizeOf(number)),
  };
}

describe('IndexedDB, limits and expiry', () => {
  let browser;
  let page;
  let other;

  before(async () => {
    browser = await Browser.start();
    ({ page } = await browser.open());
    ({ page: other } = await browser.open());
  });
  after(() => browser?.stop());

  it('counts the names and bytes of each scope and session as they are', async () => {
    const { rows } = await page.evaluate(async () => {
      await globalThis.kit.compare(11, 500);
      return globalThis.kit.dump('random 11');
    });
    assert.ok(rows.values.length > 10 && rows.scopes.length > 3 && rows.sessions.length > 3);
    assert.deepEqual(
      { scopes: rows.scopes.map(({ size }) => size), sessions: rows.sessions.map(({ size }) => size) },
      countedSizes(rows),
    );
  });

  it('each append moves the end of a session that lives for a time, by the clock of the page', async () => {
    const found = await page.evaluate(async () => {
      const { append, context, create, keyOf, open, outcome } = globalThis.kit;
      const { now } = Date;
      let turned = 1e12;
      Date.now = () => turned;
      try {
        const store = await open('sliding');
        const ends = [(await store.commit(create('s', {}, 1, { expires: { ttl: 100 } }), context)).expires];
        turned += 99;
        ends.push((await store.commit(append('s', 'e1'), context)).expires);
        turned += 99;
        ends.push((await store.load(keyOf('s'), {}, context)).expires);
        turned += 1;
        const gone = [await store.load(keyOf('s'), {}, context), await store.readLease(keyOf('s'), context)];
        const refused = await outcome(store.commit(append('s', 'e2'), context));
        await store.close();
        return { ends, gone, refused: refused.code };
      } finally {
        Date.now = now;
      }
    });
    assert.deepEqual(found, { ends: [1e12 + 100, 1e12 + 199, 1e12 + 199], gone: [null, null], refused: 'not-found' });
  });

  it('pages of a list go past many sessions that have ended, in both directions', async () => {
    const found = await page.evaluate(async () => {
      const { context, create, createEnded, open } = globalThis.kit;
      const store = await open('pages', { durability: 'relaxed' });
      const living = Array.from({ length: 30 }, (_, index) => create(`s${String(index).padStart(2, '0')}`, {}, 999));
      // They lie before, between and behind the others.
      await store.commitMany([...createEnded(300, 'a'), ...living, ...createEnded(300, 'z')], context);
      await store.commitMany([create('last', {}, 5_000)], context);
      const pages = {};
      for (const user of [undefined, 'user']) {
        for (const descending of [false, true]) {
          const all = [];
          let after;
          do {
            const { rows, total } = await store.list({ app: 'app', user, descending, limit: 7, after }, context);
            const { key, time } = rows.at(-1) ?? {};
            after = key && { ...key, time };
            all.push(...rows.map((row) => [row.key.sessionId, total]));
          } while (after !== undefined);
          const offset = await store.list({ app: 'app', user, descending, limit: 2, offset: 29 }, context);
          pages[`${user} ${descending}`] = [all, offset.rows.map(({ key }) => key.sessionId), offset.total];
        }
      }
      await store.close();
      return pages;
    });
    assert.equal(Object.keys(found).length, 4);
    for (const [which, [all, offset, total]] of Object.entries(found)) {
      const ids = all.map(([id]) => id);
      const living = Array.from({ length: 30 }, (_, index) => `s${String(index).padStart(2, '0')}`);
      const expected = which.endsWith('true') ? ['last', ...living] : [...living, 'last'];
      assert.deepEqual(ids, expected, which);
      assert.deepEqual([...new Set(all.map(([, each]) => each)), total], [31, 31], which);
      assert.deepEqual(offset, expected.slice(29), which);
    }
  });

  it('a session that is created over one that has ended leaves nothing of that', async () => {
    const { rows } = await page.evaluate(async () => {
      const { append, context, create, dump, keyOf, open } = globalThis.kit;
      const store = await open('replaced');
      const { now } = Date;
      try {
        await store.commit(create('s', { session: { set: { old: 1 } } }, 1, { expires: { ttl: 1e6 } }), context);
        await store.commit(append('s', 'e1', { session: { set: { older: 2 } } }), context);
        await store.lease(keyOf('s'), { holder: 'one', ttl: 1e9 }, context);
        Date.now = () => now() + 2e6;
        await store.commit({ ...create('s', { session: { set: { n: 1 } } }), id: 'again' }, context);
      } finally {
        Date.now = now;
      }
      await store.close();
      return dump('replaced');
    });
    const [session] = rows.sessions;
    assert.deepEqual(
      [rows.sessions.length, session.created, session.fence, session.lease, session.expires, session.size],
      [1, 'again', 0, undefined, undefined, { keys: 1, bytes: 2 }],
    );
    assert.deepEqual(rows.events, []);
    assert.deepEqual(
      rows.values.map(({ home, name }) => [home, name]),
      [[session.number, 'n']],
    );
    assert.deepEqual(
      rows.creations.map(({ id }) => id),
      ['create s'],
    );
    assert.deepEqual(
      rows.scopes.map(({ sessions }) => sessions),
      [1, 1],
    );
  });

  it('a sweep goes in small transactions, and leaves nothing of what has ended but the ids of its creations', async () => {
    const found = await page.evaluate(async () => {
      const { append, context, create, createEnded, dump, open, writesDuring } = globalThis.kit;
      const store = await open('swept', { durability: 'relaxed' });
      const delta = { session: { set: { n: 1 } }, user: { set: { u: 1 } } };
      await store.commitMany([...createEnded(45, 'x', delta), create('living', delta)], context);
      await store.commit(append('living', 'e1'), context);
      const { answer, writes } = await writesDuring(() => store.sweep({ limit: 1_000 }, context));
      const again = await writesDuring(() => store.sweep({ limit: 1_000, userTtl: 0 }, context));
      await store.close();
      return { answer, writes, again, ...(await dump('swept')) };
    });
    assert.deepEqual(found.answer, { sessions: 45, users: 0, more: false });
    assert.equal(found.writes, 3);
    assert.deepEqual(found.again, { answer: { sessions: 0, users: 0, more: false }, writes: 1 });
    const { rows } = found;
    assert.deepEqual(
      rows.sessions.map(({ id }) => id),
      ['living'],
    );
    const { number } = rows.sessions[0];
    assert.deepEqual(
      rows.events.map(({ session }) => session),
      [number],
    );
    assert.deepEqual(
      rows.values.map(({ home }) => home),
      [number, ['app', 'user']],
    );
    assert.equal(rows.creations.length, 45);
    assert.deepEqual(
      rows.scopes.map(({ sessions, idle }) => [sessions, idle]),
      [
        [1, undefined],
        [1, undefined],
      ],
    );
  });

  it('a sweep that is dry writes nothing, and counts what one that is not removes', async () => {
    const found = await page.evaluate(async () => {
      const { context, createEnded, keyOf, open, update, writesDuring } = globalThis.kit;
      const store = await open('dry', { durability: 'relaxed' });
      const values = { user: { set: { u: 1 } } };
      await store.commitMany(createEnded(5, 'x', values), context);
      await store.commitMany(
        [
          update('p', { appName: 'app', userId: 'idle' }, values),
          update('q', { appName: 'other', userId: 'idle' }, values),
          { ...createEnded(1, 'y', values)[0], key: keyOf('y', 'ended', 'other') },
        ],
        context,
      );
      const { now } = Date;
      const answers = [];
      try {
        Date.now = () => now() + 1_000;
        for (const query of [{}, { userTtl: 1 }, { userTtl: 1e9 }, { userTtl: 1, app: 'other' }]) {
          const all = { limit: Number.MAX_SAFE_INTEGER, ...query, dry: true };
          answers.push(await writesDuring(() => store.sweep(all, context)));
        }
        answers.push({ answer: await store.sweep({ userTtl: 1, limit: 7, dry: true }, context) });
        answers.push({ answer: await store.sweep({ userTtl: 1, limit: 1_000 }, context) });
        answers.push({ answer: await store.sweep({ userTtl: 1, limit: 1_000, dry: true }, context) });
      } finally {
        Date.now = now;
      }
      await store.close();
      return answers;
    });
    const counted = (sessions, users, more = false) => ({ answer: { sessions, users, more } });
    assert.deepEqual(found, [
      { ...counted(6, 0), writes: 0 },
      { ...counted(6, 4), writes: 0 },
      { ...counted(6, 0), writes: 0 },
      { ...counted(1, 2), writes: 0 },
      counted(6, 1, true),
      counted(6, 4),
      counted(0, 0),
    ]);
  });

  it('two tabs that sweep at once remove each session once, beside one that writes, and tell the others', async () => {
    await page.evaluate(async () => {
      const { context, create, createEnded, open } = globalThis.kit;
      const store = await open('tabs', { durability: 'relaxed' });
      await store.commitMany([...createEnded(200), create('living')], context);
      globalThis.sweeping = store;
      globalThis.hinted = new Set();
      store.watch(({ sessionId }) => globalThis.hinted.add(sessionId));
    });
    const sweep = async () => {
      const { context, open } = globalThis.kit;
      const store = globalThis.sweeping ?? (await open('tabs', { durability: 'relaxed' }));
      let [sessions, more] = [0, true];
      while (more) {
        const swept = await store.sweep({ limit: 30 }, context);
        ({ more } = swept);
        sessions += swept.sessions;
      }
      return sessions;
    };
    const append = async () => {
      const { append, context } = globalThis.kit;
      for (let index = 0; index < 50; index++) {
        await globalThis.sweeping.commit(append('living', `e${index}`), context);
      }
      return 0;
    };
    const removed = await Promise.all([page.evaluate(sweep), other.evaluate(sweep), page.evaluate(append)]);
    assert.equal(sum(removed), 200);
    assert.ok(removed[1] > 0);
    await page.waitForFunction((count) => globalThis.hinted.size >= count, removed[1]);
    const { rows } = await page.evaluate(async () => {
      await globalThis.sweeping.close();
      return globalThis.kit.dump('tabs');
    });
    assert.deepEqual(
      rows.sessions.map(({ id, rev }) => [id, rev]),
      [['living', 50]],
    );
    assert.equal(rows.creations.length, 200);
  });

  it('a sweep that its caller gives up ends between two transactions, and the next one goes on', async () => {
    const found = await page.evaluate(async () => {
      const { context, createEnded, dump, open, outcome } = globalThis.kit;
      const store = await open('given up', { durability: 'relaxed' });
      await store.commitMany(createEnded(50), context);
      const caller = new AbortController();
      // The hints of the first slice are sent behind it.
      const channel = new BroadcastChannel('statepad:given up');
      const first = new Promise((resolve) => (channel.onmessage = resolve));
      const sweeping = outcome(store.sweep({ limit: 50 }, { signal: caller.signal }));
      await first;
      caller.abort();
      const { name } = await sweeping;
      const left = (await dump('given up')).rows.sessions.length;
      const rest = await store.sweep({ limit: 50 }, context);
      channel.close();
      await store.close();
      return { name, left, rest };
    });
    assert.ok(found.left % 10 === 0 && found.left < 50, `${found.left} are left`);
    assert.equal(found.rest.sessions, found.left);
  });
});
