// Limits and expiry of the service that the crate has by itself: the shared cases, in memory and over a log; and what
// becomes of them in a log.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { expiryTests, limitTests } from '../contract/growth.mjs';
import { keeping } from '../support/damaged-logs.mjs';
import { KEY, setting } from '../support/fixtures.mjs';
import { rawBuild } from './build.mjs';

const raw = await import(pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href);
const { SessionService } = raw;

const module = { ...raw, deleted: raw.deleted() };
for (const [title, more] of [
  ["the crate's service", undefined],
  ["the crate's service over a log", () => keeping([])],
]) {
  limitTests(title, module, more);
  expiryTests(title, module, more);
}

/** A service over records, with a clock that tests turn. */
function serviceOver(records, options = {}) {
  const clock = { now: 1000 };
  const { persist, restore } = keeping(records);
  return { clock, service: new SessionService({ now: () => clock.now, persist, restore, ...options }) };
}

const kindsOf = (records) =>
  records
    .map((record) => JSON.parse(record))
    .map(({ kind, key }) => `${kind} ${key.sessionId}`)
    .slice(1);
const idsOf = async (service) => (await service.listSessions({ appName: 'app' })).sessions.map(({ id }) => id);

test('what has expired does not come back when a log is read, and what lasts keeps its end', async () => {
  const records = [];
  const { service, clock } = serviceOver(records);
  const slides = await service.createSession({ ...KEY, sessionId: 'slides', ttl: 100 });
  await service.createSession({ ...KEY, sessionId: 'ends', expireTime: 1120 });
  await service.createSession({ ...KEY, sessionId: 'over', ttl: 50 });
  clock.now = 1060;
  await service.appendEvent({ session: slides, event: { id: 'e', timestamp: 5 } });
  const read = async (now) => {
    const { service: other, clock: its } = serviceOver([...records]);
    its.now = now;
    return [await idsOf(other), (await other.getSession({ ...KEY, sessionId: 'slides' }))?.expireTime];
  };
  assert.deepEqual(await read(1061), [['slides', 'ends'], 1160]);
  assert.deepEqual(await read(1120), [['slides'], 1160]);
  assert.deepEqual(await read(1160), [[], undefined]);
});

test('a session that slides goes on doing so when a log is read', async () => {
  const records = [];
  await serviceOver(records).service.createSession({ ...KEY, ttl: 100 });
  const { service, clock } = serviceOver(records);
  clock.now = 1090;
  const session = await service.getSession(KEY);
  await service.appendEvent({ session, event: { id: 'e' } });
  assert.equal(session.expireTime, 1190);
});

test('a creation over an expired session writes the removal of that one before', async () => {
  const records = [];
  const { service, clock } = serviceOver(records);
  await service.createSession({ ...KEY, state: { x: 1 }, ttl: 100 });
  clock.now = 1100;
  assert.equal(await service.getSession(KEY), undefined);
  await service.createSession({ ...KEY, state: { y: 1 } });
  assert.deepEqual(kindsOf(records), ['create s', 'remove s', 'create s']);
  const { service: other, clock: its } = serviceOver(records);
  its.now = 9000;
  assert.deepEqual({ ...(await other.getSession(KEY)).state }, { y: 1 });
});

test('a sweep writes the removal of what has expired, once, also of what reads have met before', async () => {
  const records = [];
  const { service, clock } = serviceOver(records);
  for (let number = 0; number < 250; number++) {
    await service.createSession({ ...KEY, sessionId: `s${number}`, ttl: 100 + number });
  }
  await service.createSession({ ...KEY, sessionId: 'stays' });
  clock.now = 1200;
  assert.deepEqual((await idsOf(service)).length, 150);
  assert.deepEqual(await service.sweep({ limit: 3 }), { sessions: 3, users: 0 });
  assert.deepEqual(kindsOf(records).slice(-3), ['remove s0', 'remove s1', 'remove s2']);
  clock.now = 2000;
  assert.deepEqual(await service.sweep({ dryRun: true }), { sessions: 247, users: 0 });
  assert.deepEqual(await service.sweep({ appName: 'other' }), { sessions: 0, users: 0 });
  assert.deepEqual(await service.sweep(), { sessions: 247, users: 0 });
  assert.deepEqual(await service.sweep(), { sessions: 0, users: 0 });
  assert.equal(new Set(kindsOf(records)).size, 501, 'each session is created and removed once');
  const { service: other, clock: its } = serviceOver(records);
  its.now = 0;
  assert.deepEqual(await idsOf(other), ['stays'], 'whatever the clock says');
});

test('a session that an append is on its way to lasts until that is written', async () => {
  const records = [];
  const { persist, restore } = keeping(records);
  let open = () => undefined;
  let opened = Promise.resolve();
  const clock = { now: 1000 };
  const service = new SessionService({
    now: () => clock.now,
    restore,
    persist: async (changes) => {
      await opened;
      await persist(changes);
    },
  });
  const session = await service.createSession({ ...KEY, ttl: 100 });
  opened = new Promise((resolve) => (open = resolve));
  clock.now = 1099;
  const append = service.appendEvent({ session, event: { id: 'e' } });
  await new Promise((resolve) => setImmediate(resolve));
  clock.now = 1150;
  assert.equal((await service.getSession(KEY)).revision, 0);
  open();
  await append;
  assert.deepEqual([session.revision, session.expireTime], [1, 1199]);
});

