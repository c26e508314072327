// Sessions in React: in StrictMode, in a browser, over a service in the page and one behind HTTP; and rendered on a
// server.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build } from 'esbuild';
import { SessionService } from 'statepad';
import { nodeListener, sseHandler } from 'statepad/sse';
import { openChromium, openPage } from '../../support/chromium.mjs';
import { filesOf, hostOf } from '../host.mjs';

const IDS = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };

/** What the page is made of: it counts renders, and how many watchers there are. */
const page = `
  import { StrictMode, useEffect, useRef, useState } from 'react';
  import { createRoot, hydrateRoot } from 'react-dom/client';
  import { SessionService, DELETED } from 'statepad';
  import { useSession, useSessionState, SessionProvider } from 'statepad/react';
  import { sseSource } from 'statepad/sse';
  import { Lesson } from './app.jsx';

  const ids = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };
  const counts = (globalThis.counts = { watching: 0, topic: 0, cart: 0, cartChanged: 0, whole: 0 });

  /** A source that counts its watchers. */
  const counted = (source) => ({
    getSession: (request) => source.getSession(request),
    async *watch(target, options) {
      counts.watching += 1;
      try {
        yield* source.watch(target, options);
      } finally {
        counts.watching -= 1;
      }
    },
  });

  function Counted() {
    const topic = useSessionState((state) => state.topic);
    counts.topic += 1;
    return <p id="topic">{topic}</p>;
  }
  function Cart() {
    const cart = useSessionState((state) => state.cart);
    counts.cart += 1;
    useEffect(() => { counts.cartChanged += 1; }, [cart]);
    const { name, motd } = useSessionState((state) => ({ name: state['user:name'], motd: state['app:motd'] }));
    return <p id="cart">{JSON.stringify(cart)} {name} {motd}</p>;
  }
  function Whole() {
    const { status, session } = useSession();
    counts.whole += 1;
    return <p id="whole">{status} {session?.revision} {session?.events.length}</p>;
  }

  const open = (element, source) => {
    const root = createRoot(document.getElementById('root'));
    root.render(<StrictMode><SessionProvider source={source} {...ids}>{element}</SessionProvider></StrictMode>);
    return root;
  };

  globalThis.local = async () => {
    const service = (globalThis.service = new SessionService());
    await service.createSession({ ...ids, state: { topic: 'tides', cart: ['tea'] } });
    globalThis.root = open(<><Counted /><Cart /><Whole /></>, counted(service));
  };
  globalThis.write = async (stateDelta, sessionId = 'monday') => {
    const session = await service.getOrCreateSession({ ...ids, sessionId });
    await service.appendEvent({ session, event: { author: 'ana', actions: { stateDelta } } });
  };
  globalThis.remove = () => service.deleteSession(ids);
  globalThis.remote = () => {
    globalThis.root = open(<><Counted /><Whole /></>, counted(sseSource({ url: '/session' })));
  };
  globalThis.hydrate = () => {
    const source = sseSource({ url: '/session' });
    const lesson = <Lesson source={source} sessionId="monday" initial={initial} />;
    globalThis.root = hydrateRoot(document.getElementById('root'), lesson);
  };
  globalThis.unmount = () => root.unmount();
`;

const html = (inside = '', initial = 'null') =>
  `<!doctype html><meta charset="utf-8"><div id="root">${inside}</div>
   <script>globalThis.initial = ${initial}</script><script type="module" src="/page.js"></script>`;

