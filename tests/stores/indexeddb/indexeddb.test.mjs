// The IndexedDB store in a real browser, in one page: the cases, and what it asks of the browser.

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
});
