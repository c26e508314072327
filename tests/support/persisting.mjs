// Laws of every service over `persist`: when it fails, is late, or waits for a write of its own, and without
// `restore`. `more` are options with which a service tries once and waits 50 ms.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY } from './fixtures.mjs';
import { keeping } from './damaged-logs.mjs';
import { gate } from './gate.mjs';

/** @param {string} name */
const named = (name) => ({ ...KEY, sessionId: name });
/** @param {string} id */
const event = (id, stateDelta = {}) => ({ id, timestamp: 5, actions: { stateDelta } });
/** @param {SessionService} service @param {import('statepad').SessionKey} [key] */
const sessionOf = async (service, key = KEY) => (await service.getSession(key)) ?? assert.fail('there is no session');

/**
 * @typedef {import('statepad').SessionService} SessionService
 * @typedef {readonly import('statepad').LogRecord[]} Changes
 * @typedef {{ persist?: (changes: Changes) => unknown, restore?: () => unknown }} Callbacks
 * @typedef {new (options: object) => SessionService} ServiceClass
 */

/**
 * `Service` is the class; `Others` are all services that read the same log.
 *
 * @param {string} what @param {ServiceClass} Service @param {ServiceClass[]} Others @param {object} more
 */
export function persistTests(what, Service, Others, more) {
  /** @param {Callbacks} callbacks */
  const serve = (callbacks) => new Service({ ...callbacks, ...more });

  test(`${what}: persist alone is enough, and what it keeps can be read back by one with restore`, async () => {
    /** @type {string[]} */
    const records = [];
    const { persist, restore } = keeping(records);
    const service = serve({ persist });
    const session = await service.createSession({ ...KEY, state: { a: 1, 'app:b': 1 } });
    await service.appendEvent({ session, event: event('e', { a: 2 }) });
    await service.updateState({ appName: KEY.appName }, () => ({ 'app:b': 2 }));
    assert.deepEqual({ ...(await sessionOf(service)).state }, { a: 2, 'app:b': 2 });
    const next = serve({ persist: async () => undefined });
    assert.equal(await next.getSession(KEY), undefined);
    assert.equal((await next.listSessions({ appName: KEY.appName })).totalItems, 0);
    for (const Other of Others) {
      const read = await sessionOf(new Other({ persist, restore }));
      assert.deepEqual([read.revision, { ...read.state }], [1, { a: 2, 'app:b': 2 }]);
    }
    assert.deepEqual(
      records.map((record) => JSON.parse(record).kind),
      ['version', 'create', 'append', 'update'],
    );
  });

  test(`${what}: without restore a change of an unknown outcome counts as not made, and can be made again`, async () => {
    /** @type {string[]} */
    const records = [];
    const { persist, restore } = keeping(records);
    let isLost = false;
    const service = serve({
      persist: async (changes) => {
        await persist(changes);
        if (isLost) throw new Error('the answer was lost');
      },
    });
    const session = await service.createSession(KEY);
    isLost = true;
    await assert.rejects(service.appendEvent({ session, event: event('e', { a: 1 }) }), { code: 'COMMIT_UNKNOWN' });
    isLost = false;
    assert.equal((await sessionOf(service)).revision, 0);
    await service.appendEvent({ session, event: event('e', { a: 1 }) });
    await service.appendEvent({ session, event: event('f') });
    for (const told of [service, ...Others.map((Other) => new Other({ persist, restore }))]) {
      const read = await sessionOf(told);
      assert.deepEqual(
        read.events.map(({ id }) => id),
        ['e', 'f'],
      );
    }
  });

  test(`${what}: restore alone is refused`, () => {
    assert.throws(() => new Service({ restore: () => [] }), {
      code: 'INVALID_ARGUMENT',
      path: 'persist',
      message: 'persist is missing: restore returns the records that it stores',
    });
    assert.throws(() => new Service({ persist: 7 }), { code: 'INVALID_ARGUMENT', path: 'persist' });
    assert.throws(() => new Service({ persist: () => {}, restore: 7 }), { code: 'INVALID_ARGUMENT', path: 'restore' });
    for (const timeout of [0, -1, NaN, Infinity, '5', null]) {
      assert.throws(() => new Service({ persist: () => {}, timeout }), { code: 'INVALID_ARGUMENT', path: 'timeout' });
    }
  });

  test(`${what}: an answer of persist that does not come in time is COMMIT_UNKNOWN; reads go on, later writes wait`, async () => {
    /** @type {string[]} */
    const records = [];
    const { persist, restore } = keeping(records);
    const late = gate();
    let isLate = false;
    const service = serve({
      persist: async (changes) => {
        if (isLate) {
          isLate = false;
          await late.opened;
        }
        await persist(changes);
      },
      restore,
    });
    const session = await service.createSession(KEY);
    await service.createSession(named('other'));
    isLate = true;
    await assert.rejects(service.appendEvent({ session, event: event('e', { a: 1 }) }), { code: 'COMMIT_UNKNOWN' });
    assert.equal((await sessionOf(service)).revision, 0);
    const others = [
      () => service.appendEvent({ session: { ...named('other'), id: 'other' }, event: event('f') }),
      () => service.updateState({ appName: KEY.appName }, () => ({ 'app:x': 1 })),
    ];
    for (const write of others) {
      await assert.rejects(write(), { code: 'STORE_UNAVAILABLE', message: /have not ended in time/ });
    }
    late.open();
    await service.updateState({ appName: KEY.appName }, () => ({ 'app:x': 2 }));
    // A late write is there, once; a write that was given up is not made later.
    for (const told of [service, ...Others.map((Other) => new Other({ persist, restore }))]) {
      const read = await sessionOf(told);
      assert.deepEqual([read.revision, { ...read.state }], [1, { a: 1, 'app:x': 2 }]);
      assert.equal((await sessionOf(told, named('other'))).revision, 0);
    }
  });

  test(`${what}: persist that waits for a write of its own ends with errors that say so, and all goes on`, async () => {
    /** @type {string[]} */
    const records = [];
    const { persist, restore } = keeping(records);
    /** @type {Promise<object>} */
    let inner = Promise.resolve({});
    let isNested = false;
    const service = serve({
      persist: async (changes) => {
        if (isNested) {
          isNested = false;
          inner = service.updateState({ appName: KEY.appName }, () => ({ 'app:seen': true }));
          await inner;
        }
        await persist(changes);
      },
      restore,
    });
    const session = await service.createSession(KEY);
    isNested = true;
    await assert.rejects(service.appendEvent({ session, event: event('e') }), { code: 'COMMIT_UNKNOWN' });
    await assert.rejects(inner, {
      code: 'STORE_UNAVAILABLE',
      message: /persist must not wait for a write of its own/,
    });
    await service.appendEvent({ session, event: event('e') });
    await service.updateState({ appName: KEY.appName }, () => ({ 'app:seen': 1 }));
    const read = await sessionOf(service);
    assert.deepEqual([read.revision, { ...read.state }], [1, { 'app:seen': 1 }]);
  });

  test(`${what}: persist may write without waiting for it`, async () => {
    const { persist, restore } = keeping([]);
    /** @type {Promise<object>} */
    let inner = Promise.resolve({});
    const service = serve({
      persist: (changes) => {
        if (changes.some(({ kind }) => kind === 'append')) {
          inner = service.updateState({ appName: KEY.appName }, () => ({ 'app:seen': true }));
        }
        return persist(changes);
      },
      restore,
    });
    const session = await service.createSession(KEY);
    await service.appendEvent({ session, event: event('e') });
    assert.deepEqual({ ...(await inner) }, { 'app:seen': true });
  });

  test(`${what}: a restore that never answers is STORE_UNAVAILABLE`, async () => {
    const service = serve({ persist: async () => undefined, restore: () => new Promise(() => undefined) });
    await assert.rejects(service.getSession(KEY), { code: 'STORE_UNAVAILABLE' });
    await assert.rejects(service.createSession(KEY), { code: 'STORE_UNAVAILABLE' });
  });

  for (const lostAt of [1, 2, 3, 4]) {
    test(`${what}: a fork whose answer ${lostAt} is lost is never half, and nothing becomes unreadable`, async () => {
      /** @type {string[]} */
      const records = [];
      const { persist, restore } = keeping(records);
      let count = -Infinity;
      const service = serve({
        persist: async (changes) => {
          await persist(changes);
          count += 1;
          if (count === lostAt) throw new Error('the answer was lost');
        },
        restore,
      });
      const session = await service.createSession({ ...KEY, state: { a: 1 } });
      await service.createSession(named('other'));
      for (const id of ['e', 'f']) await service.appendEvent({ session, event: event(id, { [id]: 1 }) });
      count = 0;
      const failed = await service.fork(session, { sessionId: 'fork' }).then(
        () => undefined,
        ({ code }) => code,
      );
      assert.equal(failed, count < lostAt ? undefined : 'COMMIT_UNKNOWN');
      // It is whole, or not there. Of a creation whose answer was lost nobody knows whose it is: it may stay.
      const possible = failed === undefined ? [3] : lostAt === 1 ? [undefined, 0, 3] : [undefined, 3];
      for (const told of [service, ...Others.map((Other) => new Other({ persist, restore }))]) {
        const page = await told.listSessions({ appName: KEY.appName });
        assert.equal(page.corrupt, undefined);
        assert.deepEqual({ ...(await sessionOf(told)).state }, { a: 1, e: 1, f: 1 });
        assert.equal((await sessionOf(told, named('other'))).revision, 0);
        assert.ok(possible.includes((await told.getSession(named('fork')))?.revision));
      }
      await service.deleteSession(named('fork'));
      const fork = await service.fork(session, { sessionId: 'fork' });
      assert.deepEqual([fork.revision, { ...fork.state }], [3, { a: 1, e: 1, f: 1 }]);
      for (const Other of Others) {
        assert.equal((await sessionOf(new Other({ persist, restore }), named('fork'))).revision, 3);
      }
    });
  }
}
