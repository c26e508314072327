// Watching: what is told, from where on, and how it ends.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { APP, KEY, USER, hasCode, setting } from '../../support/fixtures.mjs';
import { storeThatGoesBack } from '../../sharing/goes-back.mjs';
import { places, silent } from '../../support/watched-places.mjs';
import { brief, settles, take, takeUntil } from '../../support/watching.mjs';

const FAST = { poll: 5 };

for (const [name, open] of Object.entries(places)) {
  describe(`over ${name}`, () => {
    test('a session tells each event once, in order, from where the reader is', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession({ ...KEY, state: { n: 0 } });
      for (let n = 1; n <= 5; n++) {
        await writer.appendEvent({ session, event: setting({ n }) });
      }
      const fromThree = await take(reader.watch(KEY, { ...FAST, since: 3 }), 2);
      assert.deepEqual(brief(fromThree), [4, 5]);
      assert.deepEqual(
        fromThree.map(({ event }) => event.actions.stateDelta),
        [{ n: 4 }, { n: 5 }],
      );
      assert.deepEqual(brief(await take(reader.watch(KEY, { ...FAST, since: 0, buffer: 2 }), 5)), [1, 2, 3, 4, 5]);
      const now = reader.watch(KEY, { ...FAST, since: 5 });
      const next = now.next();
      assert.equal(await settles(next), false);
      await writer.appendEvent({ session, event: setting({ n: 6, 'temp:x': 1 }) });
      const { value } = await next;
      assert.deepEqual(value, { type: 'event', revision: 6, event: value.event });
      assert.deepEqual(value.event.actions.stateDelta, { n: 6 });
      assert.ok(Object.isFrozen(value) && Object.isFrozen(value.event));
      await now.return();
      await Promise.all([writer.close(), reader.close()]);
    });

    test('a handle is watched from what it shows', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession(KEY);
      const handle = await reader.getSession(KEY);
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
      await writer.appendEvent({ session, event: setting({ n: 2 }) });
      assert.deepEqual(brief(await take(reader.watch(handle, FAST), 2)), [1, 2]);
      assert.deepEqual(brief(await take(reader.watch(handle, { ...FAST, since: 1 }), 1)), [2]);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('an app and a user tell what was written, positions without a gap', async () => {
      for (const [target, prefix] of [
        [APP, 'app:'],
        [USER, 'user:'],
      ]) {
        const [writer, reader] = open();
        await writer.createSession({ ...KEY, state: { 'app:n': 0, 'user:n': 0, n: 0 } });
        const other = prefix === 'app:' ? 'user:' : 'app:';
        const changes = reader.watch(target, { ...FAST, initial: true });
        assert.deepEqual((await changes.next()).value, {
          type: 'values',
          from: 0,
          position: 1,
          delta: { [`${prefix}n`]: 0 },
        });
        await writer.updateState(USER, () => ({ [`${prefix}n`]: 1, [`${other}n`]: 2 }));
        const session = await writer.getSession(KEY);
        await writer.appendEvent({ session, event: setting({ [`${prefix}n`]: DELETED, [`${prefix}m`]: [1], n: 5 }) });
        let expected = 1;
        const state = {};
        for (const change of await takeUntil(changes, ({ position }) => position === 3)) {
          assert.equal(change.from, expected);
          expected = change.position;
          Object.assign(state, change.delta);
          assert.ok(Object.isFrozen(change.delta) && Object.keys(change.delta).every((key) => key.startsWith(prefix)));
        }
        assert.deepEqual(state, { [`${prefix}n`]: DELETED, [`${prefix}m`]: [1] });
        await Promise.all([writer.close(), reader.close()]);
      }
    });

    test('a session that is deleted says so and ends, also when it is made anew', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession(KEY);
      const waits = reader.watch(KEY, { ...FAST, since: 0 });
      const handle = await reader.getSession(KEY);
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
      assert.deepEqual(brief(await take(waits, 1)), [1]);
      const next = waits.next();
      await settles(next, 10);
      await writer.deleteSession(KEY);
      await writer.createSession({ ...KEY, state: { n: 'anew' } });
      assert.deepEqual(await next, { done: false, value: { type: 'deleted' } });
      assert.deepEqual(brief(await take(reader.watch(handle, FAST), 1)), ['deleted']);
      assert.deepEqual(await waits.next(), { done: true, value: undefined });
      await Promise.all([writer.close(), reader.close()]);
    });

    test('what is not there is not found, and a place that is ahead is to be read anew', async () => {
      const [writer, reader] = open();
      await assert.rejects(reader.watch(KEY, FAST).next(), hasCode('SESSION_NOT_FOUND'));
      const session = await writer.createSession({ ...KEY, state: { 'app:n': 1 } });
      const ahead = reader.watch(KEY, { ...FAST, since: 7 });
      assert.deepEqual(await take(ahead, 1), [{ type: 'reload', revision: 0 }]);
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
      assert.deepEqual(brief(await take(ahead, 1)), [1]);
      assert.deepEqual(await take(reader.watch(APP, { ...FAST, since: 9 }), 1), [{ type: 'reload', position: 1 }]);
      // A scope without any write can be watched.
      const nobody = reader.watch({ ...APP, userId: 'nobody' }, { ...FAST, initial: true });
      assert.deepEqual(await take(nobody, 1), [{ type: 'values', from: 0, position: 0, delta: {} }]);
      await Promise.all([writer.close(), reader.close()]);
    });

    test('it ends when it is left, aborted or closed, also while it waits', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession(KEY);
      for (const target of [KEY, USER, APP]) {
        const left = reader.watch(target, FAST);
        const asked = [left.next(), left.next()];
        assert.equal(await settles(asked[0], 10), false);
        assert.deepEqual(await left.return(), { done: true, value: undefined });
        for (const each of [...asked, left.next()]) {
          assert.deepEqual(await each, { done: true, value: undefined });
        }
        const controller = new AbortController();
        const aborted = reader.watch(target, { ...FAST, signal: controller.signal });
        const waiting = aborted.next();
        assert.equal(await settles(waiting, 10), false);
        controller.abort(new Error('enough'));
        await assert.rejects(waiting, /enough/);
        assert.deepEqual(await aborted.next(), { done: true, value: undefined });
        await assert.rejects(reader.watch(target, { ...FAST, signal: controller.signal }).next(), /enough/);
      }
      const controller = new AbortController();
      const between = reader.watch(KEY, { ...FAST, since: 0, signal: controller.signal });
      await writer.appendEvent({ session, event: setting({ n: 1 }) });
      await take(between, 1);
      controller.abort(new Error('between'));
      await assert.rejects(between.next(), /between/);
      const last = [reader.watch(KEY, FAST), reader.watch(USER, FAST), reader.watch(APP, FAST)];
      const asked = last.map((each) => each.next());
      await settles(asked[0], 10);
      await reader.close();
      for (const each of [...asked, ...last.map((one) => one.next())]) {
        assert.deepEqual(await each, { done: true, value: undefined });
      }
      assert.throws(() => reader.watch(KEY), hasCode('CLOSED'));
      await writer.close();
    });

    test('a reader that does not read keeps no writer waiting, and reads on from its place', async () => {
      const [writer, reader] = open();
      const session = await writer.createSession(KEY);
      const slow = reader.watch(KEY, { ...FAST, since: 0, buffer: 10 });
      const first = slow.next();
      await settles(first, 10);
      const count = 300;
      for (let n = 1; n <= count; n++) {
        await writer.appendEvent({ session, event: setting({ n, 'app:n': n }) });
      }
      const told = [(await first).value, ...(await take(slow, count - 1))];
      assert.deepEqual(
        brief(told),
        Array.from({ length: count }, (_, n) => n + 1),
      );
      await Promise.all([writer.close(), reader.close()]);
    });
  });
}

