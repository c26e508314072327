// One call, several tries: whatever gets lost or stuck on the way, it is done once or not at all, and its caller is
// told which.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { KEY, hasCode } from '../../support/fixtures.mjs';
import { event, scripted } from './scripted-store.mjs';

describe('what is sent', () => {
  test('from the second try on, which one it is; the same call in all of them', async () => {
    const { service, script, sent } = scripted();
    const session = await service.createSession(KEY);
    sent.length = 0;
    script.push('cut', 'refused');
    await service.appendEvent({ session, event: event({ x: 1 }, 'e') });
    assert.deepEqual(
      sent.map(({ attempt }) => attempt),
      [undefined, 2, 3],
    );
    assert.deepEqual(
      sent.map(({ call }) => call),
      [sent[0].call, sent[0].call, sent[0].call],
    );
    assert.equal('attempt' in sent[0], false);
    const { attempt, ...rest } = sent[2];
    assert.deepEqual([attempt, rest], [3, sent[0]]);
  });

  test('a call where the caller chose the id, another one each time; none where the id is new anyway', async () => {
    const { service, sent } = scripted();
    const session = await service.createSession(KEY);
    const other = await service.createSession({ ...KEY, sessionId: 't' });
    await service.appendEvent({ session, event: event({ x: 1 }, 'e') });
    await service.appendEvent({ session: other, event: event({ x: 1 }, 'e') });
    await service.appendEvent({ session, event: event({ x: 1 }) });
    await service.appendEvent({ session, event: event({ x: 1 }, '') });
    await service.updateState(KEY, () => ({ y: 1 }));
    await service.updateState({ appName: 'app' }, () => ({ 'app:y': 1 }));
    const calls = sent.map(({ call }) => call);
    assert.deepEqual(
      calls.map((call) => typeof call),
      ['undefined', 'undefined', 'string', 'string', ...Array(4).fill('undefined')],
    );
    assert.notEqual(calls[2], calls[3]);
  });

  test('what is known of the scopes', async () => {
    const { service, sent } = scripted();
    const session = await service.createSession({ ...KEY, state: { 'app:x': 1 } });
    await service.appendEvent({ session, event: event({ 'user:x': 1 }, 'e') });
    await service.appendEvent({ session, event: event({}) });
    assert.deepEqual(
      sent.slice(1).map(({ known }) => known),
      [
        { pos: { app: 1, user: 0 }, marks: { app: sent[0].id } },
        { pos: { app: 1, user: 1 }, marks: { app: sent[0].id, user: sent[1].call } },
      ],
    );
  });
});

describe('a creation', () => {
  test('whose answer was lost does not come back after the session was deleted; its caller gets what it was', async () => {
    const { service, theirs, script, inner } = scripted();
    script.push('lost', async () => await theirs.deleteSession(KEY));
    const session = await service.createSession({ ...KEY, state: { x: 1, 'user:x': 1, 'app:x': 1 } });
    assert.deepEqual(
      [plain(session.state), session.revision, session.events.length],
      [{ x: 1, 'app:x': 1, 'user:x': 1 }, 0, 0],
    );
    assert.equal(await inner.load(KEY, {}, {}), null);
    assert.equal(await service.getSession(KEY), undefined);
    await assert.rejects(service.appendEvent({ session, event: event({ x: 2 }) }), hasCode('SESSION_NOT_FOUND'));
    assert.equal((await inner.loadScope({ app: 'app', user: 'u' }, {})).pos, 1);
  });

  test('is stored, and deleted before it is read back: it resolves to the session as it was created', async () => {
    const { service, theirs, inner } = scripted();
    await service.createSession({ ...KEY, sessionId: 'first', state: { 'app:y': 0 } });
    // Others have written to the app: the service has to read the new session.
    await theirs.updateState({ appName: 'app' }, () => ({ 'app:y': 1 }));
    const forgetful = new SessionService({
      store: {
        ...inner,
        watch: undefined,
        commitMany: undefined,
        commit: async (...given) => {
          const { changed, before, ...committed } = await inner.commit(...given);
          await inner.remove(KEY, {});
          return { ...committed, pos: { app: committed.pos.app + 1, user: 0 }, seen: [changed, before] };
        },
      },
    });
    const session = await forgetful.createSession({ ...KEY, state: { x: 1, 'app:z': 2, 'temp:t': 3 } });
    assert.deepEqual([plain(session.state), session.revision, session.id], [{ x: 1, 'app:y': 1, 'app:z': 2 }, 0, 's']);
    assert.deepEqual(plain(await forgetful.stateAt(session, 0)), { x: 1, 'app:y': 1, 'app:z': 2 });
    await assert.rejects(forgetful.appendEvent({ session, event: event({}) }), hasCode('SESSION_NOT_FOUND'));
  });

  test('is stored, and others have appended before it is read back: revision 0; its handle catches up', async () => {
    const { service, theirs, script } = scripted();
    script.push(
      'lost',
      async () =>
        await theirs.appendEvent({ session: await theirs.getSession(KEY), event: event({ x: 2 }, 'theirs') }),
    );
    const session = await service.createSession({ ...KEY, state: { x: 1, 'user:x': 1 } });
    assert.deepEqual([plain(session.state), session.revision, session.events.length], [{ x: 1, 'user:x': 1 }, 0, 0]);
    await service.appendEvent({ session, event: event({ y: 1 }, 'ours') });
    assert.deepEqual(
      session.events.map(({ id }) => id),
      ['theirs', 'ours'],
    );
    assert.deepEqual(plain(session.state), { x: 2, y: 1, 'user:x': 1 });
  });

  test('is stored and cannot be read back: it resolves all the same, and its handle can be used later', async () => {
    const { service, theirs, inner } = scripted();
    await theirs.createSession({ ...KEY, sessionId: 'first', state: { 'app:y': 1, 'user:y': 1 } });
    let isDown = false;
    const down =
      (method) =>
      async (...given) => {
        if (isDown) throw new StoreError('unavailable', 'no more connections');
        return await inner[method](...given);
      };
    const commit = async (change, context) => {
      await inner.commit(change, context);
      isDown = true;
      return await inner.commit(change, context);
    };
    const cut = new SessionService({
      store: {
        ...inner,
        watch: undefined,
        commitMany: undefined,
        load: down('load'),
        loadScope: down('loadScope'),
        commit,
      },
      retry: { attempts: 1 },
    });
    const session = await cut.createSession({ ...KEY, state: { x: 1, 'app:x': 1 } });
    assert.deepEqual(plain(session.state), { x: 1, 'app:x': 1 });
    isDown = false;
    await theirs.appendEvent({ session: await theirs.getSession(KEY), event: event({ z: 1 }, 'theirs') });
    const [read] = [await cut.getSession(KEY)];
    assert.deepEqual(plain(read.state), { x: 1, z: 1, 'app:y': 1, 'app:x': 1, 'user:y': 1 });
    assert.equal((await service.getSession(KEY)).revision, 1);
  });
});

