// A session on show: what others do to it, and what is done from here.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELETED, SessionService, StatepadError } from 'statepad';
import { modelOf } from './bundle.mjs';

const { Inspection } = await modelOf('inspection');

const ids = { appName: 'app', userId: 'ana' };
const key = { ...ids, sessionId: 'one' };

/** Waits for a condition, at every change of an inspection. */
async function until(inspection, holds) {
  while (!holds()) {
    await new Promise((resolve) => {
      for (const name of ['change', 'problem', 'deleted']) inspection.addEventListener(name, resolve, { once: true });
    });
  }
}

/** An inspection of a session, which ends with the test. */
async function inspect(t, { source, ...options } = {}) {
  const service = new SessionService();
  const session = await service.createSession({ ...key, state: { color: 'red' } });
  await service.appendEvent({
    session,
    event: { author: 'user', invocationId: 'i1', actions: { stateDelta: { n: 1 } } },
  });
  const inspection = new Inspection(source?.(service) ?? service, { apps: ['app'], ...options });
  t.after(async () => {
    inspection.dispose();
    await service.close();
  });
  await inspection.list();
  await inspection.open(key);
  return { service, session, inspection };
}

const stateOf = ({ rows }) => Object.fromEntries(rows.map(({ key: name, value }) => [name, value]));

