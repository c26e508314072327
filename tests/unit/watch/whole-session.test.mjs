// Watching a whole session: who applies what is told has the session as the service has it.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyChange, DELETED, increment, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER, hasCode, setting } from '../../support/fixtures.mjs';
import { storeThatGoesBack } from '../../sharing/goes-back.mjs';
import { numbersFrom } from '../../support/random.js';
import { places, silent } from '../../support/watched-places.mjs';
import { settles, take, takeUntil } from '../../support/watching.mjs';

const WHOLE = Object.freeze({ ...KEY, whole: true });
const FAST = { poll: 5 };
const OTHER = { ...USER, sessionId: 'other' };
const plain = ({ ...members }) => members;
const types = (told) => told.map(({ type, scope }) => scope ?? type);

/** Applies what a watch tells, and checks that it fits together, until `isEnough` says so of the session. */
async function follow(changes, isEnough, begun = {}) {
  let { session, place } = begun;
  while (session === undefined || !isEnough(session)) {
    const { done, value: change } = await changes.next();
    assert.ok(!done && Object.isFrozen(change));
    if (change.type === 'event') {
      assert.equal(change.revision, session.revision + 1, 'no event is missing, none comes twice');
    }
    const before = session && JSON.stringify(session);
    const after = applyChange(session, change);
    assert.equal(session && JSON.stringify(session), before, 'what was there has not changed');
    ({ place } = change);
    session = after;
    assert.equal(place.revision, session.revision);
  }
  return { session, place };
}

/** A store of that place could not keep an end. */
const expiring = Object.entries(places).filter(([name]) => name !== 'a store that compares nothing');
for (const [name, open] of expiring) {
  test(`an event has the end that it has moved, over ${name}`, async () => {
    const [writer, reader] = open();
    const session = await writer.createSession({ ...KEY, ttl: 1e8 });
    const whole = reader.watch(WHOLE, FAST);
    const [begun] = await take(whole, 1);
    assert.equal(begun.session.expireTime, session.expireTime);
    const { now } = Date;
    Date.now = () => now() + 1000;
    try {
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
    } finally {
      Date.now = now;
    }
    const { expireTime } = await reader.getSession(KEY);
    assert.ok(expireTime > begun.session.expireTime);
    const [event] = await take(whole, 1);
    const [own] = await take(reader.watch(KEY, { ...FAST, since: 0 }), 1);
    assert.deepEqual([event.type, event.expireTime, own.expireTime], ['event', expireTime, expireTime]);
    assert.deepEqual(plain(applyChange(begun.session, event)), plain(await reader.getSession(KEY)));
  });
}

