// statepad/jsonl: sessions as JSON lines, and back.

import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { memoryStore } from 'statepad/stores/memory';
import { runs } from '../../support/fixtures.mjs';
import { all, eventLine, header, key, scopeLine, sessionLine } from './lines.mjs';

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
    await service.createSession(key);
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
