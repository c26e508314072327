// An agent under ADK's Runner, over the store in Agent Engine: what is stored is what ADK's own service has in memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionTool, InMemorySessionService, LlmAgent } from '@google/adk';
import { StatepadSessionService } from 'statepad/adk';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { z } from 'zod';
import { comparable, open, said } from '../../adk/harness.mjs';
import { ScriptedModel } from '../../adk/scripted-model.mjs';
import { adkService } from './adk.mjs';
import { APP, storeOver } from './words.mjs';

const KEY = Object.freeze({ appName: APP, userId: 'ana', sessionId: 's1' });

function shopAgent() {
  const call = { functionCall: { id: 'call-1', name: 'price_of', args: { what: 'tea', null: null } } };
  const tool = new FunctionTool({
    name: 'price_of',
    description: 'Tells a price.',
    parameters: z.object({ what: z.string() }).passthrough(),
    execute: async ({ what }, toolContext) => {
      toolContext.state.set('asked', what);
      toolContext.state.set('user:last', what);
      toolContext.state.set('temp:secret', 'x');
      return { price: 3.5, currency: null };
    },
  });
  const usage = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 };
  const answer = { content: { role: 'model', parts: [{ text: 'It is 3.50.' }] }, usageMetadata: usage };
  const model = new ScriptedModel(call, { responses: [answer] }, 'bye');
  return new LlmAgent({ name: 'shop', model, tools: [tool], outputKey: 'answer' });
}

async function played(sessionService) {
  const opened = await open({ key: KEY, agent: shopAgent(), sessionService, state: { 'app:currency': 'EUR' } });
  await opened.turn('how much is tea?', { stateDelta: { topic: 'prices' } });
  await opened.turn('thanks');
  const { events } = await opened.stored();
  return { events: comparable(events), state: await opened.state() };
}

test('a conversation with tools, state and an output key is stored as ADK stores it', async () => {
  const vertex = fakeVertexAi();
  const service = () => new StatepadSessionService({ store: storeOver(vertex) });
  const ours = await played(service());
  const memory = await played(new InMemorySessionService());
  assert.equal(memory.events.length, 6);
  assert.deepEqual(canonical(ours.events), canonical(memory.events));
  assert.deepEqual(ours.state, memory.state);
  const fresh = await service().getSession(KEY);
  assert.deepEqual(canonical(comparable(fresh.events)), canonical(memory.events));
  const theirs = await adkService(vertex).getSession(KEY);
  assert.deepEqual(said(theirs.events), said(fresh.events));
  assert.deepEqual({ ...theirs.state }, { ...fresh.state });
  const usage = theirs.events.filter(({ usageMetadata }) => usageMetadata !== undefined);
  assert.equal(usage.length, 1);
});

/** With members in one order: the API keeps none. */
function canonical(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, canonical(member)]));
}
