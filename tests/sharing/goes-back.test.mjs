// A store goes back, and others write the same revisions and positions: no service goes on serving what is not there,
// and nothing is acknowledged on top of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { plain } from '../contract/read.mjs';
import { event, ids, retry, shown, stored, storeThatGoesBack } from './goes-back.mjs';
import { KEY } from '../support/fixtures.mjs';

async function open(options) {
  const back = storeThatGoesBack(options);
  const [ours, theirs] = [
    new SessionService({ store: back.store, retry }),
    new SessionService({ store: back.store, retry }),
  ];
  return { back, ours, theirs };
}

/** A service has two events, the store goes back by one, and others write another second one. */
async function diverged(options) {
  const { back, ours, theirs } = await open(options);
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0 } });
  await ours.appendEvent({ session, event: event('1', { x: 1, 'app:n': 1, 'user:n': 1 }) });
  const snapshot = back.snapshot();
  await ours.appendEvent({ session, event: event('2', { x: 2, y: 2, 'app:n': 2, 'user:n': 2, 'app:lost': 2 }) });
  await back.restore(snapshot);
  const other = async (id) =>
    await theirs.appendEvent({
      session: await theirs.getSession(KEY),
      event: event(id, { x: id, 'app:n': id, 'user:n': id }),
    });
  return { back, ours, theirs, session, other };
}

test('what others have written at the same revision is read', async () => {
  const { back, ours, session, other } = await diverged();
  await other('theirs');
  const read = await ours.getSession(KEY);
  assert.deepEqual(shown(read), await stored(back));
  assert.deepEqual(ids(read), ['1', 'theirs']);
  assert.deepEqual(ids(session), ['1', '2'], 'a handle does not move by itself');
  assert.equal(read.state['app:lost'], undefined);
});

for (const count of [0, 1, 2]) {
  test(`an append after ${count} events of others is stored at the store's revision, and its handle shows the store's log`, async () => {
    const { back, ours, session, other } = await diverged();
    for (let number = 0; number < count; number++) await other(`theirs ${number}`);
    await ours.appendEvent({ session, event: event('3', { z: 3, 'app:m': 3 }) });
    assert.deepEqual(shown(session), await stored(back));
    assert.equal(ids(session).at(-1), '3');
    assert.equal(session.state.y, undefined);
    await ours.appendEvent({ session, event: event('4') });
    assert.deepEqual(shown(session), await stored(back));
  });
}

test('an event that the store has lost is not acknowledged as a repetition: it is stored again', async () => {
  for (const count of [0, 1]) {
    const { back, ours, session, other } = await diverged();
    for (let number = 0; number < count; number++) await other(`theirs ${number}`);
    await ours.appendEvent({ session, event: event('2', { x: 2, y: 2, 'app:n': 2, 'user:n': 2, 'app:lost': 2 }) });
    assert.equal((await stored(back)).ids.at(-1), '2');
    assert.deepEqual(shown(session), await stored(back));
    await ours.appendEvent({ session, event: event('2', { x: 2, y: 2, 'app:n': 2, 'user:n': 2, 'app:lost': 2 }) });
    assert.equal((await stored(back)).ids.filter((id) => id === '2').length, 1);
  }
});

test('windows over the events show those of the store', async () => {
  for (const config of [
    { numRecentEvents: 1 },
    { numRecentEvents: 0 },
    { afterTimestamp: 0 },
    { afterTimestamp: 2 },
    { numRecentEvents: 5 },
  ]) {
    const { ours, other } = await diverged();
    const window = await ours.getSession({ ...KEY, config });
    await other('theirs');
    const read = await ours.getSession({ ...KEY, config });
    const all = ['1', 'theirs'].filter(() => (config.afterTimestamp ?? 0) < 2);
    const expected = all.slice(Math.max(0, all.length - (config.numRecentEvents ?? Infinity)));
    assert.deepEqual(ids(read), expected, JSON.stringify(config));
    await ours.appendEvent({ session: window, event: event('3') });
    assert.equal(ids(window).at(-1), '3');
    assert.equal(ids(window).includes('2'), false);
  }
});

test('a window that was read from a longer log shows the end of the one that is there; until then what it showed', async () => {
  const { back, ours, theirs } = await open();
  const session = await ours.createSession(KEY);
  await ours.appendEvent({ session, event: event('1') });
  const snapshot = back.snapshot();
  for (const id of ['2', '3', '4', '5']) await ours.appendEvent({ session, event: event(id) });
  const [window, failing] = [
    await ours.getSession({ ...KEY, config: { numRecentEvents: 2 } }),
    await ours.getSession(KEY),
  ];
  await back.restore(snapshot);
  await theirs.getSession(KEY);
  await ours.getSession(KEY);
  await assert.rejects(
    ours.appendEvent({ session: failing, event: event('6'), expectedRevision: 5 }),
    ({ code }) => code === 'SESSION_STALE',
  );
  assert.deepEqual(ids(failing), ['1', '2', '3', '4', '5']);
  await ours.appendEvent({ session: window, event: event('7') });
  assert.deepEqual([ids(window), window.revision], [['1', '7'], 2]);
});

