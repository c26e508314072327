// Databases of adk-go and of what is proposed for adk-java, by hand: as their public sources make them.

/** The differences between the tables that gorm makes for adk-go. */
const GO_TYPES = {
  sqlite: { name: 'text', text: 'text', state: 'text', bytes: 'blob', time: 'datetime', flag: 'numeric' },
  postgres: { name: 'text', text: 'text', state: 'JSONB', bytes: 'bytea', time: 'timestamptz', flag: 'boolean' },
  mysql: {
    ...{ name: 'varchar(191)', text: 'longtext', state: 'LONGTEXT', bytes: 'longblob', time: 'datetime(6)' },
    flag: 'boolean',
  },
};

/** The tables of adk-go 2, as `AutoMigrate` makes them. */
export function goTables(dialect) {
  const { name, text, state, bytes, time, flag } = GO_TYPES[dialect];
  const json = ['long_running_tool_ids_json', 'routes_json', 'output_json', 'node_info_json', 'requested_input_json'];
  const more = ['content', 'grounding_metadata', 'custom_metadata', 'usage_metadata', 'citation_metadata'];
  return [
    `CREATE TABLE sessions (app_name ${name}, user_id ${name}, id ${name}, state ${state}, create_time ${time},
      update_time ${time}, PRIMARY KEY (app_name, user_id, id))`,
    `CREATE TABLE events (id ${name}, app_name ${name}, user_id ${name}, session_id ${name}, invocation_id ${text},
      author ${text}, actions ${bytes}, ${json.map((column) => `${column} ${text}`).join(', ')}, branch ${text},
      isolation_scope ${text}, timestamp ${time}, ${more.map((column) => `${column} ${text}`).join(', ')},
      partial ${flag}, turn_complete ${flag}, error_code ${text}, error_message ${text}, interrupted ${flag},
      PRIMARY KEY (id, app_name, user_id, session_id))`,
    `CREATE TABLE app_states (app_name ${name}, state ${state}, update_time ${time}, PRIMARY KEY (app_name))`,
    `CREATE TABLE user_states (app_name ${name}, user_id ${name}, state ${state}, update_time ${time},
      PRIMARY KEY (app_name, user_id))`,
  ];
}

const CONTENT = { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'find', args: { snake_key: 1 } } }] };

/** The text of a time, as each driver writes it. */
const GO_TIMES = {
  sqlite: ['2026-01-31 00:00:00.123456+00:00', '2026-01-31 05:30:01+05:30'],
  postgres: ['2026-01-31 00:00:00.123456+00', '2026-01-31 05:30:01+05:30'],
  mysql: ['2026-01-31 00:00:00.123456', '2026-01-31 00:00:01'],
};

/** Rows of adk-go: statements, each with its values. */
export function goRows(dialect) {
  const [first, second] = GO_TIMES[dialect];
  const bytes = (value) => Buffer.from(JSON.stringify(value));
  const row = (table, values) => [table, Object.keys(values), Object.values(values)];
  const ids = { app_name: 'shop', user_id: 'ana', session_id: 'go' };
  const [yes, no] = dialect === 'postgres' ? [true, false] : [1, 0];
  const flags = { partial: no, turn_complete: yes, interrupted: no };
  return [
    row('sessions', {
      ...{ app_name: 'shop', user_id: 'ana', id: 'go', state: '{"begun":true,"count":1}' },
      ...{ create_time: first, update_time: second },
    }),
    row('events', {
      ...{ id: 'e1', ...ids, invocation_id: 'i', author: 'user', timestamp: first, ...flags },
      actions: bytes({ stateDelta: { count: 1, 'app:theme': 'dark' }, artifactDelta: {}, escalate: true }),
      content: JSON.stringify(CONTENT),
      long_running_tool_ids_json: '["c1"]',
      custom_metadata: '{"my_key":1}',
      branch: 'root.leaf',
    }),
    row('events', {
      ...{ id: 'e2', ...ids, invocation_id: 'i', author: 'agent', timestamp: second, partial: no, turn_complete: no },
      actions: bytes({}),
      routes_json: '["left"]',
      output_json: '{"some_key":[1]}',
      node_info_json: '{"path":"a/b"}',
      error_code: 'SAFETY',
    }),
    row('app_states', { app_name: 'shop', state: '{"theme":"dark"}', update_time: first }),
    row('user_states', { app_name: 'shop', user_id: 'ana', state: '{"n":1}', update_time: first }),
  ];
}

