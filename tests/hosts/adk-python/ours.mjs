// A process of statepad beside one of adk-python: appends events to a session, and prints how often it was refused.

import { readFileSync } from 'node:fs';
import pg from 'pg';
import { SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';

const { url, schema, key, count, name } = JSON.parse(readFileSync(0, 'utf8'));
const pool = new pg.Pool({ connectionString: url, max: 4 });
const service = new SessionService({ store: adkDatabaseStore(pool, { schema }) });
const session = await service.getSession(key);
for (let index = 0; index < count; index++) {
  const id = `${name}${index}`;
  const stateDelta = { [`app:${id}`]: index, [`user:${id}`]: [index], [id]: { index } };
  await service.appendEvent({
    session,
    event: {
      ...{ id, invocationId: `i-${id}`, author: 'node' },
      content: { role: 'model', parts: [{ text: `text of ${id}` }] },
      actions: { stateDelta },
    },
  });
}
await service.close();
await pool.end();
