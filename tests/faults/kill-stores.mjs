// The stores that processes write to which are killed: opened by their name, so that each loads no more than it needs.

/** Opens a store; `end` gives back what it stands on. */
export const openers = {
  sqlite: async (path) => {
    const [{ default: Database }, { sqliteStore }] = await Promise.all([
      import('better-sqlite3'),
      import('statepad/stores/sqlite'),
    ]);
    const database = new Database(path);
    return { store: sqliteStore(database), end: async () => void database.close() };
  },
  journal: async (path) => {
    const { fileJournal } = await import('statepad/stores/journal');
    return { store: fileJournal(path), end: async () => undefined };
  },
  postgres: async (connectionString) => {
    const [{ default: pg }, { postgresStore }] = await Promise.all([import('pg'), import('statepad/stores/postgres')]);
    const pool = new pg.Pool({ connectionString, max: 3 });
    pool.on('error', () => undefined);
    return { store: postgresStore(pool), end: () => pool.end() };
  },
  redis: async (url) => {
    const [{ Redis }, { redisStore }] = await Promise.all([import('ioredis'), import('statepad/stores/redis')]);
    const client = new Redis(url);
    client.on('error', () => undefined);
    return { store: redisStore(client), end: async () => client.disconnect() };
  },
};
