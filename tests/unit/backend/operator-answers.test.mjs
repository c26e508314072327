// The answer of an update with operators when the store's was lost, and others have written since.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, append, compareAndSet, increment, isStatepadError, setOnce } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { COUNTERS, KEY, hasCode } from '../../support/fixtures.mjs';
import { event, scripted } from './scripted-store.mjs';

const targets = { session: KEY, user: { appName: 'app', userId: 'u' }, app: { appName: 'app' } };

describe('after an answer that was lost, while another caller has written the same key', () => {
  for (const [by, counter] of COUNTERS) {
    test(`each is told its own number: ${counter} through the ${by}`, async () => {
      const { service, theirs, script } = scripted();
      await service.createSession(KEY);
      const one = () => ({ [counter]: increment(), [`${counter}s`]: append('x') });
      let other;
      script.push('lost', async () => {
        other = await theirs.updateState(targets[by], one);
      });
      const own = await service.updateState(targets[by], one);
      assert.deepEqual([own[counter], other[counter]], [1, 2]);
      assert.deepEqual(plain(own[`${counter}s`]), ['x']);
      const next = await service.updateState(targets[by], one);
      assert.deepEqual([next[counter], next[`${counter}s`].length], [3, 3]);
    });
  }

  test('an update by values is told what it read and wrote', async () => {
    const { service, theirs, script } = scripted();
    await service.createSession({ ...KEY, state: { 'app:n': 1, 'app:read': 'a', 'app:other': 'a' } });
    script.push('lost', async () => {
      await theirs.updateState(targets.app, () => ({ 'app:n': 7, 'app:read': 'b', 'app:other': 'b' }));
    });
    const own = await service.updateState(targets.user, (state) => ({
      'app:n': state['app:n'] + 1,
      'user:seen': state['app:read'],
    }));
    assert.deepEqual([own['app:n'], own['app:read'], own['user:seen']], [2, 'a', 'a']);
  });

  test('one who came first is told so, also when the key was taken from it since', async () => {
    const { service, theirs, script } = scripted();
    const claim = (name) => () => ({ 'app:owner': compareAndSet(undefined, name), 'app:first': setOnce(name) });
    script.push('lost', async () => {
      await theirs.updateState(targets.app, () => ({ 'app:owner': 'b', 'app:first': 'b' }));
    });
    const own = await service.updateState(targets.app, claim('a'));
    assert.deepEqual(plain(own), { 'app:owner': 'a', 'app:first': 'a' });
    assert.deepEqual(await service.getAppState(KEY), { owner: 'b', first: 'b' });
  });
});

describe('a store that does not say what the operators of a change came to that it had before', () => {
  const silent = () => {
    const inner = memoryStore();
    let isLost = true;
    let others;
    const commit = async (change, context) => {
      const { results, ...committed } = await inner.commit(change, context);
      if (isLost && change.kind !== 'create') {
        isLost = false;
        await others?.();
        throw new Error('the connection was lost');
      }
      return { ...committed, ...(results && !committed.duplicate && { results }) };
    };
    const store = { ...inner, commit, commitMany: undefined, watch: undefined };
    return { inner, open: (run) => ((others = run), new SessionService({ store, retry: { attempts: 3, pause: 1 } })) };
  };
  const told = (key) => (error) => {
    assert.ok(isStatepadError(error), error.stack);
    assert.deepEqual([error.code, error.key, error.committed], ['STORE_CORRUPT', key, true]);
    assert.match(error.message, new RegExp(`increment of "${key}" is written, .*do not write it again`));
    return true;
  };

  for (const [by, counter] of COUNTERS) {
    test(`an update is told that it is written, once, and no number of another: ${counter} through the ${by}`, async () => {
      const { inner, open } = silent();
      const theirs = new SessionService({ store: inner });
      const one = () => ({ [counter]: increment() });
      const service = open(() => theirs.updateState(targets[by], one));
      await service.createSession(KEY);
      await assert.rejects(service.updateState(targets[by], one), told(counter));
      assert.equal((await service.getSession(KEY)).state[counter], 2);
      assert.equal((await service.updateState(targets[by], one))[counter], 3);
    });
  }

  test('an event is told so, too; another one under its id is a conflict', async () => {
    const { open } = silent();
    const service = open();
    const session = await service.createSession(KEY);
    await assert.rejects(service.appendEvent({ session, event: event({ n: increment() }, 'e') }), told('n'));
    await assert.rejects(service.appendEvent({ session, event: event({ n: 2 }, 'e') }), hasCode('EVENT_ID_CONFLICT'));
    await service.appendEvent({ session, event: event({ n: increment() }) });
    assert.deepEqual([session.state.n, session.revision], [2, 2]);
  });
});
