// Apps, users and the owners of an id: listed in the order of their UTF-8 bytes, page by page.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, USER, hasCode, runs, setting } from '../../support/fixtures.mjs';
import { NAME, storages } from './serving-requests.mjs';

const places = { memory: () => () => undefined, ...storages };
/** Ids that UTF-16 units, code points and prototypes tell apart. */
const IDS = ['', 'a', 'B', 'é', '\ufb01', '\u{1f600}', '__proto__', 'constructor', 'a/b', '["a"]', '\0'];
const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const sorted = (names) => [...new Set(names)].sort(byBytes);

/** All names of a list, by pages of `limit`. */
async function paged(list, name, limit) {
  const names = [];
  for (let cursor; ;) {
    const page = await list({ limit, ...(cursor !== undefined && { cursor }) });
    assert.ok(page[name].length <= limit);
    names.push(...page[name]);
    if (page.cursor === undefined) return names;
    assert.equal(page[name].length, limit);
    cursor = page.cursor;
  }
}

for (const [place, storage] of Object.entries(places)) {
  describe(`over ${place}`, () => {
    const open = () => new SessionService({ store: storage()() });

    test('apps and users are listed when they have a session or a value', async () => {
      const service = open();
      assert.deepEqual(plain(await service.listApps()), { apps: [] });
      assert.deepEqual(plain(await service.listUsers({ appName: 'a' })), { users: [] });
      await service.createSession({ appName: 'a', userId: 'session' });
      await service.updateState({ appName: 'a', userId: 'value' }, () => ({ 'user:x': 1 }));
      await service.updateState({ appName: 'b' }, () => ({ 'app:x': 1 }));
      await service.updateState({ appName: 'c', userId: 'u' }, () => ({ 'user:x': 1 }));
      await service.createSession({ appName: 'd', userId: 'u', state: { 'app:x': 1 } });
      assert.deepEqual((await service.listApps()).apps, ['a', 'b', 'c', 'd']);
      const usersOf = async (appName) => (await service.listUsers({ appName })).users;
      assert.deepEqual(await usersOf('a'), ['session', 'value']);
      assert.deepEqual(await usersOf('b'), []);
      assert.deepEqual(await usersOf('none'), []);
    });

    test('pages have every name once, whatever the names are', async () => {
      const service = open();
      for (const id of IDS) {
        await service.createSession({ appName: id, userId: 'u' });
        await service.createSession({ appName: 'app', userId: id });
      }
      const apps = sorted([...IDS, 'app']);
      const users = sorted(IDS);
      for (const limit of [1, 2, 5, 100]) {
        assert.deepEqual(await paged((page) => service.listApps(page), 'apps', limit), apps);
        assert.deepEqual(await paged((page) => service.listUsers({ appName: 'app', ...page }), 'users', limit), users);
      }
    });

    test('a page begins behind a name that is gone', async () => {
      const service = open();
      for (const userId of ['a', 'b', 'c']) await service.createSession({ ...KEY, userId });
      const { cursor } = await service.listUsers({ appName: KEY.appName, limit: 2 });
      await service.deleteSession({ ...KEY, userId: 'b' });
      assert.deepEqual((await service.listUsers({ appName: KEY.appName, cursor })).users, ['c']);
    });

    test('a wrong limit or cursor is refused by name', async () => {
      const service = open();
      for (const [request, message] of [
        [{ limit: 0 }, /limit must be at least 1/],
        [{ limit: 1.5 }, /limit must be a whole number/],
        [{ cursor: 7 }, /cursor must be a string/],
        [{ cursor: 'x' }, /cursor must come from a page of apps or users/],
        [{ cursor: '[1]' }, /cursor must come from/],
        [{ cursor: '["a", "b"]' }, /cursor must come from/],
        [{ cursor: 'null' }, /cursor must come from/],
        [null, /request must be an object/],
      ]) {
        await assert.rejects(service.listApps(request), { code: 'INVALID_ARGUMENT', message });
        const ofUsers = request && { appName: 'a', ...request };
        await assert.rejects(service.listUsers(ofUsers), { code: 'INVALID_ARGUMENT', message });
      }
      await assert.rejects(service.listUsers({}), { code: 'INVALID_ARGUMENT', message: /appName is missing/ });
      const signal = AbortSignal.abort(new Error('gone'));
      await assert.rejects(service.listApps({ signal }), /gone/);
    });

    test('the owners of an id are those who have a session with it', async () => {
      const service = open();
      const access = await service.serving({});
      assert.equal(access.hasOwners, true);
      const owners = async (id, appName = KEY.appName) => await access.owners(appName, id);
      assert.deepEqual(await owners('s'), []);
      for (const userId of IDS) await service.createSession({ ...KEY, userId });
      await service.createSession({ ...KEY, appName: 'other', userId: 'other' });
      await service.createSession({ ...KEY, sessionId: '__proto__' });
      assert.deepEqual(await owners('s'), sorted(IDS));
      assert.deepEqual(await owners('s', 'other'), ['other']);
      assert.deepEqual(await owners('__proto__'), ['u']);
      for (const userId of IDS.slice(1)) await service.deleteSession({ ...KEY, userId });
      assert.deepEqual(await owners('s'), ['']);
      await service.deleteSession({ ...KEY, userId: '' });
      assert.deepEqual(await owners('s'), []);
      await assert.rejects(access.owners('a'), hasCode('INVALID_ARGUMENT'));
      await assert.rejects(access.owners(1, 's'), hasCode('INVALID_ARGUMENT'));
    });

    test('a law: owners are those of a list of all sessions, after any creations, forks and deletions', async () => {
      const step = fc.record({
        kind: fc.constantFrom('create', 'delete', 'fork', 'ask'),
        userId: fc.constantFrom('a', 'b', 'c'),
        sessionId: fc.constantFrom('x', 'y'),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
          const service = open();
          const access = await service.serving({});
          const check = async () => {
            const { sessions } = await service.listSessions({ appName: 'app' });
            for (const id of ['x', 'y', 'z']) {
              const wanted = sessions.filter((session) => session.id === id).map(({ userId }) => userId);
              assert.deepEqual(await access.owners('app', id), sorted(wanted));
            }
          };
          for (const { kind, ...rest } of steps) {
            const key = { appName: 'app', ...rest };
            if (kind === 'create') await service.getOrCreateSession(key);
            if (kind === 'delete') await service.deleteSession(key);
            if (kind === 'fork') {
              const { appName, userId, sessionId: id } = key;
              await service.fork({ appName, userId, id }, { sessionId: 'z' }).catch(() => undefined);
            }
            if (kind === 'ask') await check();
          }
          await check();
        }),
        { numRuns: runs(place === 'SQLite' ? 20 : 100) },
      );
    });

    test('events are read from a revision on, in the order of appending', async () => {
      const storeOf = storage();
      const service = new SessionService({ store: storeOf() });
      await service.createSession(KEY);
      for (let n = 1; n <= 5; n++)
        await service.appendEvent({ session: NAME, event: setting({ n }, { id: `e${n}` }) });
      const fresh = place === 'memory' ? service : new SessionService({ store: storeOf() });
      const windowed = place === 'memory' ? service : new SessionService({ store: storeOf(), cachedEvents: 1 });
      await windowed.getSession({ ...KEY, config: { numRecentEvents: 2 } });
      for (const each of [service, fresh, windowed]) {
        const access = await each.serving({});
        const idsOf = async (range) => {
          const { events, revision } = await access.events(KEY, range);
          assert.equal(revision, 5);
          assert.ok(events.every((event) => Object.isFrozen(event)));
          return events.map(({ id }) => id).join(' ');
        };
        assert.equal(await idsOf({ from: 1 }), 'e1 e2 e3 e4 e5');
        assert.equal(await idsOf({ from: 2, limit: 2 }), 'e2 e3');
        assert.equal(await idsOf({ from: 4, limit: 10 }), 'e4 e5');
        assert.equal(await idsOf({ from: 5 }), 'e5');
        assert.equal(await idsOf({ from: 6 }), '');
        assert.equal(await idsOf({ from: 60, limit: 3 }), '');
        assert.equal(await idsOf({ from: 1, limit: 0 }), '');
        assert.equal(await access.events({ ...KEY, sessionId: 'none' }, { from: 1 }), undefined);
        await assert.rejects(access.events(KEY, { from: 0 }), { code: 'INVALID_ARGUMENT', path: 'from' });
        await assert.rejects(access.events(KEY, { from: 1, limit: -1 }), { code: 'INVALID_ARGUMENT', path: 'limit' });
      }
      await service.appendEvent({ session: NAME, event: setting({ n: 6 }, { id: 'e6' }) });
      for (const each of [service, fresh, windowed]) {
        const { events } = await (await each.serving({})).events(KEY, { from: 6 });
        assert.deepEqual(
          events.map(({ id }) => id),
          ['e6'],
        );
      }
    });
  });
}

