/**
 * An agent's own callbacks that write state.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionTool, LlmAgent } from '@google/adk';
import { DELETED } from 'statepad/adk';
import { sameOnBoth, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

const look = new FunctionTool({ name: 'look', description: 'Looks.', execute: () => 'seen' });

/**
 * @param {Partial<ConstructorParameters<typeof LlmAgent>[0]>} config @param {import('./scripted-model.mjs').Step[]}
 * steps
 */
const worker = (config, ...steps) =>
  new LlmAgent({ name: 'worker', model: new ScriptedModel(...steps), tools: [look], ...config });

test('all six callbacks write state and are stored as ADK stores them', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: worker(
      {
        beforeAgentCallback: (context) => void context.state.set('a', 1),
        afterAgentCallback: (context) => void context.state.set('app:b', 2),
        beforeModelCallback: ({ context }) => void context.state.set('user:c', 3),
        afterModelCallback: ({ context }) => void context.state.set('d', 4),
        beforeToolCallback: ({ context }) => void context.state.set('e', 5),
        afterToolCallback: ({ context }) => void context.state.set('f', 6),
      },
      call('look'),
      'done',
    ),
  }));
  assert.deepEqual(Object.entries(statepad.state).sort(), [
    ['a', 1],
    ['app:b', 2],
    ['d', 4],
    ['e', 5],
    ['f', 6],
    ['user:c', 3],
  ]);
});

test('a callback before the agent that answers keeps its state and ends the run', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: worker({
      beforeAgentCallback(context) {
        context.state.set('skipped', true);
        return { role: 'model', parts: [{ text: 'not now' }] };
      },
    }),
  }));
  assert.deepEqual(statepad.state, { skipped: true });
});

test('a callback reads what an earlier callback wrote to temp: and deletes with DELETED', async () => {
  const { turn, state } = await open({
    agent: worker(
      {
        beforeAgentCallback: (context) => void context.state.update({ 'temp:seen': 'yes', old: DELETED }),
        afterAgentCallback: (context) => void context.state.set('copied', context.state.get('temp:seen')),
      },
      'done',
    ),
    state: { old: 1 },
  });
  await turn('go');
  assert.deepEqual(await state(), { copied: 'yes' });
});

test('a callback that changes a value read from state loses nothing when it sets it again', async () => {
  const statepad = await sameOnBoth(() => ({
    state: { cart: { items: ['tea'] } },
    agent: worker(
      {
        beforeAgentCallback(context) {
          const cart = /** @type {{ items: string[] }} */ (context.state.get('cart'));
          context.state.set('cart', { ...cart, items: [...cart.items, 'rum'] });
        },
      },
      'done',
    ),
  }));
  assert.deepEqual(statepad.state, { cart: { items: ['tea', 'rum'] } });
});

test('a callback before the model that answers for it is stored with its state', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: worker(
      {
        outputKey: 'answer',
        beforeModelCallback({ context }) {
          context.state.set('cached', true);
          return { content: { role: 'model', parts: [{ text: 'from the cache' }] } };
        },
      },
      'never',
    ),
  }));
  assert.deepEqual(statepad.state, { cached: true, answer: 'from the cache' });
});

test('changing the contents of a request leaves the stored events alone', async () => {
  const { turn, stored } = await open({
    agent: worker(
      {
        beforeModelCallback({ request }) {
          for (const { parts } of request.contents) for (const part of parts ?? []) part.text = 'overwritten';
          request.contents.reverse();
        },
      },
      'one',
      'two',
    ),
  });
  await turn('first');
  await turn('second');
  assert.doesNotMatch(JSON.stringify((await stored()).events), /overwritten/u);
});
