// A fork that stopped on its way to the log: it is not there for anyone, whichever service wrote it or reads it.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { SessionService as PackageService } from 'statepad';
import { keeping } from '../support/damaged-logs.mjs';
import { KEY } from '../support/fixtures.mjs';
import { rawBuild } from './build.mjs';

const { SessionService } = await import(pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href);
const services = { "the crate's service": SessionService, 'the package': PackageService };
const FORK = { ...KEY, sessionId: 'fork' };

/** A log with a session of two events, and of its fork the creation and `count` of its three events. */
async function halfFork(Service, count) {
  const records = [];
  const { persist, restore } = keeping(records);
  let left = Infinity;
  const service = new Service({
    persist: async (changes) => {
      if ((left -= changes.length) < 0) throw Object.assign(new Error('full'), { code: 'rejected' });
      await persist(changes);
    },
    restore,
  });
  const session = await service.createSession({ ...KEY, state: { n: 0 } });
  for (const n of [1, 2]) {
    await service.appendEvent({ session, event: { id: `e${n}`, actions: { stateDelta: { n } } } });
  }
  left = 1 + count;
  await assert.rejects(service.fork(session, { sessionId: FORK.sessionId }), /full/);
  return records;
}

const listed = async (service) => {
  const { sessions, totalItems } = await service.listSessions({ appName: KEY.appName, userId: KEY.userId });
  return [sessions.map(({ id }) => id), totalItems];
};

for (const [writer, Writer] of Object.entries(services)) {
  for (const [reader, Reader] of Object.entries(services)) {
    test(`a half fork of ${writer} is not there for ${reader}, until it is deleted or forked again`, async () => {
      for (const count of [0, 1, 2]) {
        const records = await halfFork(Writer, count);
        const service = new Reader(keeping(records));
        assert.equal(await service.getSession(FORK), undefined);
        assert.deepEqual(await listed(service), [[KEY.sessionId], 1]);
        const named = { id: FORK.sessionId, appName: FORK.appName, userId: FORK.userId };
        for (const call of [
          () => service.appendEvent({ session: named, event: { id: 'late' } }),
          () => service.updateState(FORK, () => ({ n: 9 })),
          () => service.stateAt(named, 0),
          () => service.rewind(named, { before: 'i' }),
          () => service.fork(named),
          () => service.lease(named),
        ]) {
          await assert.rejects(call(), { code: 'SESSION_NOT_FOUND' });
        }
        await assert.rejects(service.createSession(FORK), { code: 'SESSION_EXISTS' });
        await service.deleteSession(FORK);
        assert.equal((await service.createSession({ ...FORK, state: { n: 7 } })).state.n, 7);
      }
    });
  }

  test(`a half fork of ${writer} becomes whole when it is asked for again`, async () => {
    const records = await halfFork(Writer, 1);
    const service = new Writer(keeping(records));
    const fork = await service.fork(await service.getSession(KEY), { sessionId: FORK.sessionId });
    assert.deepEqual([fork.revision, fork.events.length, fork.state.n], [3, 3, 2]);
    for (const Reader of Object.values(services)) {
      const again = new Reader(keeping(records));
      assert.equal((await again.getSession(FORK)).revision, 3);
      assert.deepEqual(await listed(again), [[KEY.sessionId, FORK.sessionId], 2]);
    }
  });
}
