// The answers of the hooks: a session that is missing, read again, written to, loaded by Suspense, and left for
// another.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openPage } from '../../support/chromium.mjs';
import { KITS, openSite, shows } from './site.mjs';

const page = `
  import { Component, StrictMode, Suspense, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  import { DELETED, SessionService, StatepadError, increment } from 'statepad';
  import { SessionProvider, useSession, useSessionState, useSessionWrite, useSuspenseSession } from 'statepad/react';
  import { Counted } from './suspended';

  const ids = { appName: 'tutor', userId: 'ana', sessionId: 'monday' };
  const service = (globalThis.service = new SessionService());
  globalThis.statepad = { DELETED, increment };
  /** A source without updateState, whose watches can be refused and counted. */
  const source = (globalThis.source = {
    watches: 0,
    refusal: undefined,
    getSession: (request) => service.getSession(request),
    async *watch(target, options) {
      source.watches += 1;
      if (source.refusal) throw new StatepadError(source.refusal, source.refusal);
      yield* service.watch(target, options);
    },
  });

  function Whole() {
    const answer = useSession();
    const { status, session, previous, error, refetch } = answer;
    Object.assign(globalThis, { refetch });
    const text = [status, session?.id, session?.state.topic, previous?.id, error?.code];
    return <p id="whole">{text.map((part) => part ?? '-').join(' ')}</p>;
  }
  function Topic() {
    const topic = useSessionState((state) => state.topic);
    (globalThis.topics ??= []).push(topic);
    return <p id="topic">{JSON.stringify(topic) ?? 'none'}</p>;
  }
  function State() {
    return <p id="state">{useSessionState((state) => JSON.stringify(state))}</p>;
  }
  function Writer({ writer }) {
    const { write, writeAsync, isPending, error } = useSessionWrite(writer);
    Object.assign(globalThis, { write, writeAsync });
    return <p id="writer">{[isPending ? 'saving' : 'quiet', error?.code ?? error?.message ?? '-'].join(' ')}</p>;
  }
  class Boundary extends Component {
    state = {};
    static getDerivedStateFromError = (error) => ({ error });
    render() {
      globalThis.reset = () => this.setState({ error: undefined });
      return this.state.error ? <p id="boundary">{this.state.error.code}</p> : this.props.children;
    }
  }
  function Suspended() {
    const { status, session } = useSuspenseSession();
    return <p id="suspended">{[status, session?.state.topic ?? '-'].join(' ')}</p>;
  }

  const PARTS = {
    shown: () => <><Whole /><Topic /><State /></>,
    suspense: () => <Boundary><Suspense fallback={<p id="fallback">wait</p>}><Suspended /></Suspense></Boundary>,
    counted: () => <Counted />,
  };
  function App({ parts, writer, from, ...given }) {
    const [key, set] = useState({ ...ids, ...given });
    globalThis.set = (next) => set((before) => ({ ...before, ...next }));
    return (
      <SessionProvider source={from === 'service' ? service : source} {...key}>
        {parts.map((name) => { const Part = PARTS[name]; return <Part key={name} />; })}
        {writer !== undefined && <Writer writer={WRITERS[writer]} />}
      </SessionProvider>
    );
  }
  /** Writers that a test answers: each call is a promise that it settles. */
  globalThis.calls = [];
  const WRITERS = {
    service: undefined,
    held: (delta, key) =>
      new Promise((resolve, reject) => calls.push({ delta: Object.keys(delta), key: key.sessionId, resolve, reject })),
  };
  globalThis.open = (props) => {
    const root = createRoot(document.getElementById('root'));
    root.render(<StrictMode><App parts={['shown']} {...props} /></StrictMode>);
    globalThis.root = root;
  };
  globalThis.create = (state = {}, sessionId = 'monday') => service.createSession({ ...ids, sessionId, state });
  globalThis.append = (stateDelta, sessionId = 'monday') =>
    service.appendEvent({ session: { ...ids, id: sessionId }, event: { author: 'ana', actions: { stateDelta } } });
`;

