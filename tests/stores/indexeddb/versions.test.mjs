// The IndexedDB store and databases of other versions and layouts: which are refused, what an upgrade keeps, and how
// tabs of two versions meet. The later version is one that there is only here.

/* global IDBObjectStore, indexedDB */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { source } from '../../support/source.mjs';
import { Browser } from './browser.mjs';

const { LAYOUT } = await source('stores/indexeddb/schema.ts');

describe('IndexedDB databases of other versions', () => {
  let browser;
  /** Two tabs. */
  let tabs;

  before(async () => {
    browser = await Browser.start();
    tabs = [(await browser.open()).page, (await browser.open()).page];
    for (const tab of tabs) await prepare(tab);
  });
  after(() => browser?.stop());

  async function prepare(tab) {
    await tab.evaluate(() => {
      const { append, context, create, open } = globalThis.kit;
      /** Fills a database of this version. */
      globalThis.fill = async (name) => {
        const store = await open(name);
        const session = { set: { z: 1, a: 2 } };
        await store.commit(create('s', { app: { set: { b: 1 } }, user: { set: { u: [] } }, session }), context);
        await store.commit(append('s', 'e1', { app: { set: { b: 2 } }, user: { unset: ['u'] } }), context);
        await store.close();
      };
    });
  }

  const unreleased = (found) =>
    `has ${found}, written by an unreleased build of statepad; this build reads ${LAYOUT}: ` +
    'open it with the build that made it, or delete it';

  it('are refused by name when they have another layout, or a later version, and nothing in them has changed', async () => {
    const found = await tabs[0].evaluate(async () => {
      const { dump, open, outcome, settled } = globalThis.kit;
      /** Puts another row in place of the one that is told of the whole database. */
      const alter = async (name, change) => {
        const database = await settled(indexedDB.open(name));
        const meta = database.transaction('meta', 'readwrite').objectStore('meta');
        const row = change(await settled(meta.get('database')));
        await settled(row === undefined ? meta.delete('database') : meta.put(row));
        database.close();
      };
      /** Makes a database of this number, with only some of the object stores. */
      const make = async (name, number) => {
        const request = indexedDB.open(name, number);
        request.onupgradeneeded = () => {
          const meta = request.result.createObjectStore('meta', { keyPath: 'name' });
          meta.put({ name: 'database', identity: 'i', sessions: 0 });
          request.result.createObjectStore('sessions', { keyPath: ['app', 'user', 'id'] });
        };
        (await settled(request)).close();
      };
      const ways = {
        'no fingerprint': (name) => alter(name, (row) => ({ ...row, layout: undefined })),
        'another fingerprint': (name) => alter(name, (row) => ({ ...row, layout: '1a2b3c4d' })),
        'no row of it': (name) => alter(name, () => undefined),
        'another row': (name) => alter(name, ({ name: database }) => ({ name: database, version: 1 })),
        'a later version': async (name) => (await settled(indexedDB.open(name, 3))).close(),
      };
      const found = {};
      const look = async (what) => {
        const before = await dump(what);
        const refused = [];
        for (const migrate of ['create', 'upgrade', 'check']) refused.push(await outcome(open(what, {}, migrate)));
        found[what] = { refused, before, after: await dump(what) };
      };
      for (const [what, change] of Object.entries(ways)) {
        await globalThis.fill(what);
        await change(what);
        await look(what);
      }
      for (const number of [2, 3]) {
        await make(`number ${number}`, number);
        await look(`number ${number}`);
      }
      return found;
    });
    const expected = {
      'no fingerprint': unreleased('a layout without a fingerprint'),
      'another fingerprint': unreleased('the layout 1a2b3c4d'),
      'no row of it': 'does not belong to statepad',
      'another row': 'does not belong to statepad',
      'a later version': 'has version 2, newer than 1: update statepad, and reload the page',
      'number 2': unreleased('a layout without a fingerprint'),
      'number 3': 'has version 2, newer than 1: update statepad, and reload the page',
    };
    assert.deepEqual(Object.keys(found), Object.keys(expected));
    for (const [what, { refused, before, after }] of Object.entries(found)) {
      refused.forEach(({ code, message }) => {
        assert.deepEqual([code, message], ['rejected', `the database "${what}" ${expected[what]}`]);
      });
      assert.deepEqual(after, before, what);
    }
  });

  it('are refused with the line that upgrades them, and nothing in them has changed', async () => {
    const { refused, before, after } = await tabs[0].evaluate(async () => {
      const { dump, openLater, outcome } = globalThis.kit;
      await globalThis.fill('left');
      const before = await dump('left');
      const refused = [await outcome(openLater('left', 'create')), await outcome(openLater('left', 'check'))];
      return { refused, before, after: await dump('left') };
    });
    refused.forEach(({ code, message }) => {
      assert.equal(code, 'rejected');
      const line = "open it once with new SessionService({ store, migrate: 'upgrade' })";
      assert.equal(message, `the database "left" has version 1, older than 2: ${line}`);
    });
    assert.deepEqual(after, before);
  });

  it('have after the upgrade all rows that they had, and what is new; an older version refuses them', async () => {
    const { before, after, indexes, refused } = await tabs[0].evaluate(async () => {
      const { dump, open, openLater, outcome } = globalThis.kit;
      await globalThis.fill('upgraded');
      const before = await dump('upgraded');
      for (const migrate of ['upgrade', 'create', 'check']) (await openLater('upgraded', migrate)).close();
      const connection = await openLater('upgraded', 'check');
      const indexes = await connection.read((each) => [...each.objectStore('sessions').indexNames]);
      connection.close();
      return { before, after: await dump('upgraded'), indexes, refused: await outcome(open('upgraded')) };
    });
    assert.equal(before.rows.events.length, 1);
    const [meta] = before.rows.meta;
    assert.deepEqual(after, {
      number: 3,
      rows: { ...before.rows, colours: [], meta: [{ ...meta, layout: 'later' }] },
    });
    assert.ok(indexes.includes('created'));
    assert.equal(refused.code, 'rejected');
    assert.match(refused.message, /has version 2, newer than 1: update statepad, and reload the page/);
  });

  it('of other programs are refused by an upgrade as well, and nothing in them has changed', async () => {
    const found = await tabs[0].evaluate(async () => {
      const { dump, openLater, outcome, settled } = globalThis.kit;
      const found = [];
      for (const table of ['theirs', 'meta']) {
        const request = indexedDB.open(`with ${table}`, 2);
        request.onupgradeneeded = () => request.result.createObjectStore(table).put({ identity: 5 }, 'database');
        (await settled(request)).close();
        const before = await dump(`with ${table}`);
        const refused = await outcome(openLater(`with ${table}`, 'upgrade'));
        found.push({ before, refused, after: await dump(`with ${table}`) });
      }
      return found;
    });
    for (const { before, refused, after } of found) {
      assert.equal(refused.code, 'rejected');
      assert.match(refused.message, /does not belong to statepad/);
      assert.deepEqual(after, before);
    }
  });

  it('are upgraded under the hands of a tab of an older version, which writes nothing more', async () => {
    const [old, next] = tabs;
    await old.evaluate(async () => {
      const { append, context, create, open, outcome } = globalThis.kit;
      const store = await open('shared');
      await store.commit(create('s'), context);
      globalThis.written = [];
      globalThis.ended = (async () => {
        for (let count = 0; ; count++) {
          const answer = await outcome(
            store.commit(append('s', `old ${count}`, { app: { set: { count } } }), context),
          );
          if (answer.value === undefined) return answer;
          globalThis.written.push(`old ${count}`);
        }
      })();
    });
    await old.waitForFunction(() => globalThis.written.length >= 20);
    const found = await next.evaluate(async () => {
      const connection = await globalThis.kit.openLater('shared', 'upgrade');
      const read = () => connection.read((each) => globalThis.kit.settled(each.objectStore('events').getAll()));
      const found = await read();
      // Whatever the other tab tries meanwhile.
      for (let count = 0; count < 20; count++) {
        await connection.write('strict', async (each) => void each.objectStore('colours').put({ name: `${count}` }));
      }
      const isSame = JSON.stringify(await read()) === JSON.stringify(found);
      connection.close();
      return { ids: found.map(({ id }) => id), isSame };
    });
    const { ended, written } = await old.evaluate(async () => ({
      ended: await globalThis.ended,
      written: globalThis.written,
    }));
    assert.ok(['rejected', 'unavailable'].includes(ended.code), ended.code);
    assert.deepEqual(found, { ids: written, isSame: true });
  });

  it('are what they were when an upgrade breaks off or its tab ends in the middle of it, and can be upgraded then', async () => {
    const [tab] = tabs;
    const { failed, before, broken } = await tab.evaluate(async () => {
      const { dump, openLater, outcome } = globalThis.kit;
      await globalThis.fill('killed');
      const before = await dump('killed');
      const aborting = {
        open: (...args) => {
          const request = indexedDB.open(...args);
          request.addEventListener('upgradeneeded', () =>
            request.transaction
              .objectStore('meta')
              .get('database')
              .addEventListener('success', () => request.transaction.abort()),
          );
          return request;
        },
      };
      const failed = await outcome(openLater('killed', 'upgrade', aborting));
      return { failed, before, broken: await dump('killed') };
    });
    assert.equal(failed.code, 'unavailable');
    assert.deepEqual(broken, before);
    const { page } = await browser.open();
    await page.evaluate(() => {
      // The upgrade never comes to its end.
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (...args) {
        const request = put.apply(this, args);
        const again = () => (this.get('database').onsuccess = again);
        again();
        globalThis.isUpgrading = true;
        return request;
      };
      globalThis.kit.openLater('killed', 'upgrade');
    });
    await page.waitForFunction(() => globalThis.isUpgrading);
    const crashed = new Promise((resolve) => page.once('crash', resolve));
    const devtools = await browser.devtools(page);
    devtools.send('Page.crash').catch(() => undefined);
    await crashed;
    await page.close();
    const { left, after } = await tab.evaluate(async () => {
      const { dump, openLater } = globalThis.kit;
      const left = await dump('killed');
      (await openLater('killed', 'upgrade')).close();
      return { left, after: await dump('killed') };
    });
    assert.deepEqual(left, before);
    assert.deepEqual([after.number, after.rows.events], [3, before.rows.events]);
  });

  it('may be deleted or upgraded by another tab at the very moment in which they are opened: nobody waits for ever', async () => {
    const answers = await tabs[0].evaluate(async () => {
      const { open, outcome, settled } = globalThis.kit;
      /**
       * Opens a store, and asks for the database as soon as it has a connection; its first read is answered after
       * that.
       */
      const meet = async (name, ask) => {
        let asked;
        const { get } = IDBObjectStore.prototype;
        const meeting = Promise.withResolvers();
        IDBObjectStore.prototype.get = function (...args) {
          IDBObjectStore.prototype.get = get;
          const real = get.apply(this, args);
          const late = {
            get result() {
              return real.result;
            },
          };
          let isMet = false;
          meeting.promise.then(() => (isMet = true));
          // A transaction lives as long as it is asked.
          const wait = () => (isMet ? late.onsuccess() : (get.apply(this, args).onsuccess = wait));
          real.onsuccess = wait;
          return late;
        };
        const factory = {
          open: (...args) => {
            const request = indexedDB.open(...args);
            request.addEventListener('success', () => {
              asked ??= settled(ask(name)).then((database) => database?.close());
              request.result.addEventListener('versionchange', meeting.resolve);
            });
            return request;
          },
        };
        const opened = await outcome(open(name, { indexedDB: factory }));
        const isDone = await Promise.race([
          asked.then(() => true),
          new Promise((resolve) => setTimeout(resolve, 10_000, false)),
        ]);
        await opened.value?.close();
        return { isDone, code: opened.code, message: opened.message };
      };
      const answers = [];
      for (const [what, ask] of [
        ['deleted', (name) => indexedDB.deleteDatabase(name)],
        ['upgraded', (name) => indexedDB.open(name, 1_000)],
      ]) {
        const name = `${what} while it is opened`;
        await (await open(name)).close();
        answers.push(await meet(name, ask));
      }
      // It can be opened afterwards.
      await (await open('deleted while it is opened')).close();
      return answers;
    });
    for (const { isDone, code, message } of answers) {
      assert.ok(isDone, 'it waited for ever');
      assert.equal(code, 'unavailable');
      assert.match(message, /another tab upgraded or deleted the database "[^"]+" while it was opened/);
    }
  });

  it('say that they cannot be opened now when others before them wait for each other, and can be opened then', async () => {
    const [one, two] = tabs;
    await one.evaluate(async () => {
      // It does not let go of it when it is asked to.
      globalThis.held = await globalThis.kit.settled(indexedDB.open('queued'));
    });
    await two.evaluate(() => {
      globalThis.deleted = globalThis.kit.settled(indexedDB.deleteDatabase('queued'));
    });
    const queued = await two.evaluate(() => globalThis.kit.outcome(globalThis.kit.open('queued')));
    assert.equal(queued.code, 'unavailable');
    assert.match(queued.message, /does not open the database "queued": another tab/);
    await one.evaluate(() => globalThis.held.close());
    await two.evaluate(() => globalThis.deleted);
    const committed = await two.evaluate(async () => {
      const { context, create, open } = globalThis.kit;
      const store = await open('queued');
      const { rev } = await store.commit(create('s'), context);
      await store.close();
      return rev;
    });
    assert.equal(committed, 0);
  });
});