for (const [name, open] of Object.entries(places)) {
  describe(`over ${name}`, () => {
    test('a whole session begins as it is, and goes on with its events and what its app and user get', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession({ ...KEY, state: { n: 0, 'user:n': 0, 'app:n': 0 } });
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
      const changes = reader.watch(WHOLE, FAST);
      const [first] = await take(changes, 1);
      assert.equal(first.type, 'session');
      assert.deepEqual(plain(first.session), plain(await reader.getSession(KEY)));
      await writer.updateState(APP, () => ({ 'app:n': 1 }));
      const [app] = await take(changes, 1);
      const { place } = app;
      assert.deepEqual(app, { type: 'values', scope: 'app', position: 2, from: 1, delta: { 'app:n': 1 }, place });
      assert.deepEqual([place.revision, place.app, place.user], [1, 2, 1]);
      await writer.updateState(USER, () => ({ 'user:m': [1], 'user:n': DELETED }));
      const [user] = await take(changes, 1);
      assert.deepEqual([user.scope, user.delta], ['user', { 'user:n': DELETED, 'user:m': [1] }]);
      const event = await writer.appendEvent({
        session,
        event: setting({ n: DELETED, m: 2, 'app:n': 2, 'user:m': [2], 'temp:x': 1 }),
      });
      const told = await take(changes, 3);
      assert.deepEqual(types(told), ['app', 'user', 'event']);
      assert.deepEqual([told[2].revision, told[2].event], [2, event]);
      const after = [app, user, ...told].reduce(applyChange, applyChange(undefined, first));
      assert.deepEqual(after, plain(await writer.getSession(KEY)));
      assert.equal(await settles(changes.next(), 20), false, 'there is no more');
      await Promise.all([writer.close(), reader.close()]);
    });

    test('it goes on from its place, after others have written, and is deleted at the end', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession({ ...KEY, state: { 'user:n': 0, 'app:n': 0, 'app:old': 1 } });
      const [first] = await take(reader.watch({ ...session, whole: true }, FAST), 1);
      for (let n = 1; n <= 3; n++) {
        await writer.appendEvent({ session, event: setting({ n, 'user:n': n }) });
      }
      await writer.updateState(APP, () => ({ 'app:old': DELETED }));
      const since = JSON.parse(JSON.stringify(first.place));
      assert.ok(JSON.stringify(since).length < 200);
      const changes = reader.watch(WHOLE, { ...FAST, since });
      const begun = { session: applyChange(undefined, first), place: since };
      const { session: after, place } = await follow(
        changes,
        ({ state, revision }) => revision === 3 && state['user:n'] === 3 && !('app:old' in state),
        begun,
      );
      assert.deepEqual(after, plain(await reader.getSession(KEY)));
      const same = reader.watch(WHOLE, { ...FAST, since: place });
      const next = same.next();
      assert.equal(await settles(next, 20), false, 'nothing is told twice');
      await writer.deleteSession(KEY);
      assert.deepEqual((await next).value, { type: 'deleted' });
      assert.equal((await same.next()).done, true);
      await assert.rejects(reader.watch(WHOLE, FAST).next(), hasCode('SESSION_NOT_FOUND'));
      // Made anew, at the same revision.
      await writer.createSession({ ...KEY, state: { anew: true } });
      const [anew] = await take(reader.watch(WHOLE, { ...FAST, since: first.place }), 1);
      assert.deepEqual([anew.type, anew.session.state.anew], ['session', true]);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('without the beginning it tells what comes', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession({ ...KEY, state: { 'app:n': 0 } });
      const changes = reader.watch(WHOLE, { ...FAST, initial: false });
      const next = changes.next();
      assert.equal(await settles(next, 20), false);
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
      assert.equal((await next).value.revision, 1);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('whatever is written by whom, and wherever it is cut, nothing is missing', async () => {
      const [writer, reader] = open();
      await writer.createSession({ ...KEY, state: { n: 0, 'user:n': 0, 'app:n': 0 } });
      await writer.createSession(OTHER);
      const random = numbersFrom(7);
      // It cannot keep an operator from overwriting what others write.
      const isBlind = name === 'a store that compares nothing';
      const keys = ['n', 'm', 'user:n', 'user:m', 'app:n', 'app:m', 'app:__proto__', '__proto__'];
      const delta = () => ({
        ...Object.fromEntries(
          keys.filter(() => random(3) === 0).map((key) => [key, random(4) ? random(100) : DELETED]),
        ),
        ...(!isBlind && random(5) === 0 && { 'app:count': increment(1) }),
      });
      const COUNT = 60;
      const writing = (async () => {
        const own = await writer.getSession(KEY);
        const other = await writer.getSession(OTHER);
        for (let step = 0; step < COUNT; step++) {
          const kind = random(4);
          if (kind < 2) await writer.appendEvent({ session: own, event: setting(delta()) });
          else if (kind === 2) await writer.appendEvent({ session: other, event: setting(delta()) });
          else await writer.updateState(APP, () => ({ 'app:n': step }));
          if (random(3) === 0) await new Promise((resolve) => setImmediate(resolve));
        }
        await writer.appendEvent({
          session: own,
          event: setting({ last: true, 'user:last': true, 'app:last': true }),
        });
      })();
      let begun = {};
      const isLast = ({ state }) => state.last && state['user:last'] && state['app:last'];
      while (begun.session === undefined || !isLast(begun.session)) {
        let left = 1 + random(12);
        const options = { ...FAST, buffer: 1 + random(3), ...(begun.place && { since: begun.place }) };
        const changes = reader.watch(WHOLE, options);
        begun = await follow(changes, (session) => isLast(session) || --left <= 0, begun);
        await changes.return();
      }
      await writing;
      assert.deepEqual(begun.session, plain(await writer.getSession(KEY)));
      await Promise.all([writer.close(), reader.close()]);
    });
  });
}

test('a reader that keeps up is shown states that the session had, and no others', async () => {
  const service = new SessionService();
  const session = await service.createSession({ ...KEY, state: { n: 0, 'user:n': 0, 'app:n': 0 } });
  const changes = service.watch(WHOLE);
  let shown = applyChange(undefined, (await take(changes, 1))[0]);
  for (let n = 1; n <= 20; n++) {
    await service.appendEvent({ session, event: setting({ n, 'user:n': n, 'app:n': n }) });
    for (const change of await take(changes, 3)) {
      shown = applyChange(shown, change);
    }
    assert.deepEqual(shown.state, { n, 'app:n': n, 'user:n': n });
    assert.deepEqual(Object.keys(shown.state), Object.keys(session.state));
  }
  await service.close();
});

test('one look at the store tells all of a whole session, for all of its readers', async () => {
  const inner = silent(memoryStore());
  const asked = [];
  const counting = {};
  for (const name of ['load', 'loadScope', 'readLog']) {
    counting[name] = async (...args) => {
      asked.push(name);
      return await inner[name](...args);
    };
  }
  const writer = new SessionService({ store: inner });
  const service = new SessionService({ store: { ...inner, ...counting } });
  await writer.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0 } });
  const readers = Array.from({ length: 10 }, () => service.watch(WHOLE, { poll: 60_000 }));
  await Promise.all(readers.map((each) => each.next()));
  const waiting = readers.map((each) => each.next());
  await settles(waiting[0], 20);
  asked.length = 0;
  await writer.updateState(USER, () => ({ 'user:n': 1, 'app:n': 1 }));
  const eager = service.watch(WHOLE, { poll: 1, initial: false });
  const first = eager.next();
  assert.deepEqual(types((await Promise.all(waiting)).map(({ value }) => value)), Array(10).fill('app'));
  assert.deepEqual(new Set(asked), new Set(['load']));
  await Promise.all([eager.return(), first, ...readers.map((each) => each.return())]);
  asked.length = 0;
  await settles(new Promise(() => undefined), 20);
  assert.deepEqual(asked, [], 'nobody waits');
  // A write of this service needs no look.
  const session = await service.getSession(KEY);
  const own = service.watch(WHOLE, { poll: 60_000 });
  await own.next();
  const next = own.next();
  await settles(next, 20);
  asked.length = 0;
  await service.appendEvent({ session, event: setting({ 'app:n': 5, 'user:n': 5 }) });
  assert.deepEqual(types([(await next).value, ...(await take(own, 2))]), ['app', 'user', 'event']);
  assert.deepEqual(asked, []);
  await Promise.all([writer.close(), service.close()]);
});

