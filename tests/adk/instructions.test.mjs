/**
 * Instructions: ADK's own templates, functions, and `instruction(...)` of statepad/adk.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryArtifactService, LlmAgent, SequentialAgent } from '@google/adk';
import { Template } from 'statepad';
import { DELETED, instruction } from 'statepad/adk';
import { onBoth, open } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

/**
 * The text that the model gets for an instruction.
 *
 * @param {NonNullable<ConstructorParameters<typeof LlmAgent>[0]['instruction']>} text
 * @param {Record<string, unknown>} [state]
 */
async function told(text, state) {
  const model = new ScriptedModel('ok');
  const agent = new LlmAgent({ name: 'worker', model, instruction: text });
  const { turn } = await open({ agent, ...(state === undefined ? {} : { state }) });
  await turn('go', { stateDelta: { 'temp:device': 'phone' } });
  return model.instructions[0];
}

const STATE = { city: 'Lisbon', n: 3, list: ['a', { b: 1 }], none: null, 'user:name': 'Ana', 'app:open': true };

test("ADK's own templates read every scope of a statepad session", async () => {
  assert.equal(
    await told('{city} {n} {list} {user:name} {app:open} {temp:device} {gone?}.', STATE),
    'Lisbon 3 ["a",{"b":1}] Ana true phone .',
  );
});

test('instruction() reads every scope, paths and indexes, and leaves braces that are text alone', async () => {
  assert.equal(
    await told(
      instruction('{city} {list[1].b} {user:name} {app:open} {temp:device} {gone?} {{x}} {"n": {n}} ${HOME}'),
      STATE,
    ),
    'Lisbon 1 Ana true phone  {{x}} {"n": 3} ${HOME}',
  );
});

test('instruction() takes a template that was compiled before', async () => {
  assert.equal(await told(instruction(new Template('{city} of {user:name}')), STATE), 'Lisbon of Ana');
});

test('instruction() takes a function, which may be asynchronous, and uses its text as it is', async () => {
  assert.equal(
    await told(
      instruction(async (context) => `${context.agentName} in {city}, ${String(context.state.get('n'))}`),
      STATE,
    ),
    'worker in {city}, 3',
  );
});

test('a key whose deletion waits for its event is missing for instruction() already', async () => {
  const model = new ScriptedModel('ok');
  const agent = new LlmAgent({
    name: 'worker',
    model,
    instruction: instruction('<{city?}>'),
    beforeAgentCallback: (context) => void (context.invocationContext.session.state.city = DELETED),
  });
  const { turn } = await open({ agent, state: STATE });
  await turn('go');
  assert.deepEqual(model.instructions, ['<>']);
});

test('a plain function is used as it is, braces and all', async () => {
  assert.equal(await told((context) => `{city} of ${String(context.state.get('user:name'))}`, STATE), '{city} of Ana');
});

test('a value that looks like a placeholder is not filled in again', async () => {
  assert.equal(await told(instruction('{city}'), { city: '{n}', n: 1 }), '{n}');
});

test("a missing key fails the run with the key's name", async () => {
  const agent = new LlmAgent({
    name: 'worker',
    model: new ScriptedModel('ok'),
    instruction: instruction('{nowhere}'),
  });
  const { turn } = await open({ agent });
  await assert.rejects(turn('go'), (/** @type {any} */ error) => {
    assert.equal(error.code, 'TEMPLATE_KEY_MISSING');
    assert.match(error.message, /nowhere/u);
    return true;
  });
});

test('instruction() reads artifacts of the session', async () => {
  const model = new ScriptedModel('ok');
  const artifactService = new InMemoryArtifactService();
  const agent = new LlmAgent({
    name: 'worker',
    model,
    instruction: instruction('<{artifact.notes.txt}>'),
    beforeAgentCallback: async (context) => void (await context.saveArtifact('notes.txt', { text: 'bring tea' })),
  });
  const { turn } = await open({ agent, artifactService });
  await turn('go');
  assert.deepEqual(model.instructions, ['<bring tea>']);
});

test('a global instruction of the root agent reads the session too', async () => {
  const model = new ScriptedModel('ok');
  const agent = new LlmAgent({
    name: 'worker',
    model,
    globalInstruction: instruction('In {city}.'),
    instruction: 'Go.',
  });
  const { turn } = await open({ agent, state: STATE });
  await turn('go');
  assert.match(model.instructions[0] ?? '', /In Lisbon\.[^]*Go\./u);
});

test("includeContents none hears this turn only, on frozen events as on ADK's", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  const { statepad, adk } = await onBoth(
    () => {
      const model = new ScriptedModel('one', 'two');
      models.push(model);
      return { agent: new LlmAgent({ name: 'worker', model, includeContents: 'none' }) };
    },
    async ({ turn }) => {
      await turn('first');
      await turn('second');
    },
  );
  for (const model of models) assert.deepEqual(model.heard, ['second']);
  assert.deepEqual(statepad, adk);
});

test("what one agent said is quoted to the next one as on ADK's own service", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await onBoth(
    () => {
      const model = new ScriptedModel('two');
      models.push(model);
      return {
        agent: new SequentialAgent({
          name: 'both',
          subAgents: [
            new LlmAgent({ name: 'first', model: new ScriptedModel('one') }),
            new LlmAgent({ name: 'second', model }),
          ],
        }),
      };
    },
    ({ turn }) => turn('go'),
  );
  assert.deepEqual(models[0]?.heard, ['go', 'For context:', '[first] said: one']);
  assert.deepEqual(models[1]?.heard, models[0]?.heard);
});
