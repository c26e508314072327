// Events that come in: copied with what belongs to an event, or refused with what is wrong with them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { DELETED, SessionService, createEvent, isStatepadError } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { memoryStore } from 'statepad/stores/memory';
import { storedWith } from '../../support/store.mjs';
import { plain } from '../../contract/read.mjs';
import { KEY } from '../../support/fixtures.mjs';
import { open, refused } from './admitting.mjs';

test("the caller's event is never changed, whether the append succeeds or not", async () => {
  const { service, session } = await open();
  const make = (more) => ({
    author: 'a',
    actions: { stateDelta: { x: { y: [1] }, 'temp:t': 1, gone: DELETED, ...more } },
  });
  for (const [event, ok] of [
    [make({}), true],
    [make({ z: NaN }), false],
  ]) {
    const before = structuredClone(Object.keys(event.actions.stateDelta));
    await service.appendEvent({ session, event }).then(
      () => assert.ok(ok),
      () => assert.ok(!ok),
    );
    assert.deepEqual(Object.keys(event), ['author', 'actions']);
    assert.deepEqual(Object.keys(event.actions.stateDelta), before);
    assert.equal(event.actions.stateDelta.gone, DELETED);
    event.actions.stateDelta.x.y.push(2);
  }
});

test('what the caller changes after the call reaches nobody', async () => {
  const { service, session } = await open();
  const event = { id: 'e', actions: { stateDelta: { x: { y: [1] } } }, content: { parts: [{ text: 'a' }] } };
  const append = service.appendEvent({ session, event });
  event.id = 'f';
  event.actions.stateDelta.x.y.push(2);
  event.actions.stateDelta.z = 1;
  event.content.parts[0].text = 'b';
  const stored = await append;
  event.actions.stateDelta.x.y.push(3);
  assert.deepEqual(plain(session.state), { x: { y: [1] } });
  assert.equal(stored.id, 'e');
  assert.equal(stored.content.parts[0].text, 'a');
});

test('what the caller changes after the very first call of a service, or one that waits for a store, reaches nobody', async () => {
  for (const service of [new SessionService(), new SessionService(storedWith(() => undefined))]) {
    const state = { x: { y: 1 } };
    const creating = service.createSession({ ...KEY, state });
    state.x.y = 2;
    state.z = 3;
    assert.deepEqual(plain((await creating).state), { x: { y: 1 } });
  }
});

test('an event of createEvent is taken with what it fills in', async () => {
  const { service, session } = await open();
  const event = createEvent({ author: 'a', actions: { stateDelta: { x: 1 } } });
  const stored = await service.appendEvent({ session, event });
  assert.equal(stored.id, event.id);
  assert.equal(stored.timestamp, event.timestamp);
  assert.notEqual(stored, event);
  assert.ok(Object.isFrozen(stored) && !Object.isFrozen(event));
});

test('a partial event is handed back as the very object it is', async () => {
  const { service, session } = await open();
  const event = { partial: true, actions: { stateDelta: { x: () => 1 } } };
  assert.equal(await service.appendEvent({ session, event }), event);
});

test('the stored event is handed back frozen, and again for a retry of itself', async () => {
  const { service, session } = await open();
  const stored = await service.appendEvent({
    session,
    event: { actions: { stateDelta: { x: 1, y: DELETED, 'temp:z': 1 } } },
  });
  assert.ok(Object.isFrozen(stored) && Object.isFrozen(stored.actions.stateDelta));
  assert.equal(await service.appendEvent({ session, event: stored }), stored);
  assert.equal(session.revision, 1);
});

test('an event, or its actions, that is no plain object is refused: its getters or its delta would be lost', async () => {
  const { service, session } = await open();
  class Made {
    author = 'a';
    get actions() {
      return { stateDelta: { x: 1 } };
    }
  }
  class Actions {
    get stateDelta() {
      return { x: 1 };
    }
  }
  const entries = new Map([['stateDelta', { x: 1 }]]);
  for (const [event, path, what] of [
    [new Made(), 'event', 'an instance of Made'],
    [new Map(Object.entries({ actions: { stateDelta: { x: 1 } } })), 'event', 'an instance of Map'],
    [{ actions: new Actions() }, 'actions', 'an instance of Actions'],
    [{ actions: entries }, 'actions', 'an instance of Map'],
    [{ actions: [] }, 'actions', 'a list'],
    [{ actions: null }, 'actions', 'null'],
  ]) {
    const isTold = (error) =>
      isStatepadError(error) &&
      error.code === 'INVALID_ARGUMENT' &&
      error.path === path &&
      error.message.includes(what);
    await assert.rejects(service.appendEvent({ session, event }), isTold, what);
  }
  assert.equal(session.revision, 0);
  await service.appendEvent({
    session,
    event: Object.assign(Object.create(null), { actions: runInNewContext('({ stateDelta: { x: 1 } })') }),
  });
  assert.deepEqual(session.state, { x: 1 });
});