describe('an inspection', () => {
  it('shows the writes of others as they come, and stays at its moment', async (t) => {
    const { service, session, inspection } = await inspect(t);
    await service.appendEvent({ session, event: { actions: { stateDelta: { n: 2 } } } });
    await until(inspection, () => inspection.revision === 2);
    assert.deepEqual(stateOf(inspection), { color: 'red', n: 2 });
    await inspection.moveTo(1);
    await service.updateState({ appName: 'app' }, () => ({ 'app:motd': 'hello' }));
    await service.appendEvent({ session, event: { actions: { stateDelta: { n: 3 } } } });
    await until(inspection, () => inspection.session.revision === 3);
    assert.deepEqual([inspection.revision, stateOf(inspection).n], [1, 1]);
    await inspection.moveTo(undefined);
    assert.deepEqual(stateOf(inspection), { color: 'red', n: 3, 'app:motd': 'hello' });
  });

  it('leaves a session that is deleted for another one, and says so', async (t) => {
    const { service, inspection } = await inspect(t);
    await service.createSession({ ...ids, sessionId: 'two' });
    const told = [];
    inspection.addEventListener('deleted', ({ detail }) => told.push(detail));
    await service.deleteSession(key);
    await until(inspection, () => told.length > 0);
    assert.deepEqual([told, inspection.session.id], [['one'], 'two']);
  });

  it('shows a session anew that is created again', async (t) => {
    const { service, inspection } = await inspect(t);
    await inspection.moveTo(0);
    await service.deleteSession(key);
    await service.createSession({ ...key, state: { color: 'blue' } });
    await until(inspection, () => inspection.isNow && stateOf(inspection).color === 'blue');
    assert.deepEqual([inspection.isNow, inspection.log.events, stateOf(inspection)], [true, [], { color: 'blue' }]);
  });

  it('says that a source fails, tries again, and goes on without a gap', async (t) => {
    let failures = 0;
    const source = (service) =>
      new Proxy(service, {
        get: (target, name) => {
          const member = target[name];
          if (name !== 'watch' || failures === 0) return typeof member === 'function' ? member.bind(target) : member;
          failures--;
          return () => {
            throw new StatepadError('STORE_UNAVAILABLE', 'the store does not answer');
          };
        },
      });
    failures = 2;
    const { service, session, inspection } = await inspect(t, { source });
    const problems = [];
    inspection.addEventListener('problem', ({ detail }) => problems.push(detail?.message));
    await until(inspection, () => problems.length > 0);
    await service.appendEvent({ session, event: { actions: { stateDelta: { n: 2 } } } });
    await until(inspection, () => inspection.revision === 2);
    assert.deepEqual(problems.filter((problem) => problem !== undefined)[0], 'the store does not answer');
    assert.equal(problems.at(-1), undefined);
  });

  it('ends quietly with a service that closes, and shows what it had', async (t) => {
    const { service, inspection } = await inspect(t);
    await service.close();
    assert.deepEqual(stateOf(inspection), { color: 'red', n: 1 });
  });

  it('shows the last events of a long session first, and then all of them', async (t) => {
    const { service, inspection } = await inspect(t);
    const long = await service.createSession({ ...ids, sessionId: 'long', state: { kept: 1 } });
    for (let n = 1; n <= 400; n++) {
      await service.appendEvent({ session: long, event: { id: `e${n}`, actions: { stateDelta: { n } } } });
    }
    const opening = inspection.open({ ...ids, sessionId: 'long' });
    await until(inspection, () => inspection.session.id === 'long');
    assert.deepEqual([inspection.isLoading, inspection.log.missing, inspection.log.at(400).id], [true, 100, 'e400']);
    assert.deepEqual(stateOf(inspection), { kept: 1, n: 400 });
    await opening;
    await until(inspection, () => !inspection.isLoading);
    assert.deepEqual([inspection.log.at(1).id, inspection.log.events.length], ['e1', 400]);
    await inspection.moveTo(7);
    assert.deepEqual(stateOf(inspection), { kept: 1, n: 7 });
  });

  it('takes the session that was asked for last, whichever is read first', async (t) => {
    const gates = new Map();
    const source = (service) => ({
      ...Object.fromEntries(
        ['listSessions', 'listApps', 'listUsers', 'stateAt', 'history', 'watch'].map((name) => [
          name,
          (...args) => service[name](...args),
        ]),
      ),
      getSession: async (request) => {
        await gates.get(request.sessionId);
        return await service.getSession(request);
      },
    });
    const { service, inspection } = await inspect(t, { source });
    for (const sessionId of ['slow', 'quick']) await service.createSession({ ...ids, sessionId });
    let goOn;
    gates.set('slow', new Promise((resolve) => (goOn = resolve)));
    const slow = inspection.open({ ...ids, sessionId: 'slow' });
    await inspection.open({ ...ids, sessionId: 'quick' });
    goOn();
    await slow;
    assert.deepEqual([inspection.session.id, inspection.readOnly], ['quick', true]);
  });

  it('compares two moments', async (t) => {
    const { inspection } = await inspect(t);
    inspection.compareWith(0);
    assert.deepEqual(
      [inspection.baseRows, inspection.rows].map((rows) => rows.map(({ key: name, text }) => `${name} ${text}`)),
      [['color "red"'], ['color "red"', 'n 1']],
    );
    inspection.compareWith(undefined);
    assert.deepEqual(inspection.baseRows, []);
  });

  it('writes and deletes keys, and shows them when the call is answered', async (t) => {
    const { inspection } = await inspect(t, { author: 'support' });
    await inspection.write('__proto__', { a: 1 });
    assert.equal(inspection.rows.find(({ key: name }) => name === '__proto__').text, '{"a":1}');
    await inspection.write('n', undefined);
    assert.equal(inspection.log.events.at(-1).author, 'support');
    assert.deepEqual(inspection.rows.find(({ key: name }) => name === 'n').change, 'deleted');
    await inspection.write('temp:plan', 'now');
    assert.deepEqual([inspection.knowsTemp, stateOf(inspection)['temp:plan']], [true, 'now']);
    await inspection.moveTo(1);
    assert.deepEqual([inspection.knowsTemp, stateOf(inspection)['temp:plan']], [false, undefined]);
  });

  it('writes nothing when it may not', async (t) => {
    const { inspection } = await inspect(t, { readOnly: true });
    assert.deepEqual([inspection.canWrite, inspection.canFork], [false, false]);
    await assert.rejects(inspection.write('n', 1), /read-only/);
    await assert.rejects(inspection.fork(0), /read-only/);
  });

  it('forks from a moment with a change, and links both sessions', async (t) => {
    const { inspection } = await inspect(t, { template: 'Be kind.' });
    await inspection.fork(1, { delta: { color: DELETED, n: 5 }, template: 'Be brief.', sessionId: 'fork' });
    assert.deepEqual([inspection.session.id, stateOf(inspection).n, inspection.template], ['fork', 5, 'Be brief.']);
    assert.deepEqual(inspection.forkedFrom, { session: key, revision: 1 });
    await inspection.open(key);
    assert.deepEqual(inspection.template, 'Be kind.');
    assert.deepEqual(inspection.forks, [{ session: { ...ids, sessionId: 'fork' }, revision: 1 }]);
  });

  it('finds the forks that others have made, and the templates that they have noted', async (t) => {
    const { service, session, inspection } = await inspect(t, { template: () => 'Be kind.' });
    const first = new Inspection(service, { apps: ['app'] });
    await first.open(key);
    await first.fork(1, { template: 'Be brief.', sessionId: 'theirs' });
    first.dispose();
    const fork = await service.getSession({ ...ids, sessionId: 'theirs' });
    await service.fork(fork, { sessionId: 'of a fork' });
    await service.appendEvent({ session, event: {} });
    await inspection.refresh();
    await inspection.open({ ...ids, sessionId: 'theirs' });
    await until(inspection, () => inspection.forks.length > 0);
    assert.deepEqual(inspection.forks, [{ session: { ...ids, sessionId: 'of a fork' }, revision: 3 }]);
    assert.equal(inspection.template, 'Be brief.');
    await inspection.open(key);
    await until(inspection, () => inspection.forks.length > 0);
    assert.deepEqual(inspection.forks, [{ session: { ...ids, sessionId: 'theirs' }, revision: 1 }]);
  });

  it('tells the lease of the session while it is asked to', async (t) => {
    const { service, session, inspection } = await inspect(t);
    const lease = await service.lease(session, { ttl: 60_000 });
    t.after(() => lease.release());
    assert.equal(inspection.lease, undefined);
    const stop = inspection.followLease();
    await until(inspection, () => inspection.lease !== undefined);
    stop();
    assert.deepEqual([inspection.lease.until, inspection.lease.token], [lease.until, lease.token]);
  });

  it('lights up what is pointed at, and tells the same only once', async (t) => {
    const { inspection } = await inspect(t);
    let changes = 0;
    inspection.addEventListener('change', () => changes++);
    inspection.point({ key: 'n' });
    inspection.point({ key: 'n' });
    assert.deepEqual([inspection.pointed, changes], [{ key: 'n' }, 1]);
    inspection.point(undefined);
    assert.deepEqual([inspection.pointed, changes], [undefined, 2]);
  });
});
