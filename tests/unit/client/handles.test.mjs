// The sessions that a client hands out: what they show, and whose they are.

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { describe, it } from 'node:test';
import { DELETED, increment, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { clientOf, fetchOf, handlerOf } from '../../support/client.mjs';
import { hasCode, KEY, setting } from '../../support/fixtures.mjs';

const ids = ({ events }) => events.map(({ id }) => id);

describe('a handle of a client', () => {
  it('has own enumerable members, prints as a plain record, and cannot be written to', async () => {
    const client = clientOf(new SessionService());
    const session = await client.createSession({ ...KEY, state: { cart: { items: [1] } } });
    const event = await client.appendEvent({ session, event: setting({ n: 1 }, { id: 'e', timestamp: 5 }) });
    const names = ['id', 'appName', 'userId', 'state', 'events', 'lastUpdateTime', 'revision'];
    assert.deepEqual(Object.keys(session), names);
    assert.deepEqual(plain(structuredClone({ ...session })), plain(session));
    assert.match(inspect(session), /^\{\n? *id: 's'[^]*lastUpdateTime: 5,\s*revision: 1\s*\}$/);
    assert.equal(session.events[0], event);
    for (const write of [
      () => (session.state.x = 1),
      () => (session.state.cart.items = []),
      () => session.events.push({}),
      () => (event.actions.stateDelta.n = 2),
      () => (session.id = 'other'),
    ]) {
      assert.throws(write, TypeError, String(write));
    }
    const write = new Function('session', 'name', 'session[name] = 1');
    assert.throws(() => write(session, 'state'), { code: 'INVALID_ARGUMENT', path: 'state' });
    const { state } = session;
    assert.equal(session.state, state, 'it is made once');
  });

  it('shows after an append what others wrote, within its window, and stays as it is otherwise', async () => {
    const service = new SessionService();
    const client = clientOf(service);
    const session = await client.createSession({ ...KEY, state: { x: 0 } });
    for (const id of ['1', '2']) await client.appendEvent({ session, event: setting({ x: id }, { id }) });
    const [last, none, row] = [
      await client.getSession({ ...KEY, config: { numRecentEvents: 1 } }),
      await client.getSession({ ...KEY, config: { numRecentEvents: 0 } }),
      (await client.listSessions(KEY)).sessions[0],
    ];
    const idle = await client.getSession(KEY);
    const other = await service.getSession(KEY);
    for (let n = 3; n <= 30; n++)
      await service.appendEvent({ session: other, event: setting({ n }, { id: String(n) }) });
    await service.updateState({ appName: 'app' }, () => ({ 'app:y': 1 }));
    for (const [handle, shown] of [
      [last, 30],
      [none, 30],
      [row, 31],
    ]) {
      await client.appendEvent({ session: handle, event: setting({}, { id: `own ${shown}`, timestamp: 7 }) });
      assert.deepEqual(plain(handle.state), { x: '2', n: 30, 'app:y': 1 });
      assert.equal(handle.lastUpdateTime, 7);
    }
    assert.deepEqual(ids(last).slice(0, 3), ['2', '3', '4']);
    assert.deepEqual(ids(none).slice(0, 2), ['3', '4']);
    assert.equal(idle.revision, 2);
    assert.deepEqual(plain(idle.state), { x: '2' });
  });

  it('takes appends in the order of their calls, and refuses the stale one by its revision', async () => {
    const service = new SessionService();
    const pass = fetchOf(handlerOf(service));
    // The first request is the slowest.
    let delay = 20;
    const fetch = async (address, init) => {
      await new Promise((resolve) => setTimeout(resolve, (delay -= 2)));
      return await pass(address, init);
    };
    const client = clientOf(service, { fetch });
    const session = await client.createSession(KEY);
    const events = Array.from({ length: 5 }, (_, n) => setting({ n }, { id: String(n) }));
    await Promise.all(events.map((event) => client.appendEvent({ session, event })));
    assert.deepEqual(ids(session), ['0', '1', '2', '3', '4']);
    assert.deepEqual(ids(await service.getSession(KEY)), ids(session));
    const stale = client.appendEvent({ session, event: setting({}), expectedRevision: 3 });
    await assert.rejects(stale, { code: 'SESSION_STALE', expected: 3, actual: 5 });
    assert.equal(session.revision, 5);
  });

  it('has the temp: keys of its invocation, which never leave it', async () => {
    const service = new SessionService();
    const sent = [];
    const pass = fetchOf(handlerOf(service));
    const fetch = async (address, init) => {
      sent.push(String(init.body));
      return await pass(address, init);
    };
    const client = clientOf(service, { fetch });
    const session = await client.createSession({ ...KEY, state: { 'temp:secret': 0, 'temp:gone': DELETED } });
    const say = async (author, invocationId, stateDelta) =>
      await client.appendEvent({ session, event: setting(stateDelta, { author, invocationId }) });
    await say('user', 'i', { n: 1, 'temp:secret': 1, 'temp:count': increment() });
    await say('agent', 'i', { 'temp:count': increment(2), 'temp:secret': DELETED, 'temp:more': 'secret' });
    assert.deepEqual(plain(session.state), { n: 1, 'temp:count': 3, 'temp:more': 'secret' });
    await assert.rejects(say('agent', 'i', { 'temp:more': increment() }), {
      code: 'INVALID_ARGUMENT',
      key: 'temp:more',
    });
    await say('user', 'j', {});
    assert.deepEqual(plain(session.state), { n: 1 });
    assert.ok(sent.every((body) => !/temp:|secret/.test(body)));
  });

  it('hands a partial event back, and takes no event that is not JSON', async () => {
    const client = clientOf(new SessionService());
    const session = await client.createSession(KEY);
    const partial = { partial: true, content: { parts: [{ text: 'T' }] } };
    assert.equal(await client.appendEvent({ session, event: partial }), partial);
    const wrong = client.appendEvent({ session, event: setting({ x: { when: new Map() } }) });
    await assert.rejects(wrong, { code: 'VALUE_NOT_JSON', path: 'actions.stateDelta["x"].when' });
    assert.equal(session.revision, 0);
  });

  for (const [where, serviceOf] of [
    ['in memory', () => new SessionService()],
    ['over a store', () => new SessionService({ store: memoryStore() })],
  ]) {
    it(`reaches no session that was created anew under its id, ${where}`, async () => {
      const service = serviceOf();
      const client = clientOf(service);
      const created = await client.createSession({ ...KEY, state: { n: 0 } });
      await client.appendEvent({ session: created, event: setting({ n: 1 }, { invocationId: 'i' }) });
      const handles = [created, await client.getSession(KEY), (await client.listSessions(KEY)).sessions[0]];
      await service.deleteSession(KEY);
      await service.createSession({ ...KEY, state: { n: 'anew' } });
      for (const session of handles) {
        for (const use of [
          () => client.appendEvent({ session, event: setting({ n: 'late' }) }),
          () => client.rewind(session, { before: 'i' }),
          () => client.redo(session),
          () => client.fork(session),
          () => client.lease(session),
          () => client.stateAt(session, 0),
          () => client.history(session, 'n'),
        ]) {
          await assert.rejects(use, hasCode('SESSION_NOT_FOUND'), String(use));
        }
      }
      assert.deepEqual(plain((await service.getSession(KEY)).state), { n: 'anew' });
      const name = { appName: 'app', userId: 'u', id: 's' };
      await client.appendEvent({ session: name, event: setting({ n: 'named' }) });
      assert.equal((await service.getSession(KEY)).revision, 1);
    });
  }

  it('of another client, or of a service, names its session', async () => {
    const service = new SessionService();
    const client = clientOf(service);
    const others = [await clientOf(service).createSession(KEY), await service.getSession(KEY), { ...KEY, id: 's' }];
    for (const session of others) await client.appendEvent({ session, event: setting({ n: 1 }) });
    assert.deepEqual(
      others.map(({ revision }) => revision),
      [0, 0, undefined],
    );
    assert.equal((await service.getSession(KEY)).revision, 3);
  });
});
