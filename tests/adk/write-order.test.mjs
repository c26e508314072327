/**
 * Two writes to one key: the one made later wins, in every scope, whatever order the events are appended in.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LlmAgent, ParallelAgent, SequentialAgent } from '@google/adk';
import { DELETED, StatepadSessionService } from 'statepad/adk';
import { KEY, onBoth, sameOnBoth, open } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';
import { crossed } from './writers.mjs';

/**
 * The state after a key was written early and late, by branches whose events are appended the other way round.
 *
 * @param {string} key @param {unknown} early @param {unknown} late @param {Record<string, unknown>} [before]
 */
async function left(key, early, late, before = {}) {
  const agent = crossed(
    (state) => state.set(key, early),
    (state) => state.set(key, late),
  );
  const { turn, state } = await open({ agent, state: before });
  await turn('go');
  return await state();
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
    assert.deepEqual(await left(key, 'early', DELETED, { [key]: 'old' }), {});
  });

  test(`a write to ${key} made after a deletion wins over it`, async () => {
    assert.deepEqual(await left(key, DELETED, 'late', { [key]: 'old' }), { [key]: 'late' });
  });
}

test('the same value written twice, by both branches, is simply there', async () => {
  assert.deepEqual(await left('n', 'same', 'same'), { n: 'same' });
});

test('a value written back by the later branch wins, although it is what was there before', async () => {
  assert.deepEqual(await left('n', 'new', 'old', { n: 'old' }), { n: 'old' });
});

test('lists and objects keep the order of writing too', async () => {
  assert.deepEqual(await left('n', { by: ['early'] }, { by: ['late'] }), { n: { by: ['late'] } });
});

test("the temp: key that was written later is the one the next agent reads, as on ADK's own service", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await onBoth(() => {
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
  });
  for (const model of models) assert.deepEqual(model.instructions, ['n = late']);
});

test('branches that write different keys lose nothing, and their events are stored as ADK stores them', async () => {
  const { statepad, adk } = await onBoth(() => ({
    agent: crossed(
      (state) => state.set('a', 1),
      (state) => state.update({ b: 2, 'user:b': 3 }),
    ),
  }));
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
    const { statepad, adk } = await onBoth(() => ({
      agent: crossed(
        (state) => state.set(key, 'early'),
        (state) => state.set(key, 'late'),
      ),
    }));
    assert.equal(adk.state[key], kept);
    assert.equal(statepad.state[key], 'late');
  }
});

test('LlmAgents in parallel branches each keep their output', async () => {
  const speaker = (/** @type {string} */ name) =>
    new LlmAgent({ name, model: new ScriptedModel(`${name} spoke`), outputKey: `${name}_said` });
  const statepad = await sameOnBoth(() => ({
    agent: new ParallelAgent({ name: 'all', subAgents: ['one', 'two', 'three'].map(speaker) }),
  }));
  assert.deepEqual(statepad.state, { one_said: 'one spoke', two_said: 'two spoke', three_said: 'three spoke' });
});
