// The built package in a page, with no bundler: the browser maps the names to the files.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openChromium, openPage } from '../support/chromium.mjs';
import { serve } from '../support/serve.mjs';

const names = JSON.stringify({ imports: { statepad: '/dist/index.js', '#load': '/dist/engine/load.browser.js' } });
const html = (script) =>
  `<!doctype html><script type="importmap">${names}</script><script type="module">${script}</script>`;

/** A conversation with one event, and what can be told of it. */
const conversation = `async () => {
  const service = new SessionService();
  const session = await service.createSession({ appName: 'tutor', userId: 'ana', state: { topic: 'tides' } });
  await service.appendEvent({
    session,
    event: createEvent({ author: 'tutor', invocationId: 'inv-1', actions: { stateDelta: { 'user:name': 'Ana', level: 2 } } }),
  });
  const again = await service.getSession({ appName: 'tutor', userId: 'ana', sessionId: session.id });
  const text = new Template('{topic} for {user:name}, level {level}').render({ state: again.state });
  return { text, revision: again.revision, events: again.events.length };
}`;
const expected = { text: 'tides for Ana, level 2', revision: 1, events: 1 };

const tooEarly = `
  let error;
  try {
    new Template('x');
  } catch (thrown) {
    error = thrown;
  }
  globalThis.early = { code: error?.code, message: error?.message, known: isStatepadError(error) };
`;

const pages = {
  '/empty': html(''),
  '/at-once': html(`
    import { SessionService, Template, createEvent } from 'statepad';
    globalThis.told = (${conversation})();
  `),
  '/too-early': html(`
    import { Template, isStatepadError, ready } from 'statepad';
    ${tooEarly}
    globalThis.told = ready().then(() => new Template('Explain {topic}.').render({ state: { topic: 'tides' } }));
  `),
  '/forbidden': {
    html: html(`
      import { SessionService, ready } from 'statepad';
      const outcome = (promise) => promise.then(() => 'done', ({ code, reason, message }) => [code, reason, message]);
      globalThis.told = (async () => {
        // Nobody has waited for the module yet when it is refused.
        await outcome(WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])));
        await new Promise((resolve) => setTimeout(resolve));
        return [await outcome(ready()), await outcome(new SessionService().createSession({ appName: 'tutor', userId: 'ana' }))];
      })();
    `),
    headers: { 'content-security-policy': "script-src 'self' 'unsafe-inline'" },
  },
};

describe('in a browser', () => {
  let browser;
  let site;
  before(async () => {
    site = await serve({ folder: fileURLToPath(new URL('../../pkg/', import.meta.url)), pages });
    browser = await openChromium();
  });
  after(async () => {
    await browser?.close();
    await site?.stop();
  });

  async function open(path, prepare) {
    const { page, complaints } = await openPage(browser, site.origin);
    if (prepare) await page.addInitScript(prepare);
    await page.goto(`${site.origin}${path}`);
    return { page, complaints };
  }

  it('creates, appends, reads and renders at once, without ready()', async () => {
    const { page, complaints } = await open('/at-once');
    assert.deepEqual(await page.evaluate(() => globalThis.told), expected);
    assert.deepEqual(complaints, []);
  });

  it('refuses a synchronous call that comes too early, says what to do, and ready() makes it work', async () => {
    const { page, complaints } = await open('/too-early');
    assert.equal(await page.evaluate(() => globalThis.told), 'Explain tides.');
    const { code, message, known } = await page.evaluate(() => globalThis.early);
    assert.equal(code, 'NOT_READY');
    assert.equal(known, true);
    assert.match(message, /await ready\(\)/);
    assert.deepEqual(complaints, []);
  });

  it('lets an operation that began before the module was there wait for it', async () => {
    const { page, complaints } = await open('/empty', () => {
      const compile = WebAssembly.compile;
      const released = new Promise((resolve) => {
        globalThis.release = resolve;
      });
      WebAssembly.compile = async (...args) => {
        await released;
        return compile.apply(WebAssembly, args);
      };
    });
    const seen = await page.evaluate(`(async () => {
      const { SessionService, Template, createEvent, isStatepadError } = await import('statepad');
      ${tooEarly}
      const order = [];
      const running = (${conversation})().finally(() => order.push('operation'));
      await new Promise((resolve) => setTimeout(resolve));
      order.push('release');
      globalThis.release();
      return { told: await running, order, code: globalThis.early.code };
    })()`);
    assert.deepEqual(seen, { told: expected, order: ['release', 'operation'], code: 'NOT_READY' });
    assert.deepEqual(complaints, []);
  });

  it('rejects, and leaves no rejection unhandled, where the page forbids WebAssembly', async () => {
    const { page, complaints } = await open('/forbidden');
    const [[code, reason, message], ...others] = await page.evaluate(() => globalThis.told);
    assert.deepEqual([code, reason], ['CORE_FAILED', 'host']);
    assert.match(message, /^statepad needs WebAssembly, .* has to allow 'wasm-unsafe-eval' in its script-src/);
    assert.deepEqual(others, [[code, reason, message]]);
    assert.deepEqual(
      complaints.filter((complaint) => complaint.startsWith('uncaught')),
      [],
    );
  });
});
