// The IndexedDB store and databases of other versions: the upgrade, what it keeps, and how tabs of two versions meet.

/* global IDBObjectStore, indexedDB */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Browser } from './browser.mjs';

const upgrades =
  /"[^"]+" has version 1, older than 2: open it once with new SessionService\({ store, migrate: 'upgrade' }\)/;

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
      const { append, context, create, keyOf, openVersion1, settled } = globalThis.kit;
      const other = { appName: 'other', userId: '😀\0', sessionId: '' };
      const update = (id, key, delta) => ({ id, kind: 'update', key, time: 0, delta });
      const changes = [
        {
          ...create('s', { app: { set: { b: 1, a: 2 } }, user: { set: { u: [] } }, session: { set: { z: 1, a: 2 } } }),
          event: { id: 'b', time: 5, data: 'began' },
        },
        append('s', 'e1', { app: { set: { b: 3, c: '' } }, session: { unset: ['z'], set: { z: 2 } } }, { time: 3 }),
        append('s', 'e2', { user: { unset: ['u'] } }, { time: 9 }),
        create('t', {}, -1.5),
        { ...create(''), key: other, id: 'c3' },
        append('t', 'e1', { app: { unset: ['a'], set: { __proto__: null, a: null } } }),
        update('u1', { appName: 'app' }, { app: { set: { counted: 1 } } }),
        update('u2', { appName: 'app', userId: 'user' }, { user: { set: { theme: 'dark' } } }),
        create('gone'),
      ];
      /** Fills a database by the code of version 1. */
      const fill = async (name) => {
        const store = await openVersion1(name);
        for (const change of changes) await store.commit(change, context);
        await store.remove(keyOf('gone'), context);
        await store.close();
      };
      const plain = (value) =>
        JSON.parse(JSON.stringify(value, (_, each) => (each instanceof Map ? [...each] : each)));
      /** Everything that version 1 tells, and no more. */
      const tell = async (store) => {
        const told = ({ created, rev, time, pos, state, events }) => {
          const entries = Object.fromEntries(
            Object.entries(state).map(([scope, values]) => [scope, Object.entries(values)]),
          );
          return { created, rev, time, pos, state: entries, events: events.map(({ rev, data }) => ({ rev, data })) };
        };
        const found = [];
        for (const key of [keyOf('s'), keyOf('t'), other]) {
          found.push(told(await store.load(key, { events: { from: 0 } }, context)));
          found.push(told(await store.load(key, { events: { since: 4 } }, context)));
        }
        found.push(await store.load(keyOf('gone'), {}, context));
        for (const query of [
          { app: 'app', descending: false },
          { app: 'app', user: 'user', descending: true, limit: 1 },
          { app: 'other', descending: true },
        ]) {
          found.push(await store.list(query, context));
        }
        for (const scope of [{ app: 'app' }, { app: 'app', user: 'user' }, { app: 'other', user: '😀\0' }]) {
          const { pos, state } = await store.loadScope(scope, context);
          found.push({ pos, state: Object.entries(state) });
        }
        return plain(found);
      };
      const versionOf = async (name) => {
        const database = await settled(indexedDB.open(name));
        database.close();
        return database.version;
      };
      globalThis.v1 = { changes, fill, tell, versionOf };
    });
  }

  it('are refused with the line that upgrades them, and nothing in them has changed', async () => {
    const { refused, version, before, after } = await tabs[0].evaluate(async () => {
      const { open, openVersion1, outcome } = globalThis.kit;
      const { fill, tell, versionOf } = globalThis.v1;
      const told = async () => {
        const store = await openVersion1('left', 'check');
        const found = await tell(store);
        await store.close();
        return found;
      };
      await fill('left');
      const before = await told();
      const refused = [await outcome(open('left')), await outcome(open('left', {}, 'check'))];
      return { refused, version: await versionOf('left'), before, after: await told() };
    });
    refused.forEach(({ code, message }) => {
      assert.equal(code, 'rejected');
      assert.match(message, upgrades);
    });
    assert.equal(version, 2);
    assert.deepEqual(after, before);
  });

  it('have after the upgrade everything that version 1 read, and recognise what was sent to it', async () => {
    const found = await tabs[0].evaluate(async () => {
      const { append, context, keyOf, open, openVersion1, outcome } = globalThis.kit;
      const { changes, fill, tell, versionOf } = globalThis.v1;
      await fill('upgraded');
      const old = await openVersion1('upgraded');
      const before = await tell(old);
      await old.close();
      const store = await open('upgraded', {}, 'upgrade');
      const after = await tell(store);
      const again = [];
      for (const change of changes.slice(0, -1)) again.push((await store.commit(change, context)).duplicate);
      const untouched = await tell(store);
      // What is written then is told, what was written before is not.
      const { last, marks, pos } = await store.load(keyOf('s'), {}, context);
      const known = { pos, marks };
      const first = await store.commit(append('s', 'e3', { app: { set: { c: 4 }, unset: ['b'] } }), context);
      const known2 = (await store.load(keyOf('s'), { known }, context)).marks;
      const second = await store.commit(append('s', 'e4', { app: { set: { d: 5, b: 0 } } }), context);
      const told = await store.load(
        keyOf('s'),
        { known: { pos: { app: first.pos.app, user: first.pos.user }, marks: known2 } },
        context,
      );
      const row = (await store.load(keyOf('t'), {}, context)).last;
      await store.close();
      const next = await open('upgraded', {}, 'check');
      const kept = (await next.load(keyOf('s'), {}, context)).rev;
      await next.close();
      const refused = await outcome(openVersion1('upgraded'));
      return {
        before,
        after,
        again,
        untouched,
        last,
        marks,
        first,
        second,
        told: [told.changed, Object.keys(told.state)],
        row,
        kept,
        refused,
        version: await versionOf('upgraded'),
      };
    });
    assert.deepEqual(found.after, found.before);
    assert.deepEqual(found.untouched, found.before);
    assert.equal(found.before[0].events.length, 3);
    assert.deepEqual(found.again, Array(8).fill(true));
    assert.equal(found.version, 3);
    assert.deepEqual([found.last, found.marks, found.row], ['e2', {}, 'e1']);
    assert.deepEqual([found.first.rev, found.first.before], [3, { session: 'e2' }]);
    assert.deepEqual([found.second.rev, found.second.before], [4, { session: 'e3', app: 'e3' }]);
    found.told[0].app.unset.sort();
    assert.deepEqual(found.told, [{ app: { set: { d: 5, b: 0 }, unset: ['b', 'd'] } }, ['session']]);
    assert.equal(found.kept, 4);
    assert.equal(found.refused.code, 'rejected');
    assert.match(found.refused.message, /newer version/);
  });

  it('are upgraded under the hands of a tab of version 1, which writes nothing more', async () => {
    const [old, next] = tabs;
    await old.evaluate(async () => {
      const { append, context, create, openVersion1, outcome } = globalThis.kit;
      const store = await openVersion1('shared');
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
    await next.evaluate(async () => {
      const { append, context, open } = globalThis.kit;
      const store = await open('shared', {}, 'upgrade');
      for (let count = 0; count < 20; count++) await store.commit(append('s', `new ${count}`), context);
      await store.close();
    });
    const { ended, written } = await old.evaluate(async () => ({
      ended: await globalThis.ended,
      written: globalThis.written,
    }));
    assert.ok(['rejected', 'unavailable'].includes(ended.code), ended.code);
    const { ids, count } = await next.evaluate(async () => {
      const { context, keyOf, open } = globalThis.kit;
      const store = await open('shared', {}, 'check');
      const { events, state } = await store.load(keyOf('s'), {}, context);
      await store.close();
      return { ids: events.map(({ id }) => id), count: state.app.count };
    });
    assert.deepEqual(ids, [...written, ...Array.from({ length: 20 }, (_, count) => `new ${count}`)]);
    assert.equal(count, written.length - 1);
  });

  it('are what they were when an upgrade breaks off or its tab ends in the middle of it, and can be upgraded then', async () => {
    const [tab] = tabs;
    const before = await tab.evaluate(async () => {
      const { open, openVersion1, outcome } = globalThis.kit;
      const { fill, tell, versionOf } = globalThis.v1;
      await fill('killed');
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
      const failed = await outcome(open('killed', { indexedDB: aborting }, 'upgrade'));
      const version = await versionOf('killed');
      const store = await openVersion1('killed', 'check');
      const told = await tell(store);
      await store.close();
      return { failed, version, told };
    });
    assert.equal(before.failed.code, 'unavailable');
    assert.equal(before.version, 2);
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
      globalThis.kit.open('killed', {}, 'upgrade');
    });
    await page.waitForFunction(() => globalThis.isUpgrading);
    const crashed = new Promise((resolve) => page.once('crash', resolve));
    const devtools = await browser.devtools(page);
    devtools.send('Page.crash').catch(() => undefined);
    await crashed;
    await page.close();
    const found = await tab.evaluate(async () => {
      const { open, openVersion1 } = globalThis.kit;
      const { tell } = globalThis.v1;
      const old = await openVersion1('killed', 'check');
      const told = await tell(old);
      await old.close();
      const store = await open('killed', {}, 'upgrade');
      const after = await tell(store);
      await store.close();
      return { told, after };
    });
    assert.deepEqual(found.told, before.told);
    assert.deepEqual(found.after, before.told);
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
