/**
 * Plugins that write state or replace events.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BasePlugin,
  FunctionTool,
  InMemoryPolicyEngine,
  LlmAgent,
  LoggingPlugin,
  PolicyOutcome,
  SecurityPlugin,
  setLogger,
} from '@google/adk';
import { onBoth, sameOnBoth, open, said } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

const look = new FunctionTool({ name: 'look', description: 'Looks.', execute: () => 'seen' });
const worker = (/** @type {import('./scripted-model.mjs').Step[]} */ ...steps) =>
  new LlmAgent({ name: 'worker', model: new ScriptedModel(...steps), tools: [look] });

/** Writes a key in each callback that has a context. */
class Notes extends BasePlugin {
  constructor() {
    super('notes');
  }

  /** @param {{ callbackContext: import('@google/adk').Context }} params @returns {Promise<undefined>} */
  async beforeAgentCallback({ callbackContext }) {
    callbackContext.state.set('before_agent', true);
  }

  /** @param {{ callbackContext: import('@google/adk').Context }} params @returns {Promise<undefined>} */
  async afterAgentCallback({ callbackContext }) {
    callbackContext.state.set('app:after_agent', true);
  }

  /** @param {{ callbackContext: import('@google/adk').Context }} params @returns {Promise<undefined>} */
  async beforeModelCallback({ callbackContext }) {
    callbackContext.state.set('models', Number(callbackContext.state.get('models', 0)) + 1);
  }

  /** @param {{ callbackContext: import('@google/adk').Context }} params @returns {Promise<undefined>} */
  async afterModelCallback({ callbackContext }) {
    callbackContext.state.set('user:after_model', true);
  }

  /** @param {{ toolContext: import('@google/adk').Context }} params @returns {Promise<undefined>} */
  async beforeToolCallback({ toolContext }) {
    toolContext.state.set('before_tool', ['look']);
  }

  /** @param {{ toolContext: import('@google/adk').Context }} params @returns {Promise<undefined>} */
  async afterToolCallback({ toolContext }) {
    toolContext.state.set('temp:after_tool', toolContext.state.get('before_tool'));
  }
}

test('what plugin callbacks around models and tools write is stored as ADK stores it', async () => {
  const statepad = await sameOnBoth(() => ({ agent: worker(call('look'), 'done'), plugins: [new Notes()] }));
  assert.equal(statepad.state.models, 2);
  assert.deepEqual(statepad.state.before_tool, ['look']);
  assert.equal(statepad.state['user:after_model'], true);
});

test('a plugin that replaces events decides what is stored and yielded, the id stays', async () => {
  class Shout extends BasePlugin {
    constructor() {
      super('shout');
    }

    /** @param {{ event: import('@google/adk').Event }} params */
    async onEventCallback({ event }) {
      const [part] = event.content?.parts ?? [];
      if (part?.text === undefined) return undefined;
      return {
        ...event,
        id: 'another',
        content: { role: 'model', parts: [{ text: part.text.toUpperCase() }] },
        actions: { ...event.actions, stateDelta: { ...event.actions.stateDelta, shouted: true } },
      };
    }
  }
  const statepad = await sameOnBoth(
    () => ({ agent: worker(call('look'), 'done'), plugins: [new Shout()] }),
    async ({ turn, stored }) => {
      const yielded = await turn('go');
      assert.deepEqual(said(yielded), ['worker: DONE']);
      assert.deepEqual(
        yielded.map(({ id }) => id),
        (await stored()).events.slice(1).map(({ id }) => id),
      );
    },
  );
  assert.deepEqual(statepad.state, { shouted: true });
});

test('a plugin that changes an event in place before it is stored decides what is stored', async () => {
  class Redact extends BasePlugin {
    constructor() {
      super('redact');
    }

    /** @param {{ event: import('@google/adk').Event }} params @returns {Promise<undefined>} */
    async onEventCallback({ event }) {
      for (const part of event.content?.parts ?? []) if (part.text !== undefined) part.text = '***';
      event.actions.stateDelta['redacted'] = true;
    }
  }
  const statepad = await sameOnBoth(() => ({ agent: worker('secret'), plugins: [new Redact()] }));
  assert.deepEqual(statepad.state, { redacted: true });
});

