/**
 * `Workflow`, which takes the place of ADK's deprecated sequential and parallel agents, on sessions that last: what
 * its nodes write is in the store for every later reader, and a workflow that waits goes on in another service.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { FunctionNode, JoinNode, LlmAgent, RequestInput, Workflow } from '@google/adk';
import Database from 'better-sqlite3';
import { instruction, StatepadSessionService } from 'statepad/adk';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { KEY, onBoth, open } from './harness.mjs';
import { ScriptedModel } from './scripted-model.mjs';

const folder = mkdtempSync(join(tmpdir(), 'statepad-workflow-'));
after(() => rmSync(folder, { recursive: true }));
let files = 0;

/** Storage: at each call of what it gives, another service over the same sessions. */
const STORAGES = {
  'in memory': () => {
    const service = new StatepadSessionService();
    return () => service;
  },
  'over a store in memory': () => {
    const store = memoryStore();
    return () => new StatepadSessionService({ store });
  },
  'over SQLite': () => {
    const file = join(folder, `${(files += 1)}.db`);
    return () => new StatepadSessionService({ store: sqliteStore(new Database(file)) });
  },
};

/** @param {string} name @param {ConstructorParameters<typeof FunctionNode>[1]} run */
const step = (name, run) => new FunctionNode(name, run);

/** @param {ConstructorParameters<typeof Workflow>[0]['edges'] & {}} edges */
const workflow = (...edges) => new Workflow({ name: 'flow', edges });

/** The keys of every scope that a node writes, with its own name in each. @param {string} name */
const keysOf = (name) => ({ [name]: name, [`user:${name}`]: [name], [`app:${name}`]: { name } });

/** Nodes of both kinds that write: those of a function three keys, those of a model one. @param {number} count */
function writers(count) {
  const names = Array.from({ length: count }, (_, index) => `n${index}`);
  const nodes = names.map((name, index) =>
    index % 3 === 2
      ? new LlmAgent({ name, model: new ScriptedModel(`says ${name}`), outputKey: name })
      : step(name, (ctx) => void ctx.state.update(keysOf(name))),
  );
  const states = names.map((name, index) => (index % 3 === 2 ? { [name]: `says ${name}` } : keysOf(name)));
  return { nodes, state: /** @type {Record<string, unknown>} */ (Object.assign({}, ...states)) };
}

/** @param {Record<string, unknown>} record */
const sorted = (record) => Object.entries(record).sort(([one], [other]) => (one < other ? -1 : 1));

