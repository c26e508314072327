/**
 * Rewinding under ADK's Runner: the model is sent what it would have been sent had the later turns not been.
 */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  createEvent,
  FunctionTool,
  LlmAgent,
  TokenBasedContextCompactor,
  TruncatingContextCompactor,
} from '@google/adk';
import fc from 'fast-check';
import { SessionService } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { openLines } from 'statepad/jsonl';
import { memoryStore } from 'statepad/stores/memory';
import { z } from 'zod';
import { runs } from '../support/fixtures.mjs';
import { comparable, KEY, open, said } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/** @typedef {import('@google/adk').Event} Event */
/** @typedef {import('./harness.mjs').Opened} Opened */

/** Compactors compare timestamps: a clock that never stands still makes every run the same. */
let clock = Date.now();
mock.method(Date, 'now', () => (clock += 1));

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };

/** Sums up by listing what was said. */
const summarizer = /** @type {any} */ ({
  /** @param {Event[]} events */
  async summarize(events) {
    return {
      ...createEvent({ author: 'system' }),
      isCompacted: true,
      startTime: events[0]?.timestamp ?? 0,
      endTime: events.at(-1)?.timestamp ?? 0,
      compactedContent: `summary of ${JSON.stringify(said(events))}`,
    };
  },
});

const note = new FunctionTool({
  name: 'note',
  description: 'Notes something.',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }, context) => {
    assert.ok(context);
    context.state.set('noted', [.../** @type {string[]} */ (context.state.get('noted', [])), text]);
    context.state.set('last', text);
    return { ok: true };
  },
});

/** Answers by what was said last: a text that begins with `note` is noted by a tool first. @type {any} */
const answer = (/** @type {import('@google/adk').LlmRequest} */ { contents }) => {
  const [part] = (contents.at(-1)?.parts ?? []).slice(-1);
  if (part?.functionResponse) return 'that is noted';
  const text = part?.text ?? '';
  return text.startsWith('note') ? [{ text: 'noting' }, call('note', { text })] : `answered: ${text}`;
};

const kinds = {
  plain: () => [],
  summaries: () => [new TokenBasedContextCompactor({ tokenThreshold: 1, eventRetentionSize: 2, summarizer })],
  truncating: () => [new TruncatingContextCompactor({ threshold: 3 })],
};

/** @param {keyof typeof kinds} kind @param {import('@google/adk').BaseSessionService} [sessionService] */
async function start(kind, sessionService = new StatepadSessionService()) {
  const model = new ScriptedModel(...Array.from({ length: 200 }, () => answer));
  const agent = new LlmAgent({
    name: 'helper',
    model,
    tools: [note],
    instruction: 'Noted: {noted?}, {last?}, {tenant}.',
    outputKey: 'said',
    contextCompactors: kinds[kind](),
  });
  const opened = await open({ agent, sessionService, state: { tenant: 't', last: 'nothing' } });
  /** Takes a turn, and answers with its invocation and with all requests of it. @param {string} text */
  const turn = async (text) => {
    const from = model.requests.length;
    const event = (await opened.turn(text)).at(-1);
    const requests = model.requests.slice(from);
    return { invocation: String(event?.invocationId), requests };
  };
  return { ...opened, service: /** @type {StatepadSessionService} */ (sessionService), model, turn };
}

/** The requests to the model. @param {import('@google/adk').LlmRequest[]} requests */
const sent = (requests) =>
  comparable(requests.map(({ contents, config }) => ({ contents, instruction: config?.systemInstruction })));

