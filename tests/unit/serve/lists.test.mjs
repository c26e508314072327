// Lists over statepad's own routes: pages, and for each client only what it may see, to the totals.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { serverOver, PLACES } from './server.mjs';

/** A store without the operations that others may lack. */
const without = (store, ...names) =>
  new Proxy(store, { get: (target, name) => (names.includes(name) ? undefined : bound(target, name)) });
const bound = (target, name) => (typeof target[name] === 'function' ? target[name].bind(target) : target[name]);

const ALL_PLACES = {
  ...PLACES,
  'over a store that finds no owners': () => ({ store: without(memoryStore(), 'owners') }),
};

/** Sessions in the order of their creation: app, user, id. */
const SESSIONS = [
  ...['a1', 'a2', 'a3', 'a4', 'shared'].map((id) => ['tutor', 'ana', id]),
  ...['b1', 'b2', 'shared'].map((id) => ['tutor', 'ben', id]),
  ['tutor', 'cat', 'c1'],
  ['shop', 'ben', 'b1'],
];

const SOME = { apps: ['tutor'], users: ['ana', 'cat'] };
/** The sessions that each client sees of the app `tutor`, in the order of lists. */
const CLIENTS = {
  all: [{ apps: 'all', users: 'all' }, 'ana/a1 ben/b1 ana/a2 cat/c1 ben/b2 ana/a3 ana/a4 ana/shared ben/shared'],
  ana: [{ apps: ['tutor'], users: ['ana'] }, 'ana/a1 ana/a2 ana/a3 ana/a4 ana/shared'],
  'ana and cat': [SOME, 'ana/a1 ana/a2 cat/c1 ana/a3 ana/a4 ana/shared'],
  'ana twice': [{ ...SOME, users: ['ana', 'ana', 'cat'] }, 'ana/a1 ana/a2 cat/c1 ana/a3 ana/a4 ana/shared'],
  'three sessions of two': [{ ...SOME, sessions: ['a2', 'c1', 'shared'] }, 'ana/a2 cat/c1 ana/shared'],
  'a session of all': [{ apps: 'all', users: 'all', sessions: ['shared', 'none'] }, 'ana/shared ben/shared'],
  'one that is missing': [{ ...SOME, sessions: ['b1', 'none'] }, ''],
  nobody: [{ apps: ['tutor'], users: [] }, ''],
  'an unknown user': [{ apps: ['tutor'], users: ['dan'] }, ''],
};

const open = async (place) => await filled(new SessionService({ ...ALL_PLACES[place](), now: clock() }));

async function filled(service) {
  const times = { 'ana/a1': 1, 'ben/b1': 2, 'ana/a2': 3, 'cat/c1': 4, 'ben/b2': 5, 'ana/a3': 6 };
  for (const [appName, userId, sessionId] of SESSIONS) {
    const session = await service.createSession({ appName, userId, sessionId });
    const timestamp = times[`${userId}/${sessionId}`] ?? 9;
    await service.appendEvent({ session, event: { author: 'a', timestamp } });
  }
  await service.updateState({ appName: 'tutor', userId: 'values' }, () => ({ 'user:n': 1 }));
  await service.updateState({ appName: 'notes' }, () => ({ 'app:n': 1 }));
  return service;
}

const clock = () => {
  let now = 1_000;
  return () => now++;
};

/** All pages of a list. */
async function pagesOf(ask, path, name, size) {
  const pages = [];
  let token = '';
  do {
    const { status, body } = await ask('GET', `${path}${path.includes('?') ? '&' : '?'}pageSize=${size}${token}`);
    assert.equal(status, 200, JSON.stringify(body));
    pages.push(body);
    assert.ok(body[name].length <= size && (body[name].length > 0 || pages.length === 1));
    token = body.nextPageToken === undefined ? undefined : `&pageToken=${body.nextPageToken}`;
  } while (token !== undefined);
  return pages;
}

const keyOf = ({ userId, id }) => `${userId}/${id}`;

