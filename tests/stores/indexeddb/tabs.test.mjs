// The IndexedDB store in several tabs of a real browser: they write at once, are loaded again, end in the middle of a
// write.

/* global BroadcastChannel, indexedDB */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser } from './browser.mjs';

const APPENDS = 200;
const INCREMENTS = 100;
const KILLS = 20;

describe('IndexedDB in several tabs', () => {
  let browser;
  /** Two tabs, and what they complain about. */
  let tabs;
  let complaints;

  async function openTabs() {
    const opened = [await browser.open(), await browser.open()];
    tabs = opened.map(({ page }) => page);
    complaints = opened.map((each) => each.complaints);
  }

  /** Everything in a session, read by a new store that makes nothing. */
  function read(tab, name, sessionId) {
    return tab.evaluate(
      async ([name, sessionId]) => {
        const { context, keyOf, open } = globalThis.kit;
        const store = await open(name, {}, 'check');
        const loaded = await store.load(keyOf(sessionId), {}, context);
        await store.close();
        const {
          events,
          state: { app, session },
          ...rest
        } = loaded;
        return {
          ...rest,
          events: events.map(({ rev, data }) => [rev, data]),
          app: Object.entries(app),
          session: Object.entries(session),
        };
      },
      [name, sessionId],
    );
  }

  before(async () => {
    browser = await Browser.start();
    await openTabs();
  });
  after(() => browser?.stop());

  it('lose nothing and write nothing twice when they append and count at once', async () => {
    await tabs[0].evaluate(async () => {
      const { context, create, open } = globalThis.kit;
      const store = await open('shared');
      await store.commit(create('s', { app: { set: { counter: 0 } } }), context);
      await store.close();
    });
    const work = async ([tab, appends, increments]) => {
      const { append, context, open, update } = globalThis.kit;
      const store = await open('shared');
      const revs = [];
      const appending = async () => {
        for (let count = 0; count < appends; count++) {
          const id = `${tab} ${count}`;
          const { rev } = await store.commit(append('s', id, { app: { set: { [id]: count } } }), context);
          revs.push(rev);
        }
      };
      let conflicts = 0;
      const counting = async () => {
        for (let count = 0; count < increments;) {
          const {
            state: { counter },
          } = await store.loadScope({ app: 'app' }, context);
          const delta = { app: { set: { counter: counter + 1 } } };
          const change = update(crypto.randomUUID(), { appName: 'app' }, delta);
          try {
            await store.commit({ ...change, guard: { keys: { app: { set: { counter } } } } }, context);
            count += 1;
          } catch (error) {
            if (error.code !== 'conflict') throw error;
            conflicts += 1;
          }
        }
      };
      await Promise.all([appending(), counting()]);
      await store.close();
      return { revs, conflicts };
    };
    const results = await Promise.all(tabs.map((tab, index) => tab.evaluate(work, [index, APPENDS, INCREMENTS])));
    const [first, second] = await Promise.all(tabs.map((tab) => read(tab, 'shared', 's')));
    assert.deepEqual(first, second);
    assert.equal(first.rev, 2 * APPENDS);
    assert.deepEqual(
      first.events.map(([rev]) => rev),
      Array.from({ length: 2 * APPENDS }, (_, index) => index + 1),
    );
    results.forEach(({ revs }, tab) => {
      const own = first.events.filter(([, data]) => JSON.parse(data).id.startsWith(`${tab} `));
      assert.deepEqual(
        own.map(([, data]) => JSON.parse(data).id),
        Array.from({ length: APPENDS }, (_, count) => `${tab} ${count}`),
      );
      assert.deepEqual(
        own.map(([rev]) => rev),
        revs,
      );
    });
    const values = new Map(first.app);
    assert.equal(values.get('counter'), 2 * INCREMENTS);
    assert.equal(values.size, 2 * APPENDS + 1);
    assert.equal(first.pos.app, 1 + 2 * APPENDS + 2 * INCREMENTS);
    assert.ok(
      results.some(({ conflicts }) => conflicts > 0),
      'they never met',
    );
  });

  it('hear of what the other has written, once for each batch and never of their own', async () => {
    const [writer, watcher] = tabs;
    await watcher.evaluate(async () => {
      const { context, keyOf, open } = globalThis.kit;
      const store = await open('hints');
      globalThis.heard = new Promise((resolve) => {
        const found = { hints: [], messages: 0, seen: undefined };
        const raw = new BroadcastChannel('statepad:hints');
        raw.onmessage = () => (found.messages += 1);
        const stop = store.watch(async (hint) => {
          found.hints.push(hint);
          if (hint.sessionId === 'last') {
            stop();
            found.seen = (await store.load(keyOf('b'), {}, context)) !== null;
            raw.close();
            await store.close();
            resolve(found);
          }
        });
      });
    });
    const own = await writer.evaluate(async () => {
      const { append, context, create, keyOf, open, outcome, update } = globalThis.kit;
      const store = await open('hints');
      const hints = [];
      store.watch((hint) => hints.push(hint));
      await store.commit(create('a'), context);
      const key = { appName: 'app', userId: 'user' };
      const [first, second] = ['first', 'second'].map((id) => update(id, key, { user: { set: { a: 1 } } }));
      await store.commitMany([create('b'), append('a', 'e'), append('absent', 'e'), first, second], context);
      // Nothing of this is news.
      await store.commit(create('a'), context);
      await outcome(store.commit({ ...create('a'), id: 'other' }, context));
      await store.remove(keyOf('absent'), context);
      await store.removeScope({ app: 'app', user: 'user' }, context);
      await store.remove(keyOf('a'), context);
      await store.commit(create('last'), context);
      await store.close();
      return hints;
    });
    const { hints, messages, seen } = await watcher.evaluate(() => globalThis.heard);
    const [user, session] = [
      { appName: 'app', userId: 'user' },
      (sessionId) => ({ appName: 'app', userId: 'user', sessionId }),
    ];
    assert.deepEqual(hints, [session('a'), session('b'), session('a'), user, user, session('a'), session('last')]);
    assert.equal(messages, 5);
    assert.equal(seen, true);
    assert.deepEqual(own, []);
  });

  it('can upgrade the database: the others let go of it, and say that they are too old', async () => {
    const [old, next] = tabs;
    await old.evaluate(async () => {
      const { context, create, open } = globalThis.kit;
      globalThis.old = await open('upgraded');
      await globalThis.old.commit(create('s'), context);
    });
    const version = await next.evaluate(async () => {
      const database = await globalThis.kit.settled(indexedDB.open('upgraded', 1_000));
      database.close();
      return database.version;
    });
    assert.equal(version, 1_000);
    const refused = await old.evaluate(async () => {
      const { append, context, open, outcome } = globalThis.kit;
      const refused = [await outcome(globalThis.old.commit(append('s', 'e'), context))];
      await globalThis.old.close();
      for (const migrate of ['create', 'upgrade', 'check']) refused.push(await outcome(open('upgraded', {}, migrate)));
      return refused;
    });
    assert.deepEqual(
      refused.map(({ code }) => code),
      Array(4).fill('rejected'),
    );
    refused.forEach(({ message }) =>
      assert.match(message, /"upgraded" has version 999, newer than 1: update statepad, and reload the page/),
    );
  });

  it('say so when another keeps an older version of the database open, and go on when it does not', async () => {
    const [old, next] = tabs;
    await old.evaluate(async () => {
      globalThis.database = await globalThis.kit.settled(indexedDB.open('blocked'));
    });
    const blocked = await next.evaluate(async () => {
      const { context, indexedDBStore, outcome } = globalThis.kit;
      globalThis.blocked = indexedDBStore('blocked');
      return [
        await outcome(globalThis.blocked.open({ migrate: 'upgrade' }, context)),
        await outcome(globalThis.blocked.open({ migrate: 'upgrade' }, context)),
      ];
    });
    assert.deepEqual(
      blocked.map(({ code }) => code),
      ['unavailable', 'unavailable'],
    );
    assert.match(blocked[0].message, /another tab.*"blocked".*close it/);
    await old.evaluate(() => globalThis.database.close());
    const committed = await next.evaluate(async () => {
      const { context, create, outcome } = globalThis.kit;
      const store = globalThis.blocked;
      for (
        let count = 0;
        (await outcome(store.open({ migrate: 'upgrade' }, context))).code === 'unavailable' && count < 1_000;
        count++
      ) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const committed = await outcome(store.commit(create('s'), context));
      await store.close();
      return committed;
    });
    assert.equal(committed.value.rev, 0);
  });

  /** Makes a database with one session. */
  async function begin(name) {
    await tabs[0].evaluate(async (name) => {
      const { context, create, open } = globalThis.kit;
      const store = await open(name);
      await store.commit(create('s'), context);
      await store.close();
    }, name);
  }

  it('keep what is acknowledged, and all of it or nothing of the rest, when they end in the middle of a write', async () => {
    await begin('killed');
    // Two write at once.
    const acknowledged = [];
    for (let count = 0; count < KILLS; count += 2) {
      const pages = [(await browser.open()).page, (await browser.open()).page];
      const ended = await Promise.all(pages.map((page, index) => killed(page, count + index)));
      acknowledged.push(...ended.flat());
    }
    await checkKilled(tabs[1], 'killed', acknowledged);
    assert.ok(acknowledged.length >= 3 * KILLS);
  });

  /** Ends a tab when some of its writes are acknowledged. Answers all that are. */
  async function killed(page, number) {
    const acknowledged = await writing(page, 'killed', `tab ${number}`, 1 + (number % 5));
    if (number % 4 < 2) {
      // It ends at once: there is no answer.
      const crashed = new Promise((resolve) => page.once('crash', resolve));
      const devtools = await browser.devtools(page);
      devtools.send('Page.crash').catch(() => undefined);
      await crashed;
    }
    await page.close();
    return acknowledged;
  }

  /** Lets a tab append without end. Answers when so many are acknowledged; the answer gets more of them. */
  async function writing(page, name, writer, count) {
    const acknowledged = [];
    let tell;
    const enough = new Promise((resolve) => {
      tell = resolve;
    });
    await page.exposeFunction('acknowledged', (id) => acknowledged.push(id) === count && tell());
    await page.evaluate(
      async ([name, writer]) => {
        const { appendForever, open } = globalThis.kit;
        globalThis.ended = appendForever(await open(name), 's', writer);
      },
      [name, writer],
    );
    await enough;
    return acknowledged;
  }

  /** Nothing that was acknowledged is missing, nothing is half there. */
  async function checkKilled(tab, name, acknowledged) {
    const { rev, events, app, session, pos } = await read(tab, name, 's');
    const ids = events.map(([, data]) => data.trimEnd());
    assert.deepEqual(
      acknowledged.filter((id) => !ids.includes(id)),
      [],
    );
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(rev, ids.length);
    assert.equal(pos.app, ids.length);
    assert.deepEqual([...new Set(events.map(([, data]) => data.length))], [20_000]);
    const values = ids.map((id) => [id, Number(id.split(' ').at(-1))]);
    assert.deepEqual(app, values);
    assert.deepEqual(session, values);
  }

  it('find everything again when they are loaded again, and when the browser is started again', async () => {
    const before = await read(tabs[0], 'shared', 's');
    await tabs[0].reload();
    assert.deepEqual(await read(tabs[0], 'shared', 's'), before);
    assert.deepEqual(complaints, [[], []]);
    await browser.restart();
    await openTabs();
    assert.deepEqual(await read(tabs[0], 'shared', 's'), before);
  });

  it('keep what is acknowledged when the whole browser ends in the middle of a write', async () => {
    await begin('crashed');
    const acknowledged = await writing(tabs[0], 'crashed', 'tab', 5);
    await browser.restart(async (context) => {
      const closed = new Promise((resolve) => context.once('close', resolve));
      const devtools = await browser.devtools(tabs[0]);
      devtools.send('Browser.crash').catch(() => undefined);
      await closed;
    });
    await openTabs();
    await checkKilled(tabs[0], 'crashed', acknowledged);
    assert.deepEqual(complaints, [[], []]);
  });
});