const ACTIONS = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
const FIRST = Date.UTC(2026, 0, 31) + 123.456;

/** The expected session of these rows. */
export const GO = {
  id: 'go',
  state: { begun: true, count: 1, 'app:theme': 'dark', 'user:n': 1 },
  events: [
    {
      ...{ id: 'e1', invocationId: 'i', author: 'user', timestamp: FIRST, branch: 'root.leaf', turnComplete: true },
      ...{ content: CONTENT, longRunningToolIds: ['c1'], customMetadata: { my_key: 1 } },
      actions: { ...ACTIONS, stateDelta: { count: 1, 'app:theme': 'dark' }, escalate: true },
    },
    {
      ...{ id: 'e2', invocationId: 'i', author: 'agent', timestamp: Date.UTC(2026, 0, 31, 0, 0, 1) },
      ...{ routes: ['left'], output: { some_key: [1] }, nodeInfo: { path: 'a/b' }, errorCode: 'SAFETY' },
      actions: ACTIONS,
    },
  ],
};

/** The tables proposed for adk-java, in MySQL; `json` and `time` are their types. */
export function javaTables({ json, time, sequence }) {
  const ids = ['app_name', 'user_id', 'session_id'].map((name) => `${name} VARCHAR(255) NOT NULL`).join(', ');
  return [
    `CREATE TABLE adk_sessions (${ids}, state ${json} NOT NULL, created_at ${time} NOT NULL, updated_at ${time} NOT NULL,
      PRIMARY KEY (app_name, user_id, session_id))`,
    `CREATE TABLE adk_events (event_sequence ${sequence}, ${ids}, event_id VARCHAR(255) NOT NULL,
      event_data ${json} NOT NULL, created_at ${time} NOT NULL)`,
    `CREATE TABLE adk_app_state (app_name VARCHAR(255) NOT NULL, state_key VARCHAR(255) NOT NULL,
      state_value ${json} NOT NULL, PRIMARY KEY (app_name, state_key))`,
    `CREATE TABLE adk_user_state (app_name VARCHAR(255) NOT NULL, user_id VARCHAR(255) NOT NULL,
      state_key VARCHAR(255) NOT NULL, state_value ${json} NOT NULL, PRIMARY KEY (app_name, user_id, state_key))`,
  ];
}

/** Rows of adk-java. Its times are given in the zone of the connection, which is UTC where they are written. */
export function javaRows() {
  const row = (table, values) => [table, Object.keys(values), Object.values(values)];
  const ids = { app_name: 'shop', user_id: 'ana', session_id: 'java' };
  const [first, second] = ['2026-01-31 00:00:00.123', '2026-01-31 00:00:01.000'];
  const at = Date.UTC(2026, 0, 31);
  const event = (id, timestamp, more) => ({ id, invocationId: 'i', author: 'agent', timestamp, ...more });
  const rowOf = (data, created_at) => row('adk_events', { ...ids, event_id: data.id, event_data: data, created_at });
  const wrapped = (data, created_at) =>
    row('adk_events', { ...ids, event_id: data.id, event_data: { formatVersion: 2, event: data }, created_at });
  const text = ([table, names, values]) => [
    table,
    names,
    values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  ];
  const delta = (stateDelta) => ({ actions: { stateDelta, artifactDelta: {} } });
  return [
    row('adk_sessions', { ...ids, state: { begun: 1, kept: 2 }, created_at: first, updated_at: second }),
    wrapped(event('b', at + 123, delta({ kept: 2, gone: 1, 'app:theme': 'dark', 'user:off': 1 })), first),
    rowOf(event('a', at + 123, delta({ gone: '__ADK_SENTINEL_REMOVED__' })), first),
    wrapped(event('c', at + 1000, delta({ never: null, 'user:off': null })), second),
    row('adk_app_state', { app_name: 'shop', state_key: 'theme', state_value: '"dark"' }),
    row('adk_app_state', { app_name: 'shop', state_key: 'none', state_value: 'null' }),
    row('adk_user_state', { app_name: 'shop', user_id: 'ana', state_key: 'n', state_value: '{"snake_key":1}' }),
  ].map(text);
}

