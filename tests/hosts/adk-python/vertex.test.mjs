// The requests of statepad to Agent Engine beside those of adk-python; and each reads what the other wrote.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { DELETED } from 'statepad';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { against, differencesOf } from '../../vertex/compare/differences.mjs';
import { place, record, statepad, steps } from '../../vertex/compare/record.mjs';
import { spelledAlike, startPeer } from './vertex.mjs';

const listed = JSON.parse(readFileSync(new URL('../../vertex/compare/differences.json', import.meta.url), 'utf8'));
const peer = await startPeer(place);
after(() => peer.stop());

test('what statepad and adk-python ask differs as it is listed, and in nothing else', async () => {
  const differences = differencesOf(spelledAlike(await record(peer.over, 'adk-python')), await record(statepad));
  const { unlisted, idle } = against(differences, listed['adk-python']);
  assert.deepEqual(unlisted, [], 'these are not listed');
  assert.deepEqual(idle, [], 'these are listed, and do not differ');
});

const KEY = { appName: '1234', userId: 'ana', sessionId: 'shared' };
/** The events that both know. */
const known = steps.filter(({ append, failsFor }) => append !== undefined && failsFor === undefined);
const eventsOf = (by) =>
  known.map(({ append }, index) => ({
    ...append,
    id: `${by}-${index}`,
    timestamp: Date.parse(append.timestamp) + index,
  }));

test('each reads what the other wrote: state, events, their times, and what was deleted', async () => {
  const vertex = fakeVertexAi();
  const theirs = peer.over(vertex);
  const ours = statepad(vertex);
  await theirs.createSession({ ...KEY, state: { topic: 'tea', 'user:name': 'Ana', 'app:tax': 7 } });
  await theirs.getSession(KEY);
  for (const event of eventsOf('theirs')) await theirs.appendEvent({ event });
  const session = await ours.getSession(KEY);
  for (const event of eventsOf('ours')) await ours.appendEvent({ session, event });
  await ours.appendEvent({
    session,
    event: { author: 'ana', id: 'last', actions: { stateDelta: { topic: DELETED } } },
  });

  const [read, told] = [await ours.getSession(KEY), await theirs.getSession(KEY)];
  assert.deepEqual({ ...read.state }, { 'user:name': 'Bo', 'app:tax': null });
  assert.deepEqual(told.state, {
    topic: null,
    'user:name': 'Bo',
    'app:tax': null,
    'statepad:gone:topic': true,
    'app:statepad:gone:tax': false,
  });
  assert.deepEqual(
    read.events.map(({ id, author, timestamp }) => [id, author, timestamp]),
    told.events.map(({ id, author, timestamp }) => [id, author, Math.floor(timestamp * 1000 + 1e-3)]),
  );
  assert.equal(read.events.length, 2 * known.length + 1);
  for (const [index, event] of read.events.entries()) {
    const { content, actions, errorCode, branch, longRunningToolIds, customMetadata, usageMetadata } = event;
    const other = told.events[index];
    assert.deepEqual(content, other.content);
    assert.deepEqual(actions.stateDelta, other.actions.stateDelta);
    assert.deepEqual(actions.artifactDelta, other.actions.artifactDelta);
    assert.deepEqual(
      [errorCode, branch, longRunningToolIds, customMetadata, usageMetadata],
      [other.errorCode, other.branch, other.longRunningToolIds, other.customMetadata, other.usageMetadata],
    );
  }
  await ours.close();
});
