// The facts that the inspector reads out of a log: rewinds, calls of tools, branches, tokens, templates.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { SessionService } from 'statepad';
import { modelOf } from './bundle.mjs';

const { Log, noteOfTemplate, problemOf, tokensOf } = await modelOf('log', 'tools', 'tokens');

const logOf = (events) => {
  const log = new Log();
  log.update(
    events.map((event, index) => ({ id: `e${index}`, invocationId: '', timestamp: index, actions: {}, ...event })),
  );
  return log;
};
const call = (name, id) => ({ functionCall: { name, args: {}, ...(id === undefined ? {} : { id }) } });
const answer = (name, id, response = { ok: 1 }) => ({
  functionResponse: { name, response, ...(id === undefined ? {} : { id }) },
});
const withParts = (...parts) => ({ content: { parts } });
const pairs = (log) => [...log.tools.values()].map(({ id, name, call: at, response }) => [id, name, at, response]);

describe('rewinds', () => {
  const ids = { appName: 'app', userId: 'ana', sessionId: 's' };

  it('undo turns, and what they have undone stands again after a redo', async () => {
    const service = new SessionService();
    const session = await service.createSession(ids);
    for (const invocationId of ['one', 'two', 'two', 'three']) {
      await service.appendEvent({ session, event: { invocationId } });
    }
    const undone = async () => {
      const log = logOf((await service.getSession(ids)).events);
      return log.events.flatMap((_, place) => (log.undone(place + 1) ? [place + 1] : []));
    };
    assert.deepEqual(await undone(), []);
    await service.rewind(session, { before: 'two' });
    assert.deepEqual(await undone(), [2, 3, 4]);
    await service.redo(session);
    assert.deepEqual(await undone(), []);
    const log = logOf((await service.getSession(ids)).events);
    assert.deepEqual(
      log.rewinds.map(({ revision, before, to, isRedo }) => [revision, before === 'two', to, isRedo]),
      [
        [5, true, 1, false],
        [6, false, 4, true],
      ],
    );
    assert.equal(log.rewindAt(5).to, 1);
    assert.equal(log.undone(3, 5), true);
    assert.equal(log.undone(3, 4), false);
    await service.close();
  });

  it('are read as readers of the log read them, whatever they name', () => {
    const name = fc.constantFrom('', 'a', 'b', 'c', '__proto__', undefined);
    const event = fc.record({ invocationId: name, before: fc.option(name, { nil: undefined, freq: 2 }) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 25 }), (events) => {
        const named = events.map(({ invocationId, before }) => ({
          invocationId,
          actions: before === undefined ? {} : { rewindBeforeInvocationId: before },
        }));
        /** The places of the events that stand in the first `count` events. */
        const standing = (count) => {
          if (count === 0) return [];
          const { before } = events[count - 1];
          if (before === undefined || before === '') return [...standing(count - 1), count - 1];
          const first = events.findIndex(({ invocationId }) => invocationId === before);
          return standing(first >= 0 && first < count - 1 ? first : count - 1);
        };
        const log = logOf(named);
        for (const at of [...events.keys(), events.length]) {
          const stands = new Set(standing(at));
          for (let place = 0; place < at; place++) {
            const isMarker = Boolean(events[place].before);
            assert.equal(log.undone(place + 1, at), !isMarker && !stands.has(place));
          }
        }
      }),
    );
  });
});

