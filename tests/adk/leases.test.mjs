/**
 * Leased runs: one run of ADK's Runner at a time for a session, whatever becomes of it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent, InMemorySessionService, LlmAgent } from '@google/adk';
import { LeasedRunner, StatepadSessionService } from 'statepad/adk';
import { memoryStore } from 'statepad/stores/memory';
import { gate } from '../support/gate.mjs';
import { KEY, said } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

/** @typedef {import('./scripted-model.mjs').Step} Step */

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
const tick = (time = 5) => new Promise((resolve) => setTimeout(resolve, time));

/**
 * An answer of a model that is waited for: `asked` is open once it was asked for, and `model` lets it come.
 *
 * @param {string} text
 */
function held(text) {
  const [model, asked] = [gate(), gate()];
  const answer = async () => {
    asked.open();
    await model.opened;
    return text;
  };
  return { model, asked, answer };
}

/**
 * Two processes with a runner each over one store.
 *
 * @param {Step[]} steps of the first one's model
 * @param {{ ttl?: number, wait?: number }} [lease]
 */
async function start(steps, lease = {}) {
  const store = memoryStore();
  const runnerOf = (/** @type {Step[]} */ ...said) => {
    const sessionService = new StatepadSessionService({ store });
    const agent = new LlmAgent({ name: 'helper', model: new ScriptedModel(...said), outputKey: 'said' });
    return new LeasedRunner({ appName: KEY.appName, agent, sessionService, lease });
  };
  const [here, there] = [runnerOf(...steps), runnerOf('theirs', 'theirs again')];
  const service = new StatepadSessionService({ store });
  await service.createSession(KEY);
  const log = async () => said((await service.getSession(KEY))?.events ?? []);
  return { here, there, service, log };
}

/** Takes a turn. @param {LeasedRunner} runner @param {string} text @param {AbortSignal} [abortSignal] */
async function turn(runner, text, abortSignal) {
  const events = [];
  const newMessage = { role: 'user', parts: [{ text }] };
  const { userId, sessionId } = KEY;
  for await (const event of runner.runAsync({ userId, sessionId, newMessage, ...(abortSignal && { abortSignal }) })) {
    events.push(event);
  }
  return said(events);
}

test('while a run goes on, another one is refused; afterwards it goes on where that has ended', async () => {
  const { model, asked, answer } = held('ours');
  const { here, there, service, log } = await start([answer]);
  const running = turn(here, 'first');
  await asked.opened;
  await assert.rejects(turn(there, 'second'), { code: 'LEASE_HELD' });
  await assert.rejects(turn(here, 'second'), { code: 'LEASE_HELD' });
  assert.deepEqual(await log(), ['user: first']);
  model.open();
  assert.deepEqual(await running, ['helper: ours']);
  assert.deepEqual(await turn(there, 'second'), ['helper: theirs']);
  assert.deepEqual(await log(), ['user: first', 'helper: ours', 'user: second', 'helper: theirs']);
  assert.equal((await service.getSession(KEY))?.state['said'], 'theirs');
});

test('runs that wait take turns', async () => {
  const slow = async () => {
    await tick(50);
    return 'ours';
  };
  const { here, there, log } = await start([slow, slow], { wait: 60_000 });
  await Promise.all([turn(here, 'a'), turn(there, 'b'), turn(here, 'c'), turn(there, 'd')]);
  const all = await log();
  assert.equal(all.length, 8);
  all.forEach((text, place) => assert.equal(text.startsWith('user'), place % 2 === 0, all.join('; ')));
});

test('the lease is given back when the agent fails, the caller stops listening or aborts', async () => {
  const failure = () => {
    throw new Error('the model failed');
  };
  const { here, there } = await start([failure, 'one', 'two']);
  await turn(here, 'fails').catch(() => undefined);
  const { userId, sessionId } = KEY;
  const newMessage = { role: 'user', parts: [{ text: 'stops' }] };
  for await (const event of here.runAsync({ userId, sessionId, newMessage })) {
    assert.ok(event);
    break;
  }
  const controller = new AbortController();
  controller.abort();
  await turn(here, 'aborted', controller.signal).catch(() => undefined);
  assert.deepEqual(await turn(there, 'second'), ['helper: theirs']);
});

test('a run that was overtaken writes nothing more, and says why', async () => {
  const { model, asked, answer } = held('too late');
  const { here, service, log } = await start([answer], { ttl: 60_000 });
  const running = turn(here, 'first');
  await asked.opened;
  // As a process that stood still finds it: the session was deleted and made anew by another one, or its lease taken.
  await service.deleteSession(KEY);
  await service.createSession(KEY);
  await service.appendEvent({
    session: /** @type {any} */ (NAME),
    event: createEvent({ author: 'user', invocationId: 'x', content: { parts: [{ text: 'theirs' }] } }),
  });
  model.open();
  await assert.rejects(running, { code: 'SESSION_NOT_FOUND' });
  assert.deepEqual(await log(), ['user: theirs']);
});

test('a run whose lease another has taken is aborted, and throws LEASE_LOST', async () => {
  const { model, asked, answer } = held('too late');
  const store = memoryStore();
  // Renewals do not come through: as in a process that stands still.
  /** @type {typeof store.lease} */
  const lease = async (key, request, context) => {
    if (request.fence !== undefined && request.ttl > 0 && !isThawed) return await new Promise(() => undefined);
    return /** @type {any} */ (await store.lease?.(key, request, context));
  };
  let isThawed = false;
  const sessionService = new StatepadSessionService({ store: { ...store, lease }, timeout: 50 });
  await sessionService.createSession(KEY);
  const agent = new LlmAgent({ name: 'helper', model: new ScriptedModel(answer) });
  const runner = new LeasedRunner({ appName: KEY.appName, agent, sessionService, lease: { ttl: 1 } });
  const running = turn(runner, 'first');
  await asked.opened;
  await tick(20);
  const other = new StatepadSessionService({ store });
  await other.service.withLease(NAME, async ({ session }) => {
    await other.service.appendEvent({ session, event: { author: 'user', content: { parts: [{ text: 'theirs' }] } } });
    isThawed = true;
    model.open();
    await assert.rejects(running, { code: 'LEASE_LOST' });
  });
  assert.deepEqual(said((await other.getSession(KEY))?.events ?? []), ['user: first', 'user: theirs']);
});

test('what it cannot lease with is refused', async () => {
  const agent = new LlmAgent({ name: 'helper', model: new ScriptedModel() });
  const config = { appName: KEY.appName, agent };
  const foreign = /** @type {any} */ (new InMemorySessionService());
  assert.throws(() => new LeasedRunner({ ...config, sessionService: foreign }), { path: 'sessionService' });
  const sessionService = new StatepadSessionService();
  assert.throws(() => new LeasedRunner({ ...config, sessionService, lease: /** @type {any} */ ({ tll: 1 }) }), {
    code: 'INVALID_ARGUMENT',
  });
  const runner = new LeasedRunner({ ...config, sessionService });
  await assert.rejects(turn(runner, 'hello'), { code: 'SESSION_NOT_FOUND' });
  await sessionService.createSession(KEY);
  const wrong = new LeasedRunner({ ...config, sessionService, lease: { ttl: -1 } });
  await assert.rejects(turn(wrong, 'hello'), { code: 'INVALID_ARGUMENT' });
});