test('what is no target, and options that are not known, are refused by name', () => {
  const service = new SessionService();
  for (const [target, options, path] of [
    [undefined, {}, 'target'],
    [5, {}, 'target'],
    [{ ...APP, userId: 5 }, {}, 'userId'],
    [{ ...APP, sessionId: 's' }, {}, 'userId'],
    [KEY, 5, 'options'],
    [KEY, { sinse: 1 }, 'sinse'],
    [KEY, { since: -1 }, 'since'],
    [KEY, { since: 0.5 }, 'since'],
    [KEY, { since: 'x' }, 'since'],
    [KEY, { poll: 0 }, 'poll'],
    [KEY, { poll: NaN }, 'poll'],
    [KEY, { poll: '5' }, 'poll'],
    [KEY, { background: 1 }, 'background'],
    [KEY, { buffer: 0 }, 'buffer'],
    [KEY, { buffer: Infinity }, 'buffer'],
    [KEY, { signal: {} }, 'signal'],
    [KEY, { initial: true }, 'initial'],
    [APP, { initial: 1 }, 'initial'],
    [APP, { initial: true, since: 0 }, 'initial'],
  ]) {
    assert.throws(() => service.watch(target, options), { code: 'INVALID_ARGUMENT', path }, path);
  }
  assert.throws(() => new SessionService({ log: 1 }), { code: 'INVALID_ARGUMENT', path: 'log' });
  assert.throws(() => new SessionService({ log: true, store: memoryStore() }), {
    code: 'INVALID_ARGUMENT',
    path: 'log',
  });
});

