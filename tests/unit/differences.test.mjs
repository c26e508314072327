// The table of differences in docs/differences.md: each row is shown on @google/adk and on statepad.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as adk from '@google/adk';
import { DELETED, SessionService, createEvent, injectSessionState } from 'statepad';
import { KEY } from '../support/fixtures.mjs';

const instructions = await import(new URL('agents/instructions.js', import.meta.resolve('@google/adk')).href);

adk.setLogLevel(adk.LogLevel.ERROR);
const page = readFileSync(new URL('../../docs/differences.md', import.meta.url), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(1)
  .map((line) => line.split(' | ')[0].slice(2));
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
  '`user:` and `app:` state given at creation',
  async (service) => {
    await service.createSession({ ...KEY, state: { 'user:a': 1, 'app:b': 2 } });
    const next = await service.createSession({ ...KEY, sessionId: 'next' });
    return { ...next.state };
  },
  { theirs: {}, ours: { 'app:b': 2, 'user:a': 1 } },
);

row(
  'creating a session under an id that is taken',
  async (service) => {
    await service.createSession({ ...KEY, state: { a: 1 } });
    const again = await outcome(service.createSession(KEY));
    return [again, { ...(await service.getSession(KEY)).state }];
  },
  { theirs: ['resolved', {}], ours: ['SESSION_EXISTS', { a: 1 }] },
);

row(
  'appending to a session that has been deleted',
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
  '`afterTimestamp` when clocks went back',
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

row(
  '`{{literal}}` in an instruction',
  async (_, inject) => {
    return await inject('say {{literal}}', context({})).catch(() => 'threw');
  },
  { theirs: 'threw', ours: 'say {{literal}}' },
);

row(
  'the closing braces of `{"a": {"b": {n}}}`',
  async (_, inject) => await inject('{"a": {"b": {n}}}', context({ n: 1 })),
  {
    theirs: '{"a": {"b": 1',
    ours: '{"a": {"b": 1}}',
  },
);

row(
  '`{constructor}` in an instruction',
  async (_, inject) => {
    return await inject('{constructor}', context({})).catch((error) => error.code);
  },
  { theirs: 'function Object() { [native code] }', ours: 'TEMPLATE_KEY_MISSING' },
);

row(
  'missing keys in an instruction',
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

test('every row of the table is shown', () => {
  assert.deepEqual([...shown].sort(), [...rows].sort());
});
