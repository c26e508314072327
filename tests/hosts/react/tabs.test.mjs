// Many sessions on a page, and many tabs of an origin, over plain HTTP/1.1, of which a browser opens six connections.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openSite } from './site.mjs';

const USER = { appName: 'tutor', userId: 'ana' };
const MONDAY = { ...USER, sessionId: 'monday' };

const page = `
  import { createRoot } from 'react-dom/client';
  import { SessionProvider, useSession } from 'statepad/react';
  import { connect } from 'statepad/client';

  /** The number of open answers of the handler in this tab. */
  globalThis.streams = 0;
  const counted = async (address, init) => {
    const response = await fetch(address, init);
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
      globalThis.streams += 1;
      const closed = () => (globalThis.streams -= 1);
      const body = response.body.pipeThrough(new TransformStream({ flush: closed, cancel: closed }));
      init.signal?.addEventListener('abort', closed, { once: true });
      return new Response(body, response);
    }
    return response;
  };

  function Shown({ id }) {
    const { status, session } = useSession();
    const { state = {} } = session ?? {};
    const text = JSON.stringify([status, session?.revision, state['user:n'] ?? 0, state['app:n'] ?? 0]);
    return <li id={id}>{text}</li>;
  }
  globalThis.open = ({ sessions, key }) => {
    const source = connect({ url: '/agents', fetch: counted, ...(key && { shareTabs: { key } }) });
    createRoot(document.getElementById('root')).render(
      sessions.map((id) => (
        <SessionProvider key={id} source={source} appName="tutor" userId="ana" sessionId={id}>
          <Shown id={id} />
        </SessionProvider>
      )),
    );
    globalThis.follow = async (sessionId) => {
      globalThis.told = [];
      for await (const change of source.watch({ appName: 'tutor', userId: 'ana', sessionId, whole: true })) {
        told.push(change.type === 'event' ? change.revision : change.type);
      }
    };
  };
  globalThis.append = (sessionId, stateDelta) =>
    fetch('/append', { method: 'POST', body: JSON.stringify({ sessionId, stateDelta }) }).then(({ status }) => status);
`;

const routes = {
  '/append': async (service, request, response) => {
    const { sessionId, stateDelta } = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const session = { ...USER, id: sessionId };
    await service.appendEvent({ session, event: { author: 'ana', actions: { stateDelta } } });
    response.writeHead(204).end();
  },
};

