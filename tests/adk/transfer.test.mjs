/**
 * Transfer between agents: which agent goes on in the next turn is read from the stored events.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LlmAgent } from '@google/adk';
import { sameOnBoth, open, said } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/** A desk that hands over to a specialist, who answers twice and hands back. */
const desk = () =>
  new LlmAgent({
    name: 'desk',
    description: 'Hands over.',
    model: new ScriptedModel(call('transfer_to_agent', { agentName: 'baker' }), 'back at the desk'),
    subAgents: [
      new LlmAgent({
        name: 'baker',
        description: 'Knows bread.',
        outputKey: 'last_bread',
        model: new ScriptedModel('rye', 'wheat', call('transfer_to_agent', { agentName: 'desk' })),
      }),
    ],
  });

test('the agent that was handed the talk keeps it in the next turn and can hand it back', async () => {
  const { turn, state } = await open({ agent: desk() });
  assert.deepEqual(said(await turn('bread?')), ['baker: rye']);
  assert.deepEqual(said(await turn('other bread?')), ['baker: wheat']);
  assert.deepEqual(await state(), { last_bread: 'wheat' });
  assert.deepEqual(said(await turn('bye')), ['desk: back at the desk']);
});

test('a transfer over three turns is stored as ADK stores it', async () => {
  await sameOnBoth(
    () => ({ agent: desk() }),
    async ({ turn }) => {
      for (const text of ['bread?', 'other bread?', 'bye']) await turn(text);
    },
  );
});
