/**
 * Operators of several tools that a model calls in one answer. ADK makes one event of the tools' answers, and of their
 * deltas one delta, in which the last write of a key stands.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BasePlugin, createEvent, createEventActions, FunctionTool, LlmAgent, ParallelAgent } from '@google/adk';
import {
  append,
  compareAndSet,
  DELETED,
  increment,
  LeasedRunner,
  setOnce,
  StatepadSessionService,
} from 'statepad/adk';
import { KEY, open } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

/** @typedef {import('@google/adk').State} State */

/** A tool that writes what its argument names. @param {Record<string, (state: State) => void>} writes */
const writer = (writes) =>
  new FunctionTool({
    name: 'write',
    description: 'Writes.',
    execute: (input, context) => {
      const { what } = /** @type {{ what: string }} */ (input);
      writes[what]?.(/** @type {import('@google/adk').Context} */ (context).state);
      return what;
    },
  });

/** @param {string[]} whats */
const calls = (...whats) => whats.map((what) => ({ functionCall: { name: 'write', args: { what } } }));

/**
 * The state after a turn in which the tools are called in one answer of the model.
 *
 * @param {Record<string, unknown>} before
 * @param {Record<string, (state: State) => void>} writes in the order of the calls
 * @param {{ plugins?: BasePlugin[], times?: number, service?: StatepadSessionService }} [setting]
 */
async function stateAfter(before, writes, { plugins, service = new StatepadSessionService() } = {}) {
  const model = new ScriptedModel(calls(...Object.keys(writes)), 'done');
  const agent = new LlmAgent({ name: 'clerk', model, tools: [writer(writes)] });
  const opened = await open({
    agent,
    sessionService: service,
    plugins: plugins ?? [service.plugin],
    state: before,
  });
  await opened.turn('go');
  const { state, events } = await opened.stored();
  return { state: { ...state }, events };
}

test('five increments of one key make five, five appends five items, in the order of the calls', async () => {
  const count = (/** @type {string} */ item) => (/** @type {State} */ state) => {
    state.set('app:n', increment());
    state.set('list', append(item));
    state.set(`own ${item}`, item);
  };
  const writes = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((item) => [item, count(item)]));
  const { state, events } = await stateAfter({ 'app:n': 10 }, writes);
  assert.equal(state['app:n'], 15);
  assert.deepEqual(state.list, ['a', 'b', 'c', 'd', 'e']);
  assert.equal(state['own a'], 'a');
  const answers = events.filter(({ content }) => content?.parts?.some((part) => part.functionResponse));
  assert.equal(answers.length, 1);
  assert.equal(answers[0]?.actions.stateDelta['app:n'], 15);
});

for (const [name, before, writes, after] of /** @type {const} */ ([
  ['an operator behind a value works on the value', 7, [5, increment(2)], 7],
  ['a value behind an operator stands', 7, [increment(2), 5], 5],
  ['an operator behind a deletion works on nothing', 7, [DELETED, increment(2)], 2],
  ['the first of two that set once stands', undefined, [setOnce('a'), setOnce('b')], 'a'],
  ['one comparison goes on where the other ended', 1, [compareAndSet(1, 2), compareAndSet(2, 3)], 3],
  ['items go behind a list that was set', undefined, [['a'], append('b'), append('c')], ['a', 'b', 'c']],
])) {
  test(`of several tools, ${name}`, async () => {
    const each = writes.map((write, index) => [`${index}`, (/** @type {State} */ state) => state.set('k', write)]);
    const { state } = await stateAfter(before === undefined ? {} : { k: before }, Object.fromEntries(each));
    assert.deepEqual(state.k, after);
  });
}

test('operators of two tools that are no single write are refused by the name of the key, and nothing is written', async () => {
  const service = new StatepadSessionService();
  const writes = {
    one: (/** @type {State} */ state) => state.set('k', setOnce(1)),
    two: (/** @type {State} */ state) => state.set('k', increment()),
  };
  await assert.rejects(stateAfter({}, writes, { service }), {
    code: 'INVALID_ARGUMENT',
    message:
      'tools of one answer of the model have written setOnce and then increment to "k", which cannot be combined into one write: ' +
      'use updateState() of sessionService.service in the tools',
  });
  assert.equal('k' in ((await service.getSession(KEY))?.state ?? {}), false);
});

const counting = {
  one: (/** @type {State} */ state) => state.set('n', increment()),
  two: (/** @type {State} */ state) => state.set('n', increment()),
};

