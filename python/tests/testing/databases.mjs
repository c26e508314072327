// A Postgres and a Redis server for tests in Python: their addresses as a line of JSON, until the input ends.

import { startPostgres } from '../../../tests/support/postgres.mjs';
import { startRedis } from '../../../tests/support/redis.mjs';

const servers = await Promise.all([startPostgres(), startRedis()]);
const [postgres, redis] = servers.map(({ url }) => url);
process.stdout.write(`${JSON.stringify({ postgres, redis })}\n`);
process.stdin.resume();
process.stdin.on('end', async () => {
  await Promise.all(servers.map((server) => server.stop()));
  process.exit();
});
