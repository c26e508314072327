// google-adk's own client for Agent Engine over a door, in the newest version.

import { after, before } from 'node:test';
import { conversationTests } from './door/conversations.mjs';
import { cutTests } from './door/cuts.mjs';
import { startPlace } from './door/host.mjs';
import { processTests } from './door/processes.mjs';
import { sessionTests } from './door/sessions.mjs';

const host = 'adk-python';
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
processTests(host, at);