test('of what others do in an app, one of the sessions that are watched there hears for all', async () => {
  const inner = memoryStore();
  let loads = 0;
  const load = async (...args) => {
    loads += 1;
    return await inner.load(...args);
  };
  const writer = new SessionService({ store: inner });
  const service = new SessionService({ store: { ...inner, load } });
  const keys = Array.from({ length: 20 }, (_, n) => ({ appName: 'app', userId: `u${n}`, sessionId: 's' }));
  await writer.createSession({ ...KEY, state: { 'app:n': 0 } });
  const waiting = [];
  for (const key of keys) {
    await writer.createSession(key);
    const changes = service.watch({ ...key, whole: true }, { poll: 60_000 });
    await changes.next();
    waiting.push(changes.next());
  }
  await settles(waiting[0], 20);
  loads = 0;
  await writer.updateState(APP, () => ({ 'app:n': 1 }));
  for (const { value } of await Promise.all(waiting)) {
    assert.deepEqual(value.delta, { 'app:n': 1 });
  }
  assert.ok(loads <= 2, `${loads} loads`);
  await Promise.all([writer.close(), service.close()]);
});

for (const without of [[], ['marks'], ['marks', 'changed']]) {
  test(`over a store that goes back, which tells ${['everything', 'no marks', 'no marks and no changes'][without.length]}, the session comes anew`, async () => {
    const { store, snapshot, restore } = storeThatGoesBack({ without });
    const writer = new SessionService({ store });
    const reader = new SessionService({ store });
    const session = await writer.createSession({ ...KEY, state: { 'user:n': 0, 'app:n': 0 } });
    await writer.appendEvent({ session, event: setting({ n: 1 }) });
    const before = snapshot();
    for (let n = 2; n <= 5; n++) {
      await writer.appendEvent({ session, event: setting({ n, 'user:n': n, 'app:n': n }) });
    }
    const changes = reader.watch(WHOLE, FAST);
    let begun = await follow(changes, ({ revision }) => revision === 5);
    const { place } = begun;
    const next = changes.next();
    await settles(next, 10);
    await restore(before);
    const other = new SessionService({ store });
    await other.appendEvent({ session: await other.getSession(KEY), event: setting({ n: 'b', 'user:n': 'b' }) });
    const told = (await next).value;
    begun = { session: applyChange(begun.session, told), place: told.place };
    const isThere = ({ state, revision }) =>
      revision === 2 && state.n === 'b' && state['user:n'] === 'b' && state['app:n'] === 0;
    if (!isThere(begun.session)) {
      begun = await follow(changes, isThere, begun);
    }
    assert.deepEqual(begun.session, plain(await other.getSession(KEY)));
    const [resumed] = await take(other.watch(WHOLE, { ...FAST, since: place }), 1);
    assert.equal(resumed.type, 'session');
    await Promise.all([writer, reader, other].map((service) => service.close()));
  });
}

