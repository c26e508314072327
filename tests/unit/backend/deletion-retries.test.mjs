// A deletion in several tries: it is made once, and of the session that was meant, or its caller is told.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { KEY, hasCode } from '../../support/fixtures.mjs';
import { event, scripted, turn } from './scripted-store.mjs';

describe('a deletion', () => {
  test('of unknown outcome is COMMIT_UNKNOWN, one that was surely not made STORE_UNAVAILABLE', async () => {
    for (const [script, code] of [
      [['cut', 'refused', 'refused'], 'COMMIT_UNKNOWN'],
      [['refused', 'refused', 'stuck'], 'COMMIT_UNKNOWN'],
      [['stuck', 'stuck', 'stuck'], 'COMMIT_UNKNOWN'],
      [['refused', 'refused', 'refused'], 'STORE_UNAVAILABLE'],
      [['lost', 'refused', 'refused'], 'COMMIT_UNKNOWN'],
    ]) {
      const context = scripted();
      const session = await context.service.createSession(KEY);
      context.script.push(...script);
      await assert.rejects(
        context.service.deleteSession(KEY),
        (error) => hasCode(code)(error) && (code === 'STORE_UNAVAILABLE' || error.id === 's'),
        `${script}`,
      );
      const isThere = (await context.inner.load(KEY, {}, {})) !== null;
      assert.equal((await context.service.getSession(KEY)) !== undefined, isThere);
      // The handle of a session that is still there goes on.
      const appended = await context.service.appendEvent({ session, event: event({ x: 1 }) }).then(
        () => 'done',
        (error) => error.code,
      );
      assert.equal(appended, isThere ? 'done' : 'SESSION_NOT_FOUND');
      await context.release();
      await context.service.deleteSession(KEY);
      assert.equal(await context.service.getSession(KEY), undefined);
    }
  });

  test('that goes through at last is done', async () => {
    const { service, script, inner } = scripted();
    await service.createSession(KEY);
    script.push('lost', 'refused');
    await service.deleteSession(KEY);
    assert.equal(await inner.load(KEY, {}, {}), null);
  });

  test('does not delete at its second try a session that was created anew', async () => {
    for (const isKnown of [true, false]) {
      const { service, theirs, script, inner, sent } = scripted();
      const { revision } = await (isKnown ? service : theirs).createSession(KEY);
      script.push('lost', async () => void (await theirs.createSession({ ...KEY, state: { anew: true } })));
      await service.deleteSession(KEY);
      assert.equal((await inner.load(KEY, {}, {})).state.session.anew, true);
      assert.equal((await service.getSession(KEY)).state.anew, true);
      assert.equal(typeof sent.at(-1).guard.created, 'string');
      assert.equal(revision, 0);
    }
  });

  test('deletes the session that is there, also when memory knows another one', async () => {
    const { service, theirs, inner } = scripted();
    await service.createSession(KEY);
    await theirs.deleteSession(KEY);
    await theirs.createSession(KEY);
    await service.deleteSession(KEY);
    assert.equal(await inner.load(KEY, {}, {}), null);
  });

  test('of what is not there asks for nothing to be deleted', async () => {
    const { service, theirs, sent } = scripted();
    await service.deleteSession(KEY);
    const session = await service.createSession(KEY);
    await theirs.deleteSession(KEY);
    await service.deleteSession(KEY);
    assert.deepEqual(
      sent.map(({ kind }) => kind),
      ['create'],
    );
    await assert.rejects(service.appendEvent({ session, event: event({}) }), hasCode('SESSION_NOT_FOUND'));
  });

  test('of what cannot be read is made', async () => {
    const { inner, service } = scripted();
    await service.createSession(KEY);
    const load = async () => {
      throw new StoreError('corrupt', 'odd');
    };
    const other = new SessionService({ store: { ...inner, load } });
    await other.deleteSession(KEY);
    assert.equal(await inner.load(KEY, {}, {}), null);
  });

  test('over a store that does not look at it says nothing of the creation', async () => {
    const { service, sent } = scripted({ keeps: [] });
    await service.createSession(KEY);
    await service.deleteSession(KEY);
    assert.equal(sent.at(-1).guard, undefined);
    await turn();
  });
});
