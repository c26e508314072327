// The tables of docs/differences.md: each row is shown on @google/adk and on statepad, or names what shows it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as adk from '@google/adk';
import { DELETED, SessionService, createEvent, increment, injectSessionState } from 'statepad';
import { LeasedRunner, StatepadSessionService } from 'statepad/adk';
import { ScriptedModel } from '../adk/scripted-model.mjs';
import { KEY } from '../support/fixtures.mjs';

const instructions = await import(new URL('agents/instructions.js', import.meta.resolve('@google/adk')).href);

adk.setLogLevel(adk.LogLevel.ERROR);
const page = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8');
/** The rows of the page's tables, cell by cell: a table begins with its heads and a line of dashes. */
const tables = [...page.matchAll(/^\|.*\n\|[-|]+\n((?:\|.*\n)+)/gm)].map(([, body]) =>
  body
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(2, -2).split(' | ')),
);
const [sessions, templates, lost] = tables;
const rows = [...sessions, ...templates].map(([name]) => name);
const shown = new Set();

/** Shows a row on both services. `show` answers with what it saw. */
function row(name, show, { theirs, ours }) {
  shown.add(name);
  test(name, async () => {
    assert.ok(rows.includes(name), 'the row stands on the page');
    assert.deepEqual(
      await show(new adk.InMemorySessionService(), instructions.injectSessionState),
      theirs,
      '@google/adk',
    );
    assert.deepEqual(await show(new SessionService(), injectSessionState), ours, 'statepad');
  });
}

const event = (more, stateDelta = {}) => createEvent({ author: 'agent', ...more, actions: { stateDelta } });
const append = async (service, session, ...args) => await service.appendEvent({ session, event: event(...args) });
const outcome = async (promise) =>
  await promise.then(
    () => 'resolved',
    (error) => error.code ?? 'threw',
  );
const context = (state) => ({ state, invocationContext: { session: { state } } });

row(
  '`user:` and `app:` state set at creation',
  async (service) => {
    await service.createSession({ ...KEY, state: { 'user:a': 1, 'app:b': 2 } });
    const next = await service.createSession({ ...KEY, sessionId: 'next' });
    return { ...next.state };
  },
  { theirs: {}, ours: { 'app:b': 2, 'user:a': 1 } },
);

row(
  'creating a session under an existing id',
  async (service) => {
    await service.createSession({ ...KEY, state: { a: 1 } });
    const again = await outcome(service.createSession(KEY));
    return [again, { ...(await service.getSession(KEY)).state }];
  },
  { theirs: ['resolved', {}], ours: ['SESSION_EXISTS', { a: 1 }] },
);

row(
  'appending to a deleted session',
  async (service) => {
    const session = await service.createSession(KEY);
    await service.deleteSession(KEY);
    return [await outcome(append(service, session)), await service.getSession(KEY)];
  },
  { theirs: ['resolved', undefined], ours: ['SESSION_NOT_FOUND', undefined] },
);

row(
  'changing an event after it was appended',
  async (service) => {
    const session = await service.createSession(KEY);
    const given = event({}, { cart: ['tea'] });
    await service.appendEvent({ session, event: given });
    given.actions.stateDelta.cart.push('milk');
    return (await service.getSession(KEY)).state.cart;
  },
  { theirs: ['tea', 'milk'], ours: ['tea'] },
);

row(
  'appending an event twice',
  async (service) => {
    const session = await service.createSession(KEY);
    await append(service, session, { id: 'e', timestamp: 1 }, { n: 1 });
    const equal = await outcome(append(service, session, { id: 'e', timestamp: 1 }, { n: 1 }));
    const other = await outcome(append(service, session, { id: 'e', timestamp: 1 }, { n: 2 }));
    const { events, state } = await service.getSession(KEY);
    return [equal, other, events.length, state.n];
  },
  { theirs: ['resolved', 'resolved', 1, 2], ours: ['resolved', 'EVENT_ID_CONFLICT', 1, 1] },
);

row(
  'a value that is not JSON (`NaN`, a function)',
  async (service) => {
    const session = await service.createSession(KEY);
    const outcomes = [
      await outcome(append(service, session, {}, { n: NaN })),
      await outcome(append(service, session, {}, { f: () => 1 })),
    ];
    return [outcomes, JSON.stringify((await service.getSession(KEY)).state)];
  },
  { theirs: [['resolved', 'resolved'], '{"n":null}'], ours: [['VALUE_NOT_JSON', 'VALUE_NOT_JSON'], '{}'] },
);

