// The lists of apps, users and sessions, page by page.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { modelOf } from './bundle.mjs';

const { Directory } = await modelOf('directory');

/** A service with sessions of two users, newest last, and the requests that it got. */
async function filled(count, { appName = 'app' } = {}) {
  let now = 0;
  const service = new SessionService({ now: () => ++now });
  for (let n = 0; n < count; n++) {
    await service.createSession({ appName, userId: n % 2 === 0 ? 'ana' : 'ben', sessionId: `s${n}` });
  }
  const requests = [];
  const told = (name) => async (request) => {
    requests.push([name, request]);
    return await service[name](request);
  };
  const source = Object.fromEntries(
    ['listSessions', 'listApps', 'listUsers', 'getSession'].map((name) => [name, told(name)]),
  );
  return { service, source, requests };
}

const idsOf = ({ sessions }) => sessions.map(({ id }) => id);

describe('a directory', () => {
  it('loads a page at a time, and says how many there are', async () => {
    const { source, requests } = await filled(120);
    const directory = new Directory(source);
    await directory.open();
    assert.deepEqual(
      [directory.apps, directory.appName, directory.loaded, directory.total],
      [['app'], 'app', 50, 120],
    );
    assert.equal(idsOf(directory)[0], 's119');
    await directory.more();
    await directory.more();
    assert.deepEqual([directory.loaded, directory.hasMore], [120, false]);
    await directory.more();
    assert.equal(new Set(idsOf(directory)).size, 120);
    assert.ok(requests.every(([, { limit }]) => limit <= 50));
  });

  it('lists one user, and the oldest first, as the source does', async () => {
    const { source } = await filled(120);
    const directory = new Directory(source, ['app']);
    await directory.open();
    await directory.choose({ userId: 'ben', sort: 'oldest' });
    assert.deepEqual([directory.total, ...idsOf(directory).slice(0, 2)], [60, 's1', 's3']);
    await directory.choose({ userId: undefined });
    assert.deepEqual([directory.total, idsOf(directory)[0]], [120, 's0']);
  });

  it('sorts what is loaded by other orders, and reads nothing for that', async () => {
    const { source, requests } = await filled(12);
    const directory = new Directory(source, ['app']);
    await directory.open();
    const before = requests.length;
    await directory.choose({ sort: 'id' });
    assert.deepEqual(idsOf(directory).slice(0, 3), ['s0', 's1', 's2']);
    await directory.choose({ sort: 'user' });
    assert.deepEqual(directory.sessions.map(({ userId }) => userId).slice(5, 7), ['ana', 'ben']);
    assert.equal(requests.length, before);
  });

  it('searches what is loaded, and looks a whole id up', async () => {
    const { source } = await filled(120);
    const directory = new Directory(source, ['app']);
    await directory.open();
    await directory.choose({ query: 'S11' });
    assert.deepEqual(idsOf(directory).sort(), [
      's110',
      's111',
      's112',
      's113',
      's114',
      's115',
      's116',
      's117',
      's118',
      's119',
    ]);
    assert.equal(directory.hasMore, true);
    await directory.moreUsers();
    assert.deepEqual(directory.users, ['ana', 'ben']);
    await directory.choose({ query: 's3' });
    assert.deepEqual(idsOf(directory), ['s3']);
    await directory.choose({ query: 'ben' });
    assert.equal(directory.sessions.length, 25);
  });

  it('shows the same objects after a refresh, but those that have changed, and keeps the pages behind', async () => {
    const { service, source } = await filled(260);
    const directory = new Directory(source, ['app']);
    await directory.open();
    for (let page = 0; page < 5; page++) await directory.more();
    const before = directory.sessions;
    const session = await service.getSession({ appName: 'app', userId: 'ana', sessionId: 's0' });
    await service.appendEvent({ session, event: {} });
    await service.deleteSession({ appName: 'app', userId: 'ben', sessionId: 's259' });
    await directory.refresh();
    assert.deepEqual([idsOf(directory)[0], directory.loaded, directory.total], ['s0', 259, 259]);
    assert.equal(new Set(idsOf(directory)).size, 259);
    assert.ok(directory.sessions.slice(1).every((session) => before.includes(session)));
  });

  it('says that a source fails, keeps what it has, and says when it answers again', async () => {
    const { source } = await filled(3);
    let isDown = false;
    const failing = {
      ...source,
      listSessions: async (request) => {
        if (isDown) throw new Error('down');
        return await source.listSessions(request);
      },
    };
    const directory = new Directory(failing, ['app']);
    await directory.open();
    isDown = true;
    await directory.refresh();
    assert.deepEqual([directory.problem.message, directory.loaded], ['down', 3]);
    isDown = false;
    await directory.refresh();
    assert.equal(directory.problem, undefined);
  });

  it('takes the answer to its last choice, whichever comes last', async () => {
    const { source } = await filled(4);
    const waiting = [];
    const slow = {
      ...source,
      listSessions: async (request) => {
        await new Promise((resolve) => waiting.push(resolve));
        return await source.listSessions(request);
      },
    };
    const directory = new Directory(slow, ['app']);
    const choices = [directory.choose({ userId: 'ana' }), directory.choose({ userId: 'ben' })];
    waiting[1]();
    await choices[1];
    waiting[0]();
    await choices[0];
    assert.deepEqual(idsOf(directory), ['s3', 's1']);
  });

  it('begins with nothing, and finds what is created later', async () => {
    const { service, source } = await filled(0);
    const directory = new Directory(source);
    await directory.open();
    assert.deepEqual([directory.appName, directory.sessions], [undefined, []]);
    await service.createSession({ appName: 'app', userId: 'ana', sessionId: 'new' });
    await directory.refresh();
    assert.deepEqual([directory.appName, idsOf(directory)], ['app', ['new']]);
  });
});