test('all readers of a target have the store asked once, and none where nobody waits', async () => {
  const inner = silent(memoryStore());
  let asked = 0;
  const counting = {};
  for (const name of ['load', 'loadScope', 'readLog']) {
    counting[name] = async (...args) => {
      asked += 1;
      return await inner[name](...args);
    };
  }
  const writer = new SessionService({ store: inner });
  const service = new SessionService({ store: { ...inner, ...counting } });
  const session = await writer.createSession({ ...KEY, state: { 'app:n': 0 } });
  for (const [target, write] of [
    [KEY, () => writer.appendEvent({ session, event: setting({ n: 1 }) })],
    [APP, () => writer.updateState(APP, () => ({ 'app:n': Math.random() }))],
  ]) {
    const isShared = { poll: 60_000, since: target === APP ? 1 : 0 };
    const readers = Array.from({ length: 20 }, () => service.watch(target, isShared));
    const begun = readers.map((each) => each.next());
    while (asked === 0) {
      await settles(begun[0], 5);
    }
    await settles(begun[0]);
    assert.equal(asked, target === APP ? 2 : 1, 'to begin');
    const eager = service.watch(target, { ...isShared, poll: 1 });
    const first = eager.next();
    await write();
    const told = (await first).value;
    for (const each of begun) {
      assert.deepEqual((await each).value, told);
    }
    asked = 0;
    await settles(new Promise(() => undefined), 20);
    assert.equal(asked, 0, 'nobody waits');
    await Promise.all([...readers, eager].map((each) => each.return()));
    asked = 0;
  }
  await Promise.all([writer.close(), service.close()]);
});

test('what a reader finds that looks often, those hear at once that look rarely', async () => {
  const inner = silent(memoryStore());
  const writer = new SessionService({ store: inner });
  const service = new SessionService({ store: inner });
  const session = await writer.createSession({ ...KEY, state: { 'app:n': 0 } });
  for (const [target, since, write] of [
    [KEY, 0, () => writer.appendEvent({ session, event: setting({ n: 1 }) })],
    [APP, 1, () => writer.updateState(APP, () => ({ 'app:n': 1 }))],
  ]) {
    const rare = service.watch(target, { poll: 600_000, since });
    const waits = rare.next();
    await settles(waits);
    await write();
    const often = service.watch(target, { poll: 1, since });
    const told = (await often.next()).value;
    // It would look by itself in ten minutes.
    assert.deepEqual((await waits).value, told);
    await Promise.all([rare.return(), often.return()]);
  }
  await Promise.all([writer.close(), service.close()]);
});

