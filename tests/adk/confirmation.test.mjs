/**
 * Tools that wait for a person: confirmation, credentials, long running work. ADK puts instances of its classes into
 * such events, pushes to `session.events` itself and yields the same event afterwards.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  FunctionTool,
  InMemoryPolicyEngine,
  LlmAgent,
  LongRunningFunctionTool,
  PolicyOutcome,
  SecurityPlugin,
} from '@google/adk';
import { onBoth, sameOnBoth, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/** @typedef {import('@google/adk').Event} Event */

/** The call that asks for a person's answer. @param {readonly Event[]} events @param {string} name */
function asked(events, name) {
  const calls = events
    .flatMap(({ content }) => content?.parts ?? [])
    .flatMap(({ functionCall }) => functionCall ?? []);
  const found = calls.findLast((one) => one.name === name);
  assert.ok(found?.id !== undefined, `nobody asked with ${name}`);
  return found;
}

/** @param {Event[]} events @param {string} name @param {Record<string, unknown>} response */
const answer = (events, name, response) => [
  { functionResponse: { id: asked(events, name).id ?? '', name, response } },
];

/** A tool that writes state and that ADK only runs after a yes. */
const pay = () =>
  new FunctionTool({
    name: 'pay',
    description: 'Pays.',
    requireConfirmation: true,
    execute(_, context) {
      context?.state.update({ paid: true, 'user:trusted': context.toolConfirmation?.hint });
      return { status: 'paid' };
    },
  });

for (const confirmed of [true, false]) {
  test(`a tool that needs confirmation and gets ${confirmed ? 'a yes' : 'a no'} is stored as ADK stores it`, async () => {
    const statepad = await sameOnBoth(
      () => ({
        agent: new LlmAgent({
          name: 'cashier',
          model: new ScriptedModel(call('pay', { to: 'Rosa' }), 'done'),
          outputKey: 'answer',
          tools: [pay()],
        }),
      }),
      async ({ turn }) => {
        const events = await turn('pay');
        await turn(answer(events, 'adk_request_confirmation', { confirmed, hint: 'ok' }));
      },
    );
    assert.deepEqual(statepad.state, {
      ...(confirmed ? { paid: true, 'user:trusted': 'ok' } : {}),
      answer: 'done',
    });
  });
}

test('a confirmation that a tool asks for itself is stored as plain JSON, although ADK hands over a class instance', async () => {
  const statepad = await sameOnBoth(
    () => ({
      agent: new LlmAgent({
        name: 'cashier',
        model: new ScriptedModel(call('pay'), 'done'),
        tools: [
          new FunctionTool({
            name: 'pay',
            description: 'Pays.',
            execute(_, context) {
              context?.state.set('asked', true);
              context?.requestConfirmation({ hint: 'really?', payload: { amount: 3 } });
              return { status: 'pending' };
            },
          }),
        ],
      }),
    }),
    async ({ turn, stored }) => {
      const [, question] = await turn('pay');
      assert.equal(
        Object.values(question?.actions.requestedToolConfirmations ?? {})[0]?.constructor.name,
        'ToolConfirmation',
      );
      const { args } = asked((await stored()).events, 'adk_request_confirmation');
      const wanted = { hint: 'really?', confirmed: false, payload: { amount: 3 } };
      assert.deepEqual({ .../** @type {any} */ (args?.toolConfirmation) }, wanted);
    },
  );
  assert.deepEqual(statepad.state, { asked: true });
});

test('the event that ADK pushes and then yields is in the log once, and once in the list that the run sees', async () => {
  /** @type {string[]} */
  let seen = [];
  const { turn, stored } = await open({
    agent: new LlmAgent({
      name: 'cashier',
      model: new ScriptedModel(call('pay'), 'done'),
      tools: [pay()],
      beforeModelCallback({ context }) {
        seen = context.invocationContext.session.events.map(({ id }) => id);
      },
    }),
  });
  const events = await turn('pay');
  await turn(answer(events, 'adk_request_confirmation', { confirmed: true }));
  const ids = (await stored()).events.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(seen, ids.slice(0, -1));
  const results = JSON.stringify((await stored()).events).match(/"status":"paid"/gu);
  assert.equal(results?.length, 1);
});

