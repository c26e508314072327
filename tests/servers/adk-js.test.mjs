// The session service of @google/adk for Agent Engine at a server of `statepad/serve`: as it is under ADK's Runner.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createEvent, createEventActions, FunctionTool, InMemorySessionService, LlmAgent } from '@google/adk';
import { z } from 'zod';
import { comparable, open } from '../adk/harness.mjs';
import { call, ScriptedModel } from '../adk/scripted-model.mjs';
import { RICH } from '../hosts/adk-python/events.mjs';
import { sqliteFiles } from '../sharing/databases.mjs';
import { openService } from '../sharing/places.mjs';
import { startBalancer } from '../support/balancer.mjs';
import { startServer } from '../support/servers.mjs';
import { adkAtServer } from './adk-js.mjs';

const APP = 'shop';
const EVERYTHING = { apps: 'all', users: 'all', writes: ['app', 'user', 'session'] };
const PRINCIPALS = { all: { id: 'all', ...EVERYTHING }, ana: { id: 'ana', apps: [APP], users: ['ana'] } };
const keyOf = (userId, sessionId) => ({ appName: APP, userId, sessionId });
const idsOf = ({ events }) => events.map(({ id }) => id);
const withoutApp = (state) => Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('app:')));

/** The members of actions that @google/adk has. */
const ACTIONS = [
  ...['stateDelta', 'artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations'],
  ...['skipSummarization', 'transferToAgent', 'escalate', 'agentState', 'endOfAgent'],
];

/** An event that adk-python may have, as @google/adk has it; times are whole milliseconds. */
function asInJavaScript({ timestamp, actions = {}, ...event }) {
  const known = Object.entries({ ...createEventActions(), ...actions }).filter(([name]) => ACTIONS.includes(name));
  return { ...event, timestamp: Math.floor(timestamp), actions: Object.fromEntries(known) };
}

/** Tides that a tool tells, which writes to every scope. */
function tides() {
  const tool = new FunctionTool({
    name: 'tide_at',
    description: 'Tells a tide.',
    parameters: z.object({ port: z.string() }),
    execute: async ({ port }, { state }) => {
      state.set('askedFor', port);
      state.set('user:lastPort', { port, times: [1, 2.5, null] });
      state.set('app:asked', true);
      state.set('temp:secret', 'x');
      return { highWater: 3.5, notKnown: null };
    },
  });
  const model = new ScriptedModel(call('tide_at', { port: 'Brest' }), '3.5 m', 'You are welcome.');
  return new LlmAgent({ name: 'tides', model, tools: [tool], outputKey: 'answer' });
}

/** A cashier whose tool has to be confirmed. */
function cashier() {
  const tool = new FunctionTool({
    name: 'pay',
    description: 'Pays.',
    requireConfirmation: true,
    execute(_, context) {
      context.state.update({ paid: true, 'user:trusted': true });
      return { status: 'paid' };
    },
  });
  return new LlmAgent({ name: 'cashier', model: new ScriptedModel(call('pay'), 'done'), tools: [tool] });
}

const confirm = (events) => {
  const calls = events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionCall }) => functionCall ?? []);
  const { id, name } = calls.findLast((one) => one.name === 'adk_request_confirmation');
  return [{ functionResponse: { id, name, response: { confirmed: true } } }];
};