test('metadata that cannot hold the keys that are deleted refuse the event', async () => {
  const { service, session } = await open({ x: 1 });
  const append = (customMetadata, stateDelta = { x: DELETED }) =>
    service.appendEvent({ session, event: { customMetadata, actions: { stateDelta } } });
  for (const [given, path] of [
    ['text', 'customMetadata'],
    [7, 'customMetadata'],
    [[1], 'customMetadata'],
    [true, 'customMetadata'],
    [{ statepad: 'text' }, 'customMetadata.statepad'],
    [{ statepad: [1] }, 'customMetadata.statepad'],
    [{ statepad: 0 }, 'customMetadata.statepad'],
  ]) {
    await assert.rejects(
      append(given),
      (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && error.path === path,
    );
  }
  assert.deepEqual(session.state, { x: 1 });
  const kept = await append('text', { y: 1 });
  assert.equal(kept.customMetadata, 'text');
  const stored = await append({ a: 1, statepad: { b: 2 } });
  assert.deepEqual(stored.customMetadata, { a: 1, statepad: { b: 2, deleted: ['x'] } });
  assert.deepEqual((await append(null, { y: DELETED })).customMetadata, { statepad: { deleted: ['y'] } });
});

test('a timestamp that the clock has given does not make a retry another event; one that was given does', async () => {
  for (const more of [{}, { store: memoryStore() }]) {
    let time = 0;
    const service = new SessionService({ now: () => (time += 1), ...more });
    const session = await service.createSession(KEY);
    const event = { id: 'e', author: 'a', actions: { stateDelta: { x: 1 } } };
    const first = await service.appendEvent({ session, event });
    const again = await service.appendEvent({ session, event });
    assert.deepEqual([again, again.timestamp, session.revision], [first, 2, 1]);
    await service.appendEvent({ session, event: { ...event, timestamp: 2 } });
    await assert.rejects(service.appendEvent({ session, event: { ...event, timestamp: 3 } }), {
      code: 'EVENT_ID_CONFLICT',
    });
    await assert.rejects(service.appendEvent({ session, event: { ...event, author: 'b' } }), {
      code: 'EVENT_ID_CONFLICT',
    });
  }
});

test('instances of classes are taken by the service under ADK alone, and only those that their members make up', async () => {
  class Actions {
    stateDelta = { x: 1 };
  }
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: { ...createEvent(), actions: new Actions() } });
  assert.equal(session.state.x, 1);
  await assert.rejects(service.appendEvent({ session, event: { ...createEvent(), actions: new Map() } }), {
    code: 'INVALID_ARGUMENT',
    path: 'actions',
  });
});

test("ADK's mark of its events is kept, and is on no other", async () => {
  const mark = Symbol.for('google.adk.event');
  const { service, session } = await open();
  const marked = await service.appendEvent({ session, event: createEvent({ id: '1' }) });
  const unmarked = await service.appendEvent({ session, event: { id: '2', [mark]: 'x' } });
  assert.deepEqual([marked[mark], mark in unmarked], [true, false]);
  assert.equal(mark in (await service.appendEvent({ session, event: { id: '3' } })), false);
});

test('deletions of temp: keys are not stored, and leave no trace of themselves', async () => {
  const { service, session } = await open({ x: 1 });
  const append = (stateDelta, customMetadata) =>
    service.appendEvent({ session, event: { customMetadata, actions: { stateDelta } } });
  await append({ 'temp:t': 1, 'temp:u': 2 });
  const bare = await append({ 'temp:t': DELETED });
  assert.equal('customMetadata' in bare, false);
  assert.deepEqual(session.state, { x: 1, 'temp:u': 2 });
  const named = await append({ 'temp:u': null }, { a: 1, statepad: { deleted: ['temp:u'] } });
  assert.deepEqual(named.customMetadata, { a: 1, statepad: { deleted: [] } });
  assert.deepEqual(session.state, { x: 1 });
  assert.deepEqual((await append({ y: 1 }, { statepad: {} })).customMetadata, { statepad: {} });
  assert.deepEqual((await append({ x: DELETED, 'temp:t': DELETED })).customMetadata, { statepad: { deleted: ['x'] } });
});

test('a symbol among the members of an event or its actions is refused, and left out below, as in JSON', async () => {
  const { service, session } = await open();
  const mine = { [Symbol('s')]: 1 };
  await assert.rejects(service.appendEvent({ session, event: { author: 'a', ...mine } }), { code: 'VALUE_NOT_JSON' });
  await refused(service.appendEvent({ session, event: { actions: mine } }), 'actions');
  const content = { role: 'user', parts: [Object.assign([1], mine), { text: 'x', ...mine }], ...mine };
  const stored = await service.appendEvent({ session, event: { content } });
  assert.deepEqual(stored.content, JSON.parse(JSON.stringify(content)));
  assert.deepEqual(Object.getOwnPropertySymbols(stored.content.parts[1]), []);
});

test('a delta is a plain object of keys and values, or none', async () => {
  const { service, session } = await open({ x: 1, y: 2, z: 3 });
  const append = (stateDelta) => service.appendEvent({ session, event: { actions: { stateDelta } } });
  for (const given of [[], [['x', 1]], 'x', 7, true, () => ({}), new Map([['x', 1]]), new Date(0)]) {
    await assert.rejects(append(given), { code: 'INVALID_ARGUMENT', path: 'actions.stateDelta' });
    await assert.rejects(service.createSession({ ...KEY, sessionId: 't', state: given }), {
      code: 'INVALID_ARGUMENT',
      path: 'state',
    });
  }
  assert.deepEqual((await append(null)).actions.stateDelta, {});
  assert.deepEqual((await append(undefined)).actions.stateDelta, {});
  await append({ x: DELETED, y: DELETED, w: 1 });
  assert.deepEqual(session.state, { z: 3, w: 1 });
});
