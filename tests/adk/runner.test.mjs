/**
 * A plain turn through the Runner, and what reaches the store.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent, LlmAgent } from '@google/adk';
import { StatepadSessionService } from 'statepad/adk';
import { KEY, onBoth, open, said } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

const greeter = () =>
  new LlmAgent({ name: 'greeter', model: new ScriptedModel('hello', 'bye'), instruction: 'Greet.' });

test('a turn stores the same events as ADK stores', async () => {
  const { statepad, adk } = await onBoth(
    () => ({ agent: greeter() }),
    async ({ turn }) => {
      await turn('hi', { stateDelta: { topic: 'weather', 'user:name': 'Ana' }, customMetadata: { channel: 'web' } });
      await turn('and now?');
    },
  );
  assert.equal(adk.events.length, 4);
  assert.deepEqual(statepad, adk);
});

test('a second turn sees the events of the first one', async () => {
  const model = new ScriptedModel('hello', 'bye');
  const { turn } = await open({ agent: new LlmAgent({ name: 'greeter', model }) });
  await turn('hi');
  await turn('and now?');
  assert.deepEqual(model.heard, ['hi', 'hello', 'and now?']);
});

test('partial events are yielded and never stored', async () => {
  const model = new ScriptedModel({
    responses: [
      { content: { role: 'model', parts: [{ text: 'hel' }] }, partial: true },
      { content: { role: 'model', parts: [{ text: 'hello' }] } },
    ],
  });
  const { turn, stored } = await open({ agent: new LlmAgent({ name: 'greeter', model }) });
  assert.deepEqual(said(await turn('hi')), ['greeter: hel', 'greeter: hello']);
  assert.deepEqual(said((await stored()).events), ['user: hi', 'greeter: hello']);
});

test('stored events are frozen all the way down and are still events to ADK', async () => {
  const { turn, stored } = await open({ agent: greeter() });
  await turn('hi');
  const [, answer] = (await stored()).events;
  assert.ok(answer !== undefined && isEventOf(answer));
  assert.throws(() => Object.assign(answer, { author: 'someone' }), TypeError);
  assert.throws(() => answer.content?.parts?.push({ text: 'more' }), TypeError);
  assert.throws(() => Object.assign(answer.actions.stateDelta, { k: 1 }), TypeError);
});

test("the events that a run yields are ADK's own and stay writable for callers", async () => {
  const { turn, stored } = await open({ agent: greeter() });
  const [answer] = await turn('hi');
  assert.ok(answer?.content?.parts?.[0]);
  answer.content.parts[0].text = 'changed afterwards';
  assert.deepEqual(said((await stored()).events), ['user: hi', 'greeter: hello']);
});

test('a state delta given to the runner is not changed, its temp: keys are seen in the run and never stored', async () => {
  const model = new ScriptedModel('hello');
  const agent = new LlmAgent({ name: 'greeter', model, instruction: 'Device: {temp:device}, topic: {topic}.' });
  const { turn, state, stored } = await open({ agent });
  const stateDelta = Object.freeze({ 'temp:device': 'phone', topic: 'weather' });
  await turn('hi', { stateDelta });
  assert.deepEqual(model.instructions, ['Device: phone, topic: weather.']);
  assert.deepEqual(await state(), { topic: 'weather' });
  assert.doesNotMatch(JSON.stringify(await stored()), /temp:|phone/u);
});

test('temp: keys of one run are gone in the next one', async () => {
  const model = new ScriptedModel('one', 'two');
  const agent = new LlmAgent({ name: 'greeter', model, instruction: 'Device: {temp:device?}.' });
  const { turn } = await open({ agent });
  await turn('hi', { stateDelta: { 'temp:device': 'phone' } });
  await turn('again');
  assert.deepEqual(model.instructions, ['Device: phone.', 'Device: .']);
});

test('an ephemeral run sees app: and user: keys, writes them, and leaves no session', async () => {
  const service = new StatepadSessionService();
  const model = new ScriptedModel('hello');
  const agent = new LlmAgent({ name: 'greeter', model, outputKey: 'user:last', instruction: 'Hours: {app:hours}.' });
  const { runner, state } = await open({ agent, sessionService: service, state: { 'app:hours': '9-17' } });
  const run = runner.runEphemeral({
    userId: KEY.userId,
    newMessage: { parts: [{ text: 'hi' }] },
    stateDelta: { x: 1 },
  });
  for await (const event of run) assert.equal(event.author, 'greeter');
  assert.deepEqual(model.instructions, ['Hours: 9-17.']);
  assert.deepEqual(await state(), { 'app:hours': '9-17', 'user:last': 'hello' });
  const { sessions } = await service.listSessions({ appName: KEY.appName, userId: KEY.userId });
  assert.deepEqual(
    sessions.map(({ id }) => id),
    [KEY.sessionId],
  );
});

test('a run over a session that does not exist says so, as ADK does', async () => {
  const { turn } = await open({ agent: greeter() });
  await assert.rejects(turn('hi', { sessionId: 'nowhere' }), /Session not found: nowhere/u);
});

test('a run whose session is deleted meanwhile fails instead of writing into nothing', async () => {
  const service = new StatepadSessionService();
  const model = new ScriptedModel(async () => {
    await service.deleteSession(KEY);
    return 'too late';
  });
  const { turn } = await open({ agent: new LlmAgent({ name: 'greeter', model }), sessionService: service });
  await assert.rejects(turn('hi'), { code: 'SESSION_NOT_FOUND' });
  assert.equal(await service.getSession(KEY), undefined);
});

test('events appended by hand and events of runs make one log', async () => {
  const { service, turn, stored } = await open({ agent: greeter() });
  const session = await stored();
  await service.appendEvent({
    session,
    event: createEvent({ author: 'system', content: { role: 'user', parts: [{ text: 'opened' }] } }),
  });
  await turn('hi');
  assert.deepEqual(said((await stored()).events), ['system: opened', 'user: hi', 'greeter: hello']);
});

/** `isEvent` is not exported by ADK: what it asks for is this symbol. @param {object} event */
function isEventOf(event) {
  return Reflect.get(event, Symbol.for('google.adk.event')) === true;
}
