// The page of `statepad inspect` follows what other processes write: statepad and google-adk, in every kind of place.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { runs, started } from '../../cli/process.mjs';
import { driveFirefox } from '../../support/firefox.mjs';
import { postgresForTests } from '../../support/postgres.mjs';
import { agentAt, atEnd, browser, entry, inspected, state, temporaryFolder, writerTo } from './support.mjs';

const folder = temporaryFolder();
const { server: postgres, skip: noPostgres } = await postgresForTests();
after(() => postgres?.stop());

const KEY = { appName: 'harbour', userId: 'ana', sessionId: 'monday' };

/** An event of a turn with a text. */
const said = (author, text, stateDelta = {}) => ({
  author,
  invocationId: 'one',
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
  actions: { stateDelta },
});

/** The row of a key in the state that a page shows, with the words of its value. */
const row = (page, key, value) =>
  state(page)
    .getByRole('row')
    .filter({ has: page.getByText(key, { exact: true }) })
    .filter({ hasText: value });
const moment = (page, words) => page.getByRole('region', { name: 'Timeline' }).getByText(words);

/** A session in a file, with its first event, and what writes further ones from another process. */
async function writtenFile(t, name) {
  const path = join(folder, name);
  const write = await writerTo(t, { place: { kind: 'sqlite', path } });
  await write({ key: KEY, state: { boat: 'Seagull' } });
  await write({ key: KEY, event: said('user', 'Is there a berth?', { port: 'Brest', days: 2 }) });
  return { path, append: async (event) => await write({ key: KEY, event }) };
}