for (const place of Object.keys(ALL_PLACES)) {
  describe(`lists, ${place}`, () => {
    for (const [client, [principal, expected]] of Object.entries(CLIENTS)) {
      const seen = expected === '' ? [] : expected.split(' ');
      it(`have for ${client} the sessions that it may see, and their number`, async () => {
        const service = await open(place);
        const { ask } = serverOver(service, { authorize: () => principal });
        for (const order of ['asc', 'desc']) {
          const timed = order === 'asc' ? seen : reversed(seen);
          for (const size of [1, 2, 4, 100]) {
            const pages = await pagesOf(ask, `/v1/apps/tutor/sessions?order=${order}`, 'sessions', size);
            assert.deepEqual(
              pages.flatMap(({ sessions }) => sessions.map(keyOf)),
              timed,
            );
            pages.forEach(({ page, limit, totalItems, totalPages }, index) => {
              const total = Math.ceil(seen.length / size);
              assert.deepEqual([page, limit, totalItems, totalPages], [index + 1, size, seen.length, total]);
            });
            const numbered = await ask('GET', `/v1/apps/tutor/sessions?order=${order}&pageSize=${size}&page=2`);
            assert.deepEqual(numbered.body.sessions.map(keyOf), timed.slice(size, 2 * size));
            assert.equal(numbered.body.page, 2);
            const offset = await ask('GET', `/v1/apps/tutor/sessions?order=${order}&pageSize=${size}&offset=3`);
            assert.deepEqual(offset.body.sessions.map(keyOf), timed.slice(3, 3 + size));
          }
        }
        const { body } = await ask('GET', '/v1/apps/tutor/sessions?pageSize=0');
        assert.deepEqual([body.sessions, body.totalItems, body.totalPages], [[], seen.length, 0]);
        const ofBen = await ask('GET', '/v1/apps/tutor/users/ben/sessions');
        const bens = seen.filter((key) => key.startsWith('ben/'));
        const maySeeBen = principal.users === 'all';
        assert.deepEqual(
          [ofBen.status, ofBen.body.sessions?.map(keyOf), ofBen.body.totalItems],
          maySeeBen ? [200, bens, bens.length] : [403, undefined, undefined],
        );
        await service.close();
      });
    }

    it('do not skip a session when others are deleted or moved between two pages', async () => {
      const service = await open(place);
      const { ask } = serverOver(service, { authorize: () => SOME });
      const path = '/v1/apps/tutor/sessions?pageSize=2';
      const first = (await ask('GET', path)).body;
      assert.deepEqual(first.sessions.map(keyOf), ['ana/a1', 'ana/a2']);
      for (const sessionId of ['a1', 'a2'])
        await service.deleteSession({ appName: 'tutor', userId: 'ana', sessionId });
      const second = (await ask('GET', `${path}&pageToken=${first.nextPageToken}`)).body;
      assert.deepEqual([second.sessions.map(keyOf), second.totalItems], [['cat/c1', 'ana/a3'], 4]);
      await service.close();
    });

    it('have the states that the client may read', async () => {
      const service = await open(place);
      await service.updateState({ appName: 'tutor', userId: 'ana', sessionId: 'a1' }, () => ({
        n: 1,
        'user:n': 2,
        'app:n': 3,
      }));
      for (const users of [['ana'], ['ana', 'cat']]) {
        const { ask } = serverOver(service, { authorize: () => ({ ...SOME, users, reads: ['session'] }) });
        const { body } = await ask('GET', '/v1/apps/tutor/sessions?order=desc');
        assert.deepEqual(body.sessions.find(({ id }) => id === 'a1').state, { n: 1 });
      }
      await service.close();
    });

    /** The apps, and the users of `tutor`, that each client sees. */
    for (const [client, principal, apps, users] of [
      ['all', { apps: 'all', users: 'all' }, ['notes', 'shop', 'tutor'], ['ana', 'ben', 'cat', 'values']],
      ['all in two apps', { apps: ['tutor', 'none'], users: 'all' }, ['tutor'], ['ana', 'ben', 'cat', 'values']],
      ['ana in all apps', { apps: 'all', users: ['ana'], reads: ['session', 'user'] }, ['tutor'], ['ana']],
      ['ana in all apps and their values', { apps: 'all', users: ['ana'] }, ['notes', 'tutor'], ['ana']],
      ['the one session of cat', { apps: ['tutor', 'shop'], users: ['cat'], reads: ['session'] }, ['tutor'], ['cat']],
      ['sessions of one app', { apps: ['shop'], users: 'all', reads: ['session'] }, ['shop'], undefined],
      ['no sessions', { apps: 'all', users: 'all', reads: ['user'] }, ['tutor'], ['values']],
      ['values of apps', { apps: 'all', users: 'all', reads: ['app'] }, ['notes'], []],
      ['a session', { apps: 'all', users: 'all', sessions: ['b1'], reads: ['session'] }, ['shop', 'tutor'], ['ben']],
      ['a session that is missing', { apps: 'all', users: 'all', sessions: ['none'], reads: ['session'] }, [], []],
      ['an unknown user', { apps: ['tutor'], users: ['dan'], reads: ['session', 'user'] }, [], []],
      ['nobody', { apps: ['tutor', 'shop'], users: [] }, [], []],
    ]) {
      it(`have for ${client} the names under which it may see something`, async () => {
        const service = await open(place);
        const { ask } = serverOver(service, { authorize: () => principal });
        for (const size of [1, 2, 100]) {
          const ofApps = await pagesOf(ask, '/v1/apps', 'apps', size);
          assert.deepEqual(
            ofApps.flatMap((page) => page.apps),
            apps,
          );
          if (users === undefined) continue;
          const ofUsers = await pagesOf(ask, '/v1/apps/tutor/users', 'users', size);
          assert.deepEqual(
            ofUsers.flatMap((page) => page.users),
            users,
          );
        }
        await service.close();
      });
    }

    it('answer no token that names what may not be seen', async () => {
      const service = await open(place);
      const { ask } = serverOver(service, {
        authorize: () => ({ apps: 'all', users: 'all', sessions: ['a1', 'c1'], reads: ['session'] }),
      });
      for (const [path, name] of [
        ['/v1/apps', 'apps'],
        ['/v1/apps/tutor/users', 'users'],
        ['/v1/apps/tutor/sessions', 'sessions'],
      ]) {
        for (const { nextPageToken = '' } of await pagesOf(ask, path, name, 1)) {
          assert.doesNotMatch(Buffer.from(nextPageToken, 'base64url').toString(), /ben|b1|shared|notes|values/);
        }
      }
      await service.close();
    });
  });
}

