// The operations of a client: updates, operators, lists, the past, rewinds, forks, leases and watches.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareAndSet, DELETED, increment, SessionService } from 'statepad';
import { applyChange, plainSession } from 'statepad/client';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { clientOf, countingClient, handlerOf } from '../../support/client.mjs';
import { COUNTERS, hasCode, KEY, setting } from '../../support/fixtures.mjs';
import { brief, settles, take } from '../../support/watching.mjs';

const TARGETS = { session: KEY, user: { appName: 'app', userId: 'u' }, app: { appName: 'app' } };
const soon = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 2));

const places = {
  'in memory': () => new SessionService(),
  'over a store': () => new SessionService({ store: memoryStore() }),
};

for (const [where, serviceOf] of Object.entries(places)) {
  /** A client of a service, and another one. */
  const open = async (state = {}) => {
    const service = serviceOf();
    const [client, other] = [clientOf(service), clientOf(service)];
    return { service, client, other, session: await client.createSession({ ...KEY, state }) };
  };

  describe(`updateState of a client, ${where}`, () => {
    for (const [target, name] of COUNTERS) {
      it(`ends at 60 after 60 increments of ${name} through the ${target} by two clients and the service`, async () => {
        const { service, client, other } = await open();
        const add = async (state) => {
          await soon();
          return { [name]: (state[name] ?? 0) + 1 };
        };
        const answers = await Promise.all(
          Array.from({ length: 60 }, (_, index) =>
            [client, other, service][index % 3].updateState(TARGETS[target], add, { attempts: 1000 }),
          ),
        );
        assert.deepEqual(new Set(answers.map((state) => state[name])).size, 60, 'each has its own value');
        assert.equal((await service.getSession(KEY)).state[name], 60);
      });
    }

    it('runs again when a key is there that its list of keys had not', async () => {
      const { service, client, other } = await open({ 'user:a': 1 });
      for (const [target, prefix] of [
        [KEY, ''],
        [KEY, 'app:'],
        [TARGETS.user, 'user:'],
        [TARGETS.app, 'app:'],
      ]) {
        const add = async (state) => {
          const count = Object.keys(state).length;
          await soon();
          return { [`${prefix}key${count}`]: 1, [`${prefix}count`]: count + 1 };
        };
        const before = Object.keys((await service.getSession(KEY)).state).length;
        await Promise.all(Array.from({ length: 10 }, (_, n) => [client, other][n % 2].updateState(target, add)));
        const { state } = await service.getSession(KEY);
        const added = Object.keys(state).filter((key) => key.startsWith(`${prefix}key`));
        assert.ok(added.length >= 10, `${target}: ${added.length} of 10 keys, ${before} before`);
      }
    });

    it('sends operators and deletions, and answers with the values after them', async () => {
      const { client, session } = await open({ n: 1, gone: 1, 'app:n': 5 });
      const state = await client.updateState(session, () => ({
        n: increment(2),
        gone: DELETED,
        'app:n': increment(),
        x: { __proto__: null, deep: [1] },
      }));
      assert.deepEqual(plain(state), { n: 3, x: { deep: [1] }, 'app:n': 6 });
      assert.ok(Object.isFrozen(state) && Object.isFrozen(state.x.deep));
      const misfit = client.updateState(session, () => ({ n: compareAndSet(1, 2) }));
      await assert.rejects(misfit, (error) => hasCode('STATE_CONFLICT')(error) && error.key === 'n');
      let runs = 0;
      const read = client.updateState(session, ({ n }) => ((runs += 1), { n: compareAndSet(n + 1, 0) }));
      await assert.rejects(read, (error) => hasCode('STATE_CONFLICT')(error) && error.key === 'n');
      assert.equal(runs, 1, 'another run would not help');
      assert.deepEqual(plain(await client.updateState(session, () => ({}))), plain(state));
      assert.equal((await client.getSession(KEY)).revision, 1);
    });

    it('refuses keys of other targets, temp: keys and answers that are no delta, and gives up in the end', async () => {
      const { service, client } = await open();
      for (const [target, delta] of [
        [TARGETS.user, { n: 1 }],
        [TARGETS.app, { 'user:n': 1 }],
        [KEY, { 'temp:n': 1 }],
        [KEY, []],
        [KEY, 5],
      ]) {
        await assert.rejects(
          client.updateState(target, () => delta),
          hasCode('INVALID_ARGUMENT'),
        );
      }
      let count = 0;
      const always = async (state) => {
        await service.updateState(KEY, () => ({ n: (count += 1) }));
        return { n: `${state.n} is old` };
      };
      await assert.rejects(client.updateState(KEY, always, { attempts: 3 }), hasCode('STATE_CONFLICT'));
      assert.equal(count, 3);
      const missing = client.updateState({ ...KEY, sessionId: 'none' }, () => ({ n: 1 }));
      await assert.rejects(missing, hasCode('SESSION_NOT_FOUND'));
    });
  });

  describe(`lists of a client, ${where}`, () => {
    it('have more than a page of the server has', async () => {
      const { service, client } = await open();
      for (let n = 0; n < 1_204; n++) await service.createSession({ appName: 'many', userId: `u${n % 3}` });
      const all = await client.listSessions({ appName: 'many' });
      assert.deepEqual(
        [all.sessions.length, all.limit, all.totalItems, all.totalPages, all.page],
        [...[1_204, 1_204, 1_204, 1, 1]],
      );
      const first = await client.listSessions({ appName: 'many', limit: 1_100, order: 'desc' });
      assert.deepEqual([first.sessions.length, first.totalPages], [1_100, 2]);
      const rest = await client.listSessions({ appName: 'many', limit: 1_100, order: 'desc', cursor: first.cursor });
      assert.deepEqual([rest.sessions.length, rest.page, rest.cursor], [104, 2, undefined]);
      const seen = new Set([...first.sessions, ...rest.sessions].map(({ id }) => id));
      assert.equal(seen.size, 1_204);
      const second = await client.listSessions({ appName: 'many', userId: 'u1', limit: 100, page: 5 });
      assert.deepEqual([second.sessions.length, second.page, second.totalPages], [1, 5, 5]);
      assert.deepEqual((await client.listSessions({ appName: 'many', limit: 0 })).totalItems, 1_204);
      assert.deepEqual(await client.listUsers({ appName: 'many' }), { users: ['u0', 'u1', 'u2'] });
      assert.deepEqual((await client.listApps({ limit: 1 })).apps, ['app']);
      const { cursor } = await client.listApps({ limit: 1 });
      assert.deepEqual(await client.listApps({ cursor }), { apps: ['many'] });
      await assert.rejects(client.listApps({ limit: 0 }), hasCode('INVALID_ARGUMENT'));
    });
  });

  describe(`the past through a client, ${where}`, () => {
    it('is that of the service', async () => {
      const { service, client, session } = await open({ n: 0, 'user:n': 0 });
      for (const n of [1, 2]) await client.appendEvent({ session, event: setting({ n, 'user:n': n }) });
      const own = await service.getSession(KEY);
      assert.deepEqual(await client.stateAt(session, 1), await service.stateAt(own, 1));
      assert.deepEqual(
        await client.stateAt(session, 0, { detailed: true }),
        await service.stateAt(own, 0, { detailed: true }),
      );
      for (const options of [{}, { detailed: true }, { until: 1 }, { last: 1 }]) {
        assert.deepEqual(
          await client.history(session, 'user:n', options),
          await service.history(own, 'user:n', options),
        );
      }
      const shared = { appName: 'app', userId: 'u', key: 'user:n' };
      assert.deepEqual(await client.history(shared), await service.history(shared));
      assert.deepEqual(await client.history(shared, { last: 1 }), await service.history(shared, { last: 1 }));
      await service.appendEvent({ session: own, event: setting({ n: 3 }) });
      assert.equal((await client.history(session, 'n')).length, 3, 'up to the revision of the handle');
      await assert.rejects(client.stateAt(session, 3), { code: 'INVALID_ARGUMENT', path: 'revision' });
      assert.equal(await client.trimHistory({ appName: 'app', userId: 'u' }, { upTo: 2 }), 2);
      assert.equal((await client.history(shared)).exact, false);
    });

    it('is gone back to, continued and forked', async () => {
      const { service, client, session } = await open({ n: 0 });
      for (const n of [1, 2, 3]) {
        await client.appendEvent({ session, event: setting({ n, 'app:n': n }, { invocationId: `i${n}` }) });
      }
      const { event, shared } = await client.rewind(session, { before: 'i2' });
      assert.equal(session.events.at(-1), event);
      assert.deepEqual([session.state.n, session.state['app:n'], shared], [1, 3, ['app:n']]);
      const { revision } = await client.redo(session);
      assert.deepEqual([revision, session.revision, session.state.n], [5, 5, 3]);
      await assert.rejects(client.rewind(session, { before: 'none' }), { code: 'INVALID_ARGUMENT', path: 'before' });
      const fork = await client.fork(session, { at: 1, sessionId: 'fork' });
      assert.deepEqual([fork.id, fork.revision, fork.state.n], ['fork', 2, 1]);
      await client.appendEvent({ session: fork, event: setting({ n: 'forked' }) });
      assert.equal((await service.getSession({ ...KEY, sessionId: 'fork' })).state.n, 'forked');
      await assert.rejects(client.fork(session, { sessionId: 'fork' }), hasCode('SESSION_EXISTS'));
    });
  });

  describe(`a lease of a client, ${where}`, () => {
    it('is held by one, and every write through the handle of a lost one is refused', async () => {
      const { service, client, other, session } = await open();
      const lease = await client.lease(session, { ttl: 40 });
      assert.equal(lease.session, session);
      await client.appendEvent({ session, event: setting({ n: 1 }, { invocationId: 'i' }) });
      await assert.rejects(other.lease(session), (error) => hasCode('LEASE_HELD')(error) && error.until > 0);
      await lease.renew(60);
      const theirs = await other.withLease(session, async ({ token }) => token, { wait: 5_000 });
      assert.ok(theirs > lease.token);
      for (const write of [
        () => client.appendEvent({ session, event: setting({ n: 2 }) }),
        () => client.updateState(session, () => ({ n: 2 })),
        () => client.rewind(session, { before: 'i' }),
        () => client.deleteSession(session),
        () => lease.renew(),
        () => client.lease(session),
      ]) {
        await assert.rejects(write, hasCode('LEASE_LOST'), String(write));
      }
      assert.equal(lease.signal.aborted, true);
      assert.equal((await service.getSession(KEY)).revision, 1);
      const again = await client.getSession(KEY);
      await client.withLease(again, async ({ session: leased }) => {
        await client.appendEvent({ session: leased, event: setting({ n: 3 }) });
      });
      await client.appendEvent({ session: again, event: setting({ n: 4 }) });
    });

    it('is renewed while its function runs, released after that, and shared with a service', async () => {
      const { service, client, session } = await open();
      await client.withLease(
        session,
        async ({ session: leased, signal }) => {
          await new Promise((resolve) => setTimeout(resolve, 150));
          await assert.rejects(service.lease(await service.getSession(KEY)), hasCode('LEASE_HELD'));
          await client.appendEvent({ session: leased, event: setting({ n: 1 }) });
          assert.equal(signal.aborted, false);
        },
        { ttl: 60 },
      );
      const lease = await service.lease(await service.getSession(KEY));
      await assert.rejects(client.lease(session), hasCode('LEASE_HELD'));
      await lease.release();
      const mine = await client.lease({ ...KEY, id: KEY.sessionId });
      assert.equal(mine.session.state.n, 1);
      await mine[Symbol.asyncDispose]();
    });
  });

  describe(`a watch of a client, ${where}`, () => {
    it('follows what this client, others and the service write', async () => {
      const { service, client, other, session } = await open({ n: 0 });
      const handle = await other.getSession(KEY);
      await client.appendEvent({ session, event: setting({ n: 1 }) });
      const [events, whole, app, fromHandle] = [
        client.watch(KEY, { since: 0 }),
        client.watch({ ...session, whole: true }),
        client.watch({ appName: 'app' }, { initial: true }),
        other.watch(handle),
      ];
      let shown = applyChange(undefined, (await whole.next()).value);
      assert.deepEqual((await app.next()).value, { type: 'values', position: 0, from: 0, delta: {} });
      await other.appendEvent({ session: handle, event: setting({ n: 2, 'app:n': 2 }) });
      await service.updateState({ appName: 'app' }, () => ({ 'app:n': DELETED }));
      assert.deepEqual(brief(await take(events, 2)), [1, 2]);
      assert.deepEqual(brief(await take(fromHandle, 2)), [1, 2]);
      assert.deepEqual(
        (await take(app, 2)).map(({ delta }) => delta),
        [{ 'app:n': 2 }, { 'app:n': DELETED }],
      );
      while (shown.revision < 2 || 'app:n' in shown.state) shown = applyChange(shown, (await whole.next()).value);
      assert.deepEqual(shown, plainSession(await client.getSession(KEY)));
      const next = events.next();
      assert.equal(await settles(next, 20), false);
      await client.deleteSession(KEY);
      assert.deepEqual((await next).value, { type: 'deleted' });
      await Promise.all([client.close(), other.close()]);
    });
  });
}

describe('a server that restricts its client', () => {
  it('has it update what it may, and count what it sees', async () => {
    const service = new SessionService();
    await service.createSession({ ...KEY, state: { n: 0, 'app:hidden': 1 } });
    const principal = { id: 'u', apps: ['app'], users: ['u'], reads: ['session', 'user'] };
    const { client } = countingClient(handlerOf(service, { authorize: () => principal }));
    const count = (state) => ({ n: Object.keys(state).length, 'user:seen': Object.keys(state).join() });
    const state = await client.updateState(KEY, count);
    assert.deepEqual(plain(state), { n: 1, 'user:seen': 'n' });
    await client.updateState(TARGETS.user, ({ 'user:seen': seen }) => ({ 'user:seen': `${seen}!` }));
    assert.equal((await service.getUserState(KEY)).seen, 'n!');
    await assert.rejects(
      client.updateState(KEY, () => ({ 'app:n': 1 })),
      hasCode('FORBIDDEN'),
    );
    await assert.rejects(client.getSession({ ...KEY, userId: 'other' }), hasCode('FORBIDDEN'));
    await assert.rejects(client.watch({ appName: 'app' }).next(), hasCode('FORBIDDEN'));
  });
});