const deleted = (...keys) => ({ customMetadata: { statepad: { deleted: keys } } });
const javaEvent = (id, timestamp, stateDelta) => ({
  ...{ id, invocationId: 'i', author: 'agent', timestamp },
  actions: { ...ACTIONS, stateDelta },
});

/** The expected session of these rows. */
export const JAVA = {
  id: 'java',
  state: { begun: 1, kept: 2, 'app:theme': 'dark', 'user:n': { snake_key: 1 } },
  events: [
    javaEvent('b', Date.UTC(2026, 0, 31) + 123, { kept: 2, gone: 1, 'app:theme': 'dark', 'user:off': 1 }),
    { ...javaEvent('a', Date.UTC(2026, 0, 31) + 123, { gone: null }), ...deleted('gone') },
    {
      ...javaEvent('c', Date.UTC(2026, 0, 31, 0, 0, 1), { never: null, 'user:off': null }),
      ...deleted('never', 'user:off'),
    },
  ],
};

/**
 * Holds the one session that came over to what is expected, and the import to what it says; and the same session where
 * it is.
 */
export async function held(assert, statepad, database, kind, expected) {
  const { identifyAdk, importAdk, SessionService } = statepad;
  assert.equal((await identifyAdk(database)).kind, kind);
  const service = new SessionService();
  const result = await importAdk(database, service);
  assert.deepEqual(result.problems, []);
  assert.deepEqual([result.kind, result.sessions, result.corrected], [kind, 1, 0]);
  assert.equal(result.events, expected.events.length);
  const found = await service.getSession({ appName: 'shop', userId: 'ana', sessionId: expected.id });
  const { id, state, events } = JSON.parse(JSON.stringify(found));
  assert.deepEqual({ id, state, events }, expected);
  const again = await importAdk(database, service);
  assert.deepEqual([again.sessions, again.imported, again.problems], [1, 0, []]);
  await heldInPlace(assert, statepad, database, expected);
  return service;
}

/** Holds the session to what is expected where it is: read, watched from its beginning on, and in each list. */
async function heldInPlace(assert, { SessionService, adkReadStore }, database, expected) {
  const ids = { appName: 'shop', userId: 'ana' };
  const store = adkReadStore(database);
  const service = new SessionService({ store });
  const { id, state, events } = JSON.parse(
    JSON.stringify(await service.getSession({ ...ids, sessionId: expected.id })),
  );
  assert.deepEqual({ id, state, events }, expected);
  const changes = [];
  for await (const change of service.watch({ ...ids, sessionId: expected.id }, { since: 0 })) {
    changes.push(change.event);
    if (changes.length === expected.events.length) break;
  }
  assert.deepEqual(JSON.parse(JSON.stringify(changes)), expected.events);

  for (const query of [{ appName: 'shop' }, ids, { ...ids, limit: 1 }]) {
    const page = await service.listSessions(query);
    assert.deepEqual([page.totalItems, page.sessions.map((session) => session.id)], [1, [expected.id]]);
    assert.deepEqual(JSON.parse(JSON.stringify(page.sessions[0].state)), expected.state);
  }
  assert.deepEqual((await service.listSessions({ appName: 'shop', userId: 'ANA' })).sessions, []);
  assert.equal(await service.getSession({ ...ids, sessionId: expected.id.toUpperCase() }), undefined);
  assert.deepEqual(
    [(await service.listApps()).apps, (await service.listUsers({ appName: 'shop' })).users],
    [['shop'], ['ana']],
  );
  assert.deepEqual(await store.owners('shop', expected.id), ['ana']);
  await service.close();
}