test('a guarded try that was stuck does nothing after its retry was refused', async () => {
  const { service, theirs, script, release, inner } = scripted();
  const session = await service.createSession({ ...KEY, state: { x: 'a' } });
  // A: x is 'a'. The first try is stuck; others write 'b', by which the second try is refused; then 'a' again.
  script.push('stuck', async () => void (await theirs.updateState(KEY, () => ({ x: 'b' }))));
  const update = service.updateState(KEY, (state) => (state.x === 'a' ? { x: 'mine' } : undefined));
  assert.equal((await update).x, 'b');
  await theirs.updateState(KEY, () => ({ x: 'a' }));
  assert.deepEqual(await release(), ['conflict']);
  assert.equal((await inner.load(KEY, {}, {})).state.session.x, 'a');

  const { revision } = await theirs.getSession(KEY);
  script.push('stuck', async () => void (await theirs.deleteSession(KEY)), 'stuck');
  await assert.rejects(
    service.appendEvent({ session, event: event({ x: 2 }, 'late'), expectedRevision: revision }),
    hasCode('SESSION_NOT_FOUND'),
  );
  await theirs.createSession(KEY);
  await release();
  assert.equal((await theirs.getSession(KEY)).revision, 0);
});

test('a creation that was stuck does nothing after its retry was refused', async () => {
  const { service, theirs, script, release } = scripted();
  script.push('stuck', async () => void (await theirs.createSession(KEY)));
  await assert.rejects(service.createSession({ ...KEY, state: { 'app:x': 1 } }), hasCode('SESSION_EXISTS'));
  await theirs.deleteSession(KEY);
  assert.deepEqual(await release(), ['conflict']);
  assert.equal(await service.getSession(KEY), undefined);
  assert.deepEqual(plain(await service.getAppState(KEY)), {});
});

test('an event that was sent again by another call is stored, also when a call with its id was refused', async () => {
  const { service, theirs, script, release } = scripted();
  const session = await service.createSession(KEY);
  script.push(
    'stuck',
    async () => void (await theirs.appendEvent({ session: await theirs.getSession(KEY), event: event({}) })),
  );
  await assert.rejects(
    service.appendEvent({ session, event: event({ x: 1 }, 'e'), expectedRevision: 0 }),
    hasCode('SESSION_STALE'),
  );
  await service.appendEvent({ session, event: event({ x: 1 }, 'e'), expectedRevision: 1 });
  assert.deepEqual(await release(), ['done'], 'a duplicate by now');
  assert.equal((await theirs.getSession(KEY)).revision, 2);
});

describe('an append whose session is gone when it is tried again', () => {
  test('has left nothing but what it wrote to app and user state: that is not known', async () => {
    for (const [delta, code] of [
      [{ x: 1 }, 'SESSION_NOT_FOUND'],
      [{ 'app:x': 1 }, 'COMMIT_UNKNOWN'],
      [{ 'user:x': 1 }, 'COMMIT_UNKNOWN'],
    ]) {
      const { service, theirs, script } = scripted();
      const session = await service.createSession(KEY);
      script.push('lost', async () => await theirs.deleteSession(KEY));
      await assert.rejects(service.appendEvent({ session, event: event(delta) }), hasCode(code));
      await assert.rejects(service.appendEvent({ session, event: event(delta) }), hasCode('SESSION_NOT_FOUND'));
    }
  });

  test('was surely not written: it is not found', async () => {
    const { service, theirs, script } = scripted();
    const session = await service.createSession(KEY);
    script.push('refused', async () => await theirs.deleteSession(KEY));
    await assert.rejects(service.appendEvent({ session, event: event({ 'app:x': 1 }) }), hasCode('SESSION_NOT_FOUND'));
  });
});

test('what a store will not take any more may have been taken before', async () => {
  const { service, script } = scripted();
  const session = await service.createSession(KEY);
  script.push('lost', () => {
    throw new StoreError('rejected', 'the schema is newer');
  });
  await assert.rejects(service.appendEvent({ session, event: event({ x: 1 }) }), hasCode('COMMIT_UNKNOWN'));
  assert.equal((await service.getSession(KEY)).revision, 1);
});
