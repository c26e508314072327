// Faults of IndexedDB: the database is closed, deleted, full or damaged, or there is none.

/* global indexedDB */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser } from './browser.mjs';

describe('IndexedDB', () => {
  let browser;
  let page;

  before(async () => {
    browser = await Browser.start();
    ({ page } = await browser.open());
  });
  after(() => browser?.stop());

  /** A page of another origin, which is another name of this machine: its storage and its quota are its own. */
  async function openElsewhere() {
    const origin = browser.origin.replace('127.0.0.1', 'localhost');
    return { ...(await browser.open('/', origin)), origin };
  }

  it('opens the database again when the browser has closed it', async () => {
    const found = await page.evaluate(async () => {
      const { append, context, create, keyOf, open, outcome, settled } = globalThis.kit;
      const opened = [];
      let isHopeless = false;
      const factory = {
        open: (...args) => {
          const request = indexedDB.open(...args);
          request.addEventListener('success', () => {
            opened.push(request.result);
            if (isHopeless) request.result.close();
          });
          return request;
        },
      };
      const store = await open('closed', { indexedDB: factory });
      await store.commit(create('s'), context);
      opened.at(-1).close();
      const written = await outcome(store.commit(append('s', 'e'), context));
      opened.at(-1).close();
      const read = await store.load(keyOf('s'), {}, context);
      const count = opened.length;
      isHopeless = true;
      opened.at(-1).close();
      const hopeless = [
        await outcome(store.commit(append('s', 'f'), context)),
        await outcome(store.load(keyOf('s'), {}, context)),
      ];
      isHopeless = false;
      const again = await outcome(store.commit(append('s', 'f'), context));
      await store.close();
      await settled(indexedDB.deleteDatabase('closed'));
      return { written, events: read.events.length, count, hopeless, again };
    });
    assert.equal(found.written.value.rev, 1);
    assert.equal(found.events, 1);
    assert.equal(found.count, 3);
    assert.deepEqual(
      found.hopeless.map(({ code }) => code),
      ['unavailable', 'unavailable'],
    );
    assert.equal(found.again.value.rev, 2);
  });

  it('takes no new database for the one that was deleted', async () => {
    const found = await page.evaluate(async () => {
      const { append, context, create, open, outcome, settled } = globalThis.kit;
      const [store, other] = [await open('deleted'), await open('made anew')];
      await store.commit(create('s'), context);
      // Both stores let go of it: nobody is in the way.
      await settled(indexedDB.deleteDatabase('deleted'));
      const gone = await outcome(store.commit(append('s', 'e'), context));
      const names = (await indexedDB.databases()).map(({ name }) => name);
      await settled(indexedDB.deleteDatabase('made anew'));
      const next = await open('made anew');
      const replaced = await outcome(other.commit(create('s'), context));
      await Promise.all([store, other, next].map((each) => each.close()));
      return { gone, replaced, isThere: names.includes('deleted') };
    });
    assert.equal(found.gone.code, 'rejected');
    assert.match(found.gone.message, /"deleted" was deleted.*reload/);
    assert.equal(found.isThere, false);
    assert.equal(found.replaced.code, 'rejected');
  });

  it('refuses a change with a row that the browser does not take, and nothing of it is written', async () => {
    // A browser without a profile keeps large values in no files, and has a limit for them.
    const tab = await browser.openWithoutProfile();
    const found = await tab.evaluate(async () => {
      const { append, context, create, keyOf, open } = globalThis.kit;
      const store = await open('too large');
      await store.commit(create('s'), context);
      await store.commit(create('t'), context);
      const large = append('s', 'e', { app: { set: { large: 1 } } }, { data: 'x'.repeat(140_000_000) });
      const among = await store.commitMany([large, append('t', 'e', { app: { set: { small: 1 } } })], context);
      const { rev, state } = await store.load(keyOf('s'), {}, context);
      await store.close();
      return {
        outcomes: among.map((answer) => answer.code ?? answer.rev),
        message: among[0].message,
        rev,
        app: Object.keys(state.app),
      };
    });
    assert.match(found.message, /too large/);
    assert.deepEqual([found.outcomes, found.rev, found.app], [['rejected', 1], 0, ['small']]);
  });

  it('takes no new database for the one that the user has deleted with everything of the site', async () => {
    const { page: tab, origin } = await openElsewhere();
    await tab.evaluate(async () => {
      const { context, create, open } = globalThis.kit;
      globalThis.cleared = await open('cleared');
      await globalThis.cleared.commit(create('s'), context);
    });
    const devtools = await browser.devtools(tab);
    await devtools.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
    const refused = await tab.evaluate(async () => {
      const { context, create, outcome } = globalThis.kit;
      let refused;
      // While the database goes, the store cannot be reached.
      do refused = await outcome(globalThis.cleared.commit(create('t'), context));
      while (!('value' in refused) && refused.code !== 'rejected');
      return refused;
    });
    assert.equal(refused.code, 'rejected');
    assert.match(refused.message, /"cleared" was deleted/);
    await tab.close();
  });

  it('tells what cannot be read from what can', async () => {
    const found = await page.evaluate(async () => {
      const { append, context, create, keyOf, open, outcome, settled } = globalThis.kit;
      const store = await open('corrupt');
      for (const id of ['whole', 'no value', 'no event']) {
        await store.commit(create(id, { session: { set: { a: 1 } } }), context);
        for (const event of ['e', 'f', 'g']) await store.commit(append(id, event), context);
      }
      const database = await settled(indexedDB.open('corrupt'));
      const transaction = database.transaction(['values', 'events', 'sessions'], 'readwrite');
      const numbers = new Map(
        (await settled(transaction.objectStore('sessions').getAll())).map(({ id, number }) => [id, number]),
      );
      transaction.objectStore('values').put({ home: numbers.get('no value'), name: 'a', order: 0, text: '{' });
      transaction.objectStore('events').delete([numbers.get('no event'), 2]);
      await new Promise((resolve) => (transaction.oncomplete = resolve));
      database.close();
      const { rows, corrupt, total } = await store.list({ app: 'app', descending: false }, context);
      const loads = {};
      for (const id of ['whole', 'no value', 'no event'])
        loads[id] = (await outcome(store.load(keyOf(id), {}, context))).code ?? 'read';
      const last = await store.load(keyOf('no event'), { events: { last: 1 } }, context);
      await store.close();
      return { rows: rows.map(({ key }) => key.sessionId), corrupt, total, loads, last: last.events.length };
    });
    assert.deepEqual(found, {
      rows: ['no event', 'whole'],
      corrupt: [{ appName: 'app', userId: 'user', sessionId: 'no value' }],
      total: 3,
      loads: { whole: 'read', 'no value': 'corrupt', 'no event': 'corrupt' },
      last: 1,
    });
  });

  for (const part of ['session', 'user']) {
    it(`follows a list past sessions that are corrupt with their ${part}`, async () => {
      await page.evaluate((each) => globalThis.kit.corruptPages(each), part);
    });
  }

  it('says that the browser has no storage', async () => {
    const { page: sandboxed } = await browser.open('/sandboxed');
    const { page: without } = await browser.open();
    await without.evaluate(() => Object.defineProperty(globalThis, 'indexedDB', { value: undefined }));
    for (const tab of [sandboxed, without]) {
      const refused = await tab.evaluate(() => globalThis.kit.outcome(globalThis.kit.open('storage')));
      assert.equal(refused.code, 'rejected');
      assert.match(refused.message, /stores nothing for this page/);
      await tab.close();
    }
  });

  it('writes nothing of what the browser has no room for, and goes on when there is room', async () => {
    const { page: tab, origin } = await openElsewhere();
    const devtools = await browser.devtools(tab);
    const quota = (quotaSize) =>
      devtools.send('Storage.overrideQuotaForOrigin', { origin, ...(quotaSize && { quotaSize }) });
    const attempt = () =>
      tab.evaluate(async () => {
        const { append, context, create, keyOf, open, outcome } = globalThis.kit;
        const store = (globalThis.full ??= await open('full'));
        await outcome(store.commit(create('s'), context));
        await outcome(store.commit(create('t'), context));
        // Nothing that could be compressed.
        const data = Array.from({ length: 60 }, () =>
          String.fromCharCode(...crypto.getRandomValues(new Uint8Array(60_000))),
        ).join('');
        const large = append('s', 'large', { app: { set: { large: 1 } }, session: { set: { large: 1 } } }, { data });
        const commit = await outcome(store.commit(large, context));
        const loaded = await store.load(keyOf('s'), {}, context);
        // A small change is written all the same.
        const batch = await store.commitMany(
          [{ ...large, id: 'again' }, append('t', crypto.randomUUID(), { app: { set: { small: 1 } } })],
          context,
        );
        const second = await store.load(keyOf('s'), {}, context);
        const ids = [loaded, second].map(({ rev, state, events }) => [
          rev,
          events.length,
          Object.keys(state.session),
          Object.keys(state.app),
        ]);
        return { commit, batch: batch.map(({ code, rev }) => code ?? rev), ids };
      });
    await quota(2_000_000);
    const full = await attempt();
    await quota();
    const free = await attempt();
    await tab.close();
    assert.equal(full.commit.code, 'unavailable');
    assert.equal(full.commit.cause, 'QuotaExceededError');
    assert.deepEqual(full.batch, ['unavailable', 1]);
    assert.deepEqual(full.ids, [
      [0, 0, [], []],
      [0, 0, [], ['small']],
    ]);
    assert.equal(free.commit.value.rev, 1);
    assert.deepEqual(free.batch, [2, 2]);
    assert.deepEqual(free.ids, [
      [1, 1, ['large'], ['small', 'large']],
      [2, 2, ['large'], ['small', 'large']],
    ]);
  });
});
