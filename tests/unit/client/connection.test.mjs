// One client: all that it watches goes through one connection, and nothing is missing, whatever comes and goes.

import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { describe, it } from 'node:test';
import { DELETED } from 'statepad';
import { applyChange } from 'statepad/client';
import { memoryStore } from 'statepad/stores/memory';
import { hasCode, setting } from '../../support/fixtures.mjs';
import { countingClient, handlerOf } from '../../support/client.mjs';
import { closedAfterEach } from '../../support/services.mjs';
import { settles } from '../../support/watching.mjs';

const serviceOf = closedAfterEach();

const keyOf = (n) => ({ appName: 'app', userId: `u${n % 3}`, sessionId: `s${n}` });
const wholeOf = (n) => ({ ...keyOf(n), whole: true });
const plain = ({ ...members }) => members;
const until = async (isTrue) => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
};

/** Follows whole sessions until `end` is aborted: what is shown of each by now, and how many changes came. */
function following(client, targets, signal) {
  const shown = targets.map(() => undefined);
  const told = targets.map(() => []);
  const done = targets.map(async (target, index) => {
    for await (const change of client.watch(target, { signal })) {
      told[index].push(change);
      shown[index] = applyChange(shown[index], change);
    }
  });
  return { shown, told, done: Promise.all(done.map((each) => each.catch((error) => error))) };
}

for (const [where, storeOf] of [
  ['in memory', () => ({})],
  ['over a store that others write to', () => ({ store: memoryStore() })],
]) {
  describe(`one connection, ${where}`, () => {
    it('tells twenty whole sessions, each to two readers', async () => {
      const options = storeOf();
      const service = serviceOf(options);
      const writer = options.store === undefined ? service : serviceOf(options);
      const keys = Array.from({ length: 20 }, (_, n) => n);
      const sessions = [];
      for (const n of keys) sessions.push(await writer.createSession({ ...keyOf(n), state: { n, 'app:last': 0 } }));
      const { client, counts, requests } = countingClient(handlerOf(service));
      const end = new AbortController();
      setMaxListeners(0, end.signal);
      const targets = [...keys, ...keys].map(wholeOf);
      const { shown, told, done } = following(client, targets, end.signal);
      await until(() => shown.every(Boolean));
      assert.deepEqual([counts.connections, counts.open], [1, 1]);
      for (const session of sessions) {
        await writer.appendEvent({ session, event: setting({ seen: true, 'user:seen': session.id }) });
      }
      await writer.updateState({ appName: 'app' }, () => ({ 'app:last': 1 }));
      await until(() => shown.every(({ state }) => state['app:last'] === 1 && state.seen));
      for (const [index, target] of targets.entries()) {
        await until(() => shown[index].state['user:seen'] === `s${[18, 19, 17][(index % 20) % 3]}`);
        assert.deepEqual(shown[index], plain(await service.getSession(target)));
        assert.equal(told[index].filter(({ type }) => type === 'session').length, 1);
      }
      assert.equal(counts.most, 1);
      assert.ok(requests.every(({ address }) => address.length < 2100));
      assert.ok(
        requests.some(({ method }) => method === 'POST'),
        'so many do not fit into an address',
      );
      // A later watcher needs no other connection.
      const before = counts.connections;
      const late = client.watch(wholeOf(3))[Symbol.asyncIterator]();
      const [{ value }] = [await late.next()];
      assert.deepEqual([value.type, value.session], ['session', plain(await service.getSession(keyOf(3)))]);
      assert.equal(counts.connections, before);
      end.abort(new Error('enough'));
      await late.return();
      assert.ok((await done).every(({ message }) => message === 'enough'));
      await until(() => counts.open === 0);
    });

    it('tells everything once, however often it is cut, and whoever comes and goes', async () => {
      const options = storeOf();
      const service = serviceOf(options);
      const writer = options.store === undefined ? service : serviceOf(options);
      const sessions = [];
      for (let n = 0; n < 4; n++)
        sessions.push(await writer.createSession({ ...keyOf(n), state: { n: 0, 'app:n': 0 } }));
      let cuts = 0;
      const cutAfter = () => (cuts++ < 60 ? 1 + Math.floor(Math.random() * 3000) : Infinity);
      const { client } = countingClient(handlerOf(service), { cutAfter });
      const end = new AbortController();
      const { shown, told, done } = following(client, [0, 1, 2, 3].map(wholeOf), end.signal);
      const events = [];
      const plainly = (async () => {
        for await (const change of client.watch(keyOf(0), { since: 0, signal: end.signal }))
          events.push(change.revision);
      })().catch(() => undefined);
      for (let step = 1; step <= 100; step++) {
        const session = sessions[step % 4];
        await writer.appendEvent({
          session,
          event: setting({ n: step, 'app:n': step, 'user:n': step % 3 ? step : DELETED }),
        });
        if (step % 10 === 0) {
          const passing = client.watch(step % 20 ? keyOf(1) : wholeOf(2))[Symbol.asyncIterator]();
          const next = passing.next();
          await settles(next, 5);
          await passing.return();
        }
      }
      await writer.updateState({ appName: 'app' }, () => ({ 'app:n': 'end' }));
      for (const [index, session] of sessions.entries()) {
        await writer.appendEvent({ session, event: setting({ end: true }) });
        await until(() => shown[index]?.state.end && shown[index].state['app:n'] === 'end');
        assert.deepEqual(shown[index].events, (await service.getSession(keyOf(index))).events);
        const revisions = told[index].filter(({ type }) => type === 'event').map(({ revision }) => revision);
        const [begun] = told[index];
        assert.deepEqual(
          revisions,
          Array.from({ length: 26 - begun.session.revision }, (_, at) => begun.session.revision + 1 + at),
        );
      }
      for (const [index, state] of shown.entries()) {
        const now = plain(await service.getSession(keyOf(index)));
        await until(() => shown[index].state['user:n'] === now.state['user:n']);
        assert.deepEqual({ ...state, state: shown[index].state }, now);
      }
      await until(() => events.length === 26);
      assert.deepEqual(
        events,
        Array.from({ length: 26 }, (_, at) => at + 1),
      );
      end.abort(new Error('enough'));
      await Promise.all([done, plainly]);
    });
  });
}

