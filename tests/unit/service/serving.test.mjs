// Requests with an identity: whatever becomes of their attempts, they are carried out once.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { KEY, USER, connectionLost, hasCode, setting } from '../../support/fixtures.mjs';
import { contentOf, onceOf, prepared, requests, storages } from './serving-requests.mjs';

/** True for a change that a store refuses whatever its state, so that it remembers something. */
const isNote = ({ guard }) => guard?.keys?.app?.unset?.includes('') === true;

/**
 * A service over a store that `intercept` is asked before each commit of a request's own change: what it answers with
 * is the outcome.
 */
async function intercepted(store, intercept) {
  const wrapped = { ...store, commitMany: undefined, watch: undefined };
  wrapped.commit = async (change, context) =>
    isNote(change) ? store.commit(change, context) : intercept(change, () => store.commit(change, context));
  return await new SessionService({ store: wrapped, retry: { attempts: 1 } }).serving({});
}

/** An attempt whose change gets lost on its way, and that change; `arrive` lets it come to the store late. */
async function lostAttempt(store, run, once) {
  const late = [];
  const access = await intercepted(store, async (change, commit) => {
    late.push(commit);
    throw connectionLost();
  });
  await assert.rejects(run(access, once), hasCode('COMMIT_UNKNOWN'));
  assert.equal(late.length, 1);
  return { arrive: async () => void (await late[0]().catch(() => undefined)) };
}

for (const [place, storage] of Object.entries(storages)) {
  describe(`over ${place}`, () => {
    for (const [kind, { prepare, run, seen, code, block, unblock }] of Object.entries(requests)) {
      const begin = async () => {
        const storeOf = storage();
        const service = await prepared(storeOf());
        await prepare?.(service);
        return { service, storeOf, before: await contentOf(service), access: await service.serving({}) };
      };
      /** Another service over the same sessions. */
      const restarted = async (storeOf) => await new SessionService({ store: storeOf() }).serving({});

      test(`${kind} that is repeated by another service is answered as before, and says so`, async () => {
        const { service, storeOf, access } = await begin();
        const once = onceOf('r');
        const first = seen(await run(access, once));
        assert.deepEqual(once.repeated, []);
        const after = await contentOf(service);
        for (const again of [access, await restarted(storeOf)]) {
          assert.deepEqual(seen(await run(again, once)), first);
        }
        assert.equal(once.repeated.length, 2);
        assert.deepEqual(await contentOf(service), after);
      });

      test(`${kind} without an identity is carried out each time that it is possible`, async () => {
        const { service, access, before } = await begin();
        await run(access, undefined);
        const after = await contentOf(service);
        assert.notDeepEqual(after, before);
      });

      test(`${kind} under the key of another request is refused, and changes nothing`, async () => {
        const { service, storeOf, access } = await begin();
        await run(access, onceOf('r'));
        const after = await contentOf(service);
        for (const again of [access, await restarted(storeOf)]) {
          await assert.rejects(run(again, onceOf('r', 'another digest')), hasCode('KEY_REUSED'));
        }
        assert.deepEqual(await contentOf(service), after);
        await run(access, onceOf('r'));
      });

      test(`${kind} whose answer was lost is answered when it is asked again`, async () => {
        const { service, storeOf } = await begin();
        const access = await intercepted(storeOf(), async (change, commit) => {
          await commit();
          throw connectionLost();
        });
        const once = onceOf('r');
        await assert.rejects(run(access, once), hasCode('COMMIT_UNKNOWN'));
        const answer = seen(await run(await restarted(storeOf), once));
        const after = await contentOf(service);
        assert.deepEqual(seen(await run(await restarted(storeOf), once)), answer);
        assert.deepEqual(await contentOf(service), after);
      });

      test(`${kind} whose first attempt comes after its retry is carried out once`, async () => {
        const { service, storeOf, access } = await begin();
        const once = onceOf('r');
        const { arrive } = await lostAttempt(storeOf(), run, once);
        const answer = seen(await run(access, once));
        const after = await contentOf(service);
        await arrive();
        assert.deepEqual(await contentOf(service), after);
        assert.deepEqual(seen(await run(await restarted(storeOf), once)), answer);
      });

      if (block === undefined) continue;

      test(`${kind} that was refused is refused from then on, also when it would be possible`, async () => {
        const { service, storeOf, access } = await begin();
        const once = onceOf('r');
        await block(service);
        await assert.rejects(run(access, once), hasCode(code));
        await unblock(service);
        const after = await contentOf(service);
        for (const again of [access, await restarted(storeOf)]) {
          await assert.rejects(run(again, once), hasCode('STATE_CONFLICT'));
        }
        await assert.rejects(run(access, onceOf('r', 'another digest')), hasCode('KEY_REUSED'));
        assert.deepEqual(await contentOf(service), after);
      });

      test(`${kind} whose first attempt comes after its retry was refused is not carried out`, async () => {
        const { service, storeOf, access } = await begin();
        const once = onceOf('r');
        const { arrive } = await lostAttempt(storeOf(), run, once);
        await block(service);
        await assert.rejects(run(access, once), hasCode(code));
        await unblock(service);
        const after = await contentOf(service);
        await arrive();
        assert.deepEqual(await contentOf(service), after);
      });
    }
  });
}