/** Writes straight to the session's state when the message comes in, and once more before the run. */
class Incoming extends BasePlugin {
  constructor() {
    super('incoming');
  }

  /** @param {{ invocationContext: import('@google/adk').InvocationContext }} params @returns {Promise<undefined>} */
  async onUserMessageCallback({ invocationContext }) {
    invocationContext.session.state['temp:from_message'] = 'm';
  }

  /** @param {{ invocationContext: import('@google/adk').InvocationContext }} params @returns {Promise<undefined>} */
  async beforeRunCallback({ invocationContext }) {
    invocationContext.session.state['temp:from_run'] = 'r';
  }
}

test("what plugins put into the session's state before the run is seen by the run and stored nowhere", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  await sameOnBoth(
    () => {
      const model = new ScriptedModel('one', 'two');
      models.push(model);
      return {
        agent: new LlmAgent({ name: 'worker', model, instruction: '<{temp:from_message?}><{temp:from_run?}>' }),
        plugins: [new Incoming()],
      };
    },
    async ({ turn }) => {
      await turn('go');
      await turn('again');
    },
  );
  assert.deepEqual(
    models.map(({ instructions }) => instructions),
    [
      ['<m><r>', '<m><r>'],
      ['<m><r>', '<m><r>'],
    ],
  );
});

test('a plugin that answers before the run leaves message and answer in the log', async () => {
  class Closed extends BasePlugin {
    constructor() {
      super('closed');
    }

    async beforeRunCallback() {
      return { role: 'model', parts: [{ text: 'we are closed' }] };
    }
  }
  const statepad = await sameOnBoth(() => ({ agent: worker('never'), plugins: [new Closed()] }));
  assert.equal(statepad.events.length, 2);
});

test("a plugin that rewrites the user's message decides what is stored", async () => {
  class Polite extends BasePlugin {
    constructor() {
      super('polite');
    }

    /** @param {{ userMessage: import('@google/genai').Content }} params */
    async onUserMessageCallback({ userMessage }) {
      return { ...userMessage, parts: [{ text: 'please' }, ...(userMessage.parts ?? [])] };
    }
  }
  await sameOnBoth(() => ({ agent: worker('yes'), plugins: [new Polite()] }));
});

test("ADK's logging plugin runs on frozen events", async () => {
  setLogger(null);
  const { turn } = await open({ agent: worker(call('look'), 'done'), plugins: [new LoggingPlugin()] });
  assert.equal((await turn('go')).length, 3);
});

test("ADK's security plugin, which changes a record that it read from state, works over many calls and runs", async () => {
  const { statepad, adk } = await onBoth(
    () => ({
      agent: worker([call('look'), call('look')], call('look'), 'one', call('look'), 'two'),
      plugins: [new SecurityPlugin()],
    }),
    async ({ turn }) => {
      await turn('go');
      await turn('again');
    },
  );
  assert.doesNotMatch(JSON.stringify(statepad.events), /errorCode/u);
  const [, outcomes] = Object.entries(statepad.state)[0] ?? [];
  assert.deepEqual(Object.values(/** @type {object} */ (outcomes)), Array(4).fill(PolicyOutcome.ALLOW));
  assert.equal(statepad.events.length, adk.events.length);
});

test("ADK's security plugin refuses a call and the refusal is stored", async () => {
  class Never extends InMemoryPolicyEngine {
    async evaluate() {
      return { outcome: PolicyOutcome.DENY, reason: 'not today' };
    }
  }
  const { statepad } = await onBoth(() => ({
    agent: worker(call('look'), 'one'),
    plugins: [new SecurityPlugin({ policyEngine: new Never() })],
  }));
  assert.match(JSON.stringify(statepad.events), /not today/u);
});
