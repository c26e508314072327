// The notes that a store gets of requests: claims of their keys, and refusals that no change has made.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError, increment } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';
import { NAME, onceOf, prepared } from './serving-requests.mjs';

/** True for a change that a store refuses whatever its state, so that it remembers something. */
const isNote = ({ guard }) => guard?.keys?.app?.unset?.includes('') === true;

/** A store that `intercept` is asked before each commit, and the notes that came to it. */
function noting(inner, intercept = async (change, commit) => await commit()) {
  const notes = [];
  const commit = async (change, context) => {
    if (isNote(change)) notes.push(change);
    return await intercept(change, () => inner.commit(change, context));
  };
  return { notes, store: { ...inner, commitMany: undefined, watch: undefined, commit } };
}

const servingOf = async (store) => await new SessionService({ store, retry: { attempts: 1 } }).serving({});

describe('a refusal that no change has made', () => {
  test('is noted under the session and its creation, and as often as it is found', async () => {
    const { notes, store } = noting(memoryStore());
    const service = await prepared(store);
    const access = await service.serving({});
    const created = access.createdOf(await service.getSession(KEY));
    const none = { before: 'none' };
    await assert.rejects(access.rewind(NAME, none, onceOf('r')), hasCode('INVALID_ARGUMENT'));
    await assert.rejects(access.rewind(NAME, none, onceOf('r')), hasCode('INVALID_ARGUMENT'));
    const seen = notes.map(({ id, kind, key, guard, attempt, digest, event }) => [
      { id, kind, key, created: guard.created, attempt, digest },
      event.id,
    ]);
    const note = { id: 'r', kind: 'append', key: KEY, created, attempt: 2, digest: 'digest of r' };
    assert.deepEqual(seen, [
      [note, 'r'],
      [note, 'r'],
    ]);
  });

  test('is noted for a write to a session that is missing, and for a fork of one in the claim of its revision', async () => {
    const { notes, store } = noting(memoryStore());
    const access = await servingOf(store);
    await assert.rejects(access.write(KEY, { delta: { n: 1 } }, onceOf('write')), hasCode('SESSION_NOT_FOUND'));
    await assert.rejects(access.fork(NAME, { sessionId: 'f' }, onceOf('fork')), hasCode('SESSION_NOT_FOUND'));
    const at = { at: 3, sessionId: 'f' };
    await assert.rejects(access.fork(NAME, at, onceOf('at')), hasCode('SESSION_NOT_FOUND'));
    const digest = (id) => `digest of ${id}`;
    assert.deepEqual(
      notes.map(({ id, kind, digest: noted, event }) => [id, kind, noted, event?.id]),
      [
        ['write', 'append', digest('write'), 'write'],
        ['fork/claim', 'create', `${digest('fork')}@none`, undefined],
        ['at/claim', 'create', `${digest('at')}@3`, undefined],
        ['at/claim', 'create', `${digest('at')}@none`, undefined],
        ['whole-at-4-at', 'create', digest('at'), undefined],
      ],
    );
  });

  test('is not noted again where the store has refused the change itself', async () => {
    const { notes, store } = noting(memoryStore());
    const access = await (await prepared(store)).serving({});
    await access.create(USER, onceOf('taken'));
    notes.length = 0;
    const write = { delta: { 'user:c': increment(1) }, expected: { unset: ['user:c'] } };
    for (const target of [KEY, USER]) {
      await assert.rejects(access.write(target, write, onceOf('w')), hasCode('STATE_CONFLICT'));
    }
    assert.deepEqual(notes, []);
  });

  test('is none when an earlier attempt was carried out meanwhile: that one is the answer', async () => {
    for (const target of [KEY, USER]) {
      const inner = { ...memoryStore(), resolves: [] };
      const service = await prepared(inner);
      const isOpen = (value) => service.updateState(USER, () => ({ 'user:open': value }));
      const write = { delta: { 'user:c': increment(1) }, expected: { set: { 'user:open': true } } };
      const late = [];
      const losing = noting(inner, async (change, commit) => {
        late.push(commit);
        throw connectionLost();
      });
      const once = onceOf('w');
      await assert.rejects((await servingOf(losing.store)).write(target, write, once), hasCode('COMMIT_UNKNOWN'));
      await isOpen(false);
      const racing = noting(inner, async (change, commit) => {
        if (isNote(change) && late.length > 0) {
          await isOpen(true);
          await late.shift()();
        }
        return await commit();
      });
      const answer = await (await servingOf(racing.store)).write(target, write, once);
      assert.equal(answer['user:c'], 1);
      assert.equal(once.repeated.length, 1);
      assert.equal(racing.notes.length, 1);
      assert.equal((await service.getUserState(USER)).c, 1);
    }
  });

  test('is not told to the caller when the store cannot be told of it', async () => {
    const { store } = noting(memoryStore(), async (change, commit) => {
      if (isNote(change)) throw new StoreError('unavailable', 'the server is away');
      return await commit();
    });
    const service = await prepared(store);
    const access = await service.serving({});
    const rewind = access.rewind(NAME, { before: 'none' }, onceOf('r'));
    await assert.rejects(rewind, hasCode('STORE_UNAVAILABLE'));
    await assert.rejects(access.create({ ...USER, sessionId: 'x' }, onceOf('c')), hasCode('STORE_UNAVAILABLE'));
    assert.equal(await service.getSession({ ...USER, sessionId: 'x' }), undefined);
  });

  test('of a wrong argument, a lost store or a caller who has gone is not noted', async () => {
    const { notes, store } = noting(memoryStore());
    const service = await prepared(store);
    const access = await service.serving({});
    await assert.rejects(access.write(KEY, { delta: { n: NaN } }, onceOf('a')), hasCode('VALUE_NOT_JSON'));
    await assert.rejects(access.rewind(NAME, {}, onceOf('b')), hasCode('INVALID_ARGUMENT'));
    await assert.rejects(access.fork(NAME, { at: -1 }, onceOf('c')), hasCode('INVALID_ARGUMENT'));
    const signal = AbortSignal.abort(new Error('gone'));
    await assert.rejects(access.redo(NAME, { signal }, onceOf('d')), /gone/);
    const away = { ...store, load: async () => Promise.reject(new StoreError('unavailable', 'away')) };
    await assert.rejects((await servingOf(away)).redo(NAME, {}, onceOf('e')), hasCode('STORE_UNAVAILABLE'));
    assert.deepEqual(notes, []);
  });

  test('goes to the store alone, without another change of its session', async () => {
    const inner = memoryStore();
    const together = [];
    const commitMany = async (changes, context) => {
      const sessions = changes.flatMap(({ key: { sessionId } }) => sessionId ?? []);
      if (new Set(sessions).size < sessions.length) together.push(sessions);
      return await inner.commitMany(changes, context);
    };
    const service = await prepared({ ...inner, commitMany });
    const access = await service.serving({});
    const refused = async (id) => await access.rewind(NAME, { before: 'none' }, onceOf(id)).catch(() => undefined);
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        await Promise.all([
          refused(`r${index}`),
          service.appendEvent({ session: NAME, event: setting({ n: index }) }),
        ]);
      }),
    );
    assert.deepEqual(together, []);
  });
});