describe('in memory', () => {
  for (const [kind, { prepare, run, seen, code, block, unblock }] of Object.entries(requests)) {
    const begin = async () => {
      const service = await prepared(undefined);
      await prepare?.(service);
      return { service, access: await service.serving({}) };
    };

    test(`${kind} that is repeated is answered as before, and says so`, async () => {
      const { service, access } = await begin();
      const once = onceOf('r');
      const first = seen(await run(access, once));
      const after = await contentOf(service);
      assert.deepEqual(seen(await run(access, once)), first);
      assert.deepEqual(seen(await run(await service.serving({}), once)), first);
      assert.deepEqual(once.repeated, [true, true]);
      assert.deepEqual(await contentOf(service), after);
      await assert.rejects(run(access, onceOf('r', 'another digest')), hasCode('KEY_REUSED'));
      await run(access, onceOf('another')).catch((error) => assert.ok(hasCode(code)(error), error));
    });

    test(`${kind} that is repeated while it is carried out has one answer`, async () => {
      const { access } = await begin();
      const once = onceOf('r');
      const [first, second] = await Promise.all([run(access, once), run(access, once)]);
      assert.deepEqual(seen(first), seen(second));
      assert.deepEqual(once.repeated, [true]);
    });

    if (block === undefined) continue;

    test(`${kind} that was refused is refused from then on, also when it would be possible`, async () => {
      const { service, access } = await begin();
      await block(service);
      await assert.rejects(run(access, onceOf('r')), hasCode(code));
      await unblock(service);
      const after = await contentOf(service);
      await assert.rejects(run(access, onceOf('r')), hasCode('STATE_CONFLICT'));
      await assert.rejects(run(access, onceOf('r', 'another digest')), hasCode('KEY_REUSED'));
      assert.deepEqual(await contentOf(service), after);
    });
  }

  test('an outcome is remembered for 24 hours by the clock of the service', async () => {
    let time = 1_000;
    const service = new SessionService({ now: () => time });
    const access = await service.serving({});
    const { id } = await access.create(USER, onceOf('r'));
    time += 24 * 3600 * 1000 - 1;
    assert.equal((await access.create(USER, onceOf('r'))).id, id);
    time += 1;
    await assert.rejects(access.create(USER, onceOf('r')), hasCode('SESSION_EXISTS'));
  });

  test('a repeated answer does not follow the handle of the first one', async () => {
    const service = new SessionService();
    const access = await service.serving({});
    const first = await access.create(KEY, onceOf('r'));
    await service.appendEvent({ session: first, event: setting({ n: 1 }) });
    const second = await access.create(KEY, onceOf('r'));
    assert.deepEqual([first.revision, second.revision], [1, 0]);
    await service.appendEvent({ session: second, event: setting({ m: 1 }) });
    assert.deepEqual(plain(second.state), { n: 1, m: 1 });
    assert.equal((await access.create(KEY, onceOf('r'))).revision, 0);
  });

  test('an attempt that was given up before it began is no refusal', async () => {
    const access = await new SessionService().serving({});
    const gone = AbortSignal.abort(new Error('gone'));
    await assert.rejects(access.create({ ...KEY, signal: gone }, onceOf('r')), /gone/);
    await access.create(KEY, onceOf('r'));
  });
});