test('a user whose values are gone is not listed in memory', async () => {
  const service = new SessionService();
  await service.updateState(USER, () => ({ 'user:x': 1, 'app:x': 1 }));
  await service.updateState(USER, () => ({ 'user:x': DELETED }));
  assert.deepEqual((await service.listUsers(USER)).users, []);
  assert.deepEqual((await service.listApps()).apps, [USER.appName]);
  await service.updateState(USER, () => ({ 'app:x': DELETED }));
  assert.deepEqual((await service.listApps()).apps, []);
});

test('lists are the same whether changes are retained or not', async () => {
  for (const log of [true, false]) {
    const service = new SessionService({ log });
    await service.updateState(USER, () => ({ 'user:x': 1 }));
    assert.deepEqual((await service.listUsers(USER)).users, [USER.userId]);
  }
});

test('a store that cannot list says so, and what it lacks', async () => {
  const store = { ...memoryStore(), owners: undefined, listApps: undefined, listUsers: undefined };
  const service = new SessionService({ store });
  const access = await service.serving({});
  assert.equal(access.hasOwners, false);
  const lacks = (name) => ({ code: 'INVALID_ARGUMENT', message: new RegExp(`: the store has no ${name}$`) });
  await assert.rejects(service.listApps(), lacks('listApps'));
  await assert.rejects(service.listUsers(USER), lacks('listUsers'));
  await assert.rejects(access.owners('a', 's'), lacks('owners'));
});