/** Waits until a page shows the first turn of the agent: a message, a tool with its result, an answer. */
async function showsTurn(page) {
  await entry(page, 4).getByText('3.5 m', { exact: true }).waitFor();
  await page.getByRole('feed').getByText('When is high water in Brest?').waitFor();
  await page.getByRole('feed').getByText('tide_at').first().waitFor();
  await row(page, 'asked_for', '"Brest"').waitFor();
  await row(page, 'boat', '"Seagull"').waitFor();
  await row(page, 'app:asked', '1').waitFor();
  await moment(page, /^#4 of 4/).waitFor();
}

/** Asks for a write with the token of the page. */
async function writeStatus({ origin, token }) {
  const { appName, userId, sessionId } = KEY;
  const answer = await fetch(`${origin}/v1/apps/${appName}/users/${userId}/sessions/${sessionId}/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ event: said('user', 'not wanted') }),
  });
  return answer.status;
}

/** The files under a folder, with the digests of their bytes. */
const bytesIn = (place) =>
  Object.fromEntries(
    readdirSync(place).map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(place, name)))
        .digest('hex'),
    ]),
  );

describe('the page of statepad inspect', () => {
  const chromium = browser();

  it('follows another process that appends to an SQLite file, and travels', async (t) => {
    const { path, append } = await writtenFile(t, 'sessions.db');
    const { page: address } = await inspected(t, path);
    const page = await chromium.open(t, address);
    await entry(page, 1).getByText('Is there a berth?').waitFor();
    await page.evaluate(() => (globalThis.isSamePage = true));

    await append(said('harbour', 'Berth **7** is free.', { berth: 7, days: 3 }));
    await entry(page, 2).locator('strong').getByText('7').waitFor();
    await row(page, 'berth', '7').waitFor();
    await row(page, 'days', '3').waitFor();
    await moment(page, /^#2 of 2/).waitFor();

    // In the past it stays where it is, and tells that there is more.
    await page.getByRole('button', { name: 'Step back' }).click();
    await moment(page, /^#1 of 2/).waitFor();
    await row(page, 'berth', '7').waitFor({ state: 'detached' });
    await row(page, 'days', '2').waitFor();
    await append(said('user', 'I take it.', { taken: true }));
    await moment(page, /^#1 of 3/).waitFor();
    assert.equal(await row(page, 'taken', 'true').count(), 0);
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await entry(page, 3).getByText('I take it.').waitFor();
    await row(page, 'taken', 'true').waitFor();
    assert.equal(await page.evaluate(() => globalThis.isSamePage), true, 'nothing was loaded again');
  });

  it('follows it in Firefox', async (t) => {
    const { path, append } = await writtenFile(t, 'firefox.db');
    const { page: address, token } = await inspected(t, path);
    const firefox = await driveFirefox(address);
    atEnd(t, () => firefox.stop());
    /** Waits in the page until its text has all words, wherever its shadow roots are; answers its address. */
    const shows = async (...words) =>
      await firefox.run(
        `const [words] = arguments;
        const textOf = (node) => node.nodeType === Node.TEXT_NODE ? node.data
          : ['STYLE', 'SCRIPT'].includes(node.tagName) ? ''
          : [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes].map(textOf).join(' ');
        return new Promise((resolve, reject) => {
          const end = performance.now() + 25_000;
          const look = () => {
            const text = textOf(document.body).replaceAll(/\\s+/g, ' ');
            if (words.every((word) => text.includes(word))) resolve([location.href, window.isSamePage ?? false]);
            else if (performance.now() > end) reject(new Error(text.slice(0, 4000)));
            else setTimeout(look, 20);
          };
          look();
        });`,
        words,
      );
    const [shown] = await shows('Is there a berth?', '#1 of 1', '"Brest"');
    assert.ok(!shown.includes(token));
    await firefox.run('window.isSamePage = true;');
    await append(said('harbour', 'Berth 7 is free.', { berth: 'north pier' }));
    assert.deepEqual((await shows('Berth 7 is free.', '#2 of 2', '"north pier"'))[1], true);
  });

  it('follows an agent of google-adk that writes to Postgres through a server', { skip: noPostgres }, async (t) => {
    // The store is made by the server: `inspect` makes none.
    const server = await started(['serve', postgres.url, '--port', '0', '--insecure']);
    atEnd(t, () => server.stop('SIGKILL'));
    const say = await agentAt(t, 'statepad', server.url, KEY);
    const { page: address } = await inspected(t, postgres.url);
    const page = await chromium.open(t, address);
    await row(page, 'boat', '"Seagull"').waitFor();
    await say('When is high water in Brest?');
    await showsTurn(page);
    await say('Thank you.');
    await entry(page, 6).getByText('You are welcome.', { exact: true }).waitFor();
  });

  it('follows an agent of google-adk at a server, whose token stays in the command', async (t) => {
    const server = await started(['serve', 'memory:', '--port', '0']);
    atEnd(t, () => server.stop('SIGKILL'));
    const say = await agentAt(t, 'statepad', server.url, KEY, server.token);
    const inspecting = await inspected(t, server.url, { env: { STATEPAD_TOKEN: server.token } });
    assert.notEqual(inspecting.token, server.token);
    const page = await chromium.open(t, inspecting.page);
    const asked = [];
    page.on('request', (request) => asked.push(request.allHeaders()));
    await row(page, 'boat', '"Seagull"').waitFor();
    await say('When is high water in Brest?');
    await showsTurn(page);
    assert.ok(!JSON.stringify(await Promise.all(asked)).includes(server.token));
    assert.equal(await writeStatus(inspecting), 403);
  });

  it('follows google-adk in its own session.db, which stays as google-adk has left it', async (t) => {
    const place = join(folder, 'agent', '.adk');
    mkdirSync(place, { recursive: true });
    const path = join(place, 'session.db');
    const say = await agentAt(t, 'sqlite', path, KEY);
    const inspecting = await inspected(t, path);
    const page = await chromium.open(t, inspecting.page);
    await row(page, 'boat', '"Seagull"').waitFor();
    await say('When is high water in Brest?');
    await showsTurn(page);
    const before = bytesIn(place);
    await page.getByRole('button', { name: 'Step back' }).click();
    await row(page, 'answer', '"3.5 m"').waitFor({ state: 'detached' });
    assert.equal(await writeStatus(inspecting), 403);
    assert.deepEqual(bytesIn(place), before);
    const { code, err } = await runs(['inspect', path, '--no-open', '--write']);
    assert.equal(code, 1);
    assert.match(err, /session\.db is the database of an ADK \(adk-python-sqlite\), which is only read: /);
    assert.deepEqual(bytesIn(place), before);
    // The agent goes on: nobody holds a lock of it.
    await say('Thank you.');
    await moment(page, /^#3 of 6/).waitFor();
  });
});