describe('calls of tools', () => {
  it('are paired with their results by id, in whatever order these come', () => {
    const log = logOf([
      withParts(call('a', '1'), call('a', '2')),
      withParts(answer('a', '2')),
      withParts(answer('a', '1', { error: 'no' })),
    ]);
    assert.deepEqual(pairs(log), [
      ['1', 'a', 1, 3],
      ['2', 'a', 1, 2],
    ]);
    assert.deepEqual(
      [log.tools.get('1').failed, log.tools.get('1').problem, log.tools.get('2').failed],
      [true, 'no', false],
    );
    assert.deepEqual(
      log.toolsAt(1).map(({ id }) => id),
      ['1', '2'],
    );
    assert.deepEqual(
      log.toolsAt(3).map(({ id, duration }) => [id, duration]),
      [['1', 2]],
    );
  });

  it('are paired by name and order where ids are missing', () => {
    const log = logOf([
      withParts(call('a'), call('b'), call('a')),
      withParts(answer('a', undefined, { n: 1 })),
      withParts(answer('b'), answer('a')),
      withParts(answer('c')),
    ]);
    assert.deepEqual(pairs(log), [
      ['#1.0', 'a', 1, 2],
      ['#1.1', 'b', 1, 3],
      ['#1.2', 'a', 1, 3],
      ['#4.0', 'c', undefined, 4],
    ]);
  });

  it('are held apart when hostile names and ids are used twice', () => {
    const log = logOf([
      withParts(call('__proto__', 'constructor')),
      withParts(call('__proto__', 'constructor')),
      withParts(answer('__proto__', 'constructor')),
      withParts({ functionCall: null, functionResponse: 7 }, 'not a part', null),
    ]);
    assert.deepEqual(pairs(log).slice(0, 2), [
      ['constructor', '__proto__', 1, 3],
      ['#2.0', '__proto__', 2, undefined],
    ]);
  });

  it('have failed when their result says so in one of the usual forms', () => {
    const told = [
      [{ error: 'down' }, 'down'],
      [{ error: { message: 'deep', code: 5 } }, 'deep'],
      [{ isError: true, content: 'bad' }, 'bad'],
      [{ status: 'error', message: 'why' }, 'why'],
      [{ success: false }, ''],
      [{ error: true }, ''],
      [{ error: null }, undefined],
      [{ error: '' }, undefined],
      [{ status: 'ok' }, undefined],
      [{ result: 'error' }, undefined],
      ['a text', undefined],
      [null, undefined],
    ];
    assert.deepEqual(
      told.map(([response]) => problemOf(response)),
      told.map(([, problem]) => problem),
    );
  });
});

describe('a log', () => {
  it('has parallel branches side by side, nested ones with their own', () => {
    const log = logOf([
      { invocationId: 'i', author: 'user' },
      { invocationId: 'i', branch: 'fan.weather' },
      { invocationId: 'i', branch: 'fan.news' },
      { invocationId: 'i', branch: 'fan.weather.search' },
      { invocationId: 'i' },
      { invocationId: 'i', branch: 'alone' },
      { invocationId: 'j', branch: 'other' },
    ]);
    assert.deepEqual(log.branches, [
      {
        from: 2,
        to: 4,
        branches: [
          { name: 'weather', revisions: [2, 4] },
          { name: 'news', revisions: [3] },
        ],
      },
    ]);
  });

  it('tells the time since the event before in the same turn', () => {
    const log = logOf([
      { invocationId: 'i', timestamp: 100 },
      { invocationId: 'i', timestamp: 350 },
      { invocationId: 'j', timestamp: 400 },
      { invocationId: 'j', timestamp: 390 },
    ]);
    assert.deepEqual(
      [1, 2, 3, 4, 5].map((revision) => log.latency(revision)),
      [undefined, 250, undefined, 0, undefined],
    );
  });

  it('tells the tokens of events, as far as they have them', () => {
    const usageMetadata = { promptTokenCount: 5, candidatesTokenCount: 2, thoughtsTokenCount: 1, totalTokenCount: 8 };
    assert.deepEqual(tokensOf({ usageMetadata }), { prompt: 5, answer: 2, thoughts: 1, total: 8 });
    assert.deepEqual(tokensOf({ usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 } }), {
      prompt: 5,
      answer: 2,
      total: 7,
    });
    for (const usage of [undefined, null, {}, 'many', { totalTokenCount: '8' }, { totalTokenCount: -1 }]) {
      assert.equal(tokensOf({ usageMetadata: usage }), undefined);
    }
  });

  it('has the template that was noted last', () => {
    const log = logOf([
      { customMetadata: noteOfTemplate('one') },
      { customMetadata: noteOfTemplate('') },
      { customMetadata: { inspector: { template: 5 } } },
    ]);
    assert.equal(log.template, '');
  });

  it('has places for events that are not loaded, and forgets them when it is', () => {
    const event = (id) => ({
      id,
      invocationId: 'i',
      author: 'agent',
      timestamp: 1,
      actions: { stateDelta: { a: 1 } },
    });
    const log = new Log();
    log.update([event('3')], 2);
    assert.deepEqual([log.missing, log.events.length, log.at(3).id, log.at(1).id], [2, 3, '3', '']);
    log.update(['1', '2', '3', '4'].map(event));
    assert.deepEqual([log.missing, log.events.map(({ id }) => id).join(''), log.scopes], [0, '1234', [1, 1, 1, 1]]);
  });
});
