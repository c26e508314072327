// A SQLite database with the tables of adk-python (schema 1), written by hand: what no ADK would write can be in it.

import Database from 'better-sqlite3';

/** The statements by which SQLAlchemy makes the tables. */
export const PYTHON_V1 = `
  CREATE TABLE adk_internal_metadata ("key" VARCHAR(128) NOT NULL, value VARCHAR(256) NOT NULL, PRIMARY KEY ("key"));
  CREATE TABLE app_states (app_name VARCHAR(128) NOT NULL, state TEXT NOT NULL, update_time DATETIME NOT NULL,
    PRIMARY KEY (app_name));
  CREATE TABLE user_states (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, state TEXT NOT NULL,
    update_time DATETIME NOT NULL, PRIMARY KEY (app_name, user_id));
  CREATE TABLE sessions (app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL, id VARCHAR(128) NOT NULL,
    state TEXT NOT NULL, create_time DATETIME NOT NULL, update_time DATETIME NOT NULL,
    PRIMARY KEY (app_name, user_id, id));
  CREATE TABLE events (id VARCHAR(128) NOT NULL, app_name VARCHAR(128) NOT NULL, user_id VARCHAR(128) NOT NULL,
    session_id VARCHAR(128) NOT NULL, invocation_id VARCHAR(256) NOT NULL, timestamp DATETIME NOT NULL,
    event_data TEXT, PRIMARY KEY (id, app_name, user_id, session_id));
  INSERT INTO adk_internal_metadata VALUES ('schema_version', '1');
`;

/** A database in memory, and what writes rows into it. States and events are values of JSON, or texts as they are. */
export function pythonTables() {
  const database = new Database(':memory:');
  database.exec(PYTHON_V1);
  const text = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
  const run = (sql, ...values) => database.prepare(sql).run(...values);
  const timeOf = (ms) => new Date(ms).toISOString().replace('T', ' ').replace('Z', '000');
  return {
    database,
    app: (app, state) => run('INSERT INTO app_states VALUES (?, ?, ?)', app, text(state), timeOf(0)),
    user: (app, user, state) => run('INSERT INTO user_states VALUES (?, ?, ?, ?)', app, user, text(state), timeOf(0)),
    session: (app, user, id, state, created = 1000) =>
      run(
        'INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)',
        app,
        user,
        id,
        text(state),
        timeOf(created),
        timeOf(created),
      ),
    event: (app, user, session, id, ms, data = {}) =>
      run(
        'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)',
        ...[id, app, user, session, 'i', timeOf(ms)],
        typeof data === 'string' ? data : JSON.stringify({ author: 'x', timestamp: ms / 1000, ...data }),
      ),
  };
}

/** The writes of an event. */
export function writes(delta) {
  return { actions: { state_delta: delta } };
}
