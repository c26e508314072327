// Events of ours that adk-python reads, and events of its own that we read.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { root } from '../../packaging/project.mjs';
import { context, withDatabase } from '../../stores/postgres/database.mjs';
import { ODD, PYTHON, RICH, spoilt } from './events.mjs';
import { printedBy, startHost } from './python.mjs';

/** The members that adk-python adds to every event in its own JSON. */
const DEFAULTS = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };

/** An event of ours as adk-python shows it: its own members are added, bytes are in base64 for URLs. */
function asPythonTells({ timestamp, ...event }) {
  const told = JSON.parse(JSON.stringify(event), (name, value) =>
    ['data', 'thoughtSignature', 'sdkBlob'].includes(name) && typeof value === 'string'
      ? value.replaceAll('+', '-').replaceAll('/', '_')
      : value,
  );
  return {
    ...told,
    timestamp: timestamp / 1_000,
    actions: { ...DEFAULTS, ...told.actions },
    nodeInfo: { path: '', ...told.nodeInfo },
  };
}

test('the shapes of events are those of the models of adk-python', async () => {
  const source = readFileSync(join(root, 'pkg', 'src', 'stores', 'adk-database', 'event-shapes.ts'), 'utf8');
  assert.equal(/SHAPES = `\n(.*)`;/s.exec(source)[1], await printedBy('shapes.py'));
});

test('the tables of the tests are those that adk-python makes', async () => {
  const file = join(root, 'tests', 'stores', 'adk-database', 'tables.sql');
  const printed = (await printedBy('tables.py')).replaceAll('\t', '  ').replaceAll(/ +$/gm, '');
  assert.equal(readFileSync(file, 'utf8'), printed);
});

await withDatabase(async (database) => {
  const pool = database.pool();
  const schema = database.schema();
  await pool.query(`create schema ${schema}`);
  const store = adkDatabaseStore(pool, { schema });
  const keyOf = (sessionId) => ({ appName: 'a', userId: 'u', sessionId });
  const nameOf = (session) => ({ app: 'a', user: 'u', session });
  const create = (sessionId) =>
    store.commit({ id: `c-${sessionId}`, kind: 'create', key: keyOf(sessionId), time: 1, delta: {} }, context);
  const append = (sessionId, event) => {
    const { id, timestamp: time } = event;
    const sent = { id, time, data: JSON.stringify(event) };
    return store.commit({ id, kind: 'append', key: keyOf(sessionId), time, event: sent, delta: {} }, context);
  };
  const eventsOf = async (sessionId) =>
    (await store.load(keyOf(sessionId), {}, context)).events.map(({ data }) => JSON.parse(data));

  const open = async (t) => {
    const python = await startHost(database.url, schema);
    t.after(() => python.stop());
    await python.ask({ do: 'prepare' });
    await store.open({ migrate: 'check' }, context);
    return python;
  };

  test('adk-python reads every member of our events as they are, and they come back as they were', async (t) => {
    const python = await open(t);
    await create('rich');
    for (const event of RICH) await append('rich', event);
    const { events } = await python.ask({ do: 'get', ...nameOf('rich') });
    assert.deepEqual(events, RICH.map(asPythonTells));
    assert.deepEqual(await eventsOf('rich'), RICH);
    const { rows } = await pool.query(`select id from ${schema}.events where event_data ? 'statepad'`);
    assert.deepEqual(rows, []);
  });

  test('what adk-python has written comes back as its own JSON in camelCase has it', async (t) => {
    const python = await open(t);
    await python.ask({ do: 'create', ...nameOf('python') });
    for (const event of PYTHON) await python.ask({ do: 'append', ...nameOf('python'), event });
    const { events } = await python.ask({ do: 'get', ...nameOf('python') });
    const ours = await eventsOf('python');
    // Of the schemes of an authentication it tells what it has stored itself under names that no ADK has.
    const told = JSON.parse(JSON.stringify(events).replaceAll('"type_":', '"type":').replaceAll('"in_":', '"in":'));
    assert.deepEqual(ours.map(asPythonTells), told);
    assert.deepEqual(
      ours.map(({ timestamp }) => timestamp),
      RICH.map(({ timestamp }) => timestamp),
    );
  });

  test('no event of ours keeps adk-python from reading a session, and what it does not know comes back', async (t) => {
    const python = await open(t);
    await create('odd');
    for (const event of ODD) await append('odd', event);
    const { events } = await python.ask({ do: 'get', ...nameOf('odd') });
    assert.deepEqual(
      events.map(({ id }) => id),
      ODD.map(({ id }) => id).sort((one, other) => timeOf(one) - timeOf(other)),
    );
    const found = (id) => events.find((event) => event.id === id);
    assert.deepEqual(found('odd-2').actions, { ...DEFAULTS, stateDelta: { k: 1 } });
    assert.deepEqual(found('odd-5').content.parts, [{ text: 'x' }, {}, {}]);
    const ours = await eventsOf('odd');
    assert.deepEqual(
      ours,
      [...ODD].sort((one, other) => one.timestamp - other.timestamp),
    );
  });

  test('five hundred events with members spoilt at random are read by adk-python, and come back', async (t) => {
    const python = await open(t);
    const events = Array.from({ length: 500 }, (_, seed) => spoilt(seed));
    await create('spoilt');
    for (const event of events) await append('spoilt', event);
    assert.deepEqual(await eventsOf('spoilt'), events);
    const read = await python.ask({ do: 'get', ...nameOf('spoilt') });
    assert.deepEqual(
      read.events.map(({ id }) => id),
      events.map(({ id }) => id),
    );
  });
});

function timeOf(id) {
  return ODD.find((event) => event.id === id).timestamp;
}
