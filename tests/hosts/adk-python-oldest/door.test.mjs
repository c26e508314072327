// google-adk's own client for Agent Engine over a door, in the oldest version 2 that pip gives.

import { after, before } from 'node:test';
import { conversationTests } from '../adk-python/door/conversations.mjs';
import { cutTests } from '../adk-python/door/cuts.mjs';
import { startPlace } from '../adk-python/door/host.mjs';
import { processTests } from '../adk-python/door/processes.mjs';
import { sessionTests } from '../adk-python/door/sessions.mjs';

const host = 'adk-python-oldest';
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
// It makes a client for each request, which takes its time.
processTests(host, at, { count: 10 });
