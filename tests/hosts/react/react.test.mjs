// Sessions in React: in StrictMode, in a browser, over a service in the page and one behind HTTP; and rendered on a
// server.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openPage } from '../../support/chromium.mjs';
import { html, imported, KITS, openSite, shows } from './site.mjs';

const IDS = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };

/** The parts of the page: it counts renders and watchers. */
const page = `
  import { StrictMode, useEffect, useRef, useState } from 'react';
  import { createRoot, hydrateRoot } from 'react-dom/client';
  import { SessionService, DELETED } from 'statepad';
  import { useSession, useSessionState, useSessionWrite, SessionProvider } from 'statepad/react';
  import { connect } from 'statepad/client';
  import { Lesson } from './app';

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
  function Writing() {
    const { writeAsync, isPending } = useSessionWrite();
    globalThis.writeAsync = writeAsync;
    const visits = useSessionState((state) => state['user:visits'] ?? 0);
    return <p id="writing">{visits} {isPending ? 'pending' : 'done'}</p>;
  }
  function Whole() {
    const { status, session } = useSession();
    counts.whole += 1;
    return <p id="whole">{status} {session?.revision} {session?.events.length}</p>;
  }

  const open = (element, source, sessionId = 'monday') => {
    const root = createRoot(document.getElementById('root'));
    root.render(<StrictMode><SessionProvider source={source} {...ids} sessionId={sessionId}>{element}</SessionProvider></StrictMode>);
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
  globalThis.remote = (sessionId) => {
    globalThis.root = open(<><Counted /><Whole /></>, counted(connect({ url: '/agents' })), sessionId);
  };
  globalThis.writing = () => {
    globalThis.client = connect({ url: '/agents' });
    globalThis.root = open(<Writing />, client, 'written');
  };
  globalThis.hydrate = () => {
    const source = connect({ url: '/agents' });
    const lesson = <Lesson source={source} sessionId="monday" initial={initial} />;
    globalThis.root = hydrateRoot(document.getElementById('root'), lesson);
  };
  globalThis.unmount = () => root.unmount();
`;

for (const kit of KITS) {
  describe(kit, () => {
    let site;
    let service;
    let browser;
    let origin;
    /** Renders the lesson, as a server does. */
    let rendered;

    before(async () => {
      const routes = {
        '/rendered': async (sessions, _request, response) => {
          const initial = await sessions.getSession(IDS);
          response.end(html(await rendered(sessions, 'monday'), JSON.stringify(initial)));
        },
      };
      site = await openSite(kit, { page, routes });
      ({ service, browser, origin } = site);
      ({ html: rendered } = await imported(site.folder, 'server.tsx'));
    });
    after(() => site?.stop());

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
      await page.waitForFunction(() => window.counts.watching === 1);
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
        if (revision % 4 === 0) site.cut();
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

    it('writes through a client, without a function of its own', async () => {
      const key = { ...IDS, sessionId: 'written' };
      await service.createSession({ ...key, state: { 'user:visits': 0 } });
      const { page, complaints } = await openPage(browser, origin);
      await page.goto(origin);
      await page.evaluate(() => window.writing());
      await shows(page, 'writing', '0 done');
      await page.evaluate(async () => {
        const visit = (state) => ({ 'user:visits': state['user:visits'] + 1 });
        await Promise.all([1, 2, 3].map(() => window.writeAsync(visit)));
      });
      await shows(page, 'writing', '3 done');
      assert.equal((await service.getUserState(key)).visits, 3);
      const session = await page.evaluate(async (ids) => {
        const handle = await window.client.getSession(ids);
        await window.client.appendEvent({
          session: handle,
          event: { author: 'ana', actions: { stateDelta: { n: 1 } } },
        });
        return { ...handle };
      }, key);
      assert.deepEqual([session.state, session.revision], [{ n: 1, 'user:visits': 3 }, 4]);
      assert.equal((await service.getSession(key)).revision, 4);
      assert.deepEqual(complaints, []);
      await page.evaluate(() => window.unmount());
      await page.close();
    });

    it('costs what has changed: 100 events of 200 bytes, over HTTP', async () => {
      const sessionId = 'costs';
      const state = { 'user:profile': 'x'.repeat(20_000) };
      const session = await service.createSession({ ...IDS, sessionId, state });
      const { page } = await openPage(browser, origin);
      await page.goto(origin);
      await page.evaluate((id) => window.remote(id), sessionId);
      await shows(page, 'whole', 'ready 0 0');
      const before = site.sent();
      for (let revision = 1; revision <= 100; revision++) {
        const event = {
          author: 'a',
          content: { parts: [{ text: 'y'.repeat(200) }] },
          actions: { stateDelta: { revision } },
        };
        await service.appendEvent({ session, event });
        await shows(page, 'whole', `ready ${revision} ${revision}`);
      }
      const cost = site.sent() - before;
      assert.ok(cost < 100 * 1_000, `${cost} bytes`);
      await page.evaluate(() => window.unmount());
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
