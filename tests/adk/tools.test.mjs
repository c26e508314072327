/**
 * Tools that read and write state through their context.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionTool, LlmAgent, Runner } from '@google/adk';
import { DELETED, StatepadSessionService } from 'statepad/adk';
import { KEY, sameOnBoth, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/**
 * An agent whose model calls its tools once, all together, and then ends.
 *
 * @param {Record<string, (context: import('@google/adk').Context) => unknown>} tools
 */
const agentWith = (tools) =>
  new LlmAgent({
    name: 'worker',
    model: new ScriptedModel(
      Object.keys(tools).map((name) => call(name)),
      'done',
    ),
    tools: Object.entries(tools).map(
      ([name, execute]) =>
        new FunctionTool({
          name,
          description: name,
          execute: (_, context) => {
            assert.ok(context);
            return execute(context);
          },
        }),
    ),
  });

test('a tool writes every scope, and every scope is stored as ADK stores it', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: agentWith({
      write({ state }) {
        state.set('cart', ['tea']);
        state.set('app:open', true);
        state.update({ 'user:name': 'Ana', count: 0 });
        return 'ok';
      },
    }),
  }));
  assert.deepEqual(statepad.state, { cart: ['tea'], count: 0, 'app:open': true, 'user:name': 'Ana' });
});

test('a tool reads its own writes, the next tool reads them too, temp: keys included', async () => {
  /** @type {unknown[]} */
  const read = [];
  const { turn, state } = await open({
    agent: agentWith({
      first(context) {
        context.state.set('n', 1);
        context.state.set('temp:t', 'here');
        read.push(context.state.get('n'), context.state.get('temp:t'));
      },
      second(context) {
        read.push(context.state.get('n'), context.state.get('temp:t'));
        context.state.set('n', 2);
      },
    }),
  });
  await turn('go');
  assert.deepEqual(read, [1, 'here', 1, 'here']);
  assert.deepEqual(await state(), { n: 2 });
});

test('two calls in one answer make one event with both deltas, as in ADK', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: agentWith({ first: ({ state }) => state.set('a', 1), second: ({ state }) => state.set('b', 2) }),
  }));
  assert.deepEqual(statepad.state, { a: 1, b: 2 });
});

test('what a tool wrote before it threw is kept, as in ADK', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: agentWith({
      fail({ state }) {
        state.set('half', 'done');
        throw new Error('no more');
      },
    }),
  }));
  assert.deepEqual(statepad.state, { half: 'done' });
});

for (const key of ['draft', 'app:draft', 'user:draft']) {
  test(`a tool deletes ${key} by setting DELETED, and the log says so in a way that ADK can read`, async () => {
    const service = new StatepadSessionService();
    const { turn, state, stored } = await open({
      agent: agentWith({ drop: ({ state }) => state.set(key, DELETED) }),
      sessionService: service,
      state: { [key]: 'text', kept: null },
    });
    await turn('go');
    assert.deepEqual(await state(), { kept: null });
    const event = (await stored()).events.find(({ actions }) => Object.keys(actions.stateDelta).length > 0);
    assert.deepEqual({ ...event?.actions.stateDelta }, { [key]: null });
    assert.deepEqual(event?.customMetadata, { statepad: { deleted: [key] } });
    assert.deepEqual(Object.keys((await service.createSession({ ...KEY, sessionId: 's2' })).state), []);
  });
}

/**
 * An agent that hears of a key, and drops it.
 *
 * @param {string} key
 */
function dropping(key) {
  const model = new ScriptedModel(call('drop'), 'done');
  const execute = (/** @type {unknown} */ _, /** @type {any} */ context) => context.state.set(key, DELETED);
  const drop = new FunctionTool({ name: 'drop', description: 'Drops it.', execute });
  return { model, agent: new LlmAgent({ name: 'worker', model, tools: [drop], instruction: `<{${key}?}>` }) };
}

test('a deleted key is gone for the next step of the same run', async () => {
  const { model, agent } = dropping('draft');
  const { turn } = await open({ agent, state: { draft: 'text' } });
  await turn('go');
  assert.deepEqual(model.instructions, ['<text>', '<>']);
});

test('a temp: key is deleted for the rest of the run', async () => {
  const { model, agent } = dropping('temp:hint');
  const { turn, stored } = await open({ agent });
  await turn('go', { stateDelta: { 'temp:hint': 'left' } });
  assert.deepEqual(model.instructions, ['<left>', '<>']);
  for (const { customMetadata } of (await stored()).events) assert.equal(customMetadata, undefined);
});

test('a key that is deleted and set again in one tool is set, one that is set and deleted is gone', async () => {
  const { turn, state } = await open({
    agent: agentWith({
      both({ state }) {
        state.set('a', DELETED);
        state.set('a', 'back');
        state.set('b', 'new');
        state.set('b', DELETED);
      },
    }),
    state: { a: 'old', b: 'old' },
  });
  await turn('go');
  assert.deepEqual(await state(), { a: 'back' });
});

test('a value that is no JSON is refused with its path, and nothing of the event is stored', async () => {
  const { turn, state, stored } = await open({
    agent: agentWith({
      write({ state }) {
        state.update({ good: 1, cart: { items: [1, () => 2] } });
      },
    }),
  });
  await assert.rejects(turn('go'), (/** @type {any} */ error) => {
    assert.equal(error.code, 'VALUE_NOT_JSON');
    assert.match(error.message, /cart.*items\[1\]/u);
    return true;
  });
  assert.deepEqual(await state(), {});
  assert.equal((await stored()).events.length, 2);
});

test('a value that a tool changes after it was stored stays stored as it was', async () => {
  const cart = { items: ['tea'] };
  const { turn, state } = await open({ agent: agentWith({ write: ({ state }) => state.set('cart', cart) }) });
  await turn('go');
  cart.items.push('rum');
  assert.deepEqual(await state(), { cart: { items: ['tea'] } });
});

test('two tools in two sessions of one user write different user: keys and both stay', async () => {
  const service = new StatepadSessionService();
  const one = await open({
    agent: agentWith({ write: ({ state }) => state.set('user:a', 1) }),
    sessionService: service,
  });
  await service.createSession({ ...KEY, sessionId: 's2' });
  const two = agentWith({ write: ({ state }) => state.set('user:b', 2) });
  const runner = new Runner({ appName: KEY.appName, agent: two, sessionService: service });
  const run = runner.runAsync({ userId: KEY.userId, sessionId: 's2', newMessage: { parts: [{ text: 'go' }] } });
  const finish = async () => {
    for await (const event of run) assert.equal(event.author, 'worker');
  };
  await Promise.all([one.turn('go'), finish()]);
  assert.deepEqual(await one.state(), { 'user:a': 1, 'user:b': 2 });
});