describe('a client', () => {
  it('tells one target that it is refused, and the others their changes', async () => {
    const service = serviceOf();
    const session = await service.createSession(keyOf(0));
    await service.createSession(keyOf(1));
    const authorize = () => ({ apps: ['app'], users: ['u0', 'u2'] });
    const { client, counts } = countingClient(handlerOf(service, { authorize }));
    const well = client.watch(keyOf(0))[Symbol.asyncIterator]();
    const next = well.next();
    const refused = [wholeOf(1), keyOf(1), wholeOf(4)].map((target) => client.watch(target).next());
    const missing = client.watch(wholeOf(2)).next();
    for (const each of refused) await assert.rejects(each, hasCode('FORBIDDEN'), 'there or not');
    await assert.rejects(missing, hasCode('SESSION_NOT_FOUND'));
    await until(() => counts.open === 1);
    await service.appendEvent({ session, event: setting({ n: 1 }) });
    assert.equal((await next).value.revision, 1);
    await service.deleteSession(keyOf(0));
    assert.deepEqual((await well.next()).value, { type: 'deleted' });
    assert.equal((await well.next()).done, true);
  });

  it('holds no more for a reader that does not read than it has room for, and loses nothing', async () => {
    const service = serviceOf();
    const session = await service.createSession(keyOf(0));
    const { client, counts } = countingClient(handlerOf(service));
    const slow = client.watch(keyOf(0), { since: 0 })[Symbol.asyncIterator]();
    const whole = client.watch(wholeOf(0))[Symbol.asyncIterator]();
    const first = slow.next();
    await whole.next();
    const COUNT = 2500;
    const quick = (async () => {
      for await (const { revision } of client.watch(keyOf(0), { since: 0 })) if (revision === COUNT) break;
    })();
    for (let n = 1; n <= COUNT; n++) await service.appendEvent({ session, event: setting({ n }) });
    await Promise.all([first, quick]);
    const before = counts.connections;
    for (let revision = 2; revision <= COUNT; revision++) {
      assert.equal((await slow.next()).value.revision, revision);
    }
    assert.ok(counts.connections > before, 'it had to connect again');
    let shown;
    let changes = 0;
    while (shown?.revision !== COUNT) {
      shown = applyChange(shown, (await whole.next()).value);
      changes += 1;
    }
    assert.ok(changes < 1500, `${changes} changes: the session stands for what did not fit`);
    assert.deepEqual(shown, plain(await service.getSession(keyOf(0))));
    await Promise.all([slow.return(), whole.return()]);
  });

  it('asks for nothing that needs a preflight', async () => {
    const service = serviceOf();
    const { client, requests } = countingClient(handlerOf(service));
    await service.createSession(keyOf(0));
    const users = Array.from({ length: 100 }, (_, n) => ({ appName: 'app', userId: `user ${n}` }));
    for (const targets of [users.slice(0, 1), users]) {
      const readers = targets.map((target) => client.watch(target, { since: 0, initial: undefined }));
      const asked = readers.map((each) => each.next());
      const count = requests.length;
      await until(() => requests.length > count);
      await Promise.all(readers.map((each) => each.return()));
      await Promise.all(asked);
    }
    await client.getSession(keyOf(0));
    assert.deepEqual(new Set(requests.map(({ method }) => method)), new Set(['GET', 'POST']));
    for (const { headers } of requests) {
      const { accept, 'content-type': type, ...others } = headers;
      assert.deepEqual(others, {});
      assert.ok(['text/event-stream', 'application/json'].includes(accept));
      assert.ok([undefined, 'text/plain;charset=UTF-8'].includes(type));
    }
  });

  it('is told of events with long ids, and goes on behind them', async () => {
    const service = serviceOf();
    const session = await service.createSession(keyOf(0));
    let cuts = 0;
    const { client, requests } = countingClient(handlerOf(service), {
      cutAfter: () => (cuts++ < 2 ? 30_000 : Infinity),
    });
    const changes = client.watch(keyOf(0), { since: 0 });
    for (let n = 1; n <= 4; n++) {
      await service.appendEvent({ session, event: { ...setting({ n }), id: `${n}`.repeat(20_000) } });
      assert.equal((await changes.next()).value.revision, n);
    }
    assert.ok(requests.length > 2 && requests.every(({ address }) => address.length < 300));
    await changes.return();
  });
});