for (const kit of KITS) {
  describe(`the hooks, in ${kit}`, () => {
    let site;
    before(async () => {
      site = await openSite(kit, { page });
    });
    after(() => site?.stop());

    async function opened(props, { state, refusal } = {}) {
      const { page } = await openPage(site.browser, site.origin);
      await page.goto(site.origin);
      if (state) await page.evaluate((given) => window.create(given), state);
      if (refusal) await page.evaluate((code) => (window.source.refusal = code), refusal);
      await page.evaluate((given) => window.open(given), props);
      return page;
    }

    it('show a session that is created after it was missing, by themselves', async () => {
      const page = await opened({});
      await shows(page, 'whole', 'missing - - - -');
      await page.evaluate(() => window.create({ topic: 'tides' }));
      await shows(page, 'whole', 'ready monday tides - -');
      await page.evaluate(() =>
        window.service.deleteSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday' }),
      );
      await shows(page, 'whole', 'missing - - - -');
      await page.evaluate(() => window.create({ topic: 'moon' }));
      await shows(page, 'whole', 'ready monday moon - -');
      await page.close();
    });

    it('refetch a session that is missing or in error, at once', async () => {
      const page = await opened({}, { refusal: 'INVALID_ARGUMENT' });
      await shows(page, 'whole', 'error - - - INVALID_ARGUMENT');
      // This error is none that is tried again.
      await page.evaluate(() => ((window.source.refusal = undefined), window.refetch()));
      await shows(page, 'whole', 'missing - - - -');
      // Asking whether it is there does not open a watch.
      const watches = await page.evaluate(() => window.source.watches);
      await page.evaluate(() => window.refetch());
      assert.equal(await page.evaluate(() => window.source.watches), watches);
      const text = await page.evaluate(async () => {
        await window.create({ topic: 'tides' });
        await window.refetch();
        await new Promise(window.requestAnimationFrame);
        return document.getElementById('whole').textContent;
      });
      assert.equal(text, 'ready monday tides - -');
      await page.close();
    });

    it('try a source again that was not available', async () => {
      const page = await opened({}, { state: { topic: 'tides' }, refusal: 'STORE_UNAVAILABLE' });
      await shows(page, 'whole', 'error - - - STORE_UNAVAILABLE');
      await page.evaluate(() => (window.source.refusal = undefined));
      await shows(page, 'whole', 'ready monday tides - -');
      await page.close();
    });

    it('show what is written at once, and what the session has when it is refused', async () => {
      const page = await opened({ writer: 'held' }, { state: { topic: 'tides', 'user:name': 'Ana' } });
      await shows(page, 'whole', 'ready monday tides - -');
      await page.evaluate(() => window.write({ topic: 'moon', 'user:name': window.statepad.DELETED }));
      await shows(page, 'state', '{"topic":"moon"}');
      await shows(page, 'writer', 'saving -');
      assert.deepEqual(await page.evaluate(() => window.calls.map(({ delta, key }) => ({ delta, key }))), [
        { delta: ['topic', 'user:name'], key: 'monday' },
      ]);
      await page.evaluate(() => window.calls[0].reject(new Error('no')));
      await shows(page, 'state', '{"topic":"tides","user:name":"Ana"}');
      await shows(page, 'writer', 'quiet no');
      await page.close();
    });

    it('never show the value before between a write that is accepted and its change', async () => {
      const page = await opened({ writer: 'held' }, { state: { topic: 'tides' } });
      await shows(page, 'whole', 'ready monday tides - -');
      await page.evaluate(() => ((window.topics = []), window.write({ topic: 'moon' })));
      await shows(page, 'topic', '"moon"');
      // The answer is there before the change is told.
      await page.evaluate(() => window.calls[0].resolve());
      await shows(page, 'writer', 'quiet -');
      await page.evaluate(() => window.append({ topic: 'moon' }));
      await page.waitForFunction(() => window.root && document.getElementById('whole').textContent.includes('moon'));
      await page.evaluate(() => window.append({ topic: 'sun' }));
      await shows(page, 'topic', '"sun"');
      assert.deepEqual([...new Set(await page.evaluate(() => window.topics))], ['moon', 'sun']);
      await page.close();
    });

    it('show what the session has when a write is accepted that changes nothing', async () => {
      const page = await opened({ writer: 'held' }, { state: { topic: 'tides' } });
      await shows(page, 'whole', 'ready monday tides - -');
      await page.evaluate(() => window.write({ topic: 'moon' }));
      await shows(page, 'topic', '"moon"');
      await page.evaluate(() => window.calls[0].resolve());
      await shows(page, 'topic', '"tides"');
      await page.close();
    });

    it('send writes one after the other, and apply functions and operators to what is there by then', async () => {
      const page = await opened({ writer: 'held' }, { state: { topic: 'tides', count: 1 } });
      await shows(page, 'whole', 'ready monday tides - -');
      await page.evaluate(() => {
        window.write((state) => ({ count: state.count + 1 }));
        window.write({ count: window.statepad.increment(10) });
      });
      await shows(page, 'state', '{"topic":"tides","count":12}');
      assert.equal(await page.evaluate(() => window.calls.length), 1);
      await page.evaluate(() => window.append({ count: 100 }));
      await shows(page, 'state', '{"topic":"tides","count":111}');
      await page.evaluate(() => window.calls[0].reject(new Error('no')));
      await shows(page, 'state', '{"topic":"tides","count":110}');
      await page.waitForFunction(() => window.calls.length === 2);
      await page.close();
    });

    it('write by updateState of a service, a hundred increments at once', async () => {
      const page = await opened({ writer: 'service', from: 'service' }, { state: { count: 0 } });
      await shows(page, 'state', '{"count":0}');
      const shown = await page.evaluate(async () => {
        const add = (state) => ({ count: state.count + 1 });
        await Promise.all(Array.from({ length: 100 }, () => window.writeAsync(add)));
        return (await window.service.getSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday' })).state.count;
      });
      assert.equal(shown, 100);
      await shows(page, 'state', '{"count":100}');
      await shows(page, 'writer', 'quiet -');
      await page.close();
    });

    it('say that a source without updateState needs a writer', async () => {
      const page = await opened({ writer: 'service' }, { state: {} });
      await page.waitForFunction(() => window.writeAsync);
      const code = await page.evaluate(() => window.writeAsync({ a: 1 }).catch((error) => error.code));
      assert.equal(code, 'INVALID_ARGUMENT');
      await shows(page, 'writer', 'quiet INVALID_ARGUMENT');
      await shows(page, 'state', '{}');
      await page.close();
    });

    it('suspend until the session was read, and throw what cannot be read', async () => {
      const parts = ['shown', 'suspense'];
      const page = await opened({ parts }, { state: { topic: 'tides' }, refusal: 'INVALID_ARGUMENT' });
      await shows(page, 'boundary', 'INVALID_ARGUMENT');
      await page.evaluate(() => {
        window.source.refusal = undefined;
        void window.refetch();
        window.reset();
      });
      await shows(page, 'suspended', 'ready tides');
      await page.evaluate(() => window.append({ topic: 'moon' }));
      await shows(page, 'suspended', 'ready moon');
      assert.equal(await page.evaluate(() => document.getElementById('fallback')), null);
      await page.close();
    });

    it('answer as the example of the docs shows, suspended', async () => {
      const page = await opened({ parts: ['counted'] });
      await page.waitForFunction(() => document.body.textContent.includes('no session'));
      await page.evaluate(async () => {
        await window.create();
        await window.append({});
      });
      await page.waitForFunction(() => document.body.textContent.includes('1 events'));
      await page.close();
    });

    it('keep the session before of the same user until another one was read, if asked to', async () => {
      for (const keepPrevious of [true, false]) {
        const page = await opened({ keepPrevious }, { state: { topic: 'tides' } });
        await shows(page, 'whole', 'ready monday tides - -');
        await page.evaluate(async () => {
          await window.create({ topic: 'moon' }, 'tuesday');
          // It is read when the test says so.
          const { watch } = window.source;
          window.source.watch = async function* (...args) {
            await new Promise((resolve) => (window.go = resolve));
            yield* watch(...args);
          };
          window.set({ sessionId: 'tuesday' });
        });
        await shows(page, 'whole', keepPrevious ? 'loading - - monday -' : 'loading - - - -');
        await shows(page, 'topic', keepPrevious ? '"tides"' : 'none');
        await page.evaluate(() => window.go());
        await shows(page, 'whole', 'ready tuesday moon - -');
        await page.evaluate(() => window.set({ userId: 'bob' }));
        await shows(page, 'whole', 'loading - - - -');
        await shows(page, 'topic', 'none');
        await page.close();
      }
    });

    it('share one watch of all providers of a session, and remember it for a while', async () => {
      const page = await opened({ parts: ['shown', 'suspense'] }, { state: { topic: 'tides' } });
      await shows(page, 'whole', 'ready monday tides - -');
      await shows(page, 'suspended', 'ready tides');
      assert.equal(await page.evaluate(() => window.source.watches), 1);
      await page.evaluate(() => window.set({ sessionId: 'tuesday' }));
      await shows(page, 'whole', 'missing - - - -');
      await page.evaluate(() => window.append({ topic: 'moon' }));
      await page.evaluate(() => window.set({ sessionId: 'monday' }));
      await shows(page, 'whole', 'ready monday moon - -');
      await page.close();
    });
  });
}