row(
  "`temp:` keys in an event's delta",
  async (service) => {
    const session = await service.createSession(KEY);
    await append(service, session, {}, { 'temp:plan': 'walk' });
    return [session.state['temp:plan'], (await service.getSession(KEY)).state['temp:plan']];
  },
  { theirs: [undefined, undefined], ours: ['walk', undefined] },
);

row(
  'two writers that increment a counter of the app at the same time',
  async (service) => {
    const sessions = [];
    for (const sessionId of ['one', 'two']) {
      sessions.push(await service.createSession({ ...KEY, sessionId }));
    }
    await append(service, sessions[0], {}, { 'app:n': 5 });
    // Both have read the same value before either writes.
    const read = await Promise.all(
      sessions.map(async ({ id }) => await service.getSession({ ...KEY, sessionId: id })),
    );
    const one = (session) => (service instanceof SessionService ? increment() : session.state['app:n'] + 1);
    await Promise.all(read.map(async (session) => await append(service, session, {}, { 'app:n': one(session) })));
    return (await service.getSession({ ...KEY, sessionId: 'two' })).state['app:n'];
  },
  { theirs: 6, ours: 7 },
);

row(
  'the value of an `app:` key at an earlier event of a session',
  async (service) => {
    const one = await service.createSession({ ...KEY, sessionId: 'one' });
    const two = await service.createSession({ ...KEY, sessionId: 'two' });
    await append(service, two, {}, { 'app:n': 'theirs' });
    await append(service, one, {}, { n: 1 });
    await append(service, two, {}, { 'app:n': 'later' });
    const { events } = await service.getSession({ ...KEY, sessionId: 'one' });
    return service instanceof SessionService
      ? (await service.stateAt(one, 1))['app:n']
      : Object.assign({}, ...events.map(({ actions }) => actions.stateDelta))['app:n'];
  },
  { theirs: undefined, ours: 'theirs' },
);

row(
  'the writers of an `app:` key, over all sessions',
  async (service) => {
    for (const sessionId of ['one', 'two']) {
      const session = await service.createSession({ ...KEY, sessionId });
      await append(service, session, {}, { 'app:n': sessionId });
    }
    const told = await service.history?.({ appName: KEY.appName, key: 'app:n' });
    return told?.steps.map(({ by, from = null, to }) => [by.sessionId, from, to]);
  },
  {
    theirs: undefined,
    ours: [
      ['one', null, 'one'],
      ['two', 'one', 'two'],
    ],
  },
);

row(
  'watching for changes from a known position',
  async (service) => {
    const session = await service.createSession(KEY);
    for (const n of [1, 2, 3]) {
      await append(service, session, {}, { n });
    }
    const told = [];
    for await (const { revision, event: one } of service.watch?.(KEY, { since: 1 }) ?? []) {
      told.push([revision, one.actions.stateDelta.n]);
      if (revision === 3) {
        break;
      }
    }
    return told;
  },
  {
    theirs: [],
    ours: [
      [2, 2],
      [3, 3],
    ],
  },
);

test('a session whose end (`expireTime`) has come', async () => {
  shown.add('a session whose end (`expireTime`) has come');
  let time = 0;
  const seen = [];
  for (const service of [new adk.InMemorySessionService(), new SessionService({ now: () => time })]) {
    time = 0;
    await service.createSession({ ...KEY, expireTime: 1000 });
    time = 1000;
    seen.push((await service.getSession(KEY)) !== undefined);
  }
  assert.deepEqual(seen, [true, false]);
});

test('a large value', async () => {
  shown.add('a large value');
  const text = 'x'.repeat(1000);
  const theirs = new adk.InMemorySessionService();
  const session = await theirs.createSession(KEY);
  await append(theirs, session, {}, { text });
  assert.equal((await theirs.getSession(KEY)).state.text, text);
  const service = new SessionService({ limits: { value: 1000 } });
  const limited = await service.createSession(KEY);
  await assert.rejects(append(service, limited, {}, { text }), { code: 'LIMIT_EXCEEDED', key: 'text', size: 1002 });
});

test('deleting a key', async () => {
  shown.add('deleting a key');
  const service = new SessionService();
  const session = await service.createSession({ ...KEY, state: { a: 1 } });
  const stored = await append(service, session, {}, { a: DELETED });
  assert.equal('a' in session.state, false);
  const theirs = new adk.InMemorySessionService();
  const reader = await theirs.createSession({ ...KEY, state: { a: 1 } });
  await theirs.appendEvent({ session: reader, event: structuredClone(stored) });
  assert.equal(reader.state.a, null);
  assert.equal('delete' in adk.State.prototype, false);
});

