// statepad/jsonl: what opening lines makes of them, and which ones it refuses.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { InMemorySessionService, createEvent } from '@google/adk';
import { SessionService, isStatepadError } from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { memoryStore } from 'statepad/stores/memory';
import { storeWith } from '../../support/store.mjs';
import { all, eventLine, header, key, scopeLine, sessionLine } from './lines.mjs';

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
    ['{"kind":"statepad","version":2}', 'the format has version 2, but 1 is the last supported one'],
    [sessionLine(), 'the session "s" is in the file twice'],
    [sessionLine({ appName: undefined }), 'appName must be a string'],
    [sessionLine({ userId: 7 }), 'userId must be a string'],
    [sessionLine({ id: ' ' }), 'id is blank'],
    [sessionLine({ id: 't', timestamp: '5' }), 'timestamp must be a number of milliseconds'],
    [sessionLine({ id: 't', state: [] }), 'state must be an object'],
    [sessionLine({ id: '\ud800' }), 'sessionId must be a string without lone surrogates'],
    [
      sessionLine({ id: 't' }).replace('"state":{}', '"state":{"a":1e999}'),
      'there is the number 1e999 at state.a, which JavaScript cannot represent',
    ],
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
      'the state of the app "app" is in the file twice, with different values',
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
    [
      '{"kind":"event","event":{"id":"f","actions":{"stateDelta":{"id":9007199254740993}}}}',
      'there is the number 9007199254740993 at event.actions.stateDelta.id, which JavaScript cannot represent',
    ],
    [
      '{"kind":"scope","appName":"a","state":{"rates":[0.5,1e400]}}',
      'there is the number 1e400 at state.rates[1], which JavaScript cannot represent',
    ],
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
    const session = await adk.createSession({ ...key, state: { topic: 'tides', level: 1, 'app:motd': 'hi' } });
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
    const stored = await adk.getSession(key);
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
