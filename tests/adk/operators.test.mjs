/**
 * Operators in what agents, tools and callbacks write under ADK's Runner: ADK hands them on as they are.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentTool, FunctionTool, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent } from '@google/adk';
import { append, compareAndSet, increment, setOnce, StatepadSessionService } from 'statepad/adk';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, open } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';
import { crossed } from './writers.mjs';

/** @param {string} name @param {Record<string, unknown>} [args] */
const call = (name, args = {}) => ({ functionCall: { name, args } });

/** @param {string} name @param {(state: import('@google/adk').State) => unknown} write */
const tool = (name, write) =>
  new FunctionTool({
    name,
    description: 'Writes.',
    execute: async (_, context) => {
      if (context === undefined) throw new Error('no context');
      return { seen: String(await write(context.state)) };
    },
  });

/** @type {Record<string, () => StatepadSessionService>} */
const PLACES = {
  'in memory': () => new StatepadSessionService(),
  'over a store that resolves them': () => new StatepadSessionService({ store: memoryStore() }),
  'over a store that resolves none': () => {
    const store = memoryStore();
    delete (/** @type {{ resolves?: unknown }} */ (store).resolves);
    return new StatepadSessionService({ store });
  },
};

for (const [place, make] of Object.entries(PLACES)) {
  test(`${place}: tools count, collect and claim, once for each call`, async () => {
    const sessionService = make();
    const count = tool('count', (state) => {
      state.set('app:n', increment());
      state.set('user:l', append('x'));
      state.set('once', setOnce('first'));
    });
    const model = new ScriptedModel(call('count'), [call('count'), call('count')], 'done');
    const agent = new LlmAgent({ name: 'counter', model, tools: [count] });
    const plugins = [sessionService.plugin];
    const opened = await open({ agent, sessionService, plugins, state: { 'app:n': 10 } });
    // Others count, too.
    await sessionService.service.updateState({ appName: KEY.appName }, () => ({ 'app:n': increment(100) }));
    const events = await opened.turn('go');
    const state = await opened.state();
    assert.equal(state['app:n'], 113);
    assert.deepEqual(state['user:l'], ['x', 'x', 'x']);
    assert.equal(state.once, 'first');
    const { events: log } = await opened.stored();
    const written = log.map(({ actions }) => actions.stateDelta['app:n']).filter((n) => n !== undefined);
    assert.deepEqual(written, [111, 113]);
    assert.ok(events.length > 0);
  });

  test(`${place}: parallel branches all count, whatever order their events come in`, async () => {
    const sessionService = make();
    const branches = Array.from({ length: 4 }, (_, index) => {
      const n = tool(`n${index}`, (state) => {
        state.set('app:n', increment());
        state.set('l', append(index));
      });
      const model = new ScriptedModel(call(`n${index}`), call(`n${index}`), 'done');
      return new LlmAgent({ name: `b${index}`, model, tools: [n] });
    });
    const opened = await open({ agent: new ParallelAgent({ name: 'all', subAgents: branches }), sessionService });
    await opened.turn('go');
    const { 'app:n': n, l } = await opened.state();
    assert.equal(n, 8);
    assert.deepEqual([.../** @type {number[]} */ (l)].sort(), [0, 0, 1, 1, 2, 2, 3, 3]);
  });

  test(`${place}: the next agent reads the value, and its instruction has it`, async () => {
    const sessionService = make();
    const first = new LlmAgent({
      name: 'first',
      model: new ScriptedModel(call('count'), 'done'),
      tools: [tool('count', (state) => state.set('app:n', increment(5)))],
    });
    /** @type {unknown[]} */
    const seen = [];
    const model = new ScriptedModel(call('look'), 'done');
    const second = new LlmAgent({
      name: 'second',
      model,
      instruction: 'There are {app:n}.',
      tools: [tool('look', (state) => seen.push(state.get('app:n')))],
    });
    const agent = new SequentialAgent({ name: 'both', subAgents: [first, second] });
    const opened = await open({ agent, sessionService, state: { 'app:n': 1 } });
    await opened.turn('go');
    assert.deepEqual(seen, [6]);
    assert.match(String(model.instructions[0]), /There are 6\./u);
  });

  test(`${place}: an agent that is a tool hands on what came of its operators`, async () => {
    const sessionService = make();
    const inner = new LlmAgent({
      name: 'inner',
      description: 'Counts.',
      model: new ScriptedModel(call('count'), 'counted'),
      tools: [tool('count', (state) => state.set('n', increment(2)))],
    });
    const outer = new LlmAgent({
      name: 'outer',
      model: new ScriptedModel(call('inner', { request: 'count' }), 'done'),
      tools: [new AgentTool({ agent: inner })],
    });
    const opened = await open({ agent: outer, sessionService, state: { n: 1 } });
    await opened.turn('go');
    assert.equal((await opened.state()).n, 3);
  });

  test(`${place}: callbacks, loops, the delta of a run and temp: keys`, async () => {
    const sessionService = make();
    const inner = new LlmAgent({
      name: 'inner',
      model: new ScriptedModel('one', 'two', 'three'),
      beforeAgentCallback: (context) => {
        context.state.set('rounds', increment());
        context.state.set('temp:rounds', increment());
        return undefined;
      },
      afterModelCallback: ({ context }) => {
        context.state.set('said', increment());
        return undefined;
      },
    });
    const agent = new LoopAgent({ name: 'loop', maxIterations: 3, subAgents: [inner] });
    const opened = await open({ agent, sessionService, state: { turns: 1 } });
    await opened.turn('go', { stateDelta: { turns: increment(), 'user:turns': increment() } });
    const state = await opened.state();
    assert.deepEqual(state, { turns: 2, rounds: 3, said: 3, 'user:turns': 1 });
  });

  test(`${place}: a comparison that fails refuses the event, and says by which key`, async () => {
    const sessionService = make();
    const agent = new LlmAgent({
      name: 'late',
      model: new ScriptedModel(call('claim'), 'done'),
      tools: [tool('claim', (state) => state.set('app:owner', compareAndSet(undefined, 'late')))],
    });
    const opened = await open({ agent, sessionService, state: { 'app:owner': 'early' } });
    await assert.rejects(opened.turn('go'), (/** @type {Error & { code?: string, key?: string }} */ error) => {
      assert.deepEqual([error.code, error.key], ['STATE_CONFLICT', 'app:owner']);
      return true;
    });
    assert.deepEqual(await opened.state(), { 'app:owner': 'early' });
  });
}

/**
 * The final value of `n`, which was 1: `late` writes second and its event is appended first.
 *
 * @param {(state: import('@google/adk').State) => unknown} early
 * @param {(state: import('@google/adk').State) => unknown} late
 */
async function counted(early, late) {
  const { turn, state } = await open({ agent: crossed(early, late), state: { n: 1 } });
  const events = await turn('go');
  assert.deepEqual(
    events.map(({ author }) => author),
    ['late', 'early'],
  );
  return (await state()).n;
}

test('of operators that overtake each other all count; a value written later wins over them', async () => {
  /** @param {unknown} value */
  const set = (value) => (/** @type {import('@google/adk').State} */ state) => state.set('n', value);
  assert.equal(await counted(set(increment(2)), set(increment(3))), 6);
  assert.equal(await counted(set(increment(2)), set(9)), 9);
  // A value written before an increment that is stored already is overtaken, as by any later write.
  assert.equal(await counted(set(9), set(increment(3))), 4);
});
