// A program that writes to sessions: each line that it reads is a change as JSON, and is answered by a line when it is
// there. The argument is JSON: `place`, or the `url` of a server; see tests/servers/sources.mjs.

import { createInterface } from 'node:readline';
import { openSource } from '../../servers/sources.mjs';

const { source, end } = await openSource(JSON.parse(process.argv[2]));
process.stdout.write('"ready"\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { key, state, event } = JSON.parse(line);
  const session = event === undefined ? await source.createSession({ ...key, state }) : await source.getSession(key);
  if (event !== undefined) await source.appendEvent({ session, event });
  process.stdout.write(`${JSON.stringify(session.revision)}\n`);
}
await end();
process.exit();
