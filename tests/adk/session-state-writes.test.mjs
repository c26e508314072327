/**
 * Code that writes to a session's own record: `session.state[key] = value`, `delete session.state[key]`, and code
 * that changes a value it has read.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BaseCodeExecutor,
  CodeExecutionLanguage,
  createEvent,
  FunctionTool,
  InMemoryArtifactService,
  InMemoryMemoryService,
  LlmAgent,
} from '@google/adk';
import { instruction } from 'statepad/adk';
import { KEY, sameOnBoth, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

test('a key put on the record is read by the rest of the run, also after appends, and is not stored, as in ADK', async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await sameOnBoth(
    () => {
      const model = new ScriptedModel(call('put'), 'done', 'next');
      models.push(model);
      const put = new FunctionTool({
        name: 'put',
        description: 'Puts.',
        execute: (_, context) =>
          void Object.assign(context?.invocationContext.session.state ?? {}, { sandbox: 'sb-1' }),
      });
      return { agent: new LlmAgent({ name: 'worker', model, tools: [put], instruction: '<{sandbox?}>' }) };
    },
    async ({ turn }) => {
      await turn('go');
      await turn('again');
    },
  );
  for (const model of models) assert.deepEqual(model.instructions, ['<>', '<sb-1>', '<>']);
});

test('a key deleted from the record is gone for the rest of the run and still stored, as in ADK', async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await sameOnBoth(() => {
    const model = new ScriptedModel(call('drop'), 'done');
    models.push(model);
    const drop = new FunctionTool({
      name: 'drop',
      description: 'Drops.',
      execute: (_, context) => void delete context?.invocationContext.session.state.city,
    });
    return {
      state: { city: 'Lisbon' },
      agent: new LlmAgent({ name: 'worker', model, tools: [drop], instruction: '<{city?}>' }),
    };
  });
  for (const model of models) assert.deepEqual(model.instructions, ['<Lisbon>', '<>']);
});

test("the record stays the same object through a run, because ADK's State holds on to it", async () => {
  const { service, stored } = await open({ agent: new LlmAgent({ name: 'idle', model: new ScriptedModel() }) });
  const session = await stored();
  const { state, events } = session;
  for (const n of [1, 2, 3]) {
    const event = createEvent({
      author: 'worker',
      invocationId: 'i',
      actions: /** @type {any} */ ({ stateDelta: { n } }),
    });
    await service.appendEvent({ session, event });
    assert.equal(session.state, state);
    assert.equal(session.events, events);
    assert.deepEqual({ ...session.state }, { n });
  }
  assert.equal(session.events.length, 3);
  assert.equal(session.lastUpdateTime, session.events.at(-1)?.timestamp);
});

test('a handle used by hand, without a runner, is brought up to date by each append', async () => {
  const { service, stored } = await open({ agent: new LlmAgent({ name: 'idle', model: new ScriptedModel() }) });
  const one = await stored();
  const two = await stored();
  const append = (
    /** @type {import('@google/adk').Session} */ session,
    /** @type {Record<string, unknown>} */ stateDelta,
  ) =>
    service.appendEvent({
      session,
      event: createEvent({ author: 'worker', invocationId: 'i', actions: /** @type {any} */ ({ stateDelta }) }),
    });
  await append(one, { a: 1, 'temp:t': 'mine' });
  await append(two, { b: 2 });
  assert.deepEqual({ ...two.state }, { a: 1, b: 2 });
  assert.deepEqual({ ...one.state }, { a: 1, 'temp:t': 'mine' });
  await append(one, { c: 3 });
  assert.deepEqual({ ...one.state }, { a: 1, b: 2, c: 3, 'temp:t': 'mine' });
  assert.deepEqual((await service.getSession(KEY))?.events.length, 3);
});