test('a session that a fork is still writing hides nobody who has one of its id', async () => {
  const store = { ...memoryStore(), commitMany: undefined };
  const service = new SessionService({ store });
  await service.createSession(KEY);
  await service.createSession({ ...KEY, userId: 'other', sessionId: 'fork' });
  const { commit } = store;
  const failing = {
    ...store,
    commit: async (change, context) => {
      if (change.kind === 'append') throw new Error('the process ended');
      return await commit(change, context);
    },
  };
  const dying = new SessionService({ store: failing, retry: { attempts: 1 } });
  await assert.rejects(dying.fork(NAME, { sessionId: 'fork' }), hasCode('COMMIT_UNKNOWN'));
  const access = await service.serving({});
  assert.deepEqual(await access.owners(KEY.appName, 'fork'), ['other']);
});

test('the creation of a session is known of its handles alone', async () => {
  for (const store of [undefined, memoryStore()]) {
    const service = new SessionService({ store });
    const access = await service.serving({});
    const session = await service.createSession(KEY);
    const created = access.createdOf(session);
    assert.equal(access.createdOf(await service.getSession(KEY)), created);
    const { sessions } = await service.listSessions(KEY);
    assert.equal(access.createdOf(sessions[0]), created);
    assert.throws(() => access.createdOf({ ...NAME }), hasCode('INVALID_ARGUMENT'));
    assert.throws(() => access.createdOf(undefined), hasCode('INVALID_ARGUMENT'));
    await service.deleteSession(KEY);
    assert.notEqual(access.createdOf(await service.createSession(KEY)), created);
    await service.close();
    await assert.rejects(access.owners('a', 's'), hasCode('CLOSED'));
    await assert.rejects(access.create(KEY), hasCode('CLOSED'));
  }
});