describe('@google/adk at a server', () => {
  let server;
  let balancer;
  let place;
  let files;
  let service;
  let cutOf = () => undefined;
  before(async () => {
    files = sqliteFiles();
    place = files.newPlace();
    server = await startServer(place, { principals: PRINCIPALS });
    balancer = await startBalancer([server.port], (asked) => cutOf(asked));
    service = adkAtServer(balancer.url, { token: 'all', appName: APP });
  });
  after(async () => {
    await balancer?.stop();
    await server?.stop();
    await files?.stop();
  });
  /** Everything that was answered since is well. */
  const refusedSince = (start) => balancer.log.slice(start).filter(({ status }) => status >= 400);

  it('a session is created, read, listed and deleted', async () => {
    const state = { topic: 'tea', 'user:name': 'Ana', 'app:tax': 7, nested: { list: [1, null, 'ü😀'] } };
    const created = await service.createSession({ ...keyOf('ana', 'first'), state });
    assert.deepEqual([created.id, { ...created.state }], ['first', state]);
    const read = await service.getSession(keyOf('ana', 'first'));
    assert.deepEqual({ ...read.state }, state);
    const other = await service.createSession({ appName: APP, userId: 'ana' });
    const { sessions } = await service.listSessions({ appName: APP, userId: 'ana' });
    assert.deepEqual(sessions.map(({ id }) => id).sort(), ['first', other.id].sort());
    for (const id of ['first', other.id]) await service.deleteSession(keyOf('ana', id));
    assert.equal(await service.getSession(keyOf('ana', 'first')), undefined);
    assert.deepEqual((await service.listSessions({ appName: APP, userId: 'ana' })).sessions, []);
  });

  for (const [what, agent, play] of [
    ['a tool that writes to every scope', tides, async ({ turn }) => [await turn('how high?'), await turn('thanks')]],
    ['a tool that has to be confirmed', cashier, async ({ turn }) => turn(confirm(await turn('pay')))],
  ]) {
    it(`turns with ${what} give the events and the state that they give in ADK's memory`, async () => {
      const start = balancer.log.length;
      const played = async (sessionService) => {
        const opened = await open({
          agent: agent(),
          sessionService,
          key: keyOf(agent.name, agent.name),
          state: { own: 1 },
        });
        await play(opened);
        const { events, state } = await opened.stored();
        return { events: comparable(events), state: withoutApp(state) };
      };
      const ours = await played(service);
      assert.deepEqual(ours, await played(new InMemorySessionService()));
      assert.ok(ours.events.length > 3);
      // Neither was refused and sent again without the whole event.
      assert.deepEqual(refusedSince(start), []);
    });
  }

  it('an event that asks for confirmations comes back with them', async () => {
    const session = await service.createSession(keyOf('bo', 'asks'));
    const requestedToolConfirmations = { 'call-1': { hint: 'sure?', confirmed: false, payload: { amount: 3 } } };
    const event = createEvent({ author: 'agent', actions: createEventActions({ requestedToolConfirmations }) });
    const start = balancer.log.length;
    await service.appendEvent({ session, event });
    const { events } = await service.getSession(keyOf('bo', 'asks'));
    assert.deepEqual(events[0].actions.requestedToolConfirmations, requestedToolConfirmations);
    assert.equal(events[0].id, event.id);
    assert.deepEqual(refusedSince(start), []);
  });

  it('events come back with every member, in order, and in the windows that are asked for', async () => {
    const session = await service.createSession(keyOf('cy', 'rich'));
    const start = balancer.log.length;
    const sent = RICH.map(asInJavaScript);
    for (const event of sent) await service.appendEvent({ session, event: structuredClone(event) });
    const read = await service.getSession(keyOf('cy', 'rich'));
    assert.deepEqual(read.events, sent);
    assert.deepEqual(refusedSince(start), []);
    const windows = async (config) => idsOf(await service.getSession({ ...keyOf('cy', 'rich'), config }));
    const ids = sent.map(({ id }) => id);
    assert.deepEqual(await windows({ numRecentEvents: 2 }), ids.slice(-2));
    assert.deepEqual(await windows({ numRecentEvents: 0 }), []);
    assert.deepEqual(await windows({ afterTimestamp: sent.at(-2).timestamp }), ids.slice(-2));
  });

  it('a session with many events has all of them, although its client reads one page', async () => {
    const { service: own, end } = await openService(place);
    const session = await own.createSession(keyOf('di', 'long'));
    const ids = Array.from({ length: 1_300 }, (_, number) => `l${number}`);
    for (const id of ids) await own.appendEvent({ session, event: { id, author: 'agent', invocationId: 'i' } });
    await end();
    assert.deepEqual(idsOf(await service.getSession(keyOf('di', 'long'))), ids);
  });

  it('a marker that an agent appends rewinds the session, with what it was created with', async () => {
    const opened = await open({
      agent: tides(),
      sessionService: service,
      key: keyOf('ed', 'back'),
      state: { own: 1 },
    });
    await opened.turn('how high?');
    const session = await opened.stored();
    const before = session.events[0].invocationId;
    const actions = createEventActions({ rewindBeforeInvocationId: before, stateDelta: { own: null } });
    await service.appendEvent({ session, event: createEvent({ author: 'user', invocationId: 'back', actions }) });
    const { state, events } = await service.getSession(keyOf('ed', 'back'));
    const { own, askedFor, answer } = state;
    assert.deepEqual([own, askedFor, answer], [1, undefined, undefined]);
    assert.equal(events.at(-1).actions.rewindBeforeInvocationId, before);
    assert.equal(events.at(-1).invocationId, 'back');
  });

  it('an append that is cut, and sent again by its program, is there once', async (t) => {
    t.after(() => (cutOf = () => undefined));
    const key = keyOf('flo', 'cut');
    await service.createSession(key);
    for (const where of ['before', 'after', 'middle']) {
      const event = createEvent({ author: 'agent', invocationId: where, actions: { stateDelta: { [where]: 1 } } });
      let cuts = 0;
      cutOf = ({ path }) => (path.endsWith(':appendEvent') && (cuts += 1) === 1 ? where : undefined);
      const append = async () => service.appendEvent({ session: await service.getSession(key), event });
      await assert.rejects(append());
      await append();
      assert.equal(cuts, 2);
    }
    const { events, state } = await service.getSession(key);
    assert.deepEqual(
      events.map(({ invocationId }) => invocationId),
      ['before', 'after', 'middle'],
    );
    assert.deepEqual(withoutApp(state), { before: 1, after: 1, middle: 1 });
  });

  it('sessions of another user are not given away', async () => {
    await service.createSession({ ...keyOf('gus', 'of-gus'), state: { secret: 1 } });
    await assert.rejects(service.getSession(keyOf('ana', 'of-gus')), /does not belong to user ana/);
    const ana = adkAtServer(balancer.url, { token: 'ana', appName: APP });
    assert.equal(await ana.getSession(keyOf('ana', 'of-gus')), undefined);
    assert.equal(await ana.getSession(keyOf('gus', 'of-gus')), undefined);
    await assert.rejects(ana.createSession(keyOf('gus', 'other')), /403|PERMISSION_DENIED/);
    const session = await ana.createSession(keyOf('ana', 'own'));
    const event = createEvent({ author: 'agent', actions: { stateDelta: { mine: 1, 'app:theirs': 1 } } });
    await assert.rejects(ana.appendEvent({ session, event }), /403|PERMISSION_DENIED/);
    assert.deepEqual((await ana.getSession(keyOf('ana', 'own'))).events, []);
    const forged = adkAtServer(balancer.url, { token: 'forged', appName: APP });
    await assert.rejects(forged.listSessions({ appName: APP }), /401|UNAUTHENTICATED/);
  });
});
