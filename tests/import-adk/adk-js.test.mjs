// Databases of adk-js, made by running it: brought over, and compared with what it reads itself.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DatabaseSessionService, createEvent } from '@google/adk';
import { BetterSqliteDriver } from '@mikro-orm/better-sqlite';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import Database from 'better-sqlite3';
import pg from 'pg';
import { SessionService } from 'statepad';
import { identifyAdk, importAdk } from 'statepad/import-adk';
import { postgresForTests } from '../support/postgres.mjs';
import { inTemporary, shownBy, sorted } from './imported-sessions.mjs';

const ODD = 'a/b "c\'; 😀 \\ %s ü';

/** Events with a bit of everything. */
const EVENTS = [
  { id: 'b', author: 'user', timestamp: 1000, content: { role: 'user', parts: [{ text: 'hallo 😀' }] } },
  {
    id: 'a',
    author: 'agent',
    timestamp: 1000,
    branch: 'root.leaf',
    longRunningToolIds: ['c1'],
    content: {
      role: 'model',
      parts: [{ functionCall: { id: 'c1', name: 'find', args: { snake_key: 1, camelKey: { in_side: [1, null] } } } }],
    },
    actions: {
      stateDelta: { count: 1, 'app:theme': 'dark', 'user:visits': 2, snake_key: { in_side: 1, camelCase: 2 } },
    },
  },
  {
    id: 'c',
    author: 'agent',
    timestamp: 1769817600500,
    actions: { stateDelta: { count: 2, late: null, 'temp:gone': 1 }, artifactDelta: { 'file_name.txt': 3 } },
    customMetadata: { my_key: { deep_key: 1, camelKey: 2 } },
    errorCode: 'SAFETY',
    usageMetadata: { promptTokenCount: 7 },
    unknownMember: { deepMember: 1 },
    output: { some_key: 1 },
  },
  { id: 'd', author: 'agent', timestamp: -2500, actions: { stateDelta: { count: 3 } } },
  { id: 'e', author: 'agent', timestamp: 1769817601000, actions: { stateDelta: { twice: 1 } } },
];

async function fill(service) {
  const state = { given: { a: [1, 'x'] }, count: 0, 'app:made': 1, 'user:made': true, 'temp:gone': 1 };
  const session = await service.createSession({ appName: 'shop', userId: 'ana', sessionId: 'rich', state });
  for (const event of EVENTS) await service.appendEvent({ session, event: createEvent(event) });
  // An event of the same id takes the place of the one before.
  await service.appendEvent({ session, event: createEvent({ ...EVENTS[4], actions: { stateDelta: { twice: 2 } } }) });

  await service.createSession({ appName: 'shop', userId: 'ana', sessionId: 'empty' });
  const odd = { appName: ODD, userId: ODD, sessionId: ODD, state: { '': 2, [ODD]: 3 } };
  const other = await service.createSession(odd);
  await service.appendEvent({ session: other, event: createEvent({ id: ODD, author: 'x', timestamp: 5 }) });
  await service.createSession({ appName: 'shop', userId: 'eve', sessionId: 'gone', state: { 'user:left': 1 } });
  await service.deleteSession({ appName: 'shop', userId: 'eve', sessionId: 'gone' });
}

async function readBy(service) {
  const read = [];
  for (const [appName, userId, sessionId] of [
    ['shop', 'ana', 'rich'],
    ['shop', 'ana', 'empty'],
    [ODD, ODD, ODD],
  ]) {
    const { id, state, events } = await service.getSession({ appName, userId, sessionId });
    read.push({ appName, userId, id, state, events: inOneOrder(events) });
  }
  return sorted(JSON.parse(JSON.stringify(read)));
}

/** adk-js leaves the order of events of one time to the database: it gives them in any. */
function inOneOrder(events) {
  return events.toSorted((a, b) => a.timestamp - b.timestamp || (a.id < b.id ? -1 : 1));
}

async function holds(database, adk) {
  assert.equal((await identifyAdk(database)).kind, 'adk-js');
  const service = new SessionService();
  const result = await importAdk(database, service);
  assert.deepEqual(result.problems, []);
  assert.deepEqual([result.sessions, result.imported, result.events, result.corrected], [3, 3, 6, 1]);
  const shown = await shownBy(service, ['shop', ODD]);
  assert.deepEqual(
    shown.map((session) => ({ ...session, events: inOneOrder(session.events) })),
    await readBy(adk),
  );
  assert.deepEqual(await service.getUserState({ appName: 'shop', userId: 'eve' }), { left: 1 });
  const again = await importAdk(database, service);
  assert.deepEqual([again.sessions, again.imported, again.problems], [3, 0, []]);
  return service;
}

test('a SQLite database of adk-js: everything is as adk-js reads it, events of one time in the order of appending', async () => {
  await inTemporary(async (folder) => {
    const path = join(folder, 'sessions.db');
    const adk = new DatabaseSessionService({ driver: BetterSqliteDriver, dbName: path });
    const database = new Database(path);
    try {
      await fill(adk);
      const service = await holds(database, adk);
      const { events } = await service.getSession({ appName: 'shop', userId: 'ana', sessionId: 'rich' });
      assert.deepEqual(
        events.map(({ id }) => id),
        ['d', 'b', 'a', 'c', 'e', 'statepad-import'],
      );
    } finally {
      await adk.orm?.close(true);
      database.close();
    }
  });
});

describe('a Postgres database of adk-js', async () => {
  let server;
  let pool;
  before(async () => {
    ({ server } = await postgresForTests());
    pool = server && new pg.Pool({ connectionString: server.url });
    // A connection that is closing may be cut when the server stops.
    pool?.on('error', () => undefined);
  });
  after(async () => {
    await pool?.end();
    await server?.stop();
  });

  test('everything is as adk-js reads it', async (t) => {
    if (server === undefined) return t.skip('no Postgres');
    const adk = new DatabaseSessionService({ driver: PostgreSqlDriver, clientUrl: server.url });
    try {
      await fill(adk);
      await holds(pool, adk);
    } finally {
      await adk.orm?.close(true);
    }
  });
});
