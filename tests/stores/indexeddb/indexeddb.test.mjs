// The IndexedDB store in a real browser, in one page: the cases, and what it says when it cannot do what it was asked
// to.

/* global IDBCursor, IDBDatabase, IDBRequest, Worker, indexedDB */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { storeCases } from 'statepad/testing';
import { assertVaried } from '../support/random.js';
import { Browser } from './browser.mjs';

describe('IndexedDB', () => {
  let browser;
  let page;
  let complaints;

  before(async () => {
    browser = await Browser.start();
    ({ page, complaints } = await browser.open());
  });
  after(() => browser?.stop());

  /** A page of another origin, which is another name of this machine: its storage and its quota are its own. */
  async function openElsewhere() {
    const origin = browser.origin.replace('127.0.0.1', 'localhost');
    return { ...(await browser.open('/', origin)), origin };
  }

  for (const { name } of storeCases) {
    it(name, async () => {
      assert.equal(await page.evaluate((each) => globalThis.kit.runCase(each), name), undefined);
      assert.deepEqual(complaints, []);
    });
  }

  it('answers random changes and questions as the store in memory does', async () => {
    const outcomes = await page.evaluate(() => globalThis.kit.compare(7, 600));
    assertVaried(outcomes, { conflict: 2, exists: 2, 'not-found': 2, duplicate: 2 });
  });

  it('works in a worker', async () => {
    const names = storeCases.filter(({ needs }) => needs.includes('another')).map(({ name }) => name);
    assert.ok(names.length > 0);
    const wrong = await page.evaluate(async (all) => {
      const worker = new Worker('/worker.js');
      const answers = [];
      for (const name of all) {
        worker.postMessage(name);
        answers.push(
          await new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = ({ message }) => reject(new Error(message));
          }),
        );
      }
      worker.terminate();
      return answers.filter((answer) => answer.wrong !== undefined);
    }, names);
    assert.deepEqual(wrong, []);
  });

  it('asks for the durability that it was told, says what that is, and answers when the transaction is complete', async () => {
    const asked = await page.evaluate(async () => {
      const { append, context, create, keyOf, open } = globalThis.kit;
      const begin = IDBDatabase.prototype.transaction;
      const found = [];
      for (const durability of [undefined, 'strict', 'relaxed']) {
        const store = await open(`durability ${durability}`, { durability });
        const begun = [];
        IDBDatabase.prototype.transaction = function (...args) {
          const transaction = begin.apply(this, args);
          begun.push(transaction);
          transaction.addEventListener('complete', () => (transaction.isComplete = true));
          return transaction;
        };
        await store.commit(create('s'), context);
        await store.commitMany([append('s', 'e')], context);
        await store.removeScope({ app: 'app' }, context);
        await store.remove(keyOf('s'), context);
        found.push([store.durability, ...begun.map((each) => `${each.mode} ${each.durability} ${each.isComplete}`)]);
        IDBDatabase.prototype.transaction = begin;
        await store.close();
      }
      return found;
    });
    const [strict, relaxed] = ['strict', 'relaxed'].map((durability) => Array(4).fill(`readwrite ${durability} true`));
    assert.deepEqual(asked, [
      ['disk', ...strict],
      ['disk', ...strict],
      ['os', ...relaxed],
    ]);
  });

  it('reads a page of a list and the last events without those before them', async () => {
    const counts = await page.evaluate(async () => {
      const { append, context, create, keyOf, open } = globalThis.kit;
      const store = await open('large', { durability: 'relaxed' });
      const many = Array.from({ length: 300 }, (_, index) => index);
      await store.commitMany(
        many.map((index) => create(`s${index}`, {}, 1_000 + index)),
        context,
      );
      for (const index of many) await store.commit(append('s0', `e${index}`, {}, { time: 2_000 + index }), context);
      // Rows are counted as requests hand them out, and steps of cursors as they are made.
      let rows = 0;
      let steps = 0;
      const result = Object.getOwnPropertyDescriptor(IDBRequest.prototype, 'result');
      const { advance, continue: step } = IDBCursor.prototype;
      Object.defineProperty(IDBRequest.prototype, 'result', {
        ...result,
        get() {
          const value = result.get.call(this);
          rows += Array.isArray(value) ? value.length : 1;
          return value;
        },
      });
      IDBCursor.prototype.advance = function (...args) {
        steps += 1;
        return advance.apply(this, args);
      };
      IDBCursor.prototype.continue = function (...args) {
        steps += 1;
        return step.apply(this, args);
      };
      const counted = async (promise) => {
        [rows, steps] = [0, 0];
        const value = await promise;
        return { got: (value.rows ?? value.events).length, cost: rows + steps };
      };
      const found = {};
      for (const descending of [false, true]) {
        for (const user of [undefined, 'user']) {
          const page = await store.list({ app: 'app', user, descending, limit: 20, offset: 150 }, context);
          const {
            key: { sessionId, userId },
            time,
          } = page.rows.at(-1);
          const after = { sessionId, userId, time };
          const which = `${descending} ${user}`;
          found[`first ${which}`] = await counted(store.list({ app: 'app', user, descending, limit: 20 }, context));
          found[`offset ${which}`] = await counted(
            store.list({ app: 'app', user, descending, limit: 20, offset: 150 }, context),
          );
          found[`after ${which}`] = await counted(
            store.list({ app: 'app', user, descending, limit: 20, after }, context),
          );
        }
      }
      found.last = await counted(store.load(keyOf('s0'), { events: { last: 20 } }, context));
      found['last up to a revision'] = await counted(
        store.load(keyOf('s0'), { events: { last: 20, to: 150 } }, context),
      );
      found['from a revision'] = await counted(store.load(keyOf('s0'), { events: { from: 281 } }, context));
      found['since a time'] = await counted(store.load(keyOf('s0'), { events: { since: 2_280 } }, context));
      Object.defineProperty(IDBRequest.prototype, 'result', result);
      Object.assign(IDBCursor.prototype, { advance, continue: step });
      await store.close();
      return found;
    });
    assert.equal(Object.keys(counts).length, 16);
    for (const [what, { got, cost }] of Object.entries(counts)) {
      assert.equal(got, 20, what);
      assert.ok(cost < 40, `${what}: ${cost} rows and steps`);
    }
  });

  it('only looks when it is told to, and makes nothing', async () => {
    const { refused, names } = await page.evaluate(async () => {
      const { open, outcome } = globalThis.kit;
      const refused = await outcome(open('absent', {}, 'check'));
      return { refused, names: (await indexedDB.databases()).map(({ name }) => name) };
    });
    assert.equal(refused.code, 'rejected');
    assert.match(refused.message, /"absent".*'create'/);
    assert.ok(!names.includes('absent'));
  });

  it('makes an empty database its own, and leaves one of another program alone', async () => {
    const found = await page.evaluate(async () => {
      const { context, create, open, outcome, settled } = globalThis.kit;
      (await settled(indexedDB.open('empty'))).close();
      const store = await open('empty');
      const committed = await outcome(store.commit(create('s'), context));
      await store.close();
      const refused = [];
      for (const version of [1, 2, 3]) {
        const name = `of another, ${version}`;
        const request = indexedDB.open(name, version);
        request.onupgradeneeded = () => request.result.createObjectStore('theirs');
        (await settled(request)).close();
        for (const migrate of ['create', 'upgrade', 'check']) refused.push(await outcome(open(name, {}, migrate)));
        const after = await settled(indexedDB.open(name));
        refused.push([after.version, ...after.objectStoreNames]);
        after.close();
      }
      return { committed, refused };
    });
    assert.equal(found.committed.value.rev, 0);
    for (const refused of found.refused) {
      if (Array.isArray(refused)) assert.equal(refused[1], 'theirs');
      else assert.equal(refused.code, 'rejected');
    }
    assert.deepEqual(
      found.refused.filter(Array.isArray).map(([version]) => version),
      [1, 2, 3],
    );
  });

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

  it('refuses a name or options that can be none at once', async () => {
    const found = await page.evaluate(() => {
      const { indexedDBStore } = globalThis.kit;
      return [
        [5],
        [''],
        [null],
        ['x', null],
        ['x', { durabilty: 'relaxed' }],
        ['x', { durability: 'weak' }],
        ['x', { indexedDB: {} }],
        ['x', { indexedDB: 5 }],
      ].map((args) => {
        try {
          indexedDBStore(...args);
          return args;
        } catch ({ name, code, path }) {
          return [name, code, typeof path].join(' ');
        }
      });
    });
    found.forEach((each) => assert.equal(each, 'StatepadError INVALID_ARGUMENT string'));
  });

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
        // What is small is written all the same.
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