for (const kind of /** @type {(keyof typeof kinds)[]} */ (Object.keys(kinds))) {
  test(`after a rewind the model is sent what it would have been sent without the later turns: ${kind}`, async () => {
    const { turn, service, state } = await start(kind);
    await turn('hello');
    await turn('note apples');
    const { invocation } = await turn('note pears');
    await turn('and more');
    const { session, shared } = await service.rewind(NAME, { before: invocation });
    assert.deepEqual(shared, []);
    assert.deepEqual(session.state['noted'], ['note apples']);
    assert.ok(!JSON.stringify(session.events).includes('pears'));
    assert.ok(!session.events.some(({ actions }) => Object.hasOwn(actions, 'rewindBeforeInvocationId')));
    const { requests } = await turn('note plums');

    const other = await start(kind);
    await other.turn('hello');
    await other.turn('note apples');
    assert.deepEqual(sent(requests), sent((await other.turn('note plums')).requests));
    assert.deepEqual(await state(), await other.state());
  });

  test(`a law: whatever turns are taken, rewound and redone, the model is sent what stands: ${kind}`, async () => {
    const step = fc.oneof(
      { arbitrary: fc.constantFrom('hello', 'note a', 'note b', 'more'), weight: 3 },
      { arbitrary: fc.nat(6), weight: 2 },
      { arbitrary: fc.constant(null), weight: 1 },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.boolean(), async (steps, isShared) => {
        const store = memoryStore();
        const here = await start(kind, new StatepadSessionService({ store }));
        // Another process rewinds, or this one does.
        const { service } = isShared ? { service: new SessionService({ store }) } : here.service;
        /** The turns that stand, and what was undone. @type {{ text: string, invocation: string }[]} */
        let stands = [];
        /** @type {(typeof stands)[]} */
        let undone = [];
        for (const each of steps) {
          if (typeof each === 'string') {
            const { invocation } = await here.turn(each);
            stands = [...stands, { text: each, invocation }];
            undone = [];
          } else if (each === null && undone.length > 0) {
            await service.redo(NAME);
            stands = /** @type {typeof stands} */ (undone.pop());
          } else if (typeof each === 'number' && each < stands.length) {
            await service.rewind(NAME, { before: stands[each]?.invocation ?? '' });
            undone.push(stands);
            stands = stands.slice(0, each);
          }
        }
        const { requests } = await here.turn('note the end');
        const other = await start(kind);
        for (const { text } of stands) await other.turn(text);
        assert.deepEqual(sent(requests), sent((await other.turn('note the end')).requests));
        assert.deepEqual(await here.state(), await other.state());
      }),
      { numRuns: runs(25) },
    );
  });
}

/** @param {import('@google/adk').Session} session */
const texts = (session) => said(session.events).map((text) => text.split(': ')[1]);

/** @param {string} invocationId @param {Partial<Event>} more */
const event = (invocationId, more = {}) =>
  createEvent({
    author: 'user',
    invocationId,
    content: { role: 'user', parts: [{ text: invocationId }] },
    actions: /** @type {any} */ ({ stateDelta: { last: invocationId } }),
    ...more,
  });

/** A session with events of so many invocations. @param {StatepadSessionService} service @param {number} count */
async function counted(service, count) {
  const session = await service.createSession({ ...KEY, state: { last: 'nothing' } });
  for (let n = 1; n <= count; n++) {
    await service.appendEvent({ session, event: event(`i${n}`, { timestamp: n }) });
  }
  return session;
}

test('a session that is held is brought up to date by a rewind, a redo and an append after another process has rewound', async () => {
  const store = memoryStore();
  const service = new StatepadSessionService({ store });
  const session = await counted(service, 4);
  const { events, state } = session;
  const rewound = await service.rewind(session, { before: 'i3' });
  assert.equal(rewound.session, session);
  assert.equal(session.events, events, 'the list stays the same');
  assert.equal(session.state, state);
  assert.deepEqual(texts(session), ['i1', 'i2']);
  assert.equal(state['last'], 'i2');
  assert.equal((await service.redo(session)).session, session);
  assert.deepEqual(texts(session), ['i1', 'i2', 'i3', 'i4']);
  assert.equal(state['last'], 'i4');

  const other = new SessionService({ store });
  await other.rewind(NAME, { before: 'i2' });
  await service.appendEvent({ session, event: event('i5') });
  assert.deepEqual(texts(session), ['i1', 'i5']);
  await other.rewind(NAME, { before: 'i5' });
  await other.rewind(NAME, { before: 'i1' });
  await other.redo(NAME);
  await other.redo(NAME);
  await service.appendEvent({ session, event: event('i6') });
  assert.deepEqual(texts(session), ['i1', 'i5', 'i6']);
  assert.deepEqual(texts(/** @type {any} */ (await service.getSession(KEY))), ['i1', 'i5', 'i6']);
  const log = await other.getSession(KEY);
  assert.equal(log?.events.length, 13, 'the log has all of it');
});

test('what ADK has done to the list of a session stays after a rewind', async () => {
  const service = new StatepadSessionService();
  const session = await counted(service, 4);
  const [first, second] = session.events;
  const copy = { .../** @type {Event} */ (second) };
  const summary = event('summary');
  // It takes the first one out, puts a copy in the place of the second and a summary before it.
  session.events.splice(0, 2, summary, copy);
  await service.rewind(session, { before: 'i3' });
  assert.deepEqual(session.events, [summary, copy]);
  assert.equal(session.events[1], copy);
  await service.redo(session);
  assert.deepEqual(texts(session), ['summary', 'i2', 'i3', 'i4']);
  assert.ok(first && !session.events.includes(first));
});