for (const kit of ['react', 'react-18']) {
  describe(kit, () => {
    let service;
    let browser;
    let server;
    let origin;
    /** Renders the lesson, as a server does. */
    let rendered;
    const sockets = new Set();

    before(async () => {
      const files = {
        ...filesOf('In React', 'docs/react.md'),
        ...filesOf('Rendered on a server', 'docs/react.md'),
        'page.jsx': page,
      };
      const { folder } = await hostOf(kit, files);
      const bundled = async (entry, platform) => {
        const { outputFiles } = await build({
          entryPoints: [join(folder, entry)],
          absWorkingDir: folder,
          bundle: true,
          write: false,
          platform,
          format: platform === 'node' ? 'cjs' : 'esm',
          jsx: 'automatic',
        });
        return outputFiles[0].text;
      };
      const script = await bundled('page.jsx', 'browser');
      const module = { exports: {} };
      new Function('module', 'exports', 'require', await bundled('server.jsx', 'node'))(
        module,
        module.exports,
        process.getBuiltinModule('module').createRequire(import.meta.url),
      );
      rendered = module.exports.html;
      service = new SessionService();
      const listener = nodeListener(sseHandler(service, { insecure: true, retry: 100 }));
      server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, 'http://host');
        if (pathname === '/session') {
          listener(request, response);
        } else if (pathname === '/page.js') {
          response.writeHead(200, { 'content-type': 'text/javascript' }).end(script);
        } else if (pathname === '/favicon.ico') {
          response.writeHead(204).end();
        } else if (pathname === '/rendered') {
          const initial = await service.getSession(IDS);
          response.end(html(await rendered(service, 'monday'), JSON.stringify(initial)));
        } else {
          response.end(html());
        }
      });
      server.on('connection', (socket) => {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket));
      });
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
      origin = `http://127.0.0.1:${server.address().port}`;
      browser = await openChromium();
    });
    after(async () => {
      await browser?.close();
      server?.closeAllConnections();
      await new Promise((resolve) => (server === undefined ? resolve() : server.close(resolve)));
      await service?.close();
    });

    const shows = (page, id, text) =>
      page.waitForFunction(([one, wanted]) => document.getElementById(one)?.textContent === wanted, [id, text], {
        timeout: 20_000,
      });
    const countsOf = (page) => page.evaluate(() => ({ ...window.counts }));
    const quiet = (page) => page.waitForFunction(() => window.counts.watching === 0, undefined, { timeout: 20_000 });

    it('shows what changes, and renders nothing else anew', async () => {
      const { page, complaints } = await openPage(browser, origin);
      await page.goto(origin);
      await page.evaluate(() => window.local());
      await shows(page, 'topic', 'tides');
      await shows(page, 'whole', 'ready 0 0');
      const before = await countsOf(page);
      await page.evaluate(() => window.write({ topic: 'moon' }));
      await shows(page, 'topic', 'moon');
      await shows(page, 'whole', 'ready 1 1');
      const between = await countsOf(page);
      assert.equal(between.cart, before.cart, 'the cart is not rendered for the topic');
      await page.evaluate(() => window.write({ cart: ['tea', 'cup'] }));
      await shows(page, 'cart', '["tea","cup"]  ');
      await page.evaluate(() => window.write({ cart: ['tea', 'cup'], other: 1 }));
      await shows(page, 'whole', 'ready 3 3');
      const { topic, cart, cartChanged } = await countsOf(page);
      assert.equal(topic, between.topic, 'the topic is not rendered for the cart');
      assert.equal(cartChanged, between.cartChanged + 1, 'an equal cart is the same cart');
      // StrictMode renders twice.
      assert.equal(cart, between.cart + 2, 'nothing is rendered for an equal cart');
      assert.deepEqual(complaints, []);
      await page.close();
    });

    it('shows what other sessions write to the user and the app', async () => {
      const { page, complaints } = await openPage(browser, origin);
      await page.goto(origin);
      await page.evaluate(() => window.local());
      await shows(page, 'whole', 'ready 0 0');
      await page.evaluate(() => window.write({ 'user:name': 'Ana', 'app:motd': 'hello' }, 'tuesday'));
      await shows(page, 'cart', '["tea"] Ana hello');
      await page.evaluate(() => window.service.updateState({ appName: 'tutor' }, () => ({ 'app:motd': 'bye' })));
      await shows(page, 'cart', '["tea"] Ana bye');
      assert.deepEqual(complaints, []);
      await page.close();
    });

    it('watches while it is shown, and no longer; says when the session is gone', async () => {
      const { page, complaints } = await openPage(browser, origin);
      await page.goto(origin);
      await page.evaluate(() => window.local());
      await shows(page, 'whole', 'ready 0 0');
      await page.waitForFunction(() => window.counts.watching === 3);
      await page.evaluate(() => window.unmount());
      await quiet(page);
      await page.evaluate(() => window.local());
      await shows(page, 'whole', 'ready 0 0');
      await page.evaluate(() => window.remove());
      await shows(page, 'whole', 'missing  ');
      await quiet(page);
      assert.deepEqual(complaints, []);
      await page.close();
    });

    it('shows a session behind HTTP, and goes on when connections are cut', async () => {
      const session = await service.createSession({ ...IDS, state: { topic: 'tides' } });
      const { page } = await openPage(browser, origin);
      await page.goto(origin);
      await page.evaluate(() => window.remote());
      await shows(page, 'whole', 'ready 0 0');
      for (let revision = 1; revision <= 20; revision++) {
        if (revision % 4 === 0) sockets.forEach((socket) => socket.destroy());
        await service.appendEvent({
          session,
          event: { author: 'a', actions: { stateDelta: { topic: `t${revision}` } } },
        });
      }
      await shows(page, 'topic', 't20');
      await shows(page, 'whole', 'ready 20 20');
      await page.evaluate(() => window.unmount());
      await quiet(page);
      await page.close();
    });

    it('is rendered on a server, and hydrated without a difference', async () => {
      const { page, complaints } = await openPage(browser, origin);
      const session = await service.getOrCreateSession(IDS);
      const text = 'The moon pulls.';
      const event = { author: 'tutor', content: { parts: [{ text }] }, actions: { stateDelta: { topic: 'moon' } } };
      await service.appendEvent({ session, event });
      assert.match(await rendered(service, 'monday'), /<h1>moon<\/h1>.*<li>The moon pulls\.<\/li>/);
      await page.goto(`${origin}/rendered`);
      await page.evaluate(() => window.hydrate());
      await service.appendEvent({ session, event: { author: 'a', actions: { stateDelta: { topic: 'sun' } } } });
      await page.waitForFunction(() => document.querySelector('h1').textContent === 'sun');
      assert.deepEqual(complaints, []);
      await page.close();
    });
  });
}
