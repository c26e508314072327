// Requests of the clients in Java and in Rust, and the answers that they read: tables in tests/serve/engine/clients.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { runClient } from './clients.mjs';
import { openServer } from './server.mjs';
import { PLACES } from './places.mjs';

const FOLDER = new URL('clients/', import.meta.url);
const CLIENTS = readdirSync(FOLDER).map((name) => [
  name.replace('.json', ''),
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')),
]);

for (const [place, open] of Object.entries(PLACES)) {
  describe(`over ${place}`, () => {
    for (const [client, table] of CLIENTS) {
      test(`${client} reads what it needs`, async () => {
        const { service, other } = open();
        await runClient(table, openServer({ service: other }).fetch);
        await Promise.all([service.close(), other.close()]);
      });
    }
  });
}

test('a table fails where an answer is another one', async () => {
  const [[, table]] = CLIENTS;
  const { fetch } = openServer();
  const spoilt = async (url, init) => {
    const response = await fetch(url, init);
    const text = (await response.text()).replaceAll('"userId":"ana"', '"userId":"bob"');
    return new Response(text, { status: response.status });
  };
  await assert.rejects(runClient(table, spoilt), /userId/);
});
