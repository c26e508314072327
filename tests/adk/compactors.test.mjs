/**
 * The context compactors change `session.events` in place: they push, splice, empty and refill it, and put changed
 * copies of stored events into it. The model must see the shorter history; the log keeps every event.
 */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import {
  AgentControlledContextCompactor,
  AnchoredContextCompactor,
  ConsolidateContextTool,
  createEvent,
  isCompactedEvent,
  LlmAgent,
  TokenBasedContextCompactor,
  TrajectoryThoughtPruningCompactor,
  TruncatingContextCompactor,
} from '@google/adk';
import { onBoth, sameOnBoth, open, said } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

/** @typedef {import('@google/adk').Event} Event */

/** Sums up by counting. */
const summarizer = /** @type {any} */ ({
  /** @param {Event[]} events */
  async summarize(events) {
    const [first, last] = [events[0], events.at(-1)];
    return {
      ...createEvent({ author: 'system' }),
      isCompacted: true,
      startTime: first?.timestamp ?? 0,
      endTime: last?.timestamp ?? 0,
      compactedContent: `summary of ${events.length}`,
    };
  },
});

/** Compactors compare timestamps: a clock that never stands still makes every run the same. */
let clock = Date.now();
mock.method(Date, 'now', () => (clock += 1));

/** The ids that the last run saw when its model was asked. @type {string[]} */
let seen = [];

const TURNS = ['first', 'second', 'third', 'fourth'];

/** @param {import('./harness.mjs').Opened} opened */
async function playAll({ turn }) {
  for (const text of TURNS) await turn(text);
}

/** @param {any} compactor @param {Partial<ConstructorParameters<typeof LlmAgent>[0]>} [more] */
const compacted = (compactor, more = {}) => {
  const model = new ScriptedModel(...TURNS.map((text) => `${text} answered`));
  const agent = new LlmAgent({
    name: 'talker',
    model,
    contextCompactors: [compactor],
    beforeModelCallback({ context }) {
      seen = context.invocationContext.session.events.map(({ id }) => id);
    },
    ...more,
  });
  return { model, agent };
};

test('truncating shortens what the model hears, and the log keeps every event', async () => {
  const { model, agent } = compacted(new TruncatingContextCompactor({ threshold: 3 }));
  const opened = await open({ agent });
  await playAll(opened);
  assert.deepEqual(model.heard, ['third', 'third answered', 'fourth']);
  assert.equal((await opened.stored()).events.length, 8);
});

test("truncating leaves the same log and state behind as on ADK's own service", async () => {
  await sameOnBoth(
    () => compacted(new TruncatingContextCompactor({ threshold: 2, preserveLeadingEvents: 1 }), { outputKey: 'last' }),
    playAll,
  );
});

test('a summary by tokens is pushed, stored once, and heard instead of what it sums up', async () => {
  const { model, agent } = compacted(
    new TokenBasedContextCompactor({ tokenThreshold: 1, eventRetentionSize: 2, summarizer }),
  );
  const opened = await open({ agent });
  await playAll(opened);
  const { events } = await opened.stored();
  assert.ok(model.heard.some((text) => text.includes('summary of')));
  assert.ok(!model.heard.includes('first'));
  assert.deepEqual(
    said(events).filter((text) => text.startsWith('user')),
    TURNS.map((text) => `user: ${text}`),
  );
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  assert.ok(events.some(isCompactedEvent));
  assert.deepEqual(
    seen,
    events.slice(0, -1).map(({ id }) => id),
  );
});

test("a summary by tokens leaves the same log behind as on ADK's own service", async () => {
  await sameOnBoth(
    () => compacted(new TokenBasedContextCompactor({ tokenThreshold: 1, eventRetentionSize: 2, summarizer })),
    playAll,
  );
});

test('an anchored scratchpad empties and refills the list of the run, and the log keeps every event', async () => {
  const { model, agent } = compacted(
    new AnchoredContextCompactor({ tokenThreshold: 1, eventRetentionSize: 2, summarizer }),
  );
  const opened = await open({ agent });
  await playAll(opened);
  const { events } = await opened.stored();
  assert.ok(model.heard.some((text) => text.includes('summary of')));
  assert.deepEqual(
    said(events).filter((text) => text.startsWith('user')),
    TURNS.map((text) => `user: ${text}`),
  );
  assert.equal(new Set(events.map(({ id }) => id)).size, events.length);
  assert.equal(new Set(seen).size, seen.length);
});

test("an anchored scratchpad leaves the same log behind as on ADK's own service", async () => {
  await sameOnBoth(
    () => compacted(new AnchoredContextCompactor({ tokenThreshold: 1, eventRetentionSize: 2, summarizer })),
    playAll,
  );
});

test('a compactor that the agent asks for reads its temp: flag and takes it away', async () => {
  const model = new ScriptedModel('one', call('consolidate_context', { detail: 'prices' }), 'two', 'three');
  /** @type {unknown[]} */
  const flags = [];
  const agent = new LlmAgent({
    name: 'talker',
    model,
    tools: [new ConsolidateContextTool()],
    contextCompactors: [new AgentControlledContextCompactor({ summarizer })],
    beforeModelCallback: ({ context }) => void flags.push(context.state.get('temp:consolidate_context')),
  });
  const { turn, stored, state } = await open({ agent });
  for (const text of ['first', 'second', 'third']) await turn(text);
  const { events } = await stored();
  assert.deepEqual(flags, [undefined, undefined, undefined, undefined]);
  assert.equal(events.filter(isCompactedEvent).length, 1);
  assert.deepEqual(await state(), {});
  assert.doesNotMatch(JSON.stringify(events), /temp:/u);
});

/** An answer with a thought before it. @param {string} text */
const thoughtful = (text) => [{ text: `thinking of ${text}`, thought: true }, { text }];

/** @param {string} [outputKey] */
const thinker = (outputKey) => {
  const model = new ScriptedModel(thoughtful('one'), thoughtful('two'), thoughtful('three'));
  const agent = new LlmAgent({
    name: 'talker',
    model,
    contextCompactors: [new TrajectoryThoughtPruningCompactor({ eventRetentionSize: 1 })],
    ...(outputKey === undefined ? {} : { outputKey }),
  });
  return { model, agent };
};

/** @param {import('./harness.mjs').Opened} opened */
async function playThree({ turn }) {
  for (const text of ['first', 'second', 'third']) await turn(text);
}

test("pruned thoughts are gone for the model and stay in the log, where ADK's own service overwrites stored events", async () => {
  /** @type {ScriptedModel[]} */
  const models = [];
  const { statepad, adk } = await onBoth(() => {
    const { model, agent } = thinker();
    models.push(model);
    return { agent };
  }, playThree);
  for (const model of models) assert.deepEqual(model.heard, ['first', 'one', 'second', 'two', 'third']);
  assert.equal(statepad.events.length, 6);
  assert.match(JSON.stringify(statepad.events), /thinking of one/u);
  assert.equal(adk.events.length, 6);
  assert.doesNotMatch(JSON.stringify(adk.events), /thinking of one/u);
});

test('pruned thoughts go together with an output key, although ADK writes it into the copy of a stored event', async () => {
  const { statepad, adk } = await onBoth(() => ({ agent: thinker('last').agent }), playThree);
  assert.deepEqual(statepad.state, adk.state);
  assert.match(String(statepad.state.last), /three$/u);
  assert.equal(statepad.events.length, 6);
});
