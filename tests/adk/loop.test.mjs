/**
 * `LoopAgent` and `SequentialAgent`: steps of one invocation share its state.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT_LOOP, FunctionTool, LlmAgent, LoopAgent, SequentialAgent } from '@google/adk';
import { instruction } from 'statepad/adk';
import { sameOnBoth, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

const count = new FunctionTool({
  name: 'count',
  description: 'Counts one up.',
  execute(_, context) {
    const n = Number(context?.state.get('n', 0)) + 1;
    context?.state.set('n', n);
    context?.state.set('temp:round', `round ${n}`);
    return n;
  },
});

test('a loop counts in state until exit_loop ends it, as in ADK', async () => {
  const statepad = await sameOnBoth(
    () => ({
      agent: new LoopAgent({
        name: 'loop',
        maxIterations: 9,
        subAgents: [
          new LlmAgent({
            name: 'counter',
            model: new ScriptedModel(call('count'), 'one', call('count'), 'two', call('count'), call('exit_loop')),
            tools: [count, EXIT_LOOP],
          }),
        ],
      }),
    }),
    ({ turn }) => turn('count'),
  );
  assert.equal(statepad.state.n, 3);
});

test('temp: keys live through every round of a loop and into the agent after it', async () => {
  const checker = new ScriptedModel('on', call('exit_loop'));
  const last = new ScriptedModel('end');
  const loop = new LoopAgent({
    name: 'loop',
    subAgents: [
      new LlmAgent({
        name: 'counter',
        model: new ScriptedModel(call('count'), 'x', call('count'), 'y'),
        tools: [count],
      }),
      new LlmAgent({
        name: 'checker',
        model: checker,
        tools: [EXIT_LOOP],
        instruction: instruction('At {temp:round}'),
      }),
    ],
  });
  const after = new LlmAgent({
    name: 'after',
    model: last,
    instruction: instruction('Ended in {temp:round}, n = {n}'),
  });
  const { turn, state } = await open({ agent: new SequentialAgent({ name: 'all', subAgents: [loop, after] }) });
  await turn('count');
  assert.deepEqual(checker.instructions, ['At round 1', 'At round 2']);
  assert.deepEqual(last.instructions, ['Ended in round 2, n = 2']);
  assert.deepEqual(await state(), { n: 2 });
});

test('a chain of temp: outputs is handed from agent to agent and is gone in the next run', async () => {
  const models = [1, 2, 3].map((n) => new ScriptedModel(`said ${n}`, `again ${n}`));
  const agents = models.map(
    (model, i) =>
      new LlmAgent({
        name: `step${i}`,
        model,
        outputKey: `temp:out${i}`,
        instruction: instruction(models.map((_, k) => `<{temp:out${k}?}>`).join('')),
      }),
  );
  const { turn, stored } = await open({ agent: new SequentialAgent({ name: 'chain', subAgents: agents }) });
  await turn('go');
  await turn('once more');
  assert.deepEqual(
    models.map(({ instructions }) => instructions),
    [
      ['<><><>', '<><><>'],
      ['<said 1><><>', '<again 1><><>'],
      ['<said 1><said 2><>', '<again 1><again 2><>'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(await stored()), /temp:/u);
});
