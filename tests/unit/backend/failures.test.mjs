// A service whose store fails: row by row of the errors of a store.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';
import { open, stored } from './faulty-store.mjs';

const unavailable = () => new StoreError('unavailable', 'too many connections');

for (const many of [true, false]) {
  describe(many ? 'a store that takes many changes at once' : 'a store that takes one change at a time', () => {
    const opened = (options) => open(options, many);

    test('unavailable: it is tried again, and written once', async () => {
      const context = await opened();
      context.plan.push({ before: unavailable() }, { before: unavailable() });
      await context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) });
      assert.deepEqual(context.seen, ['e', 'e', 'e']);
      assert.equal(context.session.state.x, 2);
      assert.equal((await stored(context)).events.length, 1);
    });

    test('unavailable for too long: STORE_UNAVAILABLE, nothing has changed, and the next append goes on', async () => {
      const context = await opened();
      const before = plain(context.session);
      context.plan.push(...Array.from({ length: 3 }, () => ({ before: unavailable() })));
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2, 'temp:t': 1 }, { id: 'e' }) }),
        (error) => {
          assert.ok(hasCode('STORE_UNAVAILABLE')(error));
          assert.equal(error.cause.code, 'unavailable');
          return true;
        },
      );
      assert.deepEqual(plain(context.session), before);
      assert.equal((await stored(context)).events.length, 0);
      await context.service.appendEvent({ session: context.session, event: setting({ x: 3 }) });
      assert.equal(context.session.revision, 1);
    });

    test('forbidden: FORBIDDEN at once, nothing has changed', async () => {
      const context = await opened();
      const before = plain(context.session);
      context.plan.push({ before: new StoreError('forbidden', 'no right to write') });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        (error) => hasCode('FORBIDDEN')(error) && error.message === 'no right to write',
      );
      assert.deepEqual(context.seen, ['e']);
      assert.deepEqual(plain(context.session), before);
    });

    for (const [name, fault] of [
      ['an error that says nothing', { after: connectionLost() }],
      ['no answer in time', { hang: true }],
      ['something that is no error', { after: 'oops' }],
      ['undefined', { after: null }],
    ]) {
      test(`written, then ${name}: the same id is sent again, stored once, acknowledged`, async () => {
        const context = await opened();
        context.plan.push(fault);
        const event = await context.service.appendEvent({
          session: context.session,
          event: setting({ x: 2, 'app:y': 2, 'temp:t': 1 }, { id: 'e' }),
        });
        assert.equal(event.id, 'e');
        assert.deepEqual(context.seen, ['e', 'e']);
        assert.deepEqual(plain(context.session.state), { x: 2, 'app:y': 2, 'user:z': 1, 'temp:t': 1 });
        assert.deepEqual(
          context.session.events.map(({ id }) => id),
          ['e'],
        );
        const { events, pos } = await stored(context);
        assert.deepEqual([events.length, pos], [1, { app: 2, user: 1 }]);
      });

      test(`creation: written, then ${name}: one session`, async () => {
        const context = await opened();
        context.plan.push(fault);
        const session = await context.service.createSession({ ...KEY, sessionId: 't', state: { 'app:y': 5, n: 1 } });
        assert.deepEqual(plain(session.state), { n: 1, 'app:y': 5, 'user:z': 1 });
        assert.equal((await stored(context, { ...KEY, sessionId: 't' })).pos.app, 2);
        assert.equal((await context.service.listSessions(KEY)).totalItems, 2);
      });

      test(`update: written, then ${name}: made once`, async () => {
        const context = await opened();
        context.plan.push(fault);
        const add = (state) => ({ 'app:n': (state['app:n'] ?? 0) + 1 });
        assert.equal((await context.service.updateState({ appName: 'app' }, add))['app:n'], 1);
        assert.equal((await context.service.getAppState(KEY)).n, 1);
        context.plan.push(fault);
        assert.equal((await context.service.updateState(KEY, add))['app:n'], 2);
        assert.equal((await stored(context)).events.length, 1);
      });
    }

    test('it stays unknown: COMMIT_UNKNOWN, nothing has changed here, and what was written shows at the next use', async () => {
      const context = await opened();
      const before = plain(context.session);
      context.plan.push({ after: connectionLost() }, { before: connectionLost() }, { before: unavailable() });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        (error) => {
          assert.ok(hasCode('COMMIT_UNKNOWN')(error));
          assert.equal(error.id, 'e');
          return true;
        },
      );
      assert.deepEqual(plain(context.session), before, 'the handle is not ahead');
      await context.service.appendEvent({ session: context.session, event: setting({ y: 3 }, { id: 'f' }) });
      assert.deepEqual(
        context.session.events.map(({ id }) => id),
        ['e', 'f'],
      );
      assert.equal(context.session.state.x, 2);
    });

    test('it stays unknown, and was not written: nothing shows', async () => {
      const context = await opened();
      context.plan.push(...Array.from({ length: 3 }, () => ({ before: connectionLost() })));
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        hasCode('COMMIT_UNKNOWN'),
      );
      assert.equal((await context.service.getSession(KEY)).revision, 0);
      const again = await context.service.appendEvent({
        session: context.session,
        event: setting({ x: 2 }, { id: 'e' }),
      });
      assert.equal(again.id, 'e');
    });

    test('rejected: told at once, and what waits behind it goes on', async () => {
      const context = await opened();
      context.plan.push({ before: new StoreError('rejected', 'too big', { size: 9, limit: 5 }) });
      const bad = context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'bad' }) });
      const good = context.service.appendEvent({ session: context.session, event: setting({ y: 2 }, { id: 'good' }) });
      await assert.rejects(bad, (error) => hasCode('LIMIT_EXCEEDED')(error) && error.size === 9 && error.limit === 5);
      await good;
      assert.deepEqual(context.seen, ['bad', 'good']);
      assert.deepEqual(plain(context.session.state), { x: 1, y: 2, 'app:y': 1, 'user:z': 1 });
      context.plan.push({ before: new StoreError('rejected', 'odd') });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('INVALID_ARGUMENT'),
      );
    });

    test('corrupt: STORE_CORRUPT for that session, never overwritten, while the others go on', async () => {
      const context = await opened();
      const other = await context.service.createSession({ ...KEY, sessionId: 't' });
      const { load, commit } = context.store;
      const isBad = ({ sessionId }) => sessionId === 's';
      const corrupt = () => new StoreError('corrupt', 'the session "s" cannot be read');
      context.store.load = async (of, ...more) => {
        if (isBad(of)) throw corrupt();
        return await load(of, ...more);
      };
      await assert.rejects(context.service.getSession(KEY), hasCode('STORE_CORRUPT'));
      context.plan.push({ before: corrupt() });
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('STORE_CORRUPT'),
      );
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 3 }) }),
        hasCode('STORE_CORRUPT'),
      );
      await context.service.appendEvent({ session: other, event: setting({ 'user:z': 4 }) });
      assert.equal(other.state['user:z'], 4);
      assert.equal((await stored(context)).rev, 0);
      assert.equal(typeof commit, 'function');
    });

    test('not-found: somebody else has deleted the session', async () => {
      const context = await opened();
      await context.inner.remove(KEY, {});
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('SESSION_NOT_FOUND'),
      );
      assert.equal(await context.service.getSession(KEY), undefined);
      await context.service.createSession(KEY);
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }) }),
        hasCode('SESSION_NOT_FOUND'),
      );
      assert.equal((await context.service.getSession(KEY)).revision, 0, 'nothing comes back to life');
    });

    test('exists: somebody else has created the session', async () => {
      const context = await opened();
      const theirs = new SessionService({ store: context.inner });
      await theirs.createSession({ ...KEY, sessionId: 't', state: { n: 1 } });
      await assert.rejects(
        context.service.createSession({ ...KEY, sessionId: 't', state: { n: 2, 'app:y': 9 } }),
        hasCode('SESSION_EXISTS'),
      );
      assert.equal((await context.service.getOrCreateSession({ ...KEY, sessionId: 't' })).state.n, 1);
      assert.equal((await context.service.getAppState(KEY)).y, 1);
    });

    test('conflict: the update function runs again over what is there', async () => {
      const context = await opened();
      const theirs = new SessionService({ store: context.inner });
      const seen = [];
      const result = await context.service.updateState(KEY, async (state) => {
        seen.push(state.x);
        if (seen.length === 1) {
          await theirs.appendEvent({ session: await theirs.getSession(KEY), event: setting({ x: 10 }) });
        }
        return { x: state.x + 1 };
      });
      assert.deepEqual([seen, result.x], [[1, 10], 11]);
    });

    test('a store that answers with nonsense is a store that says nothing', async () => {
      const context = await opened();
      const { commit, commitMany } = context.store;
      let isOdd = true;
      const odd = (answer) => (isOdd ? undefined : answer);
      context.store.commit = async (...given) => odd(await commit(...given));
      if (commitMany) context.store.commitMany = async (...given) => odd(await commitMany(...given)) ?? [];
      await assert.rejects(
        context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) }),
        hasCode('COMMIT_UNKNOWN'),
      );
      isOdd = false;
      await context.service.appendEvent({ session: context.session, event: setting({ x: 2 }, { id: 'e' }) });
      assert.equal(context.session.revision, 1);
    });
  });
}

