// A process of adk-python and one of statepad on one session at the same time: nothing of either is lost, and each
// reads what the other has written.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { root } from '../../packaging/project.mjs';
import { withDatabase } from '../../stores/postgres/database.mjs';
import { startHost } from './python.mjs';

const COUNT = 200;
const key = { appName: 'tutor', userId: 'ana', sessionId: 's1' };
const named = { app: key.appName, user: key.userId, session: key.sessionId };

/** Runs the process of statepad until it ends. */
function runOurs(input) {
  const child = spawn(process.execPath, [join(root, 'tests', 'hosts', 'adk-python', 'ours.mjs')], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  child.stdin.end(JSON.stringify(input));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))));
  });
}

/** The writes of each process: its ids, and the state that its appends add up to. */
function writtenBy(name) {
  const ids = Array.from({ length: COUNT }, (_, index) => `${name}${index}`);
  const state = Object.fromEntries(
    ids.flatMap((id, index) => [
      [`app:${id}`, index],
      [`user:${id}`, [index]],
      [id, { index }],
    ]),
  );
  return { ids, state };
}

const byId = (events) => Object.fromEntries(events.map((event) => [event.id, event]));

await withDatabase(async (database) => {
  const pool = database.pool();
  const schema = database.schema();
  await pool.query(`create schema ${schema}`);

  test('two processes append to one session at once, and none of 400 events and 1,200 keys is lost', async (t) => {
    const python = await startHost(database.url, schema);
    t.after(() => python.stop());
    await python.ask({ do: 'prepare' });
    await python.ask({ do: 'create', ...named, state: { first: 1, 'app:first': 1, 'user:first': 1 } });

    const [{ stale }] = await Promise.all([
      python.ask({ do: 'appendMany', ...named, name: 'python-', count: COUNT }),
      runOurs({ url: database.url, schema, key, count: COUNT, name: 'node-' }),
    ]);
    // They were at it at the same time: adk-python had to read again what it had in hand.
    assert.ok(stale > 0, 'adk-python was never refused as stale');
    t.diagnostic(`adk-python was refused as stale ${stale} times`);

    const [theirs, ours] = [writtenBy('python-'), writtenBy('node-')];
    const state = { first: 1, 'app:first': 1, 'user:first': 1, ...theirs.state, ...ours.state };
    const service = new SessionService({ store: adkDatabaseStore(pool, { schema }) });
    t.after(() => service.close());
    const [here, there] = [await service.getSession(key), await python.ask({ do: 'get', ...named })];
    assert.deepEqual({ ...here.state }, state);
    assert.deepEqual(there.state, state);
    assert.equal(here.revision, 2 * COUNT);
    assert.deepEqual(here.events.map(({ id }) => id).sort(), [...theirs.ids, ...ours.ids].sort());
    // In the same order, each event of either the same to both.
    assert.deepEqual(
      there.events.map(({ id }) => id),
      here.events.map(({ id }) => id),
    );
    const [oursHere, oursThere] = [byId(here.events), byId(there.events)];
    for (const id of theirs.ids) {
      const { timestamp, ...event } = oursThere[id];
      assert.deepEqual(oursHere[id], { ...event, timestamp: oursHere[id].timestamp });
      assert.ok(Math.abs(oursHere[id].timestamp - timestamp * 1_000) < 0.001);
      assert.deepEqual(event.content.parts, [{ text: `text of ${id}` }]);
    }
    for (const id of ours.ids) {
      const { timestamp, actions, nodeInfo, ...event } = oursThere[id];
      const { actions: given, ...stored } = oursHere[id];
      assert.deepEqual({ ...event, timestamp: Math.round(timestamp * 1_000_000) / 1_000 }, stored);
      assert.deepEqual(actions, {
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
        artifactDelta: {},
        ...given,
      });
      assert.deepEqual(nodeInfo, { path: '' });
    }
    const { rows } = await pool.query(
      `select count(*)::int as count, count(distinct id)::int as ids from ${schema}.events`,
    );
    assert.deepEqual(rows, [{ count: 2 * COUNT, ids: 2 * COUNT }]);
  });
});