row(
  '`numRecentEvents: 0`',
  async (service) => {
    const session = await service.createSession(KEY);
    await append(service, session);
    return (await service.getSession({ ...KEY, config: { numRecentEvents: 0 } })).events.length;
  },
  { theirs: 1, ours: 0 },
);

row(
  '`afterTimestamp` after a clock went back',
  async (service) => {
    const session = await service.createSession(KEY);
    for (const timestamp of [30, 10, 20]) {
      await append(service, session, { timestamp });
    }
    const { events } = await service.getSession({ ...KEY, config: { afterTimestamp: 15 } });
    return events.map((event) => event.timestamp);
  },
  { theirs: [20], ours: [30, 20] },
);

row(
  'the state of listed sessions',
  async (service) => {
    await service.createSession({ ...KEY, state: { a: 1 } });
    const { sessions } = await service.listSessions({ appName: 'app' });
    return { ...sessions[0].state };
  },
  { theirs: {}, ours: { a: 1 } },
);

row(
  'reading a session',
  async (service) => {
    const session = await service.createSession(KEY);
    await append(service, session);
    const [first, second] = [await service.getSession(KEY), await service.getSession(KEY)];
    return [first.events[0] === second.events[0], Object.isFrozen(first.events[0])];
  },
  { theirs: [false, false], ours: [true, true] },
);

/** Shows what comes of instructions with a state: texts, or the code of what is thrown. */
function rendered(name, state, answers) {
  const all = async (_, inject) =>
    await Promise.all(
      Object.keys(answers).map((text) => inject(text, context(state)).catch(({ code }) => code ?? 'threw')),
    );
  const [theirs, ours] = [0, 1].map((side) => Object.values(answers).map((answer) => answer[side]));
  row(name, all, { theirs, ours });
}

rendered('`${price}`', { price: 5 }, { '${price}': ['$5', '${price}'], '{price} $': ['5 $', '5 $'] });

rendered(
  '`\\{name}`',
  { name: 'Ana' },
  { '\\{name}': ['\\Ana', '{name}'], '\\\\{name}': ['\\\\Ana', '\\Ana'], 'a\\b {name}': ['a\\b Ana', 'a\\b Ana'] },
);

rendered(
  '`{user.name}`',
  { 'user.name': 'whole', user: { name: 'member', city: 'Rome' } },
  {
    '{user.name}': ['{user.name}', 'whole'],
    '{user.city}': ['{user.city}', 'Rome'],
    '{user.age}': ['{user.age}', 'TEMPLATE_KEY_MISSING'],
    '[{user.age?}]': ['[{user.age?}]', '[]'],
  },
);

rendered('`{items[0].id}`', { items: [{ id: 7 }] }, { '{items[0].id}': ['{items[0].id}', '7'] });

rendered(
  'names in other scripts (`{имя}`, `{名前}`, `{état}`)',
  { имя: 'Ана', 名前: 'アナ', état: 'prêt', 'user:שם': 'ענת' },
  {
    '{имя}': ['{имя}', 'Ана'],
    '{名前}': ['{名前}', 'アナ'],
    '{état}': ['{état}', 'prêt'],
    '{user:שם}': ['{user:שם}', 'ענת'],
    '{город}': ['{город}', 'TEMPLATE_KEY_MISSING'],
  },
);

rendered(
  'the value `null`',
  { n: null, list: [null] },
  { '[{n}]': ['[null]', '[]'], '[{n?}]': ['[null]', '[]'], '{list}': ['[null]', '[null]'] },
);

rendered('`{{name}}` if the key exists', { name: 'Ana' }, { '{{name}}': ['Ana', '{{name}}'] });

rendered('`{{literal}}` if it does not exist', {}, { 'say {{literal}}': ['threw', 'say {{literal}}'] });

rendered(
  'the closing braces of `{"a": {"b": {n}}}`',
  { n: 1 },
  { '{"a": {"b": {n}}}': ['{"a": {"b": 1', '{"a": {"b": 1}}'] },
);

rendered('`{constructor}`', {}, { '{constructor}': ['function Object() { [native code] }', 'TEMPLATE_KEY_MISSING'] });

row(
  '`{node.field}` in a workflow',
  async (_, inject) => {
    const workflowInstructionScope = { input: { text: 'of the node' }, outputsByNode: {} };
    const session = { state: { node: { text: 'of the state' } } };
    return await inject('{node.text}', {
      state: session.state,
      invocationContext: { session, workflowInstructionScope },
    });
  },
  { theirs: 'of the node', ours: 'of the state' },
);