describe('a store that asks again by itself', () => {
  const silent = () => new Promise(() => undefined);
  const retry = { attempts: 3, pause: 1 };

  /** A service over a store whose loads go wrong as told, and how often it was asked. */
  function reading(load, asksAgain) {
    let asked = 0;
    const store = { ...memoryStore(), asksAgain, load: async (...given) => await load(...given, (asked += 1)) };
    return { service: new SessionService({ store, timeout: 100, retry }), asked: () => asked };
  }

  test('is waited for once when it says nothing; another one at each try', async () => {
    for (const [asksAgain, times] of [
      [true, 1],
      [undefined, 3],
    ]) {
      const { service, asked } = reading(silent, asksAgain);
      await assert.rejects(service.getSession(KEY), hasCode('STORE_UNAVAILABLE'));
      assert.equal(asked(), times);
    }
  });

  test('is asked again while there is time', async () => {
    let asked = 0;
    const load = async () => {
      asked += 1;
      throw new StoreError('unavailable', 'not now');
    };
    const store = { ...memoryStore(), asksAgain: true, load };
    const service = new SessionService({ store, timeout: 60_000, retry });
    await assert.rejects(service.getSession(KEY), hasCode('STORE_UNAVAILABLE'));
    assert.equal(asked, 3);
  });

  test('is waited for as long as it says that it was answered', async () => {
    // All of it takes twice as long as the store may be silent.
    const { service } = reading(async (key, query, { answered }) => {
      for (let part = 0; part < 20; part++) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        answered();
      }
      return null;
    }, true);
    assert.equal(await service.getSession(KEY), undefined);
  });

  test('has written or not when it says nothing to a change: COMMIT_UNKNOWN, after one try', async () => {
    const memory = memoryStore();
    let sent = 0;
    const commit = async (change, context) => {
      sent += 1;
      return change.kind === 'create' ? await memory.commit(change, context) : await silent();
    };
    const store = { ...memory, commitMany: undefined, asksAgain: true, commit };
    const service = new SessionService({ store, timeout: 20, retry });
    const session = await service.createSession(KEY);
    await assert.rejects(service.appendEvent({ session, event: {} }), hasCode('COMMIT_UNKNOWN'));
    assert.equal(sent, 2);
  });
});