describe('a claim of a key', () => {
  test('is made only where a session is named, or a fork begins', async () => {
    const { notes, store } = noting(memoryStore());
    const access = await (await prepared(store)).serving({});
    const claims = async (run) => {
      await run();
      return notes.splice(0).map(({ id }) => id);
    };
    assert.deepEqual(await claims(() => access.create(USER, onceOf('a'))), []);
    assert.deepEqual(await claims(() => access.create({ ...USER, sessionId: ' ' }, onceOf('b'))), []);
    assert.deepEqual(await claims(() => access.create({ ...USER, sessionId: 'x' }, onceOf('c'))), ['c']);
    assert.deepEqual(await claims(() => access.fork(NAME, {}, onceOf('d'))), ['d/claim']);
    assert.deepEqual(await claims(() => access.write(KEY, { delta: { n: 1 } }, onceOf('e'))), []);
    assert.deepEqual(await claims(() => access.rewind(NAME, { before: 'i2' }, onceOf('f'))), []);
  });

  test('is not made over a store that compares nothing, or remembers nothing', async () => {
    const features = ['calls', 'creations', 'digests'];
    for (const less of [{ guards: 'none', keeps: features }, { keeps: ['creations'] }]) {
      const { notes, store } = noting({ ...memoryStore(), ...less });
      const access = await (await prepared(store)).serving({});
      await access.create({ ...USER, sessionId: 'x' }, onceOf('c'));
      await access.fork(NAME, { sessionId: 'f' }, onceOf('d'));
      await assert.rejects(access.redo(NAME, {}, onceOf('e')), hasCode('INVALID_ARGUMENT'));
      assert.deepEqual(notes, []);
    }
  });

  test('is not needed to complete an unfinished fork over a store without digests', async () => {
    const inner = { ...memoryStore(), keeps: ['creations', 'marks'], commitMany: undefined };
    const service = await prepared(inner);
    let commits = 0;
    const { store } = noting(inner, async (change, commit) => {
      commits += 1;
      if (commits > 2) throw connectionLost();
      return await commit();
    });
    const once = onceOf('f');
    await assert.rejects((await servingOf(store)).fork(NAME, {}, once), hasCode('COMMIT_UNKNOWN'));
    await service.appendEvent({ session: NAME, event: setting({ n: 3 }) });
    const fork = await (await servingOf(inner)).fork(NAME, {}, once);
    assert.deepEqual([fork.revision, fork.state.n], [3, 2]);
    assert.equal((await (await servingOf(inner)).fork(NAME, {}, once)).id, fork.id);
    assert.deepEqual(once.repeated, [true]);
    assert.equal((await service.listSessions(APP)).totalItems, 2);
  });
});

test('a session that another fork has left unfinished is taken for a request', async () => {
  const inner = { ...memoryStore(), commitMany: undefined };
  const service = await prepared(inner);
  const { store } = noting(inner, async (change, commit) => {
    if (change.kind === 'append') throw connectionLost();
    return await commit();
  });
  const dying = new SessionService({ store, retry: { attempts: 1 } });
  await assert.rejects(dying.fork(NAME, { sessionId: 'f' }), hasCode('COMMIT_UNKNOWN'));
  const access = await servingOf(inner);
  await assert.rejects(access.fork(NAME, { sessionId: 'f' }, onceOf('r')), hasCode('SESSION_EXISTS'));
  assert.equal((await service.fork(NAME, { sessionId: 'f' })).revision, 3);
});
