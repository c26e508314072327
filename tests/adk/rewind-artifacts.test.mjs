/**
 * Artifacts of a session that is rewound: an agent is sent those of the turns that stand.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FunctionTool, InMemoryArtifactService, LlmAgent } from '@google/adk';
import { instruction, StatepadSessionService } from 'statepad/adk';
import { KEY, open } from './harness.mjs';
import { call, ScriptedModel } from './scripted-model.mjs';

const NAME = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };

const write = new FunctionTool({
  name: 'write',
  description: 'Writes a file.',
  execute: async (input, context) => {
    const { name, text } = /** @type {{ name: string, text: string }} */ (input);
    return await context?.saveArtifact(name, { text });
  },
});

/** @param {InMemoryArtifactService} artifacts @param {StatepadSessionService} sessionService @param {any[]} steps */
async function play(artifacts, sessionService, ...steps) {
  const model = new ScriptedModel(...steps);
  const agent = new LlmAgent({
    name: 'clerk',
    model,
    tools: [write],
    instruction: instruction('The note: {artifact.note.txt?}'),
  });
  const opened = await open({ agent, sessionService, artifactService: artifacts });
  /** @type {string[]} */
  const turns = [];
  const turn = async () => {
    const [event] = await opened.turn('go');
    turns.push(/** @type {string} */ (event?.invocationId));
  };
  return { opened, model, turn, turns };
}

/** @param {string} name @param {string} text */
const save = (name, text) => call('write', { name, text });
/** @param {InMemoryArtifactService} artifacts @param {string} filename */
const textOf = async (artifacts, filename) => {
  const part = await artifacts.loadArtifact({ ...KEY, filename });
  return part?.text ?? part?.inlineData;
};
const EMPTY = { mimeType: 'application/octet-stream', data: '' };

test('a rewind restores the artifacts of the session, redo brings them back, and agents are sent them', async () => {
  const artifacts = new InMemoryArtifactService();
  const service = new StatepadSessionService({ artifactService: artifacts });
  const { turn, turns, model, opened } = await play(
    artifacts,
    service,
    ...[save('note.txt', 'first'), 'done'],
    ...[[save('note.txt', 'second'), save('new.txt', 'new'), save('user:card.txt', 'mine')], 'done'],
    'asked',
    'asked',
  );
  await turn();
  await turn();
  const [, second = ''] = turns;
  const { event } = await service.rewind(NAME, { before: second });
  assert.deepEqual(event.actions.artifactDelta, { 'note.txt': 2, 'new.txt': 1 });
  assert.equal(await textOf(artifacts, 'note.txt'), 'first');
  assert.deepEqual(await textOf(artifacts, 'new.txt'), EMPTY, 'it did not exist');
  assert.equal(await textOf(artifacts, 'user:card.txt'), 'mine', 'others share it');
  await turn();
  assert.equal(model.instructions.at(-1), 'The note: first');
  const [, , third = ''] = turns;
  await service.rewind(NAME, { before: third });
  assert.deepEqual((await service.redo(NAME)).event.actions.artifactDelta, {}, 'the turn saved nothing');
  await service.rewind(NAME, { before: third });
  await opened.turn('go');
  assert.equal(model.instructions.at(-1), 'The note: first');
});

test('redo saves the artifacts once more that the rewind had taken back', async () => {
  const artifacts = new InMemoryArtifactService();
  const service = new StatepadSessionService({ artifactService: artifacts });
  const { turn, turns } = await play(artifacts, service, save('note.txt', 'only'), 'done');
  await turn();
  await service.rewind(NAME, { before: turns[0] ?? '' });
  assert.deepEqual(await textOf(artifacts, 'note.txt'), EMPTY);
  const { event } = await service.redo(NAME);
  assert.deepEqual(event.actions.artifactDelta, { 'note.txt': 2 });
  assert.equal(await textOf(artifacts, 'note.txt'), 'only');
});

test('a version that the artifact service has no more becomes empty', async () => {
  const artifacts = new InMemoryArtifactService();
  const service = new StatepadSessionService({ artifactService: artifacts });
  const { turn, turns } = await play(
    artifacts,
    service,
    ...[save('note.txt', 'first'), 'done'],
    ...[save('note.txt', 'second'), 'done'],
  );
  await turn();
  await turn();
  await artifacts.deleteArtifact({ ...KEY, filename: 'note.txt' });
  const { event } = await service.rewind(NAME, { before: turns[1] ?? '' });
  assert.deepEqual(event.actions.artifactDelta, { 'note.txt': 0 });
  assert.deepEqual(await textOf(artifacts, 'note.txt'), EMPTY);
});

test('where the artifact service fails, nothing is rewound; without one artifacts stay', async () => {
  const artifacts = new InMemoryArtifactService();
  const failing = {
    ...artifacts,
    loadArtifact: assert.fail,
    saveArtifact: async () => assert.fail('the disk is full'),
  };
  const service = new StatepadSessionService({ artifactService: /** @type {any} */ (failing) });
  const { turn, turns, opened } = await play(artifacts, service, save('note.txt', 'only'), 'done');
  await turn();
  await assert.rejects(service.rewind(NAME, { before: turns[0] ?? '' }), /the disk is full/);
  assert.ok((await opened.stored()).events.length > 0);

  const plain = new StatepadSessionService();
  const other = await play(artifacts, plain, save('note.txt', 'other'), 'done');
  await other.turn();
  const { event } = await plain.rewind(NAME, { before: other.turns[0] ?? '' });
  assert.deepEqual(event.actions.artifactDelta, {});
  assert.equal(await textOf(artifacts, 'note.txt'), 'other');
  assert.throws(() => new StatepadSessionService({ artifactService: /** @type {any} */ ({}) }), {
    code: 'INVALID_ARGUMENT',
    message: /artifactService/,
  });
});
