// A server in a process of its own: serves a place until its standard input ends, and answers each line of it with the
// time of its processor in microseconds. The argument is JSON: `place`, `port` (any, when it is 0) and `principals`,
// by their tokens; without them everyone may do everything. See servers.mjs.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { nodeListener, serve } from 'statepad/serve';
import { openService } from '../sharing/places.mjs';
import { portOf } from './ports.mjs';

const { place, port = 0, principals, poll } = JSON.parse(process.argv[2]);

/** @param {Request} request */
const tokenOf = ({ headers }) =>
  headers.get('x-goog-api-key') ?? headers.get('authorization')?.replace(/^Bearer /, '') ?? '';
const access = principals
  ? { authorize: (/** @type {Request} */ request) => principals[tokenOf(request)] }
  : { insecure: true };

const { service, end } = await openService(place);
const handler = serve(service, { ...access, poll });
const server = createServer(nodeListener(handler));
await once(server.listen(port, '127.0.0.1'), 'listening');
process.stdout.write(`${portOf(server)}\n`);

const lines = createInterface({ input: process.stdin });
lines.on('line', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write(`${user + system}\n`);
});
await once(lines, 'close');
await handler.close();
server.closeAllConnections();
await new Promise((resolve) => server.close(resolve));
await end();
