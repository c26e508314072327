// Rewind markers that a client has made: the delta is replaced, all else stays.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { KEY, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';
import { NAME, onceOf, prepared, storages } from './serving-requests.mjs';

/** The marker of adk-python's `rewind_async`: its delta knows nothing of the values at creation. */
const MARKER = Object.freeze({
  id: 'marker',
  author: 'user',
  invocationId: 'i-rewind',
  timestamp: 77,
  branch: 'main',
  customMetadata: { mine: 1, statepad: { deleted: ['n'], operators: { n: {} }, other: 2 } },
  actions: {
    rewindBeforeInvocationId: 'i2',
    stateDelta: { n: null, 'app:c': 100, 'temp:x': 1 },
    artifactDelta: { 'file.txt': 3 },
    escalate: true,
  },
});
const places = { memory: () => () => undefined, ...storages };

for (const [place, storage] of Object.entries(places)) {
  describe(`over ${place}`, () => {
    const begin = async () => {
      const storeOf = storage();
      const service = await prepared(storeOf());
      await service.appendEvent({
        session: NAME,
        event: setting({ n: DELETED, added: 1, 'app:c': 5 }, { id: 'e3', invocationId: 'i2' }),
      });
      const another = place === 'memory' ? service : new SessionService({ store: storeOf() });
      return { service, storeOf, access: await service.serving({}), other: await another.serving({}) };
    };

    test('a marker keeps all but its delta', async () => {
      const { service, access } = await begin();
      const { event, revision, shared } = await access.rewind(NAME, { before: 'i2', marker: MARKER });
      assert.deepEqual([revision, shared], [4, ['app:c']]);
      const { actions } = MARKER;
      const { actions: stored, customMetadata: metadata, ...others } = plain(event);
      assert.deepEqual({ ...MARKER, ...others }, MARKER);
      assert.deepEqual(Object.keys(others).sort(), ['author', 'branch', 'id', 'invocationId', 'timestamp']);
      assert.deepEqual(metadata, { mine: 1, statepad: { other: 2, deleted: ['added'] } });
      assert.deepEqual(stored, {
        ...actions,
        stateDelta: { n: 1, added: null },
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      });
      const { state, events } = await service.getSession(KEY);
      assert.deepEqual([state.n, Object.hasOwn(state, 'added'), state['app:c']], [1, false, 5]);
      assert.deepEqual(plain(events.at(-1)), plain(event));
    });

    test('a marker that is repeated is answered with what is stored, whoever asks', async () => {
      const { service, access, other } = await begin();
      const first = await access.rewind(NAME, { before: 'i2', marker: MARKER });
      await service.appendEvent({ session: NAME, event: setting({ n: 9 }, { invocationId: 'i5' }) });
      const marker = { ...MARKER, actions: { ...MARKER.actions, stateDelta: { n: 5 } } };
      for (const by of [access, other]) {
        assert.deepEqual(plain(await by.rewind(NAME, { before: 'i2', marker })), plain(first));
      }
      assert.equal((await service.getSession(KEY)).state.n, 9);
    });

    test('a marker under the id of another event is a conflict', async () => {
      const { service, access } = await begin();
      await access.rewind(NAME, { before: 'i2', marker: MARKER });
      const actions = { ...MARKER.actions, rewindBeforeInvocationId: 'i1' };
      const other = { before: 'i1', marker: { ...MARKER, actions } };
      await assert.rejects(access.rewind(NAME, other), { code: 'EVENT_ID_CONFLICT', id: 'marker' });
      const taken = { before: 'i2', marker: { ...MARKER, id: 'e1' } };
      await assert.rejects(access.rewind(NAME, taken), { code: 'EVENT_ID_CONFLICT', id: 'e1' });
      assert.equal((await service.getSession(KEY)).revision, 4);
    });

    test('a marker needs neither an id nor anything else', async () => {
      const { access } = await begin();
      const marker = { actions: { rewindBeforeInvocationId: 'i2' } };
      const { event } = await access.rewind(NAME, { before: 'i2', marker, artifactDelta: { a: 1 } });
      assert.notEqual(event.id, '');
      assert.notEqual(event.invocationId, '');
      assert.deepEqual([event.author, plain(event.actions.artifactDelta)], ['system', { a: 1 }]);
      assert.deepEqual(plain(event.customMetadata), { statepad: { deleted: ['added'] } });
    });

    test('a marker of an invocation that no event stands of is refused', async () => {
      const { access } = await begin();
      const none = { before: 'none', marker: { ...MARKER, actions: { rewindBeforeInvocationId: 'none' } } };
      await assert.rejects(access.rewind(NAME, none), { code: 'INVALID_ARGUMENT', path: 'before' });
      await assert.rejects(access.rewind(NAME, { marker: MARKER }), hasCode('INVALID_ARGUMENT'));
    });

    test('a rewind without a marker has the artifacts that it is given', async () => {
      const { access } = await begin();
      const { event } = await access.rewind(NAME, { before: 'i2', artifactDelta: { a: 2 } }, onceOf('r'));
      assert.deepEqual([event.id, plain(event.actions.artifactDelta)], ['r', { a: 2 }]);
      assert.deepEqual(plain(event.customMetadata), { statepad: { request: 'digest of r', deleted: ['added'] } });
    });

    if (place === 'memory') return;

    for (const [what, between] of [
      ['right before its retry', 0],
      ['before its retry, after another event', 1],
    ]) {
      test(`a marker whose lost attempt comes ${what} is appended once`, async () => {
        const { service, storeOf, access } = await begin();
        const inner = storeOf();
        const late = [];
        const commit = async (change, context) => {
          late.push(() => inner.commit(change, context));
          throw connectionLost();
        };
        const losing = new SessionService({
          store: { ...inner, commitMany: undefined, commit },
          retry: { attempts: 1 },
        });
        const request = { before: 'i2', marker: MARKER };
        await assert.rejects((await losing.serving({})).rewind(NAME, request), hasCode('COMMIT_UNKNOWN'));
        // The retry has read the log when the first attempt arrives.
        const racing = { ...inner, commitMany: undefined };
        racing.commit = async (change, context) => {
          if (late.length > 0) {
            await late.shift()();
            for (let n = 0; n < between; n++) {
              await service.appendEvent({ session: NAME, event: setting({ n: 50 }, { invocationId: 'i5' }) });
            }
          }
          return await inner.commit(change, context);
        };
        const retry = await new SessionService({ store: racing }).serving({});
        const { event, revision } = await retry.rewind(NAME, request);
        assert.deepEqual([event.id, revision], ['marker', 4]);
        const { events } = await service.getSession(KEY);
        assert.equal(events.filter(({ id }) => id === 'marker').length, 1);
        assert.deepEqual(plain(await access.rewind(NAME, request)), plain({ event, revision, shared: ['app:c'] }));
      });
    }
  });
}