test('a window by time that is loaded in two steps', async () => {
  const { back, ours, other } = await diverged();
  const fresh = new SessionService({ store: back.store, retry, cachedEvents: 0 });
  const window = await fresh.getSession({ ...KEY, config: { afterTimestamp: 0 } });
  await other('theirs');
  assert.deepEqual(ids(window), ['1']);
  await fresh.appendEvent({ session: window, event: event('3') });
  assert.deepEqual(ids(window), ['1', 'theirs', '3']);
  await ours.close();
});

test('the past is told of what the store has', async () => {
  const { ours, other } = await diverged();
  await other('theirs');
  const read = await ours.getSession(KEY);
  assert.deepEqual(plain(await ours.stateAt(read, 1)).x, 1);
  assert.deepEqual(
    (await ours.history(read, 'x')).map(({ to }) => to),
    [1, 'theirs'],
  );
});

test('a session that left memory is compared when its handle brings it back', async () => {
  const back = storeThatGoesBack();
  const little = new SessionService({ store: back.store, retry, cachedEvents: 1 });
  const theirs = new SessionService({ store: back.store, retry });
  const session = await little.createSession(KEY);
  await little.appendEvent({ session, event: event('1', { x: 1 }) });
  const snapshot = back.snapshot();
  await little.appendEvent({ session, event: event('2', { x: 2 }) });
  await little.createSession({ ...KEY, sessionId: 'other' });
  await back.restore(snapshot);
  for (const id of ['a', 'b', 'c']) {
    await theirs.appendEvent({ session: await theirs.getSession(KEY), event: event(id, { x: id }) });
  }
  await little.appendEvent({ session, event: event('d', { y: 1 }) });
  assert.deepEqual(shown(session), await stored(back));
  assert.deepEqual(ids(session), ['1', 'a', 'b', 'c', 'd']);
});

test('a session that was created after the backup is gone', async () => {
  const { back, ours } = await open();
  const snapshot = back.snapshot();
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 1 } });
  await back.restore(snapshot);
  assert.equal(await ours.getSession(KEY), undefined);
  await assert.rejects(ours.appendEvent({ session, event: event('1') }), ({ code }) => code === 'SESSION_NOT_FOUND');
  const anew = await ours.createSession({ ...KEY, state: { 'app:m': 1 } });
  assert.deepEqual(shown(anew), await stored(back));
});

test('app and user state that is lost alone is noticed by its position, and by its mark', async () => {
  for (const others of [0, 1, 2]) {
    const { back, ours, theirs } = await open();
    const add = (name, value) =>
      ours.updateState({ appName: 'app', userId: 'u' }, () => ({ [`app:${name}`]: value, [`user:${name}`]: value }));
    const session = await ours.createSession(KEY);
    await add('one', 1);
    const snapshot = back.snapshot();
    await ours.getSession(KEY);
    await add('two', 2);
    await ours.getSession(KEY);
    await back.restore(snapshot);
    for (let number = 0; number < others; number++) {
      await theirs.updateState({ appName: 'app', userId: 'u' }, () => ({
        [`app:t${number}`]: number,
        [`user:t${number}`]: number,
      }));
    }
    await ours.appendEvent({ session, event: event('1', others === 2 ? {} : { 'app:own': 1, 'user:own': 1 }) });
    assert.deepEqual(shown(session), await stored(back), `${others}`);
    assert.deepEqual(shown(await ours.getSession(KEY)), await stored(back));
    const anew = await ours.createSession({ ...KEY, sessionId: 't', state: { 'app:last': 1 } });
    assert.deepEqual(shown(anew), await stored(back, { ...KEY, sessionId: 't' }));
  }
});

test('over a store of which nobody else writes, an append notices', async () => {
  const back = storeThatGoesBack({ exclusive: true });
  const ours = new SessionService({ store: back.store, retry });
  const session = await ours.createSession({ ...KEY, state: { 'app:n': 1 } });
  await ours.appendEvent({ session, event: event('1', { x: 1 }) });
  const snapshot = back.snapshot();
  await ours.appendEvent({ session, event: event('2', { x: 2, 'app:n': 2 }) });
  await back.restore(snapshot);
  await ours.appendEvent({ session, event: event('3', { y: 3 }) });
  assert.deepEqual(shown(session), await stored(back));
  assert.deepEqual(shown(await ours.getSession(KEY)), await stored(back));
});

test('without marks, a lower revision and a lower position are noticed all the same', async () => {
  const { back, ours, session } = await diverged({ without: ['marks', 'changed'] });
  await ours.appendEvent({ session, event: event('3', { z: 3 }) });
  assert.deepEqual(shown(session), await stored(back));
  const again = await diverged({ without: ['marks', 'changed'] });
  assert.deepEqual(shown(await again.ours.getSession(KEY)), await stored(again.back));
});