describe('over HTTP/1.1', () => {
  let site;
  before(async () => {
    site = await openSite('react', { page, routes });
  });
  after(() => site?.stop());

  async function opened(context, props) {
    const page = await context.newPage();
    await page.goto(site.origin);
    await page.evaluate((given) => window.open(given), props);
    return page;
  }

  /** Waits until a session is shown with a revision, and with what its user and its app have. */
  const shows = (page, id, expected) =>
    page.waitForFunction(
      ([one, wanted]) => document.getElementById(one)?.textContent === wanted,
      [id, JSON.stringify(expected)],
      { timeout: 20_000 },
    );
  const append = (page, ...args) => page.evaluate((given) => window.append(...given), args);
  const streamsOf = (page) => page.evaluate(() => window.streams);

  /** Sessions that nothing has been written to. */
  async function create(...ids) {
    for (const sessionId of ids) {
      await site.service.deleteSession({ ...USER, sessionId });
      await site.service.createSession({ ...USER, sessionId, state: { 'user:n': 0, 'app:n': 0 } });
    }
  }

  /** The tab that holds the connection, and the others. */
  async function leaderOf(pages) {
    for (const until = Date.now() + 20_000; ;) {
      assert.ok(Date.now() < until, 'no tab has a connection');
      const counts = await Promise.all(pages.map(streamsOf));
      const leader = counts.findIndex((count) => count > 0);
      if (leader >= 0) {
        return { leader: pages[leader], others: pages.filter((_, index) => index !== leader) };
      }
    }
  }

  it('ten sessions on one page stay up to date, by one connection', async () => {
    const ids = Array.from({ length: 10 }, (_, index) => `s${index}`);
    await create(...ids);
    const context = await site.browser.newContext();
    const page = await opened(context, { sessions: ids });
    for (const id of ids) await shows(page, id, ['ready', 0, 0, 0]);
    assert.equal(await streamsOf(page), 1);
    for (const [index, id] of ids.entries()) {
      assert.equal(await append(page, id, { 'user:n': index, 'app:n': -index }), 204);
    }
    for (const id of ids) await shows(page, id, ['ready', 1, 9, -9]);
    await context.close();
  });

  it('eight tabs read and write, by one connection, and are all up to date', async () => {
    await create('monday');
    const context = await site.browser.newContext();
    const pages = [];
    for (let tab = 0; tab < 8; tab++) pages.push(await opened(context, { sessions: ['monday'], key: 'ana' }));
    for (const page of pages) await shows(page, 'monday', ['ready', 0, 0, 0]);
    const before = site.sent();
    for (let round = 0; round < 3; round++) {
      await Promise.all(pages.map((page, tab) => append(page, 'monday', { 'user:n': 0, [`tab${tab}`]: round })));
    }
    assert.equal(await append(pages[7], 'monday', { 'user:n': 8, 'app:n': 9 }), 204);
    for (const page of pages) await shows(page, 'monday', ['ready', 25, 8, 9]);
    const counts = await Promise.all(pages.map(streamsOf));
    assert.equal(
      counts.reduce((sum, count) => sum + count),
      1,
      `streams: ${counts}`,
    );
    assert.ok(site.sent() - before < 25 * 2000, `${site.sent() - before} bytes for 25 changes`);
    await context.close();
  });

  /** The ways in which the tab that leads ends; the answer undoes it. */
  const ENDS = {
    'is closed': (page) => page.close(),
    // The event of a browser before it freezes a tab: a page that a test drives counts as seen, and is never frozen.
    'is frozen': async (page) => {
      await page.evaluate(() => document.dispatchEvent(new window.Event('freeze')));
      return () => page.evaluate(() => document.dispatchEvent(new window.Event('resume')));
    },
    // As one that hangs: it keeps its lock, and what it says is heard much later.
    'says nothing': async (page) => {
      await page.evaluate(() => {
        const { postMessage } = window.BroadcastChannel.prototype;
        const held = [];
        window.BroadcastChannel.prototype.postMessage = function (message) {
          held.push(() => postMessage.call(this, message));
        };
        window.speak = () => {
          window.BroadcastChannel.prototype.postMessage = postMessage;
          held.forEach((say) => say());
        };
      });
      return () => page.evaluate(() => window.speak());
    },
  };
  for (const [what, happens] of Object.entries(ENDS)) {
    it(`when the tab that leads ${what}, another one goes on: no change is missing, none comes twice`, async () => {
      await create('monday');
      const context = await site.browser.newContext();
      const pages = [];
      for (let tab = 0; tab < 3; tab++) pages.push(await opened(context, { sessions: ['monday'], key: 'ana' }));
      for (const page of pages) {
        await page.evaluate(() => void window.follow('monday'));
        await page.waitForFunction(() => window.told.length === 1);
      }
      const session = await site.service.getSession(MONDAY);
      const write = () => site.service.appendEvent({ session, event: { author: 'ana' } });
      await write();
      for (const page of pages) await shows(page, 'monday', ['ready', 1, 0, 0]);
      const { leader, others } = await leaderOf(pages);
      await write();
      const undo = await happens(leader, context);
      await write();
      await write();
      for (const page of others) {
        await shows(page, 'monday', ['ready', 4, 0, 0]);
        assert.deepEqual(await page.evaluate(() => window.told), ['session', 1, 2, 3, 4]);
      }
      await leaderOf(others);
      await undo?.();
      await write();
      for (const page of undo === undefined ? others : pages) {
        await shows(page, 'monday', ['ready', 5, 0, 0]);
        assert.deepEqual(await page.evaluate(() => window.told), ['session', 1, 2, 3, 4, 5]);
      }
      await context.close();
    });
  }

  it('tabs of another key have a connection of their own', async () => {
    await create('monday');
    const context = await site.browser.newContext();
    const pages = [];
    for (const key of ['ana', 'ana', 'bob', undefined])
      pages.push(await opened(context, { sessions: ['monday'], key }));
    for (const page of pages) await shows(page, 'monday', ['ready', 0, 0, 0]);
    const counts = await Promise.all(pages.map(streamsOf));
    assert.deepEqual([counts[0] + counts[1], counts[2], counts[3]], [1, 1, 1]);
    const { held } = await pages[0].evaluate(async () => await navigator.locks.query());
    assert.ok(held.length > 0 && held.every(({ name }) => !/ana|bob/.test(name)), 'no key is in a name');
    await context.close();
  });

  it('eight tabs without Web Locks are up to date, too: they hold no connection', async () => {
    await create('monday');
    const context = await site.browser.newContext();
    await context.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }));
    const pages = [];
    for (let tab = 0; tab < 8; tab++) pages.push(await opened(context, { sessions: ['monday'], key: 'ana' }));
    for (const page of pages) await shows(page, 'monday', ['ready', 0, 0, 0]);
    await Promise.all(pages.map((page, tab) => append(page, 'monday', { tab })));
    for (const page of pages) await shows(page, 'monday', ['ready', 8, 0, 0]);
    assert.deepEqual(await Promise.all(pages.map(streamsOf)), Array(8).fill(0));
    await context.close();
  });
});