test('an append that is not kept makes a session last no longer', async () => {
  const records = [];
  const { persist, restore } = keeping(records);
  const clock = { now: 1000 };
  let fails = false;
  const service = new SessionService({
    now: () => clock.now,
    restore,
    persist: (changes) => {
      if (fails) {
        throw Object.assign(new Error('no'), { code: 'unavailable' });
      }
      return persist(changes);
    },
  });
  const session = await service.createSession({ ...KEY, ttl: 100 });
  fails = true;
  clock.now = 1050;
  await assert.rejects(service.appendEvent({ session, event: { id: 'e' } }), { code: 'STORE_UNAVAILABLE' });
  assert.equal((await service.getSession(KEY)).expireTime, 1100);
  clock.now = 1100;
  assert.equal(await service.getSession(KEY), undefined);
});

test('sizes go on where a log is read, one that names a key twice included', async () => {
  const records = [];
  const { service } = serviceOver(records);
  const session = await service.createSession({ ...KEY, state: { a: 1234, 'user:b': 12 } });
  await service.appendEvent({ session, event: { id: 'e', ...setting({ a: 12 }) } });
  const last = JSON.parse(records.at(-1));
  const twice = { session: { unset: ['a'], set: { a: 123 } } };
  records.push(JSON.stringify({ ...last, id: 'f', event: { ...last.event, id: 'f' }, delta: twice }));
  const { service: other } = serviceOver(records, { limits: { state: 4 } });
  const again = await other.getSession(KEY);
  await assert.rejects(other.appendEvent({ session: again, event: setting({ a: 1234 }) }), {
    exceeded: 'state',
    size: 5,
  });
  await assert.rejects(other.appendEvent({ session: again, event: setting({ 'user:b': 1234 }) }), { size: 5 });
  await other.appendEvent({ session: again, event: setting({ a: 321, 'user:b': 123 }) });
});

test('a record whose end cannot be read makes its session unreadable, and no other', async () => {
  for (const broken of [
    { ends: 'soon' },
    { ends: null },
    { expires: { ttl: 'x' } },
    { expires: {} },
    { ends: undefined },
  ]) {
    const records = [];
    const { service } = serviceOver(records);
    await service.createSession({ ...KEY, ttl: 100 });
    await service.createSession({ ...KEY, sessionId: 'other', ttl: 100 });
    records[1] = JSON.stringify({ ...JSON.parse(records[1]), ...broken });
    const { service: again } = serviceOver(records);
    await assert.rejects(again.getSession(KEY), { code: 'STORE_CORRUPT' }, JSON.stringify(broken));
    assert.ok(await again.getSession({ ...KEY, sessionId: 'other' }));
  }
});

test('the size of an event is that of its stored text, without the results of its operators', async () => {
  const event = {
    id: 'e',
    timestamp: 5,
    author: 'é',
    content: { parts: [{ text: '"\u0001' }] },
    customMetadata: { note: 1 },
    actions: { stateDelta: { x: 1e21, 'user:gone': raw.deleted(), 'temp:t': 'not stored' } },
  };
  const service = new SessionService();
  const session = await service.createSession({ ...KEY, state: { 'user:gone': 1 } });
  const size = Buffer.byteLength(JSON.stringify(await service.appendEvent({ session, event })));
  for (const [limit, taken] of [
    [size, true],
    [size - 1, false],
  ]) {
    const other = new SessionService({ limits: { event: limit } });
    const its = await other.createSession({ ...KEY, state: { 'user:gone': 1 } });
    const append = other.appendEvent({ session: its, event });
    await (taken ? append : assert.rejects(append, { code: 'LIMIT_EXCEEDED', path: 'event', size, limit }));
  }
});

test('limits and times that cannot be are refused by name', () => {
  for (const [options, path] of [
    [{ limits: { value: -1 } }, 'limits.value'],
    [{ limits: { keys: 1.5 } }, 'limits.keys'],
    [{ limits: { state: '1MB' } }, 'limits.state'],
    [{ limits: { events: NaN } }, 'limits.events'],
    [{ limits: { values: 1 } }, 'limits.values'],
    [{ limits: 5 }, 'limits'],
    [{ ttl: 0 }, 'ttl'],
    [{ ttl: '1h' }, 'ttl'],
  ]) {
    assert.throws(() => new SessionService(options), { code: 'INVALID_ARGUMENT', path });
  }
  assert.ok(new SessionService({ ttl: Infinity, limits: { state: Infinity, events: 0 } }));
});

test('a sweep that cannot be is refused by name', async () => {
  const service = new SessionService();
  for (const [request, path] of [
    [{ limit: 0 }, 'limit'],
    [{ limit: 1.5 }, 'limit'],
    [{ appName: 5 }, 'appName'],
    [{ appname: 'app' }, 'appname'],
    [{ dryRun: 1 }, 'dryRun'],
  ]) {
    await assert.rejects(service.sweep(request), { code: 'INVALID_ARGUMENT', path });
  }
  assert.deepEqual(await service.sweep({ limit: Infinity }), { sessions: 0, users: 0 });
});
