// Conversations under google-adk's Runner against a server, beside the same in ADK's own memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';

const YES = { answers: 'adk_request_confirmation', with: { confirmed: true } };

/** Conversations that come out the same against a server. */
const ALIKE = {
  'turns with a tool that writes to every scope': { agent: 'tides', turns: ['how high?', 'thanks', 'bye'] },
  'a tool that has to be confirmed': { agent: 'confirmed', turns: ['book Brest', YES] },
  'a tool that takes long': {
    agent: 'longRunning',
    turns: ['room?', { answers: 'ask_harbour', with: { room: true } }],
  },
  'a counter in every scope': { agent: 'counter', turns: ['1', '2', '3'], state: { tenant: 't1' } },
};

/** The tests, over the client that `at` answers. */
export function conversationTests(name, at) {
  for (const [index, [what, conversation]] of Object.entries(ALIKE).entries()) {
    test(`${name}: ${what} give the events and the state that they give in ADK's memory`, async () => {
      const { client } = at();
      const user = `talker${index}`;
      const ours = await client.ask('converse', { over: 'server', user, ...conversation });
      const theirs = await client.ask('converse', { over: 'memory', user, ...conversation });
      assert.deepEqual(ours.events, theirs.events);
      assert.ok(ours.events.length > conversation.turns.length);
      assert.equal(new Set(ours.ids).size, ours.ids.length);
      // Other tests share the app.
      assert.deepEqual(withoutApp(ours.state), withoutApp(theirs.state));
    });
  }

  test(`${name}: a rewind restores what there was, also what came with the session's creation`, async (t) => {
    const { client } = at();
    const conversation = {
      ...{ user: 'rewinder', agent: 'counter', turns: ['1', '2', { rewind: 1 }] },
      state: { tenant: 't1', 'user:plan': 'gold' },
    };
    const ours = await client.ask('converse', { over: 'server', ...conversation });
    const theirs = await client.ask('converse', { over: 'memory', ...conversation });
    t.diagnostic(`after a rewind to turn 1, against the server: ${JSON.stringify(withoutApp(ours.state))}`);
    t.diagnostic(`after a rewind to turn 1, in ADK's memory:    ${JSON.stringify(withoutApp(theirs.state))}`);
    const kept = { n: 1, 'turn 1': true, tenant: 't1', 'user:plan': 'gold', 'user:n': 2 };
    assert.deepEqual(withoutApp(ours.state), kept);
    // ADK's own loses what the session was created with. If this fails, it has been mended: the docs say otherwise.
    assert.equal(theirs.state.tenant, null);
    const marker = ours.events.at(-1);
    const { rewindBeforeInvocationId, stateDelta } = marker.actions;
    assert.equal(rewindBeforeInvocationId, ours.events.at(-2).invocationId);
    assert.equal(marker.author, 'user');
    assert.deepEqual(stateDelta, { n: 1, 'turn 2': null });
  });

  test(`${name}: after rewinds the conversation goes on from where it was`, async () => {
    const { client } = at();
    const turns = ['1', '2', { rewind: 0 }, '3', '4', { rewind: 3 }, '5'];
    const { state, events } = await client.ask('converse', {
      ...{ over: 'server', user: 'returner', agent: 'counter', turns, state: { tenant: 't1' } },
    });
    const said = events.filter(({ author }) => author === 'counter').map(({ content }) => content.parts[0].text);
    assert.deepEqual(said, ['turn 1', 'turn 2', 'turn 1', 'turn 2', 'turn 2']);
    const shown = { n: 2, 'turn 1': true, 'turn 2': true, tenant: 't1', 'user:n': 2 };
    assert.deepEqual(withoutApp(state), shown);
  });
}

function withoutApp(state) {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('app:')));
}
