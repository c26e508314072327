// statepad/jsonl: sessions as JSON lines, and back.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { InMemorySessionService, createEvent } from '@google/adk';
import fc from 'fast-check';
import { DELETED, SessionService, isStatepadError } from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { memoryStore } from 'statepad/stores/memory';
import { storeWith } from '../support/store.mjs';
import { runs } from '../support/fixtures.mjs';

const key = { appName: 'app', userId: 'ana', sessionId: 's' };
const header = '{"kind":"statepad","version":1}';
const sessionLine = (members = {}) =>
  JSON.stringify({ kind: 'session', appName: 'app', userId: 'ana', id: 's', timestamp: 5, state: {}, ...members });
const eventLine = (id, stateDelta = {}, members = {}) =>
  JSON.stringify({ kind: 'event', event: { id, author: 'bot', timestamp: 7, actions: { stateDelta }, ...members } });
const scopeLine = (state, members = {}) => JSON.stringify({ kind: 'scope', appName: 'app', ...members, state });

async function all(lines) {
  const listed = [];
  for await (const line of lines) listed.push(line);
  return listed;
}

/** Keeps nothing of what sessions began with, as stores did before they could. */
function forgetful() {
  const store = memoryStore();
  return {
    ...store,
    commitMany: undefined,
    commit: async ({ event, ...change }) =>
      await store.commit(change.kind === 'create' ? change : { ...change, event }),
  };
}