test('a long running tool answers in a later turn, as in ADK', async () => {
  const statepad = await sameOnBoth(
    () => ({
      agent: new LlmAgent({
        name: 'clerk',
        model: new ScriptedModel(call('order'), 'ordered', 'arrived'),
        outputKey: 'status',
        tools: [
          new LongRunningFunctionTool({
            name: 'order',
            description: 'Orders.',
            execute(_, context) {
              context?.state.set('ordered', true);
              return { ticket: 7 };
            },
          }),
        ],
      }),
    }),
    async ({ turn }) => {
      const events = await turn('order');
      await turn(answer(events, 'order', { done: true }));
    },
  );
  assert.equal(statepad.state.ordered, true);
});

test('a tool that asks for a credential finds it in the next turn, in temp: and stored nowhere in state', async () => {
  /** @type {import('@google/adk').AuthConfig} */
  const authConfig = {
    credentialKey: 'bank',
    authScheme: { type: 'apiKey', name: 'key', in: 'header' },
    rawAuthCredential: /** @type {any} */ ({ authType: 'apiKey', apiKey: 'unset' }),
  };
  /** @type {unknown[]} */
  const used = [];
  const statepad = await sameOnBoth(
    () => ({
      agent: new LlmAgent({
        name: 'teller',
        model: new ScriptedModel(call('balance'), 'wait', 'you have 3'),
        tools: [
          new FunctionTool({
            name: 'balance',
            description: 'Looks up the balance.',
            execute(_, context) {
              const credential = context?.getAuthResponse(authConfig);
              if (credential === undefined) {
                context?.requestCredential(authConfig);
                return { status: 'pending' };
              }
              used.push(credential);
              return { balance: 3 };
            },
          }),
        ],
      }),
    }),
    async ({ turn }) => {
      const events = await turn('balance');
      const { args } = asked(events, 'adk_request_credential');
      const config = /** @type {any} */ (args)?.auth_config ?? /** @type {any} */ (args)?.authConfig;
      await turn(
        answer(events, 'adk_request_credential', {
          ...config,
          exchangedAuthCredential: { authType: 'apiKey', apiKey: 'k-1' },
        }),
      );
    },
  );
  assert.deepEqual(
    used.map((credential) => /** @type {any} */ (credential).apiKey),
    ['k-1', 'k-1'],
  );
  assert.deepEqual(statepad.state, {});
});

test('a confirmation in one of two calls of one answer keeps the state of both', async () => {
  const look = new FunctionTool({
    name: 'look',
    description: 'Looks.',
    execute: (_, context) => void context?.state.set('looked', true),
  });
  const statepad = await sameOnBoth(
    () => ({
      agent: new LlmAgent({
        name: 'cashier',
        model: new ScriptedModel([call('pay'), call('look')], 'done'),
        tools: [pay(), look],
      }),
    }),
    async ({ turn }) => {
      const events = await turn('pay');
      await turn(answer(events, 'adk_request_confirmation', { confirmed: true, hint: 'ok' }));
    },
  );
  assert.deepEqual(statepad.state, { looked: true, paid: true, 'user:trusted': 'ok' });
});

test("ADK's security plugin keeps a confirmation in state, as an instance of a class, and it is stored as JSON", async () => {
  class Ask extends InMemoryPolicyEngine {
    async evaluate() {
      return { outcome: PolicyOutcome.CONFIRM, reason: 'it is money' };
    }
  }
  const { statepad, adk } = await onBoth(
    () => ({
      agent: new LlmAgent({ name: 'cashier', model: new ScriptedModel(call('pay'), 'done'), tools: [pay()] }),
      plugins: [new SecurityPlugin({ policyEngine: new Ask() })],
    }),
    async ({ turn }) => {
      const events = await turn('pay');
      await turn(answer(events, 'adk_request_confirmation', { confirmed: true, hint: 'ok' }));
    },
  );
  assert.match(JSON.stringify(statepad.state), /"confirmed":true/u);
  assert.deepEqual(Object.values(/** @type {any} */ (Object.values(statepad.state)[0])).length, 1);
  assert.equal(statepad.events.length, adk.events.length);
});
