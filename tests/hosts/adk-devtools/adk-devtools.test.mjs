// ADK's own dev server, as it is published, over this package's session service: the recipe of docs/adk.md.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { link } from '../../packaging/project.mjs';
import { openChromium } from '../../support/chromium.mjs';
import { filesOf, hostOf } from '../host.mjs';
import { seenBy, worksWith } from '../matrix.mjs';
import { startGemini } from './gemini.mjs';

const files = filesOf("ADK's dev server", 'docs/adk.md');
const SESSIONS = '/apps/shop/users/ana/sessions';

describe("ADK's dev server", () => {
  const seen = seenBy('adk-devtools');
  let host;
  let gemini;
  let server;

  const start = async () =>
    await host.start(process.execPath, ['serve.mjs'], {
      ready: /access at (http:\S+?)\. /,
      env: { PORT: '0', GOOGLE_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: gemini.url },
    });

  /** Asks the server; answers the status and what it sent, as JSON where it is. */
  async function ask(method, path, body) {
    const response = await fetch(server.found[1] + path, {
      method,
      // A connection that is kept would keep the server from stopping.
      headers: { 'Content-Type': 'application/json', Connection: 'close' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json');
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  }

  const run = async (path, text, more) =>
    await ask('POST', path, {
      ...{ appName: 'shop', userId: 'ana', sessionId: 'monday' },
      newMessage: { role: 'user', parts: [{ text }] },
      ...more,
    });
  const saidIn = (events) =>
    events.flatMap(({ author, content }) => (content?.parts ?? []).map(({ text }) => `${author}: ${text}`));

  before(async () => {
    assert.deepEqual(Object.keys(files).sort(), ['agents/shop/agent.ts', 'serve.mjs']);
    host = await hostOf('adk-devtools', files);
    // A path is opened by it in Node 20; compiled where the repository is installed.
    link('better-sqlite3', host.folder);
    gemini = await startGemini(({ contents }) => `I heard ${contents.length} of you.`);
    server = await start();
  });
  after(async () => {
    await server?.stop();
    await gemini?.stop();
  });

  it('finds the agent, and serves its debug UI with the scripts of it', async () => {
    assert.deepEqual((await ask('GET', '/list-apps')).body, ['shop']);
    const { status, body } = await ask('GET', '/dev-ui/');
    assert.equal(status, 200);
    const scripts = [...body.matchAll(/(?:src|modulepreload" href)="(?:\.\/)?([\w.-]+\.js)"/g)].map(
      ([, name]) => name,
    );
    assert.ok(scripts.length > 2, body.slice(-2000));
    for (const name of scripts) assert.equal((await ask('GET', `/dev-ui/${name}`)).status, 200, name);
  });

  it('creates a session, and its user state reaches the next one', async () => {
    const created = await ask('POST', `${SESSIONS}/monday`, { state: { 'user:name': 'Ana', cart: [] } });
    assert.equal(created.status, 200);
    assert.deepEqual(created.body.state, { cart: [], 'user:name': 'Ana' });
    assert.equal((await ask('POST', `${SESSIONS}/monday`, {})).status, 400, 'there is one already');
    const other = await ask('POST', SESSIONS, {});
    assert.deepEqual(other.body.state, { 'user:name': 'Ana' });
    assert.match(other.body.id, /^[\w-]{36}$/);
  });

  it('runs the agent with the state in its instruction, and keeps its answer and the delta of the request', async () => {
    const { status, body } = await run('/run', 'Tea?', { stateDelta: { 'app:open': true, cart: ['tea'] } });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(saidIn(body), ['shop: I heard 1 of you.']);
    assert.match(JSON.stringify(gemini.requests[0].systemInstruction), /You sell tea to Ana\./);
    const { state } = (await ask('GET', `${SESSIONS}/monday`)).body;
    assert.deepEqual(state, {
      cart: ['tea'],
      'app:open': true,
      'user:name': 'Ana',
      'user:answer': 'I heard 1 of you.',
    });
  });

  it('streams a run, and stores its whole events alone', async () => {
    const { status, body } = await run('/run_sse', 'And coffee?', { streaming: true });
    assert.equal(status, 200);
    const events = [...body.matchAll(/^data: (.*)$/gm)].map(([, text]) => JSON.parse(text));
    assert.ok(
      events.some(({ partial }) => partial),
      body,
    );
    assert.equal(saidIn(events).at(-1), 'shop: I heard 3 of you.');
    const session = (await ask('GET', `${SESSIONS}/monday`)).body;
    assert.deepEqual(saidIn(session.events), [
      'user: Tea?',
      'shop: I heard 1 of you.',
      'user: And coffee?',
      'shop: I heard 3 of you.',
    ]);
    assert.equal(session.state['user:answer'], 'I heard 3 of you.');
  });

  it('shows in its debug UI what was said, and goes on with it there', async () => {
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      const [, url] = server.found;
      // Its fonts are on another host.
      await page.route(
        ({ href }) => !href.startsWith(url),
        (route) => route.abort(),
      );
      await page.goto(`${url}/dev-ui/?app=shop&session=monday&userId=ana`);
      await page.getByText('I heard 3 of you.').waitFor();
      await page.locator('textarea').fill('And milk?');
      await page.keyboard.press('Enter');
      await page.getByText('I heard 5 of you.').first().waitFor();
    } finally {
      await browser.close();
    }
    const { events } = (await ask('GET', `${SESSIONS}/monday`)).body;
    assert.deepEqual(saidIn(events).slice(4), ['user: And milk?', 'shop: I heard 5 of you.']);
  });

  it('draws the agent of an event', async () => {
    const { events } = (await ask('GET', `${SESSIONS}/monday`)).body;
    const { status, body } = await ask('GET', `${SESSIONS}/monday/events/${events.at(-1).id}/graph`);
    assert.equal(status, 200);
    assert.match(body.dotSrc, /shop/);
  });

  it('has all of it after a restart, and the agent goes on with what was said', async () => {
    const [before, listed] = [await ask('GET', `${SESSIONS}/monday`), await ask('GET', SESSIONS)];
    assert.equal(listed.body.sessions.length, 2);
    await server.stop();
    server = await start();
    assert.deepEqual((await ask('GET', SESSIONS)).body, listed.body);
    assert.deepEqual((await ask('GET', `${SESSIONS}/monday`)).body, before.body);
    const { body } = await run('/run', 'Still there?');
    assert.deepEqual(saidIn(body), ['shop: I heard 7 of you.']);
  });

  it('deletes a session, and not the state of its user', async () => {
    assert.equal((await ask('DELETE', `${SESSIONS}/monday`)).status, 204);
    assert.equal((await ask('GET', `${SESSIONS}/monday`)).status, 404);
    assert.equal((await run('/run', 'Hello?')).status, 404);
    const { sessions } = (await ask('GET', SESSIONS)).body;
    assert.deepEqual(
      sessions.map(({ state }) => state),
      [{ 'app:open': true, 'user:name': 'Ana', 'user:answer': 'I heard 7 of you.' }],
    );
  });

  it('is what docs/hosts.md says', () => {
    seen.saw("ADK's dev server", worksWith('a program that starts it: [With ADK](adk.md#adks-dev-server)'));
    seen.check();
  });
});