test('without the plugin an operator that may be one of several is refused, by the name of the plugin', async () => {
  const service = new StatepadSessionService();
  await assert.rejects(stateAfter({}, counting, { service, plugins: [] }), {
    code: 'INVALID_ARGUMENT',
    message:
      'several tools of one answer of the model may have written operators to "n", and ADK has kept only the last one: ' +
      'pass the plugin of the session service to the runner first, plugins: [sessionService.plugin, …]',
  });
  assert.equal('n' in ((await service.getSession(KEY))?.state ?? {}), false);
  const { state } = await stateAfter({}, { one: counting.one }, { plugins: [] });
  assert.equal(state.n, 1, 'one tool needs none');
});

test('a plugin that answers in the place of a tool hides it from a later one: the operator is refused', async () => {
  class Answers extends BasePlugin {
    async beforeToolCallback() {
      return { result: 'no tool was called' };
    }
    /** @param {{ toolContext: import('@google/adk').Context }} params */
    async afterToolCallback({ toolContext }) {
      toolContext.state.set('n', increment());
      return { result: 'nor asked after' };
    }
  }
  const service = new StatepadSessionService();
  const answers = new Answers('answers');
  await assert.rejects(stateAfter({}, counting, { service, plugins: [answers, service.plugin] }), {
    code: 'INVALID_ARGUMENT',
  });
  const first = new StatepadSessionService();
  const { state } = await stateAfter({}, counting, { service: first, plugins: [first.plugin, answers] });
  assert.equal(state.n, 2);
});

test('callbacks of an agent behind its tools count, too', async () => {
  const service = new StatepadSessionService();
  const model = new ScriptedModel(calls('one', 'two'), 'done');
  const agent = new LlmAgent({
    name: 'clerk',
    model,
    tools: [writer({})],
    afterToolCallback: ({ context }) => void context.state.set('n', increment()),
  });
  const opened = await open({ agent, sessionService: service, plugins: [service.plugin] });
  await opened.turn('go');
  assert.equal((await opened.state()).n, 2);
});

test('parallel branches with several calls each all count', async () => {
  const service = new StatepadSessionService();
  const branch = (/** @type {string} */ name) =>
    new LlmAgent({ name, model: new ScriptedModel(calls('one', 'two'), 'done'), tools: [writer(counting)] });
  const agent = new ParallelAgent({ name: 'all', subAgents: [branch('a'), branch('b')] });
  const opened = await open({ agent, sessionService: service, plugins: [service.plugin] });
  await opened.turn('go');
  assert.equal((await opened.state()).n, 4);
});

test('tools beside one that waits for a confirmation count once', async () => {
  const service = new StatepadSessionService();
  const ask = new FunctionTool({
    name: 'ask',
    description: 'Asks.',
    execute: (_, context) => {
      context?.state.set('n', increment(10));
      if (context?.toolConfirmation === undefined) context?.requestConfirmation({ hint: 'really?' });
      return 'asked';
    },
  });
  const model = new ScriptedModel([...calls('one', 'two'), { functionCall: { name: 'ask', args: {} } }], 'done');
  const agent = new LlmAgent({ name: 'clerk', model, tools: [writer(counting), ask] });
  const opened = await open({ agent, sessionService: service, plugins: [service.plugin] });
  await opened.turn('go');
  assert.equal((await opened.state()).n, 12);
});

test('a leased runner has the plugin, also when it was given it', async () => {
  for (const isGiven of [true, false]) {
    const sessionService = new StatepadSessionService();
    await sessionService.createSession(KEY);
    const agent = new LlmAgent({
      name: 'clerk',
      model: new ScriptedModel(calls('one', 'two'), 'done'),
      tools: [writer(counting)],
    });
    const plugins = isGiven ? [sessionService.plugin] : [];
    const runner = new LeasedRunner({ appName: KEY.appName, agent, sessionService, plugins });
    const newMessage = { role: 'user', parts: [{ text: 'go' }] };
    const run = runner.runAsync({ userId: KEY.userId, sessionId: KEY.sessionId, newMessage });
    for await (const event of run) assert.ok(event.id);
    assert.equal((await sessionService.getSession(KEY))?.state.n, 2);
  }
});

test('an event of several answers that is sent again is the same, also when it was not stored at first', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  const parts = ['c1', 'c2'].map((id) => ({ functionResponse: { id, name: 'write', response: {} } }));
  const deltas = [{ n: increment() }, { n: increment() }];
  for (const [index, stateDelta] of deltas.entries()) {
    const toolContext = { functionCallId: `c${index + 1}`, actions: createEventActions({ stateDelta }) };
    const context = { ...toolContext, invocationContext: { session } };
    await service.plugin.afterToolCallback({ toolContext: /** @type {any} */ (context) });
  }
  const actions = createEventActions({ stateDelta: Object.assign({}, ...deltas) });
  const event = createEvent({ author: 'clerk', content: { role: 'user', parts }, actions });
  await service.appendEvent({ session, event });
  await service.appendEvent({ session, event });
  assert.equal(session.state.n, 2);
  assert.equal((await service.getSession(KEY))?.events.length, 1);
});