test('what this service writes comes without another look at the store where it is cached', async () => {
  const inner = silent(memoryStore());
  let loads = 0;
  const load = async (...args) => {
    loads += 1;
    return await inner.load(...args);
  };
  const service = new SessionService({ store: { ...inner, load } });
  const session = await service.createSession(KEY);
  const changes = service.watch(session, { poll: 60_000 });
  await service.appendEvent({ session, event: setting({ n: 1 }) });
  await take(changes, 1);
  const next = changes.next();
  while (loads === 0) {
    await settles(next, 5);
  }
  loads = 0;
  await service.appendEvent({ session, event: setting({ n: 2 }) });
  assert.equal((await next).value.revision, 2);
  assert.equal(loads, 0);
  await service.close();
});

test('an error of the store ends it, and the reader goes on with since', async () => {
  const inner = silent(memoryStore());
  let isDown = false;
  const down = (name) =>
    async function (...args) {
      if (isDown) {
        throw new Error('down');
      }
      return await inner[name](...args);
    };
  const store = { ...inner, load: down('load'), readLog: down('readLog') };
  const service = new SessionService({ store, retry: { attempts: 1 } });
  const writer = new SessionService({ store: inner });
  const session = await writer.createSession({ ...KEY, state: { 'app:n': 0 } });
  for (const [target, place] of [
    [KEY, 'revision'],
    [APP, 'position'],
  ]) {
    isDown = false;
    const changes = service.watch(target, { ...FAST, since: 0 });
    await writer.appendEvent({ session, event: setting({ 'app:n': 1 }) });
    const [{ [place]: since }] = await take(changes, 1);
    isDown = true;
    await assert.rejects(
      takeUntil(changes, () => false),
      hasCode('STORE_UNAVAILABLE'),
    );
    assert.deepEqual(await changes.next(), { done: true, value: undefined });
    isDown = false;
    await writer.appendEvent({ session, event: setting({ 'app:n': 2 }) });
    assert.equal((await take(service.watch(target, { ...FAST, since }), 1))[0][place], since + 1);
  }
  await Promise.all([writer.close(), service.close()]);
});

for (const without of [[], ['marks', 'changed']]) {
  const told = without.length === 0 ? 'everything' : 'no marks';
  test(`a store that goes back has its readers read anew: one that tells ${told}`, async () => {
    const { store, snapshot, restore } = storeThatGoesBack({ without });
    const inner = { ...store, readLog: undefined };
    const [writer, reader] = [new SessionService({ store: inner }), new SessionService({ store: inner })];
    const session = await writer.createSession({ ...KEY, state: { 'app:n': 0 } });
    await writer.appendEvent({ session, event: setting({ n: 1, 'app:n': 1 }) });
    const before = snapshot();
    await writer.appendEvent({ session, event: setting({ n: 2, 'app:n': 2 }) });
    await writer.appendEvent({ session, event: setting({ n: 3, 'app:n': 3 }) });
    const [events, values] = [reader.watch(KEY, { ...FAST, since: 0 }), reader.watch(APP, { ...FAST, since: 0 })];
    assert.deepEqual(brief(await take(events, 3)), [1, 2, 3]);
    assert.deepEqual(brief(await take(values, 1)), [4]);
    await restore(before);
    const next = [events.next(), values.next()];
    assert.deepEqual((await next[0]).value, { type: 'reload', revision: 1 });
    assert.deepEqual((await next[1]).value, { type: 'reload', position: 2 });
    const other = new SessionService({ store: inner });
    const handle = await other.getSession(KEY);
    await other.appendEvent({ session: handle, event: setting({ n: 'other', 'app:n': 'other' }) });
    const [[event], [value]] = [await take(events, 1), await take(values, 1)];
    assert.deepEqual([event.revision, event.event.actions.stateDelta.n], [2, 'other']);
    assert.deepEqual([value.from, value.position, value.delta], [2, 3, { 'app:n': 'other' }]);
    await Promise.all([writer, reader, other].map((service) => service.close()));
  });
}

