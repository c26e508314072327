/**
 * `outputKey`, in every scope.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionTool, LlmAgent, SequentialAgent } from '@google/adk';
import { StatepadSessionService } from 'statepad/adk';
import { z } from 'zod';
import { KEY, onBoth, sameOnBoth, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/** @param {string} outputKey @param {import('./scripted-model.mjs').Step[]} steps */
const writer = (outputKey, ...steps) =>
  new LlmAgent({ name: 'writer', model: new ScriptedModel(...steps), outputKey });

for (const outputKey of ['summary', 'app:summary', 'user:summary']) {
  test(`the output key ${outputKey} is stored as ADK stores it`, async () => {
    const statepad = await sameOnBoth(
      () => ({ agent: writer(outputKey, 'short', 'shorter') }),
      async ({ turn }) => {
        await turn('sum up');
        await turn('again');
      },
    );
    assert.deepEqual(statepad.state, { [outputKey]: 'shorter' });
  });
}

test('an app: output reaches every user, a user: output every session of the user, a plain one neither', async () => {
  const service = new StatepadSessionService();
  for (const outputKey of ['summary', 'app:summary', 'user:summary']) {
    const { turn } = await open({ agent: writer(outputKey, 'short'), sessionService: await fresh(service) });
    await turn('sum up');
  }
  const second = await service.createSession({ ...KEY, sessionId: 's2' });
  const other = await service.createSession({ ...KEY, userId: 'ben' });
  assert.deepEqual({ ...second.state }, { 'app:summary': 'short', 'user:summary': 'short' });
  assert.deepEqual({ ...other.state }, { 'app:summary': 'short' });
});

test("a temp: output is seen by the next agent and stored nowhere, where ADK's own service loses it at once", async () => {
  /** @type {ScriptedModel[]} */
  const readers = [];
  const agent = () => {
    const reader = new ScriptedModel('read');
    readers.push(reader);
    return new SequentialAgent({
      name: 'both',
      subAgents: [
        writer('temp:summary', 'short'),
        new LlmAgent({ name: 'reader', model: reader, instruction: 'Summary: {temp:summary?}.' }),
      ],
    });
  };
  const { statepad, adk } = await onBoth(
    () => ({ agent: agent() }),
    ({ turn }) => turn('sum up'),
  );
  assert.deepEqual(
    readers.map(({ instructions }) => instructions[0]),
    ['Summary: short.', 'Summary: .'],
  );
  assert.deepEqual(statepad.state, {});
  assert.doesNotMatch(JSON.stringify(statepad.events), /temp:/u);
  assert.equal(statepad.events.length, 3);
  assert.equal(adk.events.length, 3);
});

test('an empty answer writes what ADK writes', async () => {
  await sameOnBoth(
    () => ({ agent: writer('summary', '') }),
    ({ turn }) => turn('sum up'),
  );
});

test('an output schema stores the parsed value, deeply frozen for readers', async () => {
  const agent = () =>
    new LlmAgent({
      name: 'writer',
      model: new ScriptedModel('{"city":"Lisbon","days":[1,2]}'),
      outputKey: 'trip',
      outputSchema: z.object({ city: z.string(), days: z.array(z.number()) }),
    });
  const statepad = await sameOnBoth(
    () => ({ agent: agent() }),
    ({ turn }) => turn('plan'),
  );
  assert.deepEqual(statepad.state, { trip: { city: 'Lisbon', days: [1, 2] } });
});

test('of several final responses in one answer the last one is kept', async () => {
  /** @type {import('./scripted-model.mjs').Said} */
  const answers = {
    responses: ['first', 'second'].map((text) => ({ content: { role: 'model', parts: [{ text }] } })),
  };
  const statepad = await sameOnBoth(
    () => ({ agent: writer('summary', answers) }),
    ({ turn }) => turn('sum up'),
  );
  assert.deepEqual(statepad.state, { summary: 'second' });
});

test('a tool call before the answer is no output', async () => {
  const look = new FunctionTool({ name: 'look', description: 'Looks.', execute: () => 'seen' });
  const agent = () =>
    new LlmAgent({
      name: 'writer',
      model: new ScriptedModel(call('look'), 'done'),
      outputKey: 'summary',
      tools: [look],
    });
  const statepad = await sameOnBoth(
    () => ({ agent: agent() }),
    ({ turn }) => turn('sum up'),
  );
  assert.deepEqual(statepad.state, { summary: 'done' });
});

/**
 * Removes the session of the test before, so that the next one can open it. @param {StatepadSessionService} service
 */
async function fresh(service) {
  await service.deleteSession(KEY);
  return service;
}