for (const [place, make] of Object.entries(STORAGES)) {
  describe(place, () => {
    for (const [shape, edgesOf] of /** @type {const} */ ([
      ['one after the other', (/** @type {any[]} */ nodes) => [['START', ...nodes]]],
      ['side by side', (/** @type {any[]} */ nodes) => [['START', nodes, new JoinNode({ name: 'join' })]]],
    ])) {
      test(`the keys of twelve nodes ${shape} all arrive, in the state and in the log`, async () => {
        const sessionService = make();
        const { nodes, state } = writers(12);
        const { turn } = await open({ agent: workflow(...edgesOf(nodes)), sessionService: sessionService() });
        await turn('go');
        const session = await sessionService().getSession(KEY);
        assert.deepEqual(sorted(session?.state ?? {}), sorted(state));
        const deltas = session?.events.map(({ actions }) => actions.stateDelta) ?? [];
        assert.deepEqual(sorted(Object.assign({}, ...deltas)), sorted(state));
      });
    }

    test('branches of a dynamic workflow that run at once write into one session, and all of it arrives', async () => {
      const sessionService = make();
      const { nodes, state } = writers(9);
      const agent = new Workflow({
        name: 'flow',
        dynamicEntry: async (ctx) => {
          await Promise.all(nodes.map((node) => ctx.runNode(node, 'go', { useSubBranch: true })));
          return 'done';
        },
      });
      const { turn } = await open({ agent, sessionService: sessionService() });
      await turn('go');
      assert.deepEqual(sorted((await sessionService().getSession(KEY))?.state ?? {}), sorted(state));
    });

    test('a node behind a join gets the answers of all branches as its input, and what it writes is read at once', async () => {
      const sessionService = make();
      const line = (/** @type {string} */ name) => new LlmAgent({ name, model: new ScriptedModel(`${name} pulls`) });
      const model = new ScriptedModel('Both pull.');
      const both = step('both', (ctx, lines) => void ctx.state.set('lines', lines));
      const editor = new LlmAgent({
        name: 'editor',
        model,
        instruction: instruction('{lines.moon}, {lines.sun}'),
        outputKey: 'user:text',
      });
      const agent = workflow(['START', [line('moon'), line('sun')], new JoinNode({ name: 'join' }), both, editor]);
      const { turn } = await open({ agent, sessionService: sessionService() });
      await turn('go');
      assert.deepEqual(model.instructions, ['moon pulls, sun pulls']);
      const session = await sessionService().getSession(KEY);
      assert.deepEqual(sorted(session?.state ?? {}), [
        ['lines', { moon: 'moon pulls', sun: 'sun pulls' }],
        ['user:text', 'Both pull.'],
      ]);
    });

    test('a workflow that waits for the user goes on in another service, and does not do again what it had done', async () => {
      const sessionService = make();
      let prices = 0;
      const agent = () =>
        workflow([
          'START',
          step('price', (ctx) => {
            prices += 1;
            ctx.state.set('price', 5);
            return 5;
          }),
          step('ask', async function* () {
            yield new RequestInput({ message: 'How many?' });
          }),
          step('order', (ctx, answer) => {
            ctx.state.update({ total: Number(ctx.state.get('price')) * Number(answer), 'user:ordered': true });
            return 'done';
          }),
        ]);
      const { turn } = await open({ agent: agent(), sessionService: sessionService() });
      await turn('tea');
      assert.deepEqual(sorted((await sessionService().getSession(KEY))?.state ?? {}), [['price', 5]]);

      const later = await open({ agent: agent(), sessionService: sessionService(), again: true });
      await later.turn('3');
      assert.deepEqual(sorted((await sessionService().getSession(KEY))?.state ?? {}), [
        ['price', 5],
        ['total', 15],
        ['user:ordered', true],
      ]);
      assert.equal(prices, 1);
    });
  });
}

test('two services run workflows over one file at the same time, and no key of theirs is lost', async () => {
  const sessionService = STORAGES['over SQLite']();
  const runs = await Promise.all(
    ['s1', 's2', 's3', 's4'].map(async (sessionId) => {
      const names = Array.from({ length: 6 }, (_, index) => `${sessionId}n${index}`);
      const nodes = names.map((name) => step(name, (ctx) => void ctx.state.set(`app:${name}`, name)));
      const { turn } = await open({
        agent: workflow(['START', nodes, new JoinNode({ name: 'join' })]),
        sessionService: sessionService(),
        key: { ...KEY, sessionId },
      });
      await turn('go');
      return names;
    }),
  );
  const app = await sessionService().service.getAppState(KEY);
  assert.deepEqual(Object.keys(app).sort(), runs.flat().sort());
});

test("what a dynamic workflow's own entry writes ADK appends nowhere, on any service: its nodes have to write it", async () => {
  const { statepad, adk } = await onBoth(() => ({
    agent: new Workflow({
      name: 'flow',
      dynamicEntry: async (ctx) => {
        ctx.state.set('entry', 1);
        await ctx.runNode(
          step('node', (inner) => void inner.state.set('node', inner.state.get('entry'))),
          'go',
        );
        return 'done';
      },
    }),
  }));
  assert.deepEqual([statepad.state, adk.state], [{ node: 1 }, { node: 1 }]);
});

test('a node that returned nothing is run again when its workflow goes on, on any service', async () => {
  /** @type {string[]} */
  const ran = [];
  await onBoth(
    () => ({
      agent: workflow([
        'START',
        step('silent', (ctx) => {
          ran.push('silent');
          ctx.state.set('a', 1);
        }),
        step('telling', () => {
          ran.push('telling');
          return 'done';
        }),
        step('ask', async function* () {
          yield new RequestInput({ message: 'Go on?' });
        }),
      ]),
    }),
    async ({ turn }) => {
      await turn('go');
      await turn('yes');
    },
  );
  assert.deepEqual(ran.join(' '), 'silent telling silent silent telling silent');
});