for (const name of ['memory', 'callbacks', 'a store with hints', 'a store without hints']) {
  test(`${name}: a reader that is behind what was trimmed is told to read anew, and goes on from there`, async () => {
    const [writer, reader] = places[name]();
    const write = async (n) => await writer.updateState(APP, () => ({ 'app:n': n }));
    for (const n of [1, 2, 3, 4, 5]) await write(n);
    const slow = reader.watch(APP, { ...FAST, since: 0, buffer: 1 });
    assert.deepEqual(brief(await take(slow, 1)), [1]);
    await writer.trimHistory(APP, { upTo: 3 });
    const late = reader.watch(APP, { ...FAST, since: 2 });
    const inTime = reader.watch(APP, { ...FAST, since: 3 });
    for (const watched of [slow, late]) {
      assert.deepEqual(await take(watched, 1), [{ type: 'reload', position: 5 }]);
    }
    assert.deepEqual(brief(await take(inTime, 2)), [4, 5], 'nothing is missing from the base on');
    await write(6);
    for (const watched of [slow, late, inTime]) assert.deepEqual(brief(await take(watched, 1)), [6]);
    await Promise.all([writer.close(), reader.close()]);
  });
}

test('a log that goes back, or is trimmed behind a reader, has it read anew', async () => {
  let inner = silent(memoryStore());
  const store = {};
  for (const name of ['commit', 'load', 'list', 'remove', 'loadScope', 'readLog', 'trimLog']) {
    store[name] = async (...args) => await inner[name](...args);
  }
  store.keeps = inner.keeps;
  const writer = async (values) => {
    const service = new SessionService({ store: inner });
    for (const n of values) {
      await service.updateState(APP, () => ({ 'app:n': n }));
    }
  };
  const service = new SessionService({ store });
  await writer([1, 2, 3, 4, 5]);
  const alone = new SessionService({ store });
  const slow = alone.watch(APP, { ...FAST, since: 0, buffer: 2 });
  const quick = service.watch(APP, { ...FAST, since: 0 });
  assert.deepEqual(brief(await take(slow, 1)), [1]);
  assert.deepEqual(brief(await take(quick, 5)), [1, 2, 3, 4, 5]);
  assert.equal(await service.trimHistory(APP, { upTo: 4 }), 4);
  assert.deepEqual(await take(slow, 2), [
    { type: 'values', from: 1, position: 2, delta: { 'app:n': 2 } },
    { type: 'reload', position: 5 },
  ]);
  // Other writes at the same positions.
  inner = silent(memoryStore());
  await writer(['a', 'b', 'c', 'd', 'e']);
  const next = quick.next();
  await writer(['f']);
  assert.equal((await next).value.type, 'reload');
  await Promise.all([service.close(), alone.close()]);
});

test('a process ends as soon as no reader waits', () => {
  const script = `
    import { SessionService } from 'statepad';
    import { memoryStore } from 'statepad/stores/memory';
    const store = { ...memoryStore(), watch: undefined };
    const service = new SessionService({ store });
    const session = await service.createSession({ appName: 'a', userId: 'u', sessionId: 's' });
    const changes = service.watch(session, { since: 0, poll: 600_000 });
    const controller = new AbortController();
    const waits = service.watch(session, { poll: 600_000, signal: controller.signal });
    const waiting = waits.next().catch(() => undefined);
    await service.appendEvent({ session, event: { author: 'a' } });
    await changes.next();
    await waiting;
    const more = waits.next().catch(({ message }) => console.log(message));
    setTimeout(() => controller.abort(new Error('enough')), 20);
    await more;
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname ?? new URL('..', import.meta.url).pathname,
    timeout: 60_000,
    encoding: 'utf8',
  });
  assert.deepEqual([status, stdout, stderr], [0, 'enough\n', '']);
});
