// The bundled inspector in a browser: over a service in the page, or over a server of this process.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nodeListener, serve } from 'statepad/serve';
import { openChromium, openPage } from '../support/chromium.mjs';
import { openFirefox } from '../support/firefox.mjs';
import { portOf } from '../support/ports.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** @type {Record<string, string>} */
const TYPES = {
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.map': 'text/plain',
};

/** The names that programs of the page import. */
const IMPORTS = {
  '#load': '/pkg/dist/engine/load.browser.js',
  statepad: '/pkg/dist/index.js',
  'statepad/client': '/pkg/dist/client.js',
  'statepad/inspector': '/pkg/dist/inspector.js',
  'statepad/jsonl': '/pkg/dist/jsonl.js',
  'statepad/store': '/pkg/dist/store.js',
  'statepad/testing': '/pkg/dist/testing.js',
};

/** The folder of the page below its origin: its address has none of the server's routes. */
const PAGE = '/page/';

/**
 * The options of `mount` that are JSON. `template` is a text.
 *
 * @typedef {{ write?: boolean, session?: import('statepad').SessionKey, apps?: string[], label?: string,
 *   template?: string, sendHint?: string }} Mount
 * @typedef {(page: { service: import('statepad').SessionService, statepad: typeof import('statepad'), arg: any }) =>
 *   Promise<unknown>} Seed a function of the page: it sees nothing of the test but `arg`, which is JSON
 */

/**
 * Opens a browser for the tests of a `describe`. Answers what opens inspectors: each in a page of its own, whose test
 * fails when something was written to the console, or when a request went to another host.
 */
export function workbench() {
  const it = {};
  before(async () => {
    it.browser = await openChromium();
  });
  after(() => it.browser?.close());

  /** A new page of a server, with the inspector that `program` mounts. */
  const open = async (t, server, program, { options, expects, hash = '', init, awaits = true } = {}) => {
    server.program = program;
    const context = await it.browser.newContext({
      viewport: { width: 1440, height: 900 },
      reducedMotion: 'reduce',
      ...options,
    });
    const { page, complaints } = await openPage(context, server.origin);
    // In this order: a page that loses its server complains.
    t.after(async () => {
      await context.close();
      await server.stop();
      const unexpected = complaints.filter((complaint) => !expects?.test(complaint));
      assert.deepEqual(unexpected, []);
    });
    if (init !== undefined) await page.addInitScript(init);
    await page.goto(`${server.origin}${PAGE}${hash}`);
    if (awaits) await page.evaluate(() => globalThis.mounting);
    return page;
  };

  return {
    get browser() {
      return it.browser;
    },
    /**
     * An inspector over a service in the page, after `seed` has filled it. The page has the globals `service`,
     * `mounted` (what `mount` answered) and `inspection`.
     *
     * @param {{ seed?: Seed, arg?: unknown, mount?: Mount, options?: object, expects?: RegExp, hash?: string,
     *   init?: () => void, awaits?: boolean }} [given] `options` are playwright's for a context; `expects` matches
     *   complaints of the page that are no failure; with `awaits: false` the page may still be mounting
     */
    async inPage(t, given = {}) {
      return await open(t, await startServer(), inPageProgram(given), given);
    },
    /**
     * An inspector over a server of this process: the page has a client of it. Answers the page and the server's
     * `origin`.
     *
     * @param {import('statepad').SessionService} service stays open
     * @param {{ mount?: Mount, serving?: object, options?: object, expects?: RegExp, hash?: string, init?: () => void,
     *   awaits?: boolean }} [given]
     * `serving` are options of `serve`
     */
    async overServer(t, service, given = {}) {
      const server = await startServer(serve(service, { insecure: true, onError: () => {}, ...given.serving }));
      return await open(t, server, overServerProgram(given), given);
    },
    /**
     * Runs `drive` in Firefox, beside an inspector over a service in the page, and answers what it answered. `drive`
     * is a function of the page: it gets `{ inspection, service, arg, until, find, findAll, click }`, the last ones
     * over the shadow roots of all elements. Fails when it throws, and when the page has complained.
     */
    async inFirefox(t, given) {
      const server = await startServer();
      const told = new Promise((resolve) => {
        server.told = resolve;
      });
      server.program = `${inPageProgram(given)}\n${FIREFOX}\nvoid tell(${given.drive}, ${inScript(given.arg ?? null)});`;
      const stop = openFirefox(`${server.origin}${PAGE}${given.hash ?? ''}`);
      t.after(async () => {
        await stop();
        await server.stop();
      });
      const { answer, error, complaints } = JSON.parse(await told);
      assert.equal(error, undefined);
      assert.deepEqual(complaints, []);
      return answer;
    },
  };
}

