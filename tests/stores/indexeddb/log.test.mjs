// The IndexedDB store with leases of a tab that stands still, and with logs that have gaps or cannot be read.

/* global indexedDB */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { logLaws } from '../support/log-laws.js';
import { Browser } from './browser.mjs';

describe('IndexedDB, leases and logs', () => {
  let browser;
  let tabs;

  before(async () => {
    browser = await Browser.start();
    tabs = [(await browser.open()).page, (await browser.open()).page];
  });
  after(() => browser?.stop());

  it('a tab that stands still while it has a lease, and is overtaken by another, writes nothing when it goes on', async () => {
    const [one, two] = tabs;
    await one.evaluate(async () => {
      const { context, create, keyOf, open } = globalThis.kit;
      globalThis.leased = await open('leased');
      await globalThis.leased.commit(create('s', { session: { set: { by: 'none' } } }), context);
      globalThis.lease = await globalThis.leased.lease(keyOf('s'), { holder: 'one', ttl: 100 }, context);
    });
    const still = one.evaluate(async () => {
      const { append, context, keyOf, outcome } = globalThis.kit;
      const { leased: store, lease } = globalThis;
      const delta = { session: { set: { by: 'one' } }, app: { set: { by: 'one' } } };
      // Nothing else runs in this tab meanwhile.
      for (const end = Date.now() + 3_000; Date.now() < end;);
      const refused = await outcome(
        store.commit(append('s', 'late', delta, { guard: { fence: lease.fence, created: 'create s' } }), context),
      );
      const renewed = await outcome(store.lease(keyOf('s'), { holder: 'one', ttl: 1e6, fence: lease.fence }, context));
      return [lease.fence, refused.code, renewed.code];
    });
    const overtaking = await two.evaluate(async () => {
      const { append, context, keyOf, open, outcome } = globalThis.kit;
      const store = await open('leased', {}, 'check');
      let taken;
      do taken = await outcome(store.lease(keyOf('s'), { holder: 'two', ttl: 1e6 }, context));
      while (taken.code === 'held');
      const { fence } = taken.value;
      await store.commit(append('s', 'e1', { session: { set: { by: 'two' } } }, { guard: { fence } }), context);
      globalThis.leased = store;
      return fence;
    });
    assert.equal(overtaking, 2);
    assert.deepEqual(await still, [1, 'fenced', 'fenced']);
    const left = await two.evaluate(async () => {
      const { context, keyOf } = globalThis.kit;
      const { rev, state } = await globalThis.leased.load(keyOf('s'), {}, context);
      return [rev, { ...state.session }, { ...state.app }];
    });
    assert.deepEqual(left, [1, { by: 'two' }, {}]);
  });

  for (const title of Object.keys(logLaws)) {
    it(title, () => tabs[0].evaluate((which) => globalThis.kit.checkLog(which), title));
  }

  it('a log begins behind what was written without one', async () => {
    const found = await tabs[0].evaluate(async () => {
      const { context, create, keyOf, open, append } = globalThis.kit;
      const scope = { app: 'app' };
      const first = await open('logs', { log: false });
      await first.commit(create('s', { app: { set: { a: 1 } } }), context);
      await first.close();
      const told = [];
      const see = async (store) => {
        const { pos, base, entries } = await store.readLog(scope, {}, context);
        told.push([pos, base, entries.map((entry) => entry.pos)]);
      };
      const write = (store, id) => store.commit(append('s', id, { app: { set: { a: id } } }), context);
      const logged = await open('logs');
      await see(logged);
      await write(logged, 'e1');
      await write(logged, 'e2');
      await see(logged);
      await logged.close();
      const without = await open('logs', { log: false });
      const members = ['readLog', 'trimLog'].map((member) => typeof without[member]);
      await write(without, 'e3');
      await without.close();
      const again = await open('logs');
      await see(again);
      await write(again, 'e4');
      await see(again);
      const { events } = await again.load(keyOf('s'), {}, context);
      const trimmed = [await again.trimLog(scope, 3, context), await again.trimLog(scope, 9, context)];
      await see(again);
      await again.close();
      // A store without a log deletes the entries, too; and a removed scope leaves none.
      const last = await open('logs', { log: false });
      await last.removeScope(scope, context);
      trimmed.push(await last.trimLog(scope, Infinity, context));
      await last.close();
      const end = await open('logs');
      await see(end);
      await end.removeScope(scope, context);
      await see(end);
      await end.close();
      return { told, members, trimmed, positions: events.map(({ pos }) => pos ?? null) };
    });
    assert.deepEqual(found.members, ['undefined', 'function']);
    assert.deepEqual(found.told, [
      [1, 1, []],
      [3, 1, [2, 3]],
      [4, 4, []],
      [5, 4, [5]],
      [5, 5, []],
      [6, 6, []],
      [7, 6, [7]],
    ]);
    assert.deepEqual(found.trimmed, [2, 1, 0]);
    assert.deepEqual(found.positions, [{ app: 2, user: 0 }, { app: 3, user: 0 }, null, { app: 5, user: 0 }]);
  });

  it('a damaged entry, or result, is corrupt where it is asked for, and keeps nothing from being written', async () => {
    const found = await tabs[0].evaluate(async () => {
      const { append, context, create, keyOf, open, outcome, settled } = globalThis.kit;
      const store = await open('damaged log');
      const operated = (id) => ({ ...append('s', id), operators: { app: { n: { increment: 1 } } } });
      await store.commit(create('s'), context);
      for (const id of ['e1', 'e2', 'e3']) await store.commit(operated(id), context);
      const database = await settled(indexedDB.open('damaged log'));
      const transaction = database.transaction(['events', 'log', 'values'], 'readwrite');
      const rows = (name) => settled(transaction.objectStore(name).getAll());
      const [entry] = (await rows('log')).filter(({ pos }) => pos === 2);
      transaction.objectStore('log').put({ ...entry, writes: [{ name: 'n', to: '{' }] });
      const [event] = (await rows('events')).filter(({ id }) => id === 'e2');
      transaction.objectStore('events').put({ ...event, results: '{' });
      await new Promise((resolve) => (transaction.oncomplete = resolve));
      database.close();
      const codeOf = async (promise) => (await outcome(promise)).code ?? 'read';
      const codes = [
        await codeOf(store.readLog({ app: 'app' }, {}, context)),
        await codeOf(store.readLog({ app: 'app' }, { after: 2 }, context)),
        await codeOf(store.load(keyOf('s'), {}, context)),
        await codeOf(store.load(keyOf('s'), { events: { last: 1 } }, context)),
      ];
      const among = await store.commitMany([operated('e2'), { ...operated('e4'), id: 'e4' }], context);
      const { state } = await store.loadScope({ app: 'app' }, context);
      await store.close();
      return { codes, among: among.map(({ code, rev }) => code ?? rev), n: state.n };
    });
    assert.deepEqual(found.codes, ['corrupt', 'read', 'corrupt', 'read']);
    assert.deepEqual(found.among, ['corrupt', 4]);
    assert.equal(found.n, 4);
  });
});
