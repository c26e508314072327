// ADK's Runner over a file, in one service after the other.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { FunctionTool, LlmAgent, Runner } from '@google/adk';
import { StatepadSessionService } from 'statepad/adk';
import { z } from 'zod';
import { KEY, open, said } from '../adk/harness.mjs';
import { call, ScriptedModel } from '../adk/scripted-model.mjs';
import { sqliteFiles } from './databases.mjs';
import { openStore } from './places.mjs';

const files = sqliteFiles();
after(files.stop);

const SECRET = 'a secret of one invocation';

const note = new FunctionTool({
  name: 'note',
  description: 'Notes something.',
  parameters: z.object({ text: z.string() }),
  execute: ({ text }, context) => {
    context.state.set('noted', text);
    context.state.set('user:notes', context.state.get('user:notes', 0) + 1);
    context.state.set('app:notes', context.state.get('app:notes', 0) + 1);
    context.state.set('temp:noted', SECRET);
    return { ok: true, wasGiven: context.state.has('temp:given') };
  },
});

const agentOf = (model) =>
  new LlmAgent({ name: 'helper', model, instruction: 'Noted: {noted?}.', tools: [note], outputKey: 'temp:answer' });

/** Everything that lies in the file, and beside it. */
function bytesOf({ path }) {
  const folder = dirname(path);
  const names = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((name) => name.startsWith(path));
  return Buffer.concat(names.map((name) => readFileSync(name))).toString('latin1');
}

test('a Runner goes on with a session after a restart, and nothing that is temporary is ever stored', async () => {
  const place = files.newPlace();

  const before = await openStore(place);
  const first = new ScriptedModel(call('note', { text: 'tides' }), 'The tides are noted.');
  const opened = await open({
    agent: agentOf(first),
    sessionService: new StatepadSessionService({ store: before.store }),
    state: { 'user:name': 'Ana' },
  });
  const events = await opened.turn('note the tides', { stateDelta: { topic: 'sea', 'temp:given': SECRET } });
  assert.deepEqual(said(events), ['helper: The tides are noted.']);
  // The tool did see it.
  const answer = events
    .flatMap(({ content }) => content?.parts ?? [])
    .find(({ functionResponse }) => functionResponse)?.functionResponse;
  assert.deepEqual(answer?.response, { ok: true, wasGiven: true });
  const state = { 'user:name': 'Ana', topic: 'sea', noted: 'tides', 'user:notes': 1, 'app:notes': 1 };
  const stored = await opened.stored();
  assert.deepEqual({ ...stored.state }, state);
  await opened.service.service.close();
  await before.end();

  const again = await openStore(place);
  const sessionService = new StatepadSessionService({ store: again.store });
  try {
    const session = await sessionService.getSession(KEY);
    assert.deepEqual({ ...session.state }, state);
    assert.deepEqual(JSON.stringify(session.events), JSON.stringify(stored.events));

    const second = new ScriptedModel(call('note', { text: 'winds' }), 'Noted as well.');
    const runner = new Runner({ appName: KEY.appName, sessionService, agent: agentOf(second) });
    const { userId, sessionId } = KEY;
    const run = runner.runAsync({
      userId,
      sessionId,
      newMessage: { role: 'user', parts: [{ text: 'and the winds' }] },
    });
    const more = [];
    for await (const event of run) {
      more.push(event);
    }
    assert.deepEqual(said(more), ['helper: Noted as well.']);
    // The values that the other invocation got are not there any more.
    const heard = more
      .flatMap(({ content }) => content?.parts ?? [])
      .find(({ functionResponse }) => functionResponse)?.functionResponse;
    assert.deepEqual(heard?.response, { ok: true, wasGiven: false });
    assert.deepEqual(second.heard, ['note the tides', 'The tides are noted.', 'and the winds']);
    assert.deepEqual(second.instructions, ['Noted: tides.', 'Noted: winds.']);

    const after = await sessionService.getSession(KEY);
    assert.deepEqual({ ...after.state }, { ...state, noted: 'winds', 'user:notes': 2, 'app:notes': 2 });
    assert.deepEqual(said(after.events), [
      'user: note the tides',
      'helper: The tides are noted.',
      'user: and the winds',
      'helper: Noted as well.',
    ]);
    assert.equal(after.events.length, 8);
    // Another session of the same user has what is the user's and the app's.
    const other = await sessionService.createSession({ ...KEY, sessionId: 'other' });
    assert.deepEqual({ ...other.state }, { 'user:name': 'Ana', 'user:notes': 2, 'app:notes': 2 });
  } finally {
    await sessionService.service.close();
    await again.end();
  }

  const bytes = bytesOf(place);
  assert.ok(bytes.includes('tides') && bytes.includes('Noted as well.'));
  assert.deepEqual(
    ['temp:noted', 'temp:given', 'temp:answer', SECRET].filter((text) => bytes.includes(text)),
    [],
  );
});

test('two ADK services over one file have one session, and a turn of one sees that of the other', async () => {
  const place = files.newPlace();
  const stores = [await openStore(place), await openStore(place)];
  const services = stores.map(({ store }) => new StatepadSessionService({ store }));
  try {
    await services[0].createSession({ ...KEY });
    const { userId, sessionId } = KEY;
    const texts = ['one', 'two', 'three', 'four'];
    for (const [index, text] of texts.entries()) {
      const model = new ScriptedModel(`answer ${text}`);
      const agent = new LlmAgent({ name: 'helper', model, outputKey: 'answer' });
      const runner = new Runner({ appName: KEY.appName, sessionService: services[index % 2], agent });
      for await (const event of runner.runAsync({
        userId,
        sessionId,
        newMessage: { role: 'user', parts: [{ text }] },
      })) {
        assert.equal(event.author, 'helper');
      }
      assert.deepEqual(
        model.heard,
        texts.slice(0, index + 1).flatMap((each) => (each === text ? [each] : [each, `answer ${each}`])),
      );
    }
    for (const service of services) {
      const session = await service.getSession(KEY);
      assert.equal(session.events.length, 8);
      assert.equal(session.state.answer, 'answer four');
    }
  } finally {
    await Promise.all(services.map(({ service }) => service.close()));
    await Promise.all(stores.map(({ end }) => end()));
  }
});
