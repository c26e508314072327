// An agent of adk-js under its Runner, over the tables of adk-python: adk-python reads the conversation as it was.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionTool, InMemorySessionService, LlmAgent } from '@google/adk';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { StatepadSessionService } from 'statepad/adk';
import { z } from 'zod';
import { comparable, open } from '../../adk/harness.mjs';
import { ScriptedModel } from '../../adk/scripted-model.mjs';
import { withDatabase } from '../../stores/postgres/database.mjs';
import { startHost } from './python.mjs';

const KEY = Object.freeze({ appName: 'tutor', userId: 'ana', sessionId: 's1' });

function tideAgent() {
  const tool = new FunctionTool({
    name: 'tide_at',
    description: 'Tells a tide.',
    parameters: z.object({ portName: z.string() }),
    execute: async ({ portName }, { state }) => {
      state.set('askedFor', portName);
      state.set('user:lastPort', { portName });
      state.set('temp:secret', 'x');
      return { highWater: 3.5, notKnown: null };
    },
  });
  const call = { functionCall: { id: 'call-1', name: 'tide_at', args: { portName: 'Brest' } } };
  return new LlmAgent({
    name: 'tides',
    model: new ScriptedModel(call, 'At 3.50.', 'bye'),
    tools: [tool],
    outputKey: 'answer',
  });
}

async function played(sessionService) {
  const opened = await open({ key: KEY, agent: tideAgent(), sessionService, state: { 'app:unit': 'm' } });
  await opened.turn('how high is the tide?', { stateDelta: { topic: 'tides' } });
  await opened.turn('thanks');
  const { events } = await opened.stored();
  return { events: comparable(events), state: await opened.state() };
}

/** With members in one order: JSONB keeps none. */
function sorted(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([name, member]) => [name, sorted(member)]));
}

await withDatabase(async (database) => {
  const pool = database.pool();
  const schema = database.schema();
  await pool.query(`create schema ${schema}`);

  test('a conversation under the Runner of adk-js is read by adk-python, which goes on with it', async (t) => {
    const python = await startHost(database.url, schema);
    t.after(() => python.stop());
    await python.ask({ do: 'prepare' });
    const service = () => new StatepadSessionService({ store: adkDatabaseStore(pool, { schema }) });
    const [ours, memory] = [await played(service()), await played(new InMemorySessionService())];
    assert.equal(memory.events.length, 6);
    assert.deepEqual(sorted(ours.events), sorted(memory.events));
    assert.deepEqual(ours.state, memory.state);

    const name = { app: 'tutor', user: 'ana', session: 's1' };
    const told = await python.ask({ do: 'get', ...name });
    const stored = await service().getSession(KEY);
    assert.deepEqual(told.state, { ...stored.state });
    assert.deepEqual(
      told.events.map(({ author, content }) => [author, content]),
      stored.events.map(({ author, content }) => [author, content]),
    );
    // adk-python knows all of them: none lies there a second time.
    const { rows } = await pool.query(`select id from ${schema}.events where event_data ? 'statepad'`);
    assert.deepEqual(rows, []);
    const event = {
      id: 'p1',
      invocationId: 'i',
      author: 'tides',
      // adk-python orders by the time of events, and its process has a clock of its own.
      timestamp: Date.now() / 1000,
      content: { role: 'model', parts: [{ text: 'and back' }] },
    };
    await python.ask({ do: 'append', ...name, event });
    const after = await service().getSession(KEY);
    assert.deepEqual(after.events.at(-1).content, event.content);
  });
});