describe('lists', () => {
  it('have all names and sessions, however many, for clients that do not see all', async () => {
    const service = new SessionService();
    const ids = Array.from({ length: 1_201 }, (_, index) => `id${String(index).padStart(4, '0')}`);
    for (const id of ids) {
      await service.createSession({ appName: 'tutor', userId: id, sessionId: 'one' });
      await service.createSession({ appName: id, userId: 'ana', sessionId: 'one' });
      await service.createSession({ appName: 'many', userId: 'ana', sessionId: id });
    }
    await service.createSession({ appName: 'many', userId: 'ben', sessionId: 'one' });
    const every = async (principal, path, name) => {
      const { ask } = serverOver(service, { authorize: () => principal });
      return (await pagesOf(ask, path, name, 1_000)).flatMap((page) => page[name]);
    };
    const one = { apps: 'all', users: 'all', sessions: ['one'], reads: ['session'] };
    assert.deepEqual(await every(one, '/v1/apps/tutor/users', 'users'), ids);
    assert.deepEqual(await every({ ...one, users: ['ana'] }, '/v1/apps', 'apps'), ids);
    const ofTwo = await every(
      { ...one, users: ['ana', 'ben'], sessions: 'all' },
      '/v1/apps/many/sessions',
      'sessions',
    );
    assert.deepEqual(
      ofTwo.map(({ id }) => id),
      [...ids, 'one'],
    );
    const named = await every({ ...one, users: ['ana'], sessions: ids }, '/v1/apps/many/sessions', 'sessions');
    assert.deepEqual(
      named.map(({ id }) => id),
      ids,
    );
    await service.close();
  });

  it('name the sessions that the store cannot read, and have all others', async () => {
    const store = memoryStore();
    const service = await filled(new SessionService({ store, now: clock() }));
    const key = { appName: 'tutor', userId: 'ana', sessionId: 'a2' };
    const broken = new Proxy(store, {
      get: (target, name) =>
        name === 'load'
          ? async (wanted, ...rest) => {
              if (wanted.sessionId === 'a2') throw new StoreError('corrupt', 'the row is broken');
              return await target.load(wanted, ...rest);
            }
          : bound(target, name),
    });
    const other = new SessionService({ store: broken });
    const principal = { apps: ['tutor'], users: ['ana'], sessions: ['a1', 'a2', 'a3'] };
    const { ask } = serverOver(other, { authorize: () => principal });
    const { body } = await ask('GET', '/v1/apps/tutor/users/ana/sessions?pageSize=1');
    assert.deepEqual([body.sessions.map(keyOf), body.totalItems, body.corrupt], [['ana/a1'], 2, [key]]);
    const next = (await ask('GET', `/v1/apps/tutor/users/ana/sessions?pageSize=1&pageToken=${body.nextPageToken}`))
      .body;
    assert.deepEqual([next.sessions.map(keyOf), next.corrupt], [['ana/a3'], undefined]);
    await Promise.all([service.close(), other.close()]);
  });

  it('refuse a token of the right list with another place', async () => {
    const service = await open('in memory');
    const { ask } = serverOver(service, { authorize: () => SOME });
    const { nextPageToken } = (await ask('GET', '/v1/apps/tutor/sessions?pageSize=1')).body;
    const [list, place] = JSON.parse(Buffer.from(nextPageToken, 'base64url').toString());
    const withPlace = async (other) => {
      const token = Buffer.from(JSON.stringify([list, other])).toString('base64url');
      return (await ask('GET', `/v1/apps/tutor/sessions?pageToken=${token}`)).status;
    };
    assert.equal(await withPlace(place), 200);
    const [time, id, user] = place;
    for (const other of [
      null,
      {},
      'abc',
      [],
      [time, id],
      [time, id, user, 1],
      [null, id, user],
      [time, 1, user],
      [time, id, 1],
    ]) {
      assert.equal(await withPlace(other), 400, JSON.stringify(other));
    }
    await service.close();
  });
});

/** By time descending; ids break ties, ascending either way. */
function reversed(keys) {
  const tied = keys.filter((key) => /a4|shared/.test(key));
  return [...tied, ...keys.filter((key) => !tied.includes(key)).reverse()];
}