test('a place in another past is answered with the session, where the store tells one past from another', async () => {
  const { store, snapshot, restore } = storeThatGoesBack();
  const writer = new SessionService({ store });
  const session = await writer.createSession(KEY);
  await writer.appendEvent({ session, event: setting({ n: 1 }) });
  const before = snapshot();
  await writer.appendEvent({ session, event: setting({ n: 2, 'app:n': 2 }) });
  const [{ place }] = await take(writer.watch(WHOLE), 1);
  await restore(before);
  for (const more of [0, 1]) {
    const other = new SessionService({ store });
    const now = await other.getSession(KEY);
    if (more === 0) {
      await other.appendEvent({ session: now, event: setting({ n: 'b', 'app:n': 'b' }) });
    } else {
      await other.appendEvent({ session: now, event: setting({ m: 'c' }) });
    }
    const told = await takeUntil(other.watch(WHOLE, { since: place }), ({ type }) => type !== 'values');
    assert.equal(told.at(-1).type, 'session', 'another event stands there');
    // Without the mark the numbers are believed.
    const { mark, ...numbers } = place;
    assert.equal(typeof mark, 'string');
    const changes = other.watch(WHOLE, { since: numbers });
    const next = takeUntil(changes, ({ type }) => type !== 'values').catch(() => []);
    if (more === 1) await next;
    else assert.equal(await settles(next, 20), false);
    await changes.return();
    assert.ok((await next).every(({ type }) => type !== 'session'));
    await other.close();
  }
  await writer.close();
});

test('what is no whole session, and places that are none, are refused by name', () => {
  const service = new SessionService();
  for (const [target, options, path] of [
    [{ ...USER, whole: true }, {}, 'whole'],
    [{ ...KEY, whole: 'yes' }, {}, 'whole'],
    [WHOLE, { since: 5 }, 'since'],
    [WHOLE, { since: { revision: 1, user: 0 } }, 'since.app'],
    [WHOLE, { since: { revision: -1, user: 0, app: 0 } }, 'since.revision'],
    [WHOLE, { since: { revision: 1, user: 0, app: 0, mark: 5 } }, 'since.mark'],
    [WHOLE, { since: { revision: 1, user: 0, app: 0 }, initial: true }, 'initial'],
    [WHOLE, { initial: 1 }, 'initial'],
    [WHOLE, { poll: 0 }, 'poll'],
    [WHOLE, { background: 'yes' }, 'background'],
    [WHOLE, { sinse: 1 }, 'sinse'],
  ]) {
    assert.throws(() => service.watch(target, options), { code: 'INVALID_ARGUMENT', path }, path);
  }
});
