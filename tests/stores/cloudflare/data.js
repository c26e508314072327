// Changes for the tests of Cloudflare's stores, and what is done with them in every one of these.

import * as changes from '../../support/changes.js';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { compareStores } from '../support/random.js';

export const keyOf = changes.keyOf;
export const KEY = keyOf('session');

export function create(key = KEY, delta = {}, more = {}) {
  return changes.create(`create ${key.userId} ${key.sessionId}`, key, delta, more);
}

export function append(id, delta = {}, { key = KEY, ...more } = {}) {
  return changes.append(id, key, delta, { time: 2_000, ...more });
}

export function update(id, delta, more = {}) {
  return changes.update(id, { appName: 'app', userId: 'user' }, delta, { time: 3_000, ...more });
}

export function assert(condition, message) {
  if (!condition) {
    throw new Error(message);
  }
}

export function assertEqual(actual, expected, what) {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  assert(one === other, `${what} is ${one?.slice(0, 1_000)}, not ${other?.slice(0, 1_000)}`);
}

/** Makes random steps: answers how often they came to what. */
export async function randomOnes(store, context, history) {
  await store.open({ migrate: 'create' }, context);
  return await compareStores(store, history);
}

/** The error that an action throws. */
export async function thrown(action) {
  try {
    await action();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

export async function assertCode(action, code) {
  const error = await thrown(action);
  assert(error.code === code, `it throws ${error.code} (${error.message}), not ${code}`);
  return error;
}

/** Characters that take one, two, four or six bytes in JSON, and up to seven in JSON within JSON. */
const HEAVY = ['\u0001', '"', '\\', 'é', '😀', 'a'];

/** Writes and reads what is as big as it may be, and a little more. */
export async function bigOnes(store, context) {
  await store.open({ migrate: 'create' }, context);
  await store.commit(create(), context);
  const encoder = new TextEncoder();
  let before = {};
  const written = [];
  for (const [index, text] of HEAVY.entries()) {
    const value = text.repeat(1_000_000 / encoder.encode(JSON.stringify(text).slice(1, -1)).length);
    const json = JSON.stringify(value);
    const unset = index === 0 ? [] : [`big ${index - 1}`];
    const delta = { app: { set: { big: value, small: index } }, session: { unset, set: { [`big ${index}`]: value } } };
    const guard = { keys: { session: { set: before } } };
    const { rev } = await store.commit(append(`e${index}`, delta, { data: json, guard }), context);
    before = { [`big ${index}`]: value };
    written.push(value);
    assertEqual(rev, index + 1, 'rev');
    const loaded = await store.load(KEY, { events: { last: 1 } }, context);
    assert(loaded.events[0].data === json, `event ${index} is another`);
    assert(JSON.stringify(loaded.state.app.big) === json, `value ${index} of the app is another`);
    assert(JSON.stringify(loaded.state.session[`big ${index}`]) === json, `value ${index} is another`);
  }
  const full = `"${'a'.repeat(1_999_800)}"`;
  await store.commit(append('full', {}, { data: full }), context);
  assert(
    (await store.load(KEY, { events: { last: 1 } }, context)).events[0].data === full,
    'the full event is another',
  );
  await bigLog(store, context, written);
  await tooBigOnes(store, context);
}

/** The log has values beside those that they replaced, which do not go into one row with them. */
async function bigLog(store, context, written) {
  const by = (index) => ({ userId: 'user', sessionId: 'session', eventId: `e${index}` });
  const { entries } = await store.readLog({ app: 'app' }, {}, context);
  assertEqual(
    entries.map(({ pos, by: each, writes }) => [pos, each, writes.map(({ name }) => name)]),
    written.map((_, index) => [index + 1, by(index), ['big', 'small']]),
    'the entries',
  );
  for (const name of ['big', 'small']) {
    const log = await store.readLog({ app: 'app' }, { name, after: 1, limit: written.length - 2 }, context);
    const values = name === 'big' ? written : written.map((_, index) => index);
    const expected = values.slice(1, -1).map((to, at) => {
      return { pos: at + 2, time: 2_000, by: by(at + 1), writes: [{ name, from: values[at], to }] };
    });
    assertEqual(log.entries, expected, `the entries of ${name}`);
  }
  const [first, second] = ['a', 'b'].map((letter) => letter.repeat(1_999_800));
  for (const delta of [{ set: { full: first } }, { set: { full: second } }, { unset: ['full'] }]) {
    await store.commit(
      update(`full ${Object.keys(delta)[0]} ${(delta.set?.full ?? '')[0]}`, { user: delta }),
      context,
    );
  }
  const log = await store.readLog({ app: 'app', user: 'user' }, { name: 'full' }, context);
  const writes = [{ to: first }, { from: first, to: second }, { from: second }];
  assertEqual(
    log.entries,
    writes.map((write, at) => ({ pos: at + 1, time: 3_000, writes: [{ name: 'full', ...write }] })),
    'the entries of what is as big as can be',
  );
}

async function tooBigOnes(store, context) {
  const before = await store.load(KEY, {}, context);
  const long = 'a'.repeat(2_000_000);
  const event = await assertCode(() => store.commit(append('long', {}, { data: long }), context), 'rejected');
  assertEqual([event.size > 2_000_000, event.limit], [true, 2_000_000], 'size and limit');
  await assertCode(() => store.commit(append('long', { app: { set: { long } } }), context), 'rejected');
  const other = keyOf('other');
  const outcomes = await store.commitMany([create(other), append('long', { user: { set: { long } } })], context);
  assertEqual(
    outcomes.map(({ code, rev }) => code ?? rev),
    [0, 'rejected'],
    'the outcomes',
  );
  assertEqual(await store.load(KEY, {}, context), before, 'what is there');
  // A value that does not fit cannot be there.
  await assertCode(
    () => store.commit(append('e', {}, { guard: { keys: { app: { set: { long } } } } }), context),
    'conflict',
  );
}

/** Values and times that a detour over other texts or numbers would change. */
export async function exactOnes(store, context) {
  await store.open({ migrate: 'create' }, context);
  const numbers = [2 ** 53, 2 ** 53 + 2, 1e308, 5e-324, -0, 0.1 + 0.2, 1e21];
  const texts = ['\u0000', 'a\u0000b', '\u0001\u0002', '\ud83d\ude00', '\u2028', '', '"', '\\'];
  const values = [...numbers, ...texts, null, true, [[]], {}];
  const set = Object.fromEntries(values.map((value, index) => [`name ${index}`, { value, [`${value}`]: value }]));
  const times = [1_700_000_000_000.125 + 1 / 1024, 0.1, -1e300, 5e-324, 2 ** 53 + 2];
  for (const [index, time] of times.entries()) {
    const key = keyOf(`s${index}`);
    await store.commit({ ...create(key, { session: { set } }), time }, context);
    await store.commit(append('e', { user: { set } }, { key, time }), context);
    const loaded = await store.load(key, { events: { since: time } }, context);
    assertEqual([loaded.time, loaded.events.length], [time, 1], 'the time');
    assertEqual([loaded.state.session, loaded.state.user], [set, set], 'the values');
  }
  const { rows } = await store.list({ app: 'app', descending: false }, context);
  assertEqual(
    rows.map(({ time }) => time),
    [...times].sort((a, b) => a - b),
    'the times',
  );
  const [{ key, time }] = rows;
  const after = { time, sessionId: key.sessionId, userId: key.userId };
  const rest = await store.list({ app: 'app', descending: false, after }, context);
  assertEqual(rest.rows.length, times.length - 1, 'the rows behind the first');
  const many = Array.from({ length: 150 }, (_, index) => 2e12 + index / 10);
  await store.commitMany(
    many.map((at, index) => ({ ...create(keyOf(`many ${index}`, 'other')), time: at })),
    context,
  );
  const page = await store.list({ app: 'app', user: 'other', descending: false }, context);
  assertEqual(
    page.rows.map((row) => row.time),
    many,
    'the times of many',
  );
}

/** Spoils a session, and sees what is said of it and of the others. `run` runs a statement on the tables. */
export async function corruptOnes(store, context, run) {
  await store.open({ migrate: 'create' }, context);
  for (const id of ['a', 'b', 'c']) {
    await store.commit(create(keyOf(id), { session: { set: { name: id } } }), context);
    await store.commit(append('e1', {}, { key: keyOf(id) }), context);
    await store.commit(append('e2', {}, { key: keyOf(id) }), context);
  }
  await run(`UPDATE statepad_values SET value = '{' WHERE value = '"a"'`);
  await run(`DELETE FROM statepad_events WHERE place IN (SELECT n << 32 | 1 FROM statepad_sessions WHERE id = 'b')`);
  await assertCode(() => store.load(keyOf('a'), {}, context), 'corrupt');
  await assertCode(() => store.load(keyOf('b'), {}, context), 'corrupt');
  assertEqual(
    (await store.load(keyOf('b'), { events: { last: 1 } }, context)).events.length,
    1,
    'the events that are there',
  );
  assertEqual((await store.load(keyOf('c'), {}, context)).events.length, 2, 'the events of the other session');
  const { rows, corrupt, total } = await store.list({ app: 'app', descending: false }, context);
  assertEqual([rows.map(({ key }) => key.sessionId), corrupt, total], [['b', 'c'], [keyOf('a')], 3], 'the page');
  // A page of nothing else says where the next one begins.
  const page = await store.list({ app: 'app', descending: false, limit: 1 }, context);
  assertEqual(
    [page.rows, page.corrupt, page.next],
    [[], [keyOf('a')], { time: 2_000, sessionId: 'a', userId: 'user' }],
    'the page',
  );
  const rest = await store.list({ app: 'app', descending: false, limit: 1, after: page.next }, context);
  assertEqual([rest.rows.map(({ key }) => key.sessionId), rest.next], [['b'], undefined], 'the next page');
  await run(`UPDATE statepad_scopes SET pos = 1`);
  await store.commit(update('u', { app: { set: { x: 1 } } }), context);
  await run(`UPDATE statepad_values SET value = '{' WHERE name = 'x'`);
  await assertCode(() => store.loadScope({ app: 'app' }, context), 'corrupt');
  await assertCode(() => store.list({ app: 'app', descending: false }, context), 'corrupt');
}

/** Spoils values of sessions, or of their users, and follows the list. */
export async function followCorrupt(open, part, run) {
  const spoil = async (keys) => {
    for (const { sessionId, userId } of keys) {
      await run(`UPDATE statepad_values SET value = '{' WHERE value = '"${part === 'session' ? sessionId : userId}"'`);
    }
  };
  await checkCorruptPages({ part, open, damage: spoil });
}

/** Appends many events to one session, each with an app key of its own, a few at a time. */
export async function writeMany(store, context, { name, count }) {
  await store.open({ migrate: 'create' }, context);
  for (let start = 0; start < count; start += 20) {
    const ids = Array.from({ length: 20 }, (_, index) => `${name} ${start + index}`);
    await Promise.all(ids.map((id) => store.commit(append(id, { app: { set: { [id]: id } } }), context)));
  }
}

/** The result of {@link writeMany}: the number of events, the number of different ones, and the number of app keys. */
export async function readMany(store, context) {
  await store.open({ migrate: 'check' }, context);
  const { rev, events, pos, state } = await store.load(KEY, {}, context);
  const ids = new Set(events.map(({ data }) => JSON.parse(data).id));
  return { rev, events: events.length, ids: ids.size, pos: pos.app, names: Object.keys(state.app).length };
}

/**
 * Writes nothing once a later version has raised the number of the tables. `run` runs a statement on them, `dump`
 * reads all.
 */
export async function newerOnes(store, context, run, dump) {
  await store.open({ migrate: 'create' }, context);
  await store.commit(create(KEY, { user: { set: { a: 1 } } }), context);
  await store.commit(append('e1', { user: { set: { a: 2 } } }), context);
  await run("UPDATE statepad_meta SET value = '2' WHERE name = 'version'");
  const before = await dump();
  const refused = async (action) => {
    const { message } = await assertCode(action, 'rejected');
    assertEqual(message, 'the database has version 2, newer than 1: update statepad', 'the message');
    assertEqual(await dump(), before, 'what is there');
  };
  const delta = { app: { set: { a: 1 } }, user: { set: { a: 3 }, unset: ['b'] } };
  const changes = [
    append('e2', delta),
    append('e1', delta),
    create(keyOf('new', 'new'), delta),
    create(keyOf('new')),
    update('u', delta),
  ];
  for (const change of changes) {
    await refused(() => store.commit(change, context));
    await refused(() => store.commit({ ...change, attempt: 2, guard: { pos: { app: 9 } } }, context));
  }
  const outcomes = await store
    .commitMany([changes[0], changes[2], changes[4]], context)
    .catch((error) => [error, error, error]);
  assertEqual(
    outcomes.map(({ code }) => code),
    ['rejected', 'rejected', 'rejected'],
    'the outcomes',
  );
  await refused(() => store.remove(KEY, context));
  await refused(() => store.remove(KEY, context, { created: 'create user session' }));
  await refused(() => store.removeScope({ app: 'app' }, context));
  await refused(() => store.removeScope({ app: 'app', user: 'user' }, context));
  await refused(() => store.trimLog({ app: 'app', user: 'user' }, 1, context));
  await refused(() => store.lease(KEY, { holder: 'one', ttl: 1_000 }, context));
}

/** Tables with another fingerprint, or without one, are refused. `run` runs a statement on them. */
export async function assertOtherLayout(open, run) {
  for (const [statement, found] of [
    ["UPDATE statepad_meta SET value = 'other' WHERE name = 'layout'", 'the layout other'],
    ["DELETE FROM statepad_meta WHERE name = 'layout'", 'a layout without a fingerprint'],
  ]) {
    await run(statement);
    for (const migrate of ['create', 'upgrade', 'check']) {
      const { message } = await assertCode(() => open(migrate), 'rejected');
      assert(message.startsWith(`the database has ${found}, written by an unreleased build of statepad`), message);
    }
  }
}

/** The errors for arguments that are no storage. A text is one where that is a path. */
export async function wrongOnes(make, method, isPath = false) {
  const wrong = {
    ...(!isPath && { 'a string': 'sessions' }),
    null: null,
    undefined,
    'a number': 1,
    'a promise: await it first': Promise.resolve({}),
  };
  for (const [what, value] of Object.entries(wrong)) {
    const { name, message } = await assertCode(async () => make(value), 'INVALID_ARGUMENT');
    assert(name === 'StatepadError' && message.endsWith(`, not ${what}`), message);
  }
  const { message } = await assertCode(async () => make({}), 'INVALID_ARGUMENT');
  assert(message.endsWith(`, not an object without ${method}`), message);
  const named = await assertCode(async () => make(class Database {}), 'INVALID_ARGUMENT');
  assert(named.message.includes('with new'), named.message);
}

/** Tells over many changes what has happened since each place that is still known, as the reference does. */
export async function toldOnes(store, reference, context) {
  await store.open({ migrate: 'create' }, context);
  await reference.open?.({ migrate: 'create' }, context);
  const both = async (ask) => {
    const [told, expected] = [await ask(store), await ask(reference)];
    const changed = (answer) => answer.changed ?? answer.map?.((each) => each.changed);
    assertEqual(changed(told), changed(expected), 'what is told');
    return told;
  };
  await both((each) => each.commit(create(KEY, { app: { set: { a: 0 } }, user: { set: { a: 0 } } }), context));
  const places = [{ pos: { app: 1, user: 1 }, marks: { app: 'create user session', user: 'create user session' } }];
  for (let number = 1; number <= 140; number++) {
    const at = places[number % 7 === 0 ? 0 : Math.max(0, places.length - 1 - ((number * 31) % 45))];
    const long = Array.from({ length: number % 10 === 0 ? 40 : 0 }, (_, index) => [
      `long name ${index} ${number}`,
      index,
    ]);
    const set = Object.fromEntries([[`n${number % 11}`, number], ...long]);
    const delta = {
      app: { set, unset: number % 5 === 0 ? [`n${(number + 3) % 11}`, 'gone'] : [] },
      user: number % 3 === 0 ? { set: { u: number } } : {},
    };
    const changes = [
      append(`e${number}`, delta, { known: at }),
      update(
        `u${number}`,
        { app: { set: { [`n${(number + 1) % 11}`]: 1, [`own ${number}`]: 1 } } },
        { known: at, call: `call ${number}` },
      ),
    ];
    const [{ pos: first }, { pos }] =
      number % 4 === 0
        ? [
            await both((each) => each.commit(changes[0], context)),
            await both((each) => each.commit(changes[1], context)),
          ]
        : await both((each) => each.commitMany(changes, context));
    places.push({
      pos,
      marks: { app: `call ${number}`, user: number % 3 === 0 ? `e${number}` : places.at(-1).marks.user },
    });
    assertEqual(first.app, pos.app - 1, 'the position');
    await both((each) => each.load(KEY, { events: { last: 0 }, known: at }, context));
  }
  assertEqual(
    (await both((each) => each.load(KEY, { known: places[0] }, context))).changed !== undefined,
    true,
    'all is told',
  );
}

/** A service writes to a store, and another one, made later, goes on with it. */
export async function serve(makeService) {
  const [appName, userId, sessionId] = ['app', 'user', 's'];
  const first = makeService();
  const session = await first.createSession({ appName, userId, sessionId, state: { 'user:name': 'Ana' } });
  await first.appendEvent({ session, event: { actions: { stateDelta: { mood: 'calm', 'app:count': 1 } } } });
  await Promise.all(['one', 'two'].map((id) => first.createSession({ appName, userId, sessionId: id })));
  const second = makeService();
  const again = await second.getSession({ appName, userId, sessionId });
  await second.appendEvent({ session: again, event: { actions: { stateDelta: { mood: 'glad' } } } });
  const { sessions } = await first.listSessions({ appName, userId });
  const { state, revision } = await first.getSession({ appName, userId, sessionId });
  return { state, revision, sessions: sessions.map(({ id }) => id).sort() };
}