/** The elements of a page by their names, wherever their shadow roots are. */
export const partsOf = (page) => (name) => page.locator(`statepad-${name}`);

/** Waits until a function of the page, which may use the global `inspection`, answers something true. */
export async function untilShown(page, holds, arg) {
  await page.waitForFunction(holds, arg);
}

const inScript = (value) => JSON.stringify(value).replaceAll('<', String.raw`\u003c`);

const MOUNTING = (source, given) => `
  const { mount } = await import('statepad/inspector');
  globalThis.mounted = await mount(document.querySelector('#inspector'), { source: ${source}, ...${inScript(given ?? {})} });
  globalThis.inspection = globalThis.mounted.element.inspection;
`;

const inPageProgram = ({ seed, arg, mount }) => `
  globalThis.mounting = (async () => {
    const statepad = await import('statepad');
    globalThis.statepad = statepad;
    globalThis.service = new statepad.SessionService();
    await (${seed ?? '() => {}'})({ service, statepad, arg: ${inScript(arg ?? null)} });
    performance.mark('mount');
    ${MOUNTING('service', mount)}
  })();
`;

const overServerProgram = ({ mount }) => `
  globalThis.mounting = (async () => {
    const { connect } = await import('statepad/client');
    globalThis.client = connect({ url: new URL('/', location.href) });
    performance.mark('mount');
    ${MOUNTING('client', mount)}
  })();
`;

/** The helpers of a page of Firefox for its program: it cannot be driven from outside. */
const FIREFOX = `
  const complaints = [];
  addEventListener('error', ({ message }) => {
    // Sizes that change while they are observed are told in the next frame.
    if (!message.startsWith('ResizeObserver loop')) complaints.push(message);
  });
  addEventListener('unhandledrejection', ({ reason }) => complaints.push(String(reason)));
  addEventListener('securitypolicyviolation', ({ blockedURI }) => complaints.push('another host: ' + blockedURI));
  for (const name of ['error', 'warn']) console[name] = (...words) => complaints.push(words.join(' '));

  function* elements(root = document) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      if (element.shadowRoot) yield* elements(element.shadowRoot);
    }
  }
  const findAll = (selector) => [...elements()].filter((element) => element.matches(selector));
  const find = (selector, text = '') => findAll(selector).find((element) => element.textContent.includes(text));
  const until = async (what, holds) => {
    for (const end = performance.now() + 30_000; performance.now() < end;) {
      const found = await holds();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error('there is no ' + what);
  };
  const click = async (selector, text) => (await until(selector, () => find(selector, text))).click();

  async function tell(drive, arg) {
    let told;
    try {
      await globalThis.mounting;
      const { inspection, service } = globalThis;
      told = { answer: await drive({ inspection, service, arg, until, find, findAll, click }) };
    } catch (error) {
      told = { error: String(error.stack ?? error) };
    }
    await fetch('/told', { method: 'POST', body: JSON.stringify({ ...told, complaints }) });
  }
`;

const html = (program) => `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>inspector</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root { color-scheme: light dark } html, body, #inspector { height: 100%; margin: 0 }</style>
<script type="importmap">${inScript({ imports: IMPORTS })}</script></head>
<body><main id="inspector"></main><script type="module">${program.replaceAll('</script', String.raw`<\/script`)}</script>
</body></html>`;

/** Serves the page, the files of the package, and the routes of `handler` at every other path. */
async function startServer(handler) {
  const server = { program: '', told: () => {}, origin: '' };
  const routes = handler === undefined ? undefined : nodeListener(handler);
  const http = createServer(async (request, response) => {
    const path = normalize(new URL(request.url ?? '/', 'http://localhost').pathname);
    if (path === PAGE) {
      response
        .writeHead(200, {
          'content-type': 'text/html; charset=utf-8',
          'content-security-policy': "default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' data:",
        })
        .end(html(server.program));
    } else if (path === '/told') {
      server.told(await text(request));
      response.writeHead(204).end();
    } else if (path === '/favicon.ico') {
      response.writeHead(204).end();
    } else if (path.startsWith('/pkg/')) {
      await readFile(join(root, path)).then(
        (file) => response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(file),
        () => response.writeHead(404).end(),
      );
    } else if (routes !== undefined) {
      routes(request, response);
    } else {
      response.writeHead(404).end();
    }
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  server.origin = `http://127.0.0.1:${portOf(http)}`;
  server.stop = () =>
    new Promise((resolve) => {
      http.close(resolve);
      http.closeAllConnections();
    });
  return server;
}