describe('what is exported, opened and exported again', () => {
  const names = fc.oneof(
    fc.constantFrom('a', 'b', '', '7', '3', '__proto__', 'constructor', '名', '}{', 'x\r\n{"', '\u2028', '\u{1F30A}'),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
  );
  const keys = fc.tuple(fc.constantFrom('', 'app:', 'user:', 'temp:'), names).map((parts) => parts.join(''));
  const values = fc.oneof(
    fc.constant(DELETED),
    fc.constantFrom(null, '}\n{', 1e21, -0),
    fc.jsonValue({ maxDepth: 2 }),
    fc.nat(3),
  );
  const deltas = fc
    .uniqueArray(fc.tuple(keys, values), { selector: ([name]) => name, maxLength: 5 })
    .map((entries) => Object.fromEntries(entries));
  const whose = { userId: fc.constantFrom('ana', 'bob', ''), sessionId: fc.constantFrom('s', '__proto__', '}{') };
  const metadata = fc.constantFrom(undefined, {}, { x: 1 }, { statepad: { y: 2 }, z: 3 });
  const operation = fc.oneof(
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('create'), ...whose, delta: deltas }) },
    {
      weight: 6,
      arbitrary: fc.record({
        kind: fc.constant('append'),
        ...whose,
        delta: deltas,
        timestamp: fc.integer({ min: -9, max: 9 }),
        customMetadata: metadata,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('update'),
        userId: whose.userId,
        by: fc.constantFrom('app:', 'user:'),
        delta: deltas,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete'), ...whose }) },
  );
  const refusals = ['SESSION_EXISTS', 'SESSION_NOT_FOUND'];
  const steps = {
    create: (service, { userId, sessionId, delta }) =>
      service.createSession({ ...key, userId, sessionId, state: delta }),
    append: (service, { userId, sessionId, delta, ...event }) =>
      service.appendEvent({
        session: { appName: 'app', userId, id: sessionId },
        event: { ...event, actions: { stateDelta: delta, more: [] }, last: true },
      }),
    update: (service, { userId, by, delta }) =>
      service.updateState({ appName: 'app', userId }, () =>
        Object.fromEntries(Object.entries(delta).filter(([name]) => name.startsWith(by))),
      ),
    delete: (service, { userId, sessionId }) => service.deleteSession({ ...key, userId, sessionId }),
  };

  async function perform(service, operations) {
    for (const { kind, ...step } of operations) {
      await steps[kind](service, step).catch((error) => assert.ok(refusals.includes(error.code), error));
    }
  }

  /** A text in pieces. */
  function cut(text, places) {
    const ends = [...new Set(places.map((place) => Math.floor(place * text.length)))].sort(
      (one, other) => one - other,
    );
    return [...ends, text.length].map((end, index) => text.slice(ends[index - 1] ?? 0, end));
  }

  const sources = [
    { name: 'memory', make: () => ({}), isOrdered: true },
    { name: 'a store', make: () => ({ store: memoryStore() }), isOrdered: true },
    { name: 'a store that knows no creations', make: () => ({ store: forgetful() }), isOrdered: false },
  ];
  for (const { name, make, isOrdered } of sources) {
    test(`is the same, from ${name}`, async () => {
      const property = async (operations, places, end, stored) => {
        let time = 0;
        const service = new SessionService({ ...make(), now: () => (time += 1) });
        await perform(service, operations);
        const lines = await all(exportLines(service, { appName: 'app' }));
        const { sessions, totalItems } = await service.listSessions({ appName: 'app' });
        fc.pre(totalItems > 0);

        const opened = await openLines(cut(lines.join(end) + end, places), stored ? { store: memoryStore() } : {});
        assert.deepEqual(await all(exportLines(opened.service, { appName: 'app' })), lines);
        assert.deepEqual(
          opened.sessions.map(({ userId, sessionId }) => [userId, sessionId]),
          sessions.map(({ userId, id }) => [userId, id]),
        );
        for (const found of opened.sessions) {
          const [before, after] = [await service.getSession(found), await opened.service.getSession(found)];
          assert.deepEqual({ ...after.state }, { ...before.state });
          if (isOrdered) {
            // Objects have numbers before their other members: where these stood among shared names is not in the
            // lines.
            const order = ({ state }) => Object.keys(state).filter((name) => !/:\d+$/.test(name));
            assert.deepEqual(order(after), order(before));
          }
          assert.deepEqual([after.revision, after.lastUpdateTime], [before.revision, before.lastUpdateTime]);
        }
        await opened.service.close();
      };
      const many = fc.array(operation, { maxLength: 30, size: 'max' });
      const arbitraries = [
        many,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 9 }),
        fc.constantFrom('\n', '\r\n', '\n\n \n'),
        fc.boolean(),
      ];
      await fc.assert(fc.asyncProperty(...arbitraries, property), { numRuns: runs(100) });
    });
  }

  test('is the same with names that every object inherits', async () => {
    const service = new SessionService({ now: () => 1 });
    await service.createSession({ appName: 'app', userId: 'ana', sessionId: 's' });
    for (const prefix of ['app:', 'user:', '']) {
      const delta = JSON.parse(`{"${prefix}__proto__":{},"${prefix}constructor":null,"${prefix}toString":[]}`);
      await service.updateState(
        { appName: 'app', userId: 'ana', ...(prefix === '' && { sessionId: 's' }) },
        () => delta,
      );
    }
    const lines = await all(exportLines(service, { appName: 'app' }));
    const opened = await openLines([lines.join('\n')]);
    assert.deepEqual(await all(exportLines(opened.service, { appName: 'app' })), lines);
    await opened.service.close();
  });

  test('is the same when each unit of its text comes by itself, or each line without its end', async () => {
    const { service } = await openLines([
      sessionLine({ state: { '}{': '}{"\u{1F30A}' } }),
      eventLine('e', { a: '{}{' }),
      scopeLine({ n: 1 }),
    ]);
    const lines = await all(exportLines(service, { appName: 'app' }));
    assert.equal(lines.length, 5);
    for (const input of [
      lines,
      exportLines(service, { appName: 'app' }),
      `\uFEFF${lines.join('\n')}`.split(''),
      ['', `\uFEFF${lines.join('\r\n')}`],
    ]) {
      const again = await openLines(input);
      assert.deepEqual(await all(exportLines(again.service, { appName: 'app' })), lines);
    }
  });

  test('is the same as a stream of a file, of a browser, and of a browser whose streams cannot be iterated', async () => {
    const text = [header, sessionLine({ state: { word: '名'.repeat(50_000) } }), eventLine('e')].join('\n');
    const folder = await mkdtemp(join(tmpdir(), 'statepad-jsonl-'));
    try {
      await writeFile(join(folder, 'sessions.jsonl'), text);
      const stream = () => new globalThis.Blob([text]).stream().pipeThrough(new globalThis.TextDecoderStream());
      const reader = stream().getReader();
      for (const input of [
        createReadStream(join(folder, 'sessions.jsonl'), 'utf8'),
        stream(),
        { getReader: () => reader },
      ]) {
        const { service, sessions, events } = await openLines(input);
        assert.equal(events, 1);
        assert.equal((await service.getSession(sessions[0])).state.word.length, 50_000);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('exporting', () => {
  async function shared(options) {
    const service = new SessionService({ ...options, now: () => 3 });
    const ana = await service.createSession({
      ...key,
      state: { topic: 'tides', 'user:n': 1, 'app:m': 1, 'temp:x': 1 },
    });
    await service.createSession({ ...key, userId: 'bob', state: { 'user:n': 2 } });
    await service.appendEvent({
      session: ana,
      event: { id: 'e', timestamp: 9, actions: { stateDelta: { topic: 'moon', 'user:n': 5, 'temp:y': 1 } } },
    });
    await service.updateState({ appName: 'app' }, () => ({ 'app:m': DELETED, 'app:k': [1] }));
    return service;
  }

  for (const [name, options] of Object.entries({ memory: {}, 'a store': { store: memoryStore() } })) {
    test(`tells what each session began with, what happened, and the values of now, from ${name}`, async () => {
      const service = await shared(options);
      const actions = {
        stateDelta: { topic: 'moon', 'user:n': 5 },
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      };
      assert.deepEqual((await all(exportLines(service, { appName: 'app' }))).map(JSON.parse), [
        { kind: 'statepad', version: 1 },
        { kind: 'session', appName: 'app', userId: 'bob', id: 's', timestamp: 3, state: { 'user:n': 2 } },
        {
          kind: 'session',
          appName: 'app',
          userId: 'ana',
          id: 's',
          timestamp: 3,
          state: { topic: 'tides', 'app:m': 1, 'user:n': 1 },
        },
        { kind: 'event', event: { id: 'e', timestamp: 9, invocationId: '', actions } },
        { kind: 'scope', appName: 'app', state: { k: [1] } },
        { kind: 'scope', appName: 'app', userId: 'bob', state: { n: 2 } },
        { kind: 'scope', appName: 'app', userId: 'ana', state: { n: 5 } },
      ]);
    });
  }

  test('gives a user, or one session, and the values that it sees', async () => {
    const service = await shared({});
    const told = async (target) =>
      (await all(exportLines(service, target))).map(JSON.parse).map(({ kind, userId }) => [kind, userId].join(' '));
    const bob = ['statepad ', 'session bob', 'scope ', 'scope bob'];
    assert.deepEqual(await told({ appName: 'app', userId: 'bob' }), bob);
    assert.deepEqual(await told({ ...key, userId: 'bob' }), bob);
    await assert.rejects(told({ ...key, sessionId: 'none' }), { code: 'SESSION_NOT_FOUND', id: 'none' });
    await assert.rejects(told({ appName: 'app', sessionId: 's' }), { code: 'INVALID_ARGUMENT', path: 'userId' });
  });

  test('gives each of hundreds of sessions once, also those that move while they are listed', async () => {
    let time = 0;
    const service = new SessionService({ now: () => (time += 1) });
    for (let number = 0; number < 250; number++) {
      await service.createSession({ appName: 'app', userId: 'ana', sessionId: `s${number}` });
    }
    const ids = [];
    for await (const line of exportLines(service, { appName: 'app' })) {
      const { kind, id } = JSON.parse(line);
      if (kind === 'session') {
        ids.push(id);
        await service.appendEvent({ session: { appName: 'app', userId: 'ana', id }, event: {} });
      }
    }
    assert.deepEqual(
      ids,
      Array.from({ length: 250 }, (_, number) => `s${number}`),
    );
  });

  test('leaves out no session without saying so', async () => {
    const store = memoryStore();
    const load = async (one, query, context) => {
      const loaded = await store.load(one, query, context);
      return one.sessionId === 'bad' ? { ...loaded, events: [{ rev: 1, data: '{' }] } : loaded;
    };
    const writer = new SessionService({ store });
    for (const sessionId of ['bad', 'good']) {
      const session = await writer.createSession({ ...key, sessionId });
      await writer.appendEvent({ session, event: { id: sessionId } });
    }
    const lines = [];
    const read = async () => {
      for await (const line of exportLines(new SessionService({ store: { ...store, load } }), { appName: 'app' }))
        lines.push(line);
    };
    await assert.rejects(read(), { code: 'STORE_CORRUPT', id: 'bad' });
    assert.deepEqual((await openLines(lines)).sessions, [{ ...key, sessionId: 'good' }]);
  });

  test('ends when it is aborted', async () => {
    const service = await shared({});
    await assert.rejects(
      all(exportLines(service, { appName: 'app' }, { signal: AbortSignal.abort(new Error('enough')) })),
      { message: 'enough' },
    );
  });
});

describe('opening', () => {
  test('keeps times and ids, and the clock goes on after that', async () => {
    const text = [header, sessionLine(), header, sessionLine({ id: 't', timestamp: -2.5 }), eventLine('e')].join('\n');
    const { service, sessions, events } = await openLines(text, { now: () => 1000 });
    assert.deepEqual(sessions, [key, { ...key, sessionId: 't' }]);
    assert.equal(events, 1);
    assert.equal((await service.getSession(key)).lastUpdateTime, 5);
    const session = await service.getSession(sessions[1]);
    assert.deepEqual([session.events[0].id, session.lastUpdateTime], ['e', 7]);
    assert.equal((await service.appendEvent({ session, event: {} })).timestamp, 1000);
  });

  test('makes shared values what the scope lines say, whatever the sessions wrote', async () => {
    const lines = [
      sessionLine({ state: { 'app:a': 1, 'app:gone': 1, 'user:n': 1 } }),
      eventLine('e', { 'app:b': 2, 'user:n': 2 }),
      scopeLine({ b: 2, new: { x: null }, a: 3 }),
      scopeLine({ b: 2, new: { x: null }, a: 3 }),
      scopeLine({}, { userId: 'ana' }),
    ];
    const { service } = await openLines(lines.join('\n'));
    assert.equal(JSON.stringify(await service.getAppState(key)), '{"b":2,"new":{"x":null},"a":3}');
    assert.deepEqual(Object.keys(await service.getUserState(key)), []);
    const without = await openLines(lines.slice(0, 2).join('\n'));
    assert.equal(JSON.stringify(await without.service.getAppState(key)), '{"a":1,"gone":1,"b":2}');
  });

  test('takes an event that is there twice, and the same, once', async () => {
    const { service, events } = await openLines(
      [sessionLine(), eventLine('e', { a: 1 }), eventLine('e', { a: 1 })].join('\n'),
    );
    assert.equal(events, 1);
    assert.equal((await service.getSession(key)).revision, 1);
  });

  const unread = [
    ['{"kind":"session",', 'expected double-quoted property name in JSON at position 18'],
    ['{"kind":', 'unexpected end of JSON input'],
    ['[]', 'a line must be an object'],
    ['{}', 'kind is missing'],
    ['{"kind":"sessions"}', 'the kind "sessions" is unknown'],
    ['{"kind":7}', 'the kind 7 is unknown'],
    ['{"kind":"statepad","version":"1"}', 'version must be a whole number from 1'],
    ['{"kind":"statepad","version":2}', 'the format has version 2, and 1 is the last one that is known here'],
    [sessionLine(), 'the session "s" is in the file twice'],
    [sessionLine({ appName: undefined }), 'appName must be a string'],
    [sessionLine({ userId: 7 }), 'userId must be a string'],
    [sessionLine({ id: ' ' }), 'id is blank'],
    [sessionLine({ id: 't', timestamp: '5' }), 'timestamp must be a number of milliseconds'],
    [sessionLine({ id: 't', state: [] }), 'state must be an object'],
    [sessionLine({ id: '\ud800' }), 'sessionId must be a string without lone surrogates'],
    [sessionLine({ id: 't' }).replace('"state":{}', '"state":{"a":1e999}'), 'state["a"] is Infinity: it is not JSON'],
    ['{"kind":"event"}', 'event must be an object'],
    [eventLine(''), 'event.id is empty'],
    [eventLine('f', {}, { timestamp: undefined }), 'event.timestamp must be a number of milliseconds'],
    [eventLine('f', {}, { partial: true }), 'event is partial: such events are not stored'],
    [eventLine('f', {}, { actions: 7 }), 'actions must be a plain object, not 7'],
    [eventLine('f', []), 'actions.stateDelta must be a plain object of keys and values, not a list'],
    [eventLine('f', { a: '\ud800' }), 'actions.stateDelta["a"] has a lone surrogate: it is not JSON'],
    [eventLine('e', { a: 2 }), 'session "s" has another event with the id "e"'],
    [scopeLine(7), 'state must be an object'],
    [scopeLine({}, { userId: null }), 'userId must be a string'],
    [scopeLine({ a: '\ud800' }), 'delta["app:a"] has a lone surrogate: it is not JSON'],
    [
      `${scopeLine({})}\n${scopeLine({ a: 1 })}`,
      'the state of the app "app" is in the file twice, and not the same',
      5,
    ],
    [
      JSON.stringify({
        id: 't',
        appName: 'a',
        userId: 'u',
        state: {},
        events: [{ id: 'x', timestamp: 1 }, { id: 'y' }],
      }),
      'events[1].timestamp must be a number of milliseconds',
    ],
    [
      JSON.stringify({
        id: 't',
        appName: 'a',
        userId: 'u',
        state: {},
        events: [{ id: 'x', timestamp: 1, actions: 7 }],
      }),
      'events[0]: actions must be a plain object, not 7',
    ],
    [JSON.stringify({ id: 't', appName: 'a', userId: 'u', state: {}, events: {} }), 'events must be a list'],
  ];
  for (const [broken, reason, line = 4] of unread) {
    test(`refuses ${broken.slice(0, 70)}: ${reason}`, async () => {
      const committed = [];
      const store = storeWith((change) => committed.push(change));
      const text = [header, sessionLine(), eventLine('e'), broken, eventLine('z')].join('\n');
      const problems = [{ line, reason }];
      await assert.rejects(openLines(text, { store }), {
        name: 'StatepadError',
        code: 'INVALID_ARGUMENT',
        message: `line ${line}: ${reason}`,
        line,
        problems,
      });
      assert.deepEqual(committed, []);
    });
  }

  test('lists all broken lines, the first 100 of them, in their order', async () => {
    const problemsOf = (lines) =>
      openLines(lines.join('\n')).then(
        () => assert.fail('it was opened'),
        ({ problems }) => problems,
      );
    const lines = [
      eventLine('a'),
      '',
      sessionLine(),
      eventLine('e', [1]),
      'x',
      sessionLine({ state: 1 }),
      eventLine('b', [1]),
      scopeLine(null),
    ];
    assert.deepEqual(
      (await problemsOf(lines)).map(({ line }) => line),
      [1, 4, 5, 6, 8],
    );
    const many = await problemsOf([...Array.from({ length: 200 }, () => 'x'), sessionLine()]);
    assert.deepEqual(
      many.map(({ line }) => line),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
  });

  test('refuses an event before any session', async () => {
    await assert.rejects(openLines(`${header}\n\n${eventLine('e')}\n${sessionLine()}`), {
      message: 'line 3: an event before any session',
      line: 3,
    });
  });

  test('refuses what has no session, and what is no text', async () => {
    for (const empty of ['', '\uFEFF \r\n\n', header, [], [`${header}\n`, scopeLine({ a: 1 })]]) {
      await assert.rejects(openLines(empty), { code: 'INVALID_ARGUMENT', message: 'there is no session in it' });
    }
    for (const wrong of [undefined, 7, {}, [new Uint8Array(3)], new globalThis.Blob(['{}']).stream()]) {
      await assert.rejects(openLines(wrong), { code: 'INVALID_ARGUMENT', path: 'input' });
    }
  });

  test('writes nothing into a store that has one of the sessions already, and closes its service when the store fails', async () => {
    const store = memoryStore();
    await new SessionService({ store }).createSession({ ...key, sessionId: 't' });
    const text = [sessionLine(), sessionLine({ id: 't' })].join('\n');
    await assert.rejects(openLines(text, { store }), { code: 'SESSION_EXISTS', id: 't' });
    assert.equal((await new SessionService({ store }).listSessions(key)).totalItems, 1);

    let closed = 0;
    const failing = {
      ...storeWith(() => {
        throw new Error('the disk is full');
      }),
      close: () => (closed += 1),
    };
    await assert.rejects(
      openLines(text, { store: failing, retry: { attempts: 1 } }),
      (error) => isStatepadError(error) && error.code === 'COMMIT_UNKNOWN',
    );
    assert.equal(closed, 1);
  });
});

describe("sessions of ADK's own service, as JSON", () => {
  test('are opened with their values, events and times', async () => {
    const adk = new InMemorySessionService();
    const target = { appName: 'app', userId: 'ana', sessionId: 's' };
    const session = await adk.createSession({ ...target, state: { topic: 'tides', level: 1, 'app:motd': 'hi' } });
    const deltas = [
      { topic: 'moon', 'user:n': 1 },
      { __proto__: null, topic: 'sun', 'app:seen': [1], 'temp:x': 1 },
    ];
    for (const [index, stateDelta] of deltas.entries()) {
      const content = { role: 'model', parts: [{ text: `answer ${index}` }] };
      await adk.appendEvent({
        session,
        event: createEvent({
          invocationId: 'i',
          author: 'bot',
          content,
          timestamp: 100 + index,
          actions: { stateDelta },
        }),
      });
    }
    const stored = await adk.getSession(target);
    await adk.createSession({ appName: 'app', userId: 'bob', sessionId: 'empty' });
    const empty = await adk.getSession({ appName: 'app', userId: 'bob', sessionId: 'empty' });

    const { service, sessions, events } = await openLines(`${JSON.stringify(stored)}\n${JSON.stringify(empty)}\n`, {
      now: () => 1,
    });
    assert.deepEqual([sessions.length, events], [2, 2]);
    const opened = await service.getSession(sessions[0]);
    assert.deepEqual({ ...opened.state }, { ...stored.state });
    assert.deepEqual({ ...opened.state }, { topic: 'sun', level: 1, 'app:motd': 'hi', 'app:seen': [1], 'user:n': 1 });
    assert.deepEqual(JSON.parse(JSON.stringify(opened.events)), JSON.parse(JSON.stringify(stored.events)));
    assert.deepEqual({ ...(await service.stateAt(opened, 0)) }, { level: 1, 'app:motd': 'hi' });
    assert.equal(opened.lastUpdateTime, 101);
    assert.equal((await service.getSession(sessions[1])).lastUpdateTime, empty.lastUpdateTime);

    const lines = await all(exportLines(service, { appName: 'app' }));
    const again = await openLines(lines);
    assert.deepEqual(await all(exportLines(again.service, { appName: 'app' })), lines);
  });

  test('are those of statepad, too', async () => {
    const { service } = await openLines([sessionLine({ state: { a: 1, b: 1 } }), eventLine('e', { b: 2 })].join('\n'));
    const opened = await openLines(JSON.stringify(await service.getSession(key)));
    assert.deepEqual({ ...(await opened.service.getSession(key)).state }, { a: 1, b: 2 });
  });
});
