/**
 * `AgentTool`: runs another agent with the same session service, under the other agent's name as the app and the
 * parent's session id.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AgentTool, FunctionTool, LlmAgent } from '@google/adk';
import { DELETED } from 'statepad/adk';
import { KEY, onBoth, sameOnBoth, open, said } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/**
 * @param {import('./scripted-model.mjs').Step[]} steps of the parent
 * @param {ConstructorParameters<typeof LlmAgent>[0]} sub
 * @param {import('@google/adk').BaseTool[]} [more]
 */
const parentOf = (steps, sub, more = []) =>
  new LlmAgent({
    name: 'parent',
    model: new ScriptedModel(...steps),
    tools: [new AgentTool({ agent: new LlmAgent(sub) }), ...more],
  });

/** @param {string} request */
const ask = (request) => call('helper', { request });

test('an agent called as a tool twice in one run keeps its own session, as in ADK', async () => {
  /** @type {import('@google/adk').BaseSessionService[]} */
  const services = [];
  await sameOnBoth(
    () => ({
      agent: parentOf([ask('first'), ask('second'), 'done'], { name: 'helper', model: new ScriptedModel('A', 'B') }),
    }),
    async ({ turn, service }) => {
      services.push(service);
      await turn('go');
    },
  );
  for (const service of services) {
    const inner = await service.getSession({ ...KEY, appName: 'helper' });
    assert.deepEqual(said(inner?.events ?? []), ['user: first', 'helper: A', 'user: second', 'helper: B']);
  }
});

test("the inner agent starts from the parent's state, pending writes included, without its temp: keys", async () => {
  const inner = new ScriptedModel('ok');
  const write = new FunctionTool({
    name: 'write',
    description: 'Writes.',
    execute: (_, context) => context?.state.update({ pending: 'yes', 'temp:secret': 'no' }),
  });
  const agent = parentOf(
    [[call('write'), ask('go')], 'done'],
    { name: 'helper', model: inner, instruction: '{city} {user:name} {pending} <{temp:secret?}>' },
    [write],
  );
  const { turn } = await open({ agent, state: { city: 'Lisbon', 'user:name': 'Ana' } });
  await turn('go');
  assert.deepEqual(inner.instructions, ['Lisbon Ana yes <>']);
});

test("what the inner agent writes reaches the parent's state, in every scope", async () => {
  const { statepad, adk } = await onBoth(() => ({
    agent: parentOf([ask('go'), 'done'], {
      name: 'helper',
      model: new ScriptedModel(call('write'), 'found'),
      outputKey: 'answer',
      tools: [
        new FunctionTool({
          name: 'write',
          description: 'Writes.',
          execute: (_, context) => context?.state.update({ n: 1, 'user:u': 2, 'app:a': 3, 'temp:t': 4 }),
        }),
      ],
    }),
  }));
  assert.deepEqual(statepad.state, { n: 1, answer: 'found', 'user:u': 2, 'app:a': 3 });
  assert.deepEqual(Object.entries(statepad.state).sort(), Object.entries(adk.state).sort());
});

test('what the inner agent deletes is deleted for the parent too', async () => {
  const agent = parentOf([ask('go'), 'done'], {
    name: 'helper',
    model: new ScriptedModel(call('drop'), 'dropped'),
    tools: [
      new FunctionTool({
        name: 'drop',
        description: 'Drops.',
        execute: (_, context) => context?.state.set('draft', DELETED),
      }),
    ],
  });
  const { turn, state, service } = await open({ agent, state: { draft: 'text', kept: 1 } });
  await turn('go');
  assert.deepEqual(await state(), { kept: 1 });
  const inner = await service.getSession({ ...KEY, appName: 'helper' });
  assert.deepEqual({ ...inner?.state }, { kept: 1 });
});

test('a key that the parent deleted just before does not come back inside', async () => {
  const inner = new ScriptedModel('ok');
  const drop = new FunctionTool({
    name: 'drop',
    description: 'Drops.',
    execute: (_, context) => context?.state.set('draft', DELETED),
  });
  const agent = parentOf(
    [[call('drop'), ask('go')], 'done'],
    { name: 'helper', model: inner, instruction: '<{draft?}>' },
    [drop],
  );
  const { turn, state } = await open({ agent, state: { draft: 'text' } });
  await turn('go');
  assert.deepEqual(inner.instructions, ['<>']);
  assert.deepEqual(await state(), {});
});

test('app: and user: keys handed to the inner agent live in the inner app and leave the outer one alone', async () => {
  const agent = parentOf([ask('go'), 'done'], { name: 'helper', model: new ScriptedModel('ok') });
  const { turn, service } = await open({ agent, state: { 'app:a': 1, 'user:u': 2 } });
  await turn('go');
  const other = await service.createSession({ appName: 'helper', userId: KEY.userId });
  const outer = await service.createSession({ appName: KEY.appName, userId: KEY.userId });
  assert.deepEqual({ ...other.state }, { 'app:a': 1, 'user:u': 2 });
  assert.deepEqual({ ...outer.state }, { 'app:a': 1, 'user:u': 2 });
});

test('a temp: output of the inner agent stays inside', async () => {
  const parentModel = new ScriptedModel(ask('go'), 'done');
  const agent = new LlmAgent({
    name: 'parent',
    model: parentModel,
    instruction: '<{temp:answer?}>',
    tools: [
      new AgentTool({
        agent: new LlmAgent({ name: 'helper', model: new ScriptedModel('x'), outputKey: 'temp:answer' }),
      }),
    ],
  });
  const { turn, state } = await open({ agent });
  await turn('go');
  assert.deepEqual(parentModel.instructions, ['<>', '<>']);
  assert.deepEqual(await state(), {});
});