test('two appends at once through one session show each event once, in the order of the log', async () => {
  const { service, stored } = await open({ agent: new LlmAgent({ name: 'idle', model: new ScriptedModel() }) });
  const session = await stored();
  await Promise.all(
    [1, 2, 3, 4].map((n) =>
      service.appendEvent({
        session,
        event: createEvent({
          author: 'worker',
          invocationId: 'i',
          actions: /** @type {any} */ ({ stateDelta: n % 2 === 0 ? { [`k${n}`]: n, last: n } : {} }),
        }),
      }),
    ),
  );
  const { events, state } = await stored();
  assert.equal(events.length, 4);
  assert.deepEqual(
    session.events.map(({ id }) => id),
    events.map(({ id }) => id),
  );
  assert.deepEqual({ ...session.state }, { ...state });
});

test('a session that was read with its last event only goes on from there', async () => {
  const { service, stored, turn } = await open({
    agent: new LlmAgent({ name: 'worker', model: new ScriptedModel('one', 'two') }),
  });
  for (const text of ['first', 'second']) await turn(text);
  const session = await service.getSession({ ...KEY, config: { numRecentEvents: 1 } });
  assert.ok(session);
  await service.appendEvent({ session, event: createEvent({ author: 'worker', invocationId: 'i' }) });
  const ids = (await stored()).events.map(({ id }) => id);
  assert.equal(ids.length, 5);
  assert.deepEqual(
    session.events.map(({ id }) => id),
    ids.slice(-2),
  );
});

test('a copy of a session appends to the same log, and what it shares with the session is brought up to date', async () => {
  const { service, stored } = await open({ agent: new LlmAgent({ name: 'idle', model: new ScriptedModel() }) });
  const session = await stored();
  const event = createEvent({ author: 'worker', actions: /** @type {any} */ ({ stateDelta: { n: 1 } }) });
  await service.appendEvent({ session: { ...session }, event });
  assert.deepEqual({ ...(await stored()).state }, { n: 1 });
  assert.equal(session.events.length, 1);
  assert.equal(session.state.n, 1);
});

test('a template sees what was put on the record', async () => {
  const model = new ScriptedModel('done');
  const agent = new LlmAgent({
    name: 'worker',
    model,
    instruction: instruction('<{box}>'),
    beforeAgentCallback: (context) => void (context.invocationContext.session.state.box = 'full'),
  });
  const { turn, state } = await open({ agent });
  await turn('go');
  assert.deepEqual(model.instructions, ['<full>']);
  assert.deepEqual(await state(), {});
});

test("ADK's memory service finds what was said in a statepad session", async () => {
  const memoryService = new InMemoryMemoryService();
  const agent = new LlmAgent({ name: 'worker', model: new ScriptedModel('the tea is in the tin') });
  const { turn, stored } = await open({ agent, memoryService });
  await turn('where is it?');
  await memoryService.addSessionToMemory(await stored());
  const { memories } = await memoryService.searchMemory({ appName: KEY.appName, userId: KEY.userId, query: 'tin' });
  assert.deepEqual(
    memories.map(({ author, content }) => [author, content.parts?.[0]?.text]),
    [['worker', 'the tea is in the tin']],
  );
});

/** Pretends to run code. */
class Executor extends BaseCodeExecutor {
  constructor() {
    super();
    this.optimizeDataFile = true;
    this.stateful = true;
  }

  /** @param {{ codeExecutionInput: { inputFiles: { name: string }[] } }} params */
  async executeCode({ codeExecutionInput }) {
    const names = codeExecutionInput.inputFiles.map(({ name }) => name);
    return { stdout: `read ${names.join(', ')}`, stderr: '', outputFiles: [] };
  }
}

/** A CSV file in a message. @param {string} text */
const csv = (text) => ({ inlineData: { mimeType: 'text/csv', data: Buffer.from(text).toString('base64') } });

test("ADK's code execution, which changes lists that it read from state, works over several runs", async () => {
  const statepad = await sameOnBoth(
    () => ({
      agent: new LlmAgent({ name: 'analyst', model: new ScriptedModel('one', 'two'), codeExecutor: new Executor() }),
      artifactService: new InMemoryArtifactService(),
    }),
    async ({ turn }) => {
      await turn([{ text: 'read this' }, csv('a,b')]);
      await turn([{ text: 'and this' }, csv('c,d')]);
    },
  );
  assert.equal(String(CodeExecutionLanguage.PYTHON), 'python');
  assert.match(JSON.stringify(statepad.events), /read data_1_2\.csv/u);
});
