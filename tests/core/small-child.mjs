// A module whose memory is full: `node small-child.mjs SCENARIO`. Fails by an exception.

import assert from 'node:assert/strict';
import { end, size } from './small-module.mjs';

const { SessionService, Template, isStatepadError } = await import('statepad');

const MB = 1 << 20;
const text = 'x'.repeat(MB);
const full = (error) => isStatepadError(error) && error.code === 'CORE_FAILED' && error.reason === 'memory';
const key = (id, userId = 'u') => ({ appName: 'app', userId, sessionId: String(id) });

/** Does a thing again and again until there is no memory for it. Answers with how often it was done. */
async function until(most, once) {
  for (let count = 0; count < most; count++) {
    try {
      await once(count);
    } catch (error) {
      assert.ok(full(error), `${count}: ${error.stack}`);
      return count;
    }
  }
  assert.fail(`${most} times fit into ${size()} bytes`);
}

const total = async (service) => (await service.listSessions({ appName: 'app', limit: 1 })).totalItems;

async function removeAll(service, count, left = 0) {
  for (let id = 0; id < count; id++) await service.deleteSession(key(id));
  assert.equal(await total(service), left);
}

const scenarios = {
  async state() {
    const service = new SessionService();
    await service.createSession({ ...key('small', 'v'), state: { n: 3 } });
    for (let round = 0; round < 3; round++) {
      const count = await until(200, (id) => service.createSession({ ...key(id), state: { n: id, [text + id]: 1 } }));
      assert.ok(count > 20, `only ${count} MB fit`);
      assert.equal(await total(service), count + 1, 'a session that was refused is not there');
      await assert.rejects(service.createSession({ ...key(count), state: { [`user:${text}`]: 1, 'app:y': 1 } }), full);
      assert.deepEqual({ ...(await service.getAppState({ appName: 'app' })) }, {});
      assert.equal((await service.getSession(key('small', 'v'))).state.n, 3);
      await removeAll(service, count, 1);
    }
  },

  async small() {
    const service = new SessionService();
    const user = 'u'.repeat(200);
    const created = await until(1e6, (id) => service.createSession({ ...key(id, `${user}${id}`), state: { n: id } }));
    // To list what was never listed needs memory, too.
    const count = Math.floor(created * 0.9);
    for (let id = count; id < created; id++) await service.deleteSession(key(id, `${user}${id}`));
    assert.equal(await total(service), count);
    for (const id of [0, 1, count - 1]) {
      assert.equal((await service.getSession(key(id, `${user}${id}`))).state.n, id);
    }
    for (let id = 0; id < count; id++) await service.deleteSession(key(id, `${user}${id}`));
    await service.createSession({ ...key('again'), state: { [text]: 1 } });
  },

  async events() {
    const service = new SessionService();
    const session = await service.createSession(key('s'));
    await service.createSession({ ...key('other'), state: { [text.repeat(8)]: 1 } });
    const append = (n) =>
      service.appendEvent({
        session,
        event: { author: 'a', actions: { stateDelta: { n, [text + n]: n, 'user:n': n, 'app:n': n } } },
      });
    const count = await until(200, append);
    assert.ok(count > 10);
    assert.equal(session.revision, count);
    const read = await service.getSession(key('s'));
    assert.deepEqual([read.events.length, read.revision], [count, count]);
    assert.equal((await service.getUserState({ appName: 'app', userId: 'u' })).n, count - 1);
    await assert.rejects(append(count), full);
    await service.deleteSession(key('other'));
    await append(count);
    assert.equal(session.revision, count + 1);
    await until(200, (n) => append(1000 + n));
    assert.equal((await service.history(session, `${text}1`)).length, 1, 'the past shares its keys with the present');
    await service.deleteSession(key('s'));
    await service.createSession({ ...key('new'), state: { [text.repeat(4)]: 1 } });
  },

  async ids() {
    const service = new SessionService();
    const session = await service.createSession(key('s'));
    const count = await until(2e6, (n) =>
      service.appendEvent({ session, event: { id: `${n}-${'e'.repeat(500)}`, author: 'a' } }),
    );
    assert.equal((await service.getSession(key('s'))).revision, count);
    await service.deleteSession(key('s'));
    await service.createSession({ ...key('s'), state: { [text]: 1 } });
  },

  async strings() {
    // The module is to refuse them, and not a limit of the service before it.
    const service = new SessionService({ limits: { delta: Infinity } });
    const long = 'é'.repeat(12 * MB);
    await service.createSession({ ...key('s'), state: { n: 1 } });
    for (const call of [
      () => service.createSession({ ...key('t'), appName: long }),
      () => service.createSession({ ...key(long) }),
      () => service.getAppState({ appName: long.repeat(2) }),
      () => service.listSessions({ appName: long.repeat(2) }),
      () => service.updateState({ appName: 'app', userId: long.repeat(2) }, () => ({ 'user:x': 1 })),
      () => service.createSession({ ...key('t'), state: { n: 1, [`app:${long.repeat(3)}`]: 1 } }),
      () => service.createSession({ ...key('t'), state: { [long.repeat(3)]: 1 } }),
      () =>
        service.createSession({
          ...key('t'),
          state: Object.fromEntries(Array.from({ length: 400_000 }, (_, n) => [`k${n}`, 1])),
        }),
    ]) {
      await assert.rejects(async () => await call(), full, String(call));
      assert.equal((await service.getSession(key('s'))).state.n, 1);
    }
    await service.deleteSession(key('s'));
    assert.equal(await total(service), 0);
  },

  async templates() {
    const service = new SessionService();
    const session = await service.createSession({ ...key('s'), state: { n: 1 } });
    for (const large of [
      '{n}'.repeat(3 * MB),
      '{n.a[0]}'.repeat(MB),
      'x'.repeat(40 * MB),
      '{{'.repeat(MB) + '{n}'.repeat(MB),
    ]) {
      assert.throws(() => new Template(large).render({ state: session.state }), full);
      assert.throws(() => Template.escape(large), full);
      assert.equal(new Template('{n}{m?}').render({ state: session.state }), '1');
      assert.throws(() => new Template('{m}').render({ state: session.state }), { code: 'TEMPLATE_KEY_MISSING' });
    }
    assert.equal(new Template('{n}'.repeat(10_000)).render({ state: { n: 'ab' } }).length, 20_000);
    // And where sessions have taken the memory.
    const count = await until(2e6, (id) =>
      service.createSession({ ...key(id), state: { [text.slice(0, 10_000) + id]: 1 } }),
    );
    const template = new Template('{n}{m?}');
    assert.equal(template.render({ state: session.state }), '1');
    for (let id = 0; id < count; id++) await service.deleteSession(key(id));
    assert.equal(new Template('{n}').render({ state: session.state }), '1');
  },

  async services() {
    const [one, two] = [new SessionService(), new SessionService()];
    await two.createSession({ ...key('s'), state: { n: 1 } });
    const count = await until(200, (id) => one.createSession({ ...key(id), state: { [text + id]: 1 } }));
    await assert.rejects(two.createSession({ ...key('t'), state: { [text]: 1 } }), full);
    assert.deepEqual({ ...(await two.getSession(key('s'))).state }, { n: 1 });
    assert.equal(await total(two), 1);
    await two.deleteSession(key('s'));
    assert.equal(await total(two), 0);
    await removeAll(one, count);
    await two.createSession({ ...key('t'), state: { [text]: 1 } });
    assert.equal(await total(two), 1);
  },

  async stored() {
    const { memoryStore } = await import('statepad/stores/memory');
    const store = memoryStore();
    const [one, two] = [0, 1].map(() => new SessionService({ store }));
    const long = (id) => key(text + id);
    const count = await until(200, (id) => one.createSession({ ...long(id), state: { n: id } }));
    // A session is read as it is, or not at all.
    let refused = 0;
    for (let id = 0; id < count; id++) {
      try {
        assert.equal((await two.getSession(long(id))).state.n, id);
      } catch (error) {
        assert.ok(full(error), error.stack);
        refused += 1;
      }
    }
    assert.ok(refused > 0, 'both services cannot have all of it');
    for (let id = 0; id < count; id++) for (const service of [one, two]) await service.deleteSession(long(id));
    assert.equal(await total(one), 0);
    const session = await two.createSession({ ...key('s'), state: { [text]: 1 } });
    await two.appendEvent({ session, event: { author: 'a', actions: { stateDelta: { n: 1 } } } });
    assert.equal((await one.getSession(key('s'))).state.n, 1);
  },

  async random() {
    let seed = 7;
    const random = (below) => (seed = (seed * 48271) % 2147483647) % below;
    const service = new SessionService();
    const model = new Map();
    let refused = 0;
    for (let step = 0; step < 1500; step++) {
      const id = random(60);
      const value = text.slice(0, random(random(4) === 0 ? MB : 20_000)) + step;
      const known = model.get(id);
      try {
        if (known === undefined) {
          await service.createSession({ ...key(id), state: { [value]: 1 } });
          model.set(id, { value, revision: 0 });
        } else if (random(12) === 0) {
          await service.deleteSession(key(id));
          model.delete(id);
        } else {
          const session = await service.getSession(key(id));
          await service.appendEvent({
            session,
            event: { author: 'a', actions: { stateDelta: { [value]: 1, [`k${random(40)}`]: 1 } } },
          });
          model.set(id, { value, revision: known.revision + 1 });
        }
      } catch (error) {
        assert.ok(full(error), error.stack);
        refused += 1;
        assert.equal((await service.getSession(key(id)))?.revision, model.get(id)?.revision);
      }
    }
    assert.ok(refused > 20, `only ${refused} were refused`);
    for (const [id, { revision }] of model) assert.equal((await service.getSession(key(id))).revision, revision);
    for (const id of model.keys()) await service.deleteSession(key(id));
    assert.equal(await total(service), 0);
    const again = await service.createSession({ ...key('s'), state: { [text]: 1 } });
    assert.equal(again.state[text], 1);
  },

  async trap() {
    const [one, two] = [new SessionService(), new SessionService()];
    const ended = (error) => isStatepadError(error) && error.code === 'CORE_FAILED' && error.reason === 'trap';
    const session = await one.createSession(key('s'));
    const template = new Template('{n}');
    end();
    await assert.rejects(
      one.appendEvent({ session, event: { author: 'a' } }),
      (error) => ended(error) && error.cause instanceof WebAssembly.RuntimeError,
    );
    for (const service of [one, two, new SessionService()]) {
      for (const call of [
        () => service.createSession(key('t')),
        () => service.getSession(key('s')),
        () => service.getOrCreateSession(key('s')),
        () => service.listSessions({ appName: 'app' }),
        () => service.getAppState({ appName: 'app' }),
        () => service.getUserState({ appName: 'app', userId: 'u' }),
        () => service.updateState({ appName: 'app' }, () => ({ 'app:x': 1 })),
        () => service.appendEvent({ session, event: { author: 'a' } }),
        () => service.deleteSession(key('s')),
        () => service.history(session, 'x'),
        () => service.stateAt(session, 0),
      ]) {
        await assert.rejects(async () => await call(), ended, String(call));
      }
    }
    assert.throws(() => new Template('{x}'), ended);
    assert.throws(() => Template.escape('{x}'), ended);
    assert.equal(template.render({ state: { n: 1 } }), '1', 'what is compiled needs the module no more');
  },
};

await scenarios[process.argv[2]]();
console.log('done');