test('the last events, and those from a time on, are counted without what was rewound', async () => {
  for (const cachedEvents of [0, 100]) {
    const store = memoryStore();
    await counted(new StatepadSessionService({ store }), 6);
    const other = new SessionService({ store });
    const service = new StatepadSessionService({ store, cachedEvents });
    /** @param {import('@google/adk').GetSessionConfig} config */
    const read = async (config) => texts(/** @type {any} */ (await service.getSession({ ...KEY, config })));
    assert.deepEqual(await read({ numRecentEvents: 2 }), ['i5', 'i6']);
    assert.deepEqual(await read({ afterTimestamp: 5 }), ['i5', 'i6']);
    const held = /** @type {any} */ (await service.getSession({ ...KEY, config: { numRecentEvents: 2 } }));
    await other.rewind(NAME, { before: 'i5' });
    await other.appendEvent({ session: NAME, event: { ...event('i7', { timestamp: 3 }), author: 'user' } });
    assert.deepEqual(await read({ numRecentEvents: 1 }), ['i7']);
    assert.deepEqual(await read({ numRecentEvents: 3 }), ['i3', 'i4', 'i7']);
    assert.deepEqual(await read({ numRecentEvents: 0 }), []);
    assert.deepEqual(await read({ afterTimestamp: 3 }), ['i3', 'i4', 'i7']);
    // The marker is later than this, and the event that it has undone has this time.
    assert.deepEqual(await read({ afterTimestamp: 4, numRecentEvents: 5 }), ['i4']);
    await service.appendEvent({ session: held, event: event('i8') });
    assert.deepEqual(texts(held), ['i3', 'i4', 'i7', 'i8']);
  }
});

test('a marker that is older than what it undoes is found, too', async () => {
  const store = memoryStore();
  let now = 1_000;
  const other = new SessionService({ store, now: () => now });
  await other.createSession({ ...KEY });
  for (const n of [1, 2, 3]) {
    await other.appendEvent({ session: NAME, event: event(`i${n}`, { timestamp: 1_000 + n }) });
  }
  now = 5;
  await other.rewind(NAME, { before: 'i2' });
  await other.appendEvent({ session: NAME, event: event('i4', { timestamp: 2_000 }) });
  for (const cachedEvents of [0, 100]) {
    const service = new StatepadSessionService({ store, cachedEvents });
    const session = await service.getSession({ ...KEY, config: { afterTimestamp: 900 } });
    assert.deepEqual(texts(/** @type {any} */ (session)), ['i1', 'i4']);
  }
});

test('a marker that ADK itself appends is left out with what it undoes', async () => {
  const service = new StatepadSessionService();
  const session = await counted(service, 3);
  const actions = /** @type {any} */ ({ rewindBeforeInvocationId: 'i2', stateDelta: { last: 'i1' } });
  await service.appendEvent({ session, event: createEvent({ author: 'user', invocationId: 'r', actions }) });
  assert.deepEqual(texts(session), ['i1']);
  assert.equal(session.state['last'], 'i1');
  await service.redo(session);
  assert.deepEqual(texts(session), ['i1', 'i2', 'i3']);
  assert.equal(session.state['last'], 'i3');
});

test("a fork of ADK's sessions goes on by itself", async () => {
  const service = new StatepadSessionService();
  const session = await counted(service, 3);
  await service.rewind(session, { before: 'i3' });
  const fork = await service.fork(session, { sessionId: 'fork' });
  assert.deepEqual(texts(fork), ['i1', 'i2']);
  await service.redo(session);
  await service.appendEvent({ session: fork, event: event('f') });
  assert.deepEqual(texts(fork), ['i1', 'i2', 'f']);
  assert.deepEqual(texts(session), ['i1', 'i2', 'i3']);
  assert.equal((await service.fork({ ...NAME, id: 'fork' }, { at: 1 })).state['last'], 'i1');
  await assert.rejects(service.rewind({ ...NAME, id: 'none' }, { before: 'x' }), { code: 'SESSION_NOT_FOUND' });
});

test('a log that another ADK has rewound shows what stands', async () => {
  const store = memoryStore();
  const events = ['i1', 'i2', 'i3'].map((invocationId, n) => ({ ...event(invocationId, { timestamp: n + 1 }) }));
  // As adk-python writes it.
  const marker = {
    ...createEvent({ author: 'user', invocationId: 'r', timestamp: 4 }),
    actions: { rewindBeforeInvocationId: 'i2', stateDelta: { last: 'i1' }, artifactDelta: {} },
  };
  const session = { ...NAME, state: { last: 'i1' }, events: [...events, marker], lastUpdateTime: 4 };
  await openLines(JSON.stringify(session), { store });
  const service = new StatepadSessionService({ store });
  assert.deepEqual(texts(/** @type {any} */ (await service.getSession(KEY))), ['i1']);
  const { session: redone } = await service.redo(NAME);
  assert.deepEqual(texts(redone), ['i1', 'i2', 'i3']);
  assert.equal(redone.state['last'], 'i3');
});