row(
  'missing keys',
  async (_, inject) => {
    const error = await inject('{topic} for\n{user:nam}', context({ 'user:name': 'Ana' })).catch((error) => error);
    return error.missing ?? error.message;
  },
  {
    theirs: 'Context variable not found: `topic`.',
    ours: [
      { key: 'topic', line: 1, column: 1 },
      { key: 'user:nam', line: 2, column: 1, nearest: 'user:name' },
    ],
  },
);

row(
  'going back before an invocation',
  async (service) => {
    const session = await service.createSession({ ...KEY, state: { tenant: 't' } });
    await append(service, session, { invocationId: 'i1' }, { n: 1 });
    await append(service, session, { invocationId: 'i2' }, { n: 2, tenant: 'u' });
    const actions = { rewindBeforeInvocationId: 'i2', stateDelta: {} };
    const marker = createEvent({ author: 'user', invocationId: 'r', actions });
    await (service.rewind?.(session, { before: 'i2' }) ?? service.appendEvent({ session, event: marker }));
    const { state, events } = await service.getSession(KEY);
    return [{ ...state }, events.length];
  },
  { theirs: [{ tenant: 'u', n: 2 }, 3], ours: [{ tenant: 't', n: 1 }, 3] },
);

row(
  'trying an alternative from a moment',
  async (service) => {
    const session = await service.createSession({ ...KEY, state: { n: 1 } });
    await append(service, session, {}, { n: 2 });
    const fork = await service.fork?.(session, { at: 0 });
    return fork && { ...fork.state };
  },
  { theirs: undefined, ours: { n: 1 } },
);

row(
  'two runs of an agent on one session at the same time',
  async (service) => {
    const isTheirs = service instanceof adk.InMemorySessionService;
    const sessionService = isTheirs ? service : new StatepadSessionService();
    await sessionService.createSession(KEY);
    const slow = async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return 'answered';
    };
    const agent = new adk.LlmAgent({ name: 'helper', model: new ScriptedModel(slow, slow) });
    const runner = new (isTheirs ? adk.Runner : LeasedRunner)({ appName: KEY.appName, agent, sessionService });
    const run = async (text) => {
      const newMessage = { role: 'user', parts: [{ text }] };
      const { userId, sessionId } = KEY;
      const events = runner.runAsync({ userId, sessionId, newMessage });
      while (!(await events.next()).done);
    };
    const outcomes = await Promise.all([outcome(run('one')), outcome(run('two'))]);
    return [outcomes, (await sessionService.getSession(KEY)).events.map(({ author }) => author)];
  },
  {
    theirs: [
      ['resolved', 'resolved'],
      ['user', 'user', 'helper', 'helper'],
    ],
    ours: [
      ['resolved', 'LEASE_HELD'],
      ['user', 'helper'],
    ],
  },
);

test('adk-js `VertexAiSessionService` reads the first page of the events', async () => {
  // As the service pages: a hundred events, and a token for what follows.
  const events = Array.from({ length: 250 }, (_, n) => ({
    name: `events/${n}`,
    author: 'ana',
    timestamp: new Date(n),
  }));
  const list = async ({ config = {} }) => {
    const from = Number(config.pageToken ?? 0);
    const next = from + 100 < events.length ? { nextPageToken: String(from + 100) } : {};
    return { sessionEvents: events.slice(from, from + 100), ...next };
  };
  const client = { get: async () => ({ userId: 'ana' }), events: { listInternal: list } };
  const service = new adk.VertexAiSessionService({
    projectId: 'p',
    location: 'l',
    agentEngineId: '1',
    sessions: client,
  });
  const key = { appName: 'app', userId: 'ana', sessionId: 's' };
  assert.equal((await service.getSession(key)).events.length, 100);
  const recent = await service.getSession({ ...key, config: { numRecentEvents: 5 } });
  assert.deepEqual(
    recent.events.map(({ id }) => id),
    ['95', '96', '97', '98', '99'],
  );
});

test('every row of the tables is shown, here or by the file that it names', () => {
  assert.deepEqual([...shown].sort(), [...rows].sort());
  assert.equal(lost.length, 5);
  for (const cells of lost) {
    const [, file] = /^`([\w./-]+)`$/.exec(cells.at(-1));
    assert.ok(existsSync(new URL(`../../${file}`, import.meta.url)), file);
  }
});
