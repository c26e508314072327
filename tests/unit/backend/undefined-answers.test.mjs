// Whatever a store throws, also what it may not say, and when it cannot be read: a service is never ahead of it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError, isStatepadError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { plain } from '../../contract/read.mjs';
import { KEY, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';
import { open, retry, stored } from './faulty-store.mjs';

describe('whatever a store throws, handle and memory are never ahead of it', () => {
  const thrown = {
    'an error': new Error('x'),
    'a string': 'x',
    undefined,
    null: null,
    'a number': 1,
    'a frozen object': Object.freeze({}),
    'a conflict': new StoreError('conflict', 'x'),
    'a lie: exists': new StoreError('exists', 'x'),
    'a StoreError of no known code': new StoreError('odd', 'x'),
    'an object that looks like one': { code: 'conflict' },
    'an abort': new DOMException('x', 'AbortError'),
  };
  for (const [name, error] of Object.entries(thrown)) {
    for (const when of ['before', 'after']) {
      test(`${name}, ${when} the write`, async () => {
        const context = await open();
        const before = plain(context.session);
        const fail = { [when]: error ?? null };
        const plan = () => {
          context.plan.length = 0;
          context.plan.push(fail, fail, fail);
        };
        const attempts = [
          () =>
            context.service.appendEvent({
              session: context.session,
              event: setting({ x: 2, 'app:y': 2, 'user:z': 2, 'temp:t': 2 }, { id: 'e' }),
            }),
          () => context.service.updateState(KEY, () => ({ x: 3 }), { attempts: 1 }),
          () => context.service.updateState({ appName: 'app', userId: 'u' }, () => ({ 'user:z': 4 }), { attempts: 1 }),
          () => context.service.createSession({ ...KEY, sessionId: 't', state: { 'app:y': 5 } }),
        ];
        for (const attempt of attempts) {
          plan();
          const outcome = await attempt().then(
            () => 'resolved',
            (rejected) => rejected,
          );
          context.plan.length = 0;
          const now = await stored(context);
          if (outcome === 'resolved') {
            assert.equal(when, 'after', 'what is acknowledged is stored');
            continue;
          }
          assert.ok(isStatepadError(outcome), `${outcome}`);
          assert.ok(context.session.revision <= now.rev);
          if (when === 'before') {
            assert.equal(now.rev, 0);
            assert.deepEqual(plain(context.session), before);
          }
        }
        const read = await context.service.getSession(KEY);
        const now = await stored(context);
        assert.equal(read.revision, now.rev);
        assert.deepEqual(plain(read.state), {
          ...plain(now.state.session),
          'app:y': now.state.app.y,
          'user:z': now.state.user.z,
        });
      });
    }
  }
});

describe('a store that cannot be read', () => {
  test('is asked again, then STORE_UNAVAILABLE', async () => {
    const context = await open();
    const { load } = context.store;
    let fails = 2;
    context.store.load = async (...given) => {
      if (fails-- > 0) throw connectionLost();
      return await load(...given);
    };
    assert.equal((await context.service.getSession(KEY)).state.x, 1);
    fails = 3;
    await assert.rejects(context.service.getSession(KEY), hasCode('STORE_UNAVAILABLE'));
    assert.equal((await context.service.getSession(KEY)).state.x, 1);
  });

  test('has an event with a number that JavaScript cannot hold: STORE_CORRUPT, which tells it', async () => {
    const memory = memoryStore();
    await new SessionService({ store: memory }).createSession(KEY);
    const data = '{"id":"e","timestamp":1,"actions":{"stateDelta":{"order":{"id":9007199254740993}}}}';
    const read = async (integers) => {
      const load = async (...given) => {
        const loaded = await memory.load(...given);
        return { ...loaded, rev: 1, events: [{ rev: 1, id: 'e', data, ...(integers && { integers }) }] };
      };
      return await new SessionService({ store: { ...memory, load }, retry }).getSession(KEY);
    };
    await assert.rejects(read(), (error) => {
      const lost = 'the number 9007199254740993 at actions.stateDelta.order.id, which JavaScript cannot represent';
      return hasCode('STORE_CORRUPT')(error) && error.message.endsWith(`has ${lost}`);
    });
    const { events } = await read('bigint');
    assert.deepEqual(events[0].actions.stateDelta, { order: { id: 9007199254740993n } });
  });

  test('cannot be opened as it is: STORE_UNSUITABLE, and tried again at the next call', async () => {
    let isBad = true;
    let opened = 0;
    const store = {
      ...memoryStore(),
      open: async ({ migrate }) => {
        opened++;
        assert.equal(migrate, 'check');
        if (isBad) throw new StoreError('rejected', 'the schema is too new');
      },
    };
    const service = new SessionService({ store, migrate: 'check', retry });
    await assert.rejects(
      service.createSession(KEY),
      (error) => hasCode('STORE_UNSUITABLE')(error) && error.message.includes('the schema is too new'),
    );
    isBad = false;
    await service.createSession(KEY);
    await service.getSession(KEY);
    assert.equal(opened, 2);
  });

  test('what was stored is acknowledged, also when it cannot be read back at once', async () => {
    const context = await open();
    const theirs = new SessionService({ store: context.inner });
    await theirs.appendEvent({ session: await theirs.getSession(KEY), event: setting({ x: 7 }, { id: 'theirs' }) });
    const { load } = context.store;
    context.store.load = async () => {
      throw connectionLost();
    };
    const event = await context.service.appendEvent({
      session: context.session,
      event: setting({ y: 1 }, { id: 'e' }),
    });
    assert.equal(event.id, 'e');
    assert.equal(context.session.revision, 0, 'behind, not ahead');
    context.store.load = load;
    await context.service.appendEvent({ session: context.session, event: setting({ y: 2 }, { id: 'f' }) });
    assert.deepEqual(
      context.session.events.map(({ id }) => id),
      ['theirs', 'e', 'f'],
    );
  });
});
