/**
 * `Workflow`: nodes write through a NodeContext, and their events wait in a queue while the next node runs already.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent, FunctionNode, JoinNode, LlmAgent, node, RequestInput, Workflow } from '@google/adk';
import { DELETED, instruction } from 'statepad/adk';
import { onBoth, sameOnBoth, open, said } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

/**
 * A workflow whose nodes run one after another.
 *
 * @param {any[]} nodes
 */
const line = (...nodes) =>
  new Workflow({ name: 'line', edges: nodes.map((to, i) => [i === 0 ? 'START' : nodes[i - 1], to]) });

/** @param {string} name @param {ConstructorParameters<typeof FunctionNode>[1]} run */
const step = (name, run) => new FunctionNode(name, run);

test('nodes write every scope through their context, and the next node reads it', async () => {
  const { statepad, adk } = await onBoth(() => ({
    agent: line(
      step('one', (ctx) => {
        ctx.state.update({ a: 1, 'user:u': 2, 'app:x': 3 });
        return 'first';
      }),
      step('two', (ctx, input) => {
        ctx.state.set('seen', [input, ctx.state.get('a'), ctx.state.get('user:u'), ctx.state.get('app:x')]);
        return 'second';
      }),
    ),
  }));
  assert.deepEqual(statepad.state.seen, ['first', 1, 2, 3]);
  assert.deepEqual(Object.entries(statepad.state).sort(), Object.entries(adk.state).sort());
  assert.deepEqual(statepad.events, adk.events);
});

test('temp: keys go from node to node and are stored nowhere', async () => {
  /** @type {unknown[]} */
  const read = [];
  const { turn, stored, state } = await open({
    agent: line(
      step('one', (ctx) => void ctx.state.set('temp:t', 'here')),
      step('two', (ctx) => void read.push(ctx.state.get('temp:t'))),
      step('three', (ctx) => void read.push(ctx.state.get('temp:t'))),
    ),
  });
  await turn('go');
  await turn('again');
  assert.deepEqual(read, ['here', 'here', 'here', 'here']);
  assert.deepEqual(await state(), {});
  assert.doesNotMatch(JSON.stringify(await stored()), /temp:/u);
});

test('a node deletes a key, and the next one does not see it', async () => {
  /** @type {unknown[]} */
  const read = [];
  const { turn, state } = await open({
    state: { draft: 'text' },
    agent: line(
      step('one', async function* (ctx) {
        ctx.state.set('draft', DELETED);
        yield 'dropped';
      }),
      step('two', (ctx) => {
        ctx.state.set('after', 1);
        return 'done';
      }),
    ),
  });
  await turn('go');
  read.push(await state());
  assert.deepEqual(read, [{ after: 1 }]);
});

test('a node that yields several events writes each key once per value, as in ADK', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: line(
      step('many', async function* (ctx) {
        for (const n of [1, 2, 3]) {
          ctx.state.set('n', n);
          yield `step ${n}`;
        }
      }),
    ),
  }));
  assert.equal(statepad.state.n, 3);
});

test('a node that yields an event of its own with a delta writes it', async () => {
  const statepad = await sameOnBoth(() => ({
    agent: line(
      step('own', async function* (ctx) {
        ctx.state.set('a', 1);
        yield createEvent({ author: 'own', actions: /** @type {any} */ ({ stateDelta: { b: 2 } }) });
      }),
      step('next', (ctx) => ctx.state.set('sum', Number(ctx.state.get('a')) + Number(ctx.state.get('b')))),
    ),
  }));
  assert.equal(statepad.state.sum, 3);
});

test('a node that fails and is tried again writes what the last attempt wrote', async () => {
  let attempt = 0;
  const flaky = node(
    step('flaky', (ctx) => {
      attempt += 1;
      ctx.state.set(`attempt${attempt}`, true);
      if (attempt < 2) throw new Error('once more');
      return 'fine';
    }),
    { retryConfig: { maxAttempts: 3, initialDelay: 0 } },
  );
  const { turn, state } = await open({ agent: line(flaky) });
  await turn('go');
  assert.deepEqual(await state(), { attempt2: true });
});

test('the output of an LlmAgent node is stored, and a temp: output of one is read by the next', async () => {
  const reader = new ScriptedModel('read');
  const { turn, state } = await open({
    agent: line(
      new LlmAgent({ name: 'kept', model: new ScriptedModel('long text'), outputKey: 'text' }),
      new LlmAgent({ name: 'sum', model: new ScriptedModel('short'), outputKey: 'temp:summary' }),
      step('pause', async (_, input) => {
        await new Promise((resolve) => setImmediate(resolve));
        return input;
      }),
      new LlmAgent({ name: 'reader', model: reader, instruction: instruction('{text} / {temp:summary}') }),
    ),
  });
  await turn('go');
  assert.deepEqual(reader.instructions, ['long text / short']);
  assert.deepEqual(await state(), { text: 'long text' });
});

test("an LlmAgent node reads the output of the node right before it, as on ADK's own service", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await sameOnBoth(() => {
    const model = new ScriptedModel('read');
    models.push(model);
    return {
      agent: line(
        new LlmAgent({ name: 'writer', model: new ScriptedModel('long text'), outputKey: 'text' }),
        new LlmAgent({ name: 'reader', model, instruction: '<{text?}>' }),
      ),
    };
  });
  assert.deepEqual(models[0]?.instructions, models[1]?.instructions);
});

test('a workflow that asks the user goes on from the stored events in the next turn', async () => {
  await sameOnBoth(
    () => ({
      agent: line(
        step('ask', async function* () {
          yield new RequestInput({ message: 'How many?' });
        }),
        step('use', (ctx, input) => {
          ctx.state.set('answer', input);
          return `got ${String(input)}`;
        }),
      ),
    }),
    async ({ turn }) => {
      await turn('go');
      await turn('seven');
    },
  );
});

test('LlmAgent nodes side by side append their inputs themselves while the runner appends too, and nothing is lost', async () => {
  const { statepad, adk } = await onBoth(() => {
    const start = step('start', () => 'the same input');
    const agents = ['one', 'two', 'three'].map(
      (name) => new LlmAgent({ name, model: new ScriptedModel(`${name} spoke`), outputKey: `${name}_said` }),
    );
    const join = new JoinNode({ name: 'join' });
    const edges = [
      ['START', start],
      ...agents.flatMap((agent) => [
        [start, agent],
        [agent, join],
      ]),
    ];
    return { agent: new Workflow({ name: 'fork', edges: /** @type {any} */ (edges) }) };
  });
  const sorted = (/** @type {unknown[]} */ events) => said(/** @type {any} */ (events)).sort();
  assert.deepEqual(sorted(statepad.events), sorted(adk.events));
  assert.equal(sorted(statepad.events).filter((text) => text === 'user: the same input').length, 3);
  assert.deepEqual(Object.entries(statepad.state).sort(), Object.entries(adk.state).sort());
  assert.equal(statepad.state.two_said, 'two spoke');
});

test('parallel nodes of a workflow write different keys and lose none', async () => {
  const { statepad, adk } = await onBoth(() => {
    const one = step('one', (ctx) => void ctx.state.set('a', 1));
    const two = step('two', (ctx) => void ctx.state.set('b', 2));
    return {
      agent: new Workflow({
        name: 'fork',
        edges: [
          ['START', one],
          ['START', two],
        ],
      }),
    };
  });
  assert.deepEqual(Object.entries(statepad.state).sort(), [
    ['a', 1],
    ['b', 2],
  ]);
  assert.deepEqual(Object.entries(statepad.state).sort(), Object.entries(adk.state).sort());
});
