/**
 * Two writes to one key: the one made later wins, in every scope, whatever order the events are appended in.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BaseAgent, Context, createEvent, LlmAgent, ParallelAgent, SequentialAgent } from '@google/adk';
import { DELETED, StatepadSessionService } from 'statepad/adk';
import { KEY, onBoth, open } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

/** Resolved by the agent that comes first. */
function gate() {
  /** @type {() => void} */
  let open = () => {};
  const passed = new Promise((/** @type {(value?: unknown) => void} */ resolve) => (open = resolve));
  return { open, passed };
}

/**
 * An agent that writes once it may and yields the event once it may.
 */
class Writer extends BaseAgent {
  /**
   * @param {string} name @param {{ write: (state: import('@google/adk').State) => Promise<void>, send: () =>
   * Promise<unknown> }} steps
   */
  constructor(name, steps) {
    super({ name });
    this.steps = steps;
  }

  /** @param {import('@google/adk').InvocationContext} invocationContext */
  async *runAsyncImpl(invocationContext) {
    const context = new Context({ invocationContext });
    await this.steps.write(context.state);
    await this.steps.send();
    yield createEvent({ author: this.name, invocationId: invocationContext.invocationId, actions: context.actions });
  }

  /** @returns {AsyncGenerator<import('@google/adk').Event, void, void>} */
  runLiveImpl() {
    throw new Error('not live');
  }
}

/**
 * Two branches: `early` writes first; `late` writes second and its event is appended first.
 *
 * @param {(state: import('@google/adk').State) => void} early
 * @param {(state: import('@google/adk').State) => void} late
 */
function crossed(early, late) {
  const written = gate();
  const appended = gate();
  return new ParallelAgent({
    name: 'crossed',
    subAgents: [
      new Writer('early', {
        async write(state) {
          early(state);
          written.open();
        },
        send: () => appended.passed,
      }),
      new Writer('late', {
        async write(state) {
          await written.passed;
          late(state);
        },
        async send() {
          setImmediate(() => setImmediate(appended.open));
        },
      }),
    ],
  });
}

for (const key of ['n', 'app:n', 'user:n']) {
  test(`the later write to ${key} wins although its event is appended first`, async () => {
    const service = new StatepadSessionService();
    const agent = crossed(
      (state) => state.set(key, 'early'),
      (state) => state.set(key, 'late'),
    );
    const { turn, state } = await open({ agent, sessionService: service });
    const events = await turn('go');
    assert.deepEqual(
      events.map(({ author }) => author),
      ['late', 'early'],
    );
    assert.deepEqual(await state(), { [key]: 'late' });
    const { state: next } = await service.createSession({ ...KEY, sessionId: 's2' });
    assert.deepEqual({ ...next }, key === 'n' ? {} : { [key]: 'late' });
  });

  test(`a deletion of ${key} made later wins over a write whose event is appended after it`, async () => {
    const agent = crossed(
      (state) => state.set(key, 'early'),
      (state) => state.set(key, DELETED),
    );
    const { turn, state } = await open({ agent, state: { [key]: 'old' } });
    await turn('go');
    assert.deepEqual(await state(), {});
  });

  test(`a write to ${key} made after a deletion wins over it`, async () => {
    const agent = crossed(
      (state) => state.set(key, DELETED),
      (state) => state.set(key, 'late'),
    );
    const { turn, state } = await open({ agent, state: { [key]: 'old' } });
    await turn('go');
    assert.deepEqual(await state(), { [key]: 'late' });
  });
}

test('the same value written twice, by both branches, is simply there', async () => {
  const agent = crossed(
    (state) => state.set('n', 'same'),
    (state) => state.set('n', 'same'),
  );
  const { turn, state } = await open({ agent });
  await turn('go');
  assert.deepEqual(await state(), { n: 'same' });
});

test('a value written back by the later branch wins, although it is what was there before', async () => {
  const agent = crossed(
    (state) => state.set('n', 'new'),
    (state) => state.set('n', 'old'),
  );
  const { turn, state } = await open({ agent, state: { n: 'old' } });
  await turn('go');
  assert.deepEqual(await state(), { n: 'old' });
});

test('lists and objects keep the order of writing too', async () => {
  const agent = crossed(
    (state) => state.set('n', { by: ['early'] }),
    (state) => state.set('n', { by: ['late'] }),
  );
  const { turn, state } = await open({ agent });
  await turn('go');
  assert.deepEqual(await state(), { n: { by: ['late'] } });
});

test("the temp: key that was written later is the one the next agent reads, as on ADK's own service", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await onBoth(
    () => {
      const model = new ScriptedModel('read');
      models.push(model);
      const agent = new SequentialAgent({
        name: 'both',
        subAgents: [
          crossed(
            (state) => state.set('temp:n', 'early'),
            (state) => state.set('temp:n', 'late'),
          ),
          new LlmAgent({ name: 'reader', model, instruction: 'n = {temp:n}' }),
        ],
      });
      return { agent };
    },
    ({ turn }) => turn('go'),
  );
  for (const model of models) assert.deepEqual(model.instructions, ['n = late']);
});

test('branches that write different keys lose nothing, and their events are stored as ADK stores them', async () => {
  const { statepad, adk } = await onBoth(
    () => ({
      agent: crossed(
        (state) => state.set('a', 1),
        (state) => state.update({ b: 2, 'user:b': 3 }),
      ),
    }),
    ({ turn }) => turn('go'),
  );
  assert.deepEqual(statepad.state, { a: 1, b: 2, 'user:b': 3 });
  assert.deepEqual(statepad.events, adk.events);
  assert.deepEqual(Object.entries(statepad.state).sort(), Object.entries(adk.state).sort());
});

test("ADK's own service keeps the order of writing in the session scope only, and appends decide in app: and user:", async () => {
  for (const [key, kept] of [
    ['n', 'late'],
    ['app:n', 'early'],
    ['user:n', 'early'],
  ]) {
    assert.ok(key !== undefined);
    const { statepad, adk } = await onBoth(
      () => ({
        agent: crossed(
          (state) => state.set(key, 'early'),
          (state) => state.set(key, 'late'),
        ),
      }),
      ({ turn }) => turn('go'),
    );
    assert.equal(adk.state[key], kept);
    assert.equal(statepad.state[key], 'late');
  }
});

test('LlmAgents in parallel branches each keep their output', async () => {
  const speaker = (/** @type {string} */ name) =>
    new LlmAgent({ name, model: new ScriptedModel(`${name} spoke`), outputKey: `${name}_said` });
  const { statepad, adk } = await onBoth(
    () => ({ agent: new ParallelAgent({ name: 'all', subAgents: ['one', 'two', 'three'].map(speaker) }) }),
    ({ turn }) => turn('go'),
  );
  assert.deepEqual(statepad.state, { one_said: 'one spoke', two_said: 'two spoke', three_said: 'three spoke' });
  assert.deepEqual(statepad, adk);
});
