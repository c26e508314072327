// All tests of google-adk's own client against a server, in one version of google-adk.

import { after, before } from 'node:test';
import { conversationTests } from './conversations.mjs';
import { cutTests } from './cuts.mjs';
import { startPlace } from './host.mjs';
import { processTests } from './processes.mjs';
import { sessionTests } from './sessions.mjs';

/**
 * @param {string} host the folder of tests/hosts with the lock file
 * @param {Parameters<typeof processTests>[2]} [processes]
 */
export function serverTests(host, processes) {
  let place;
  let client;
  before(async () => {
    place = await startPlace();
    client = await place.start(host);
  });
  after(async () => {
    await client?.stop();
    await place?.stop();
  });

  const at = () => ({ client, place, host });
  sessionTests(host, at);
  conversationTests(host, at);
  cutTests(host, at);
  processTests(host, at, processes);
}
