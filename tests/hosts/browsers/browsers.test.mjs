// The package in browsers: with no policy, under one that allows WebAssembly and one that does not, and without
// WebAssembly at all.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { openChromium } from '../../support/chromium.mjs';
import { openFirefox } from '../../support/firefox.mjs';
import { conversation, expected, project } from '../../packaging/project.mjs';
import { filesOf, headerOf } from '../host.mjs';
import { fails, seenBy, works, worksWith } from '../matrix.mjs';

const [HEADER, ALLOWS] = headerOf('A content security policy');
const FORBIDS = ALLOWS.replace(" 'wasm-unsafe-eval'", '');

/** Tells what every kind of call answers, or the code, the reason and the message of its error. */
const page = `
  import { SessionService, Template, isStatepadError, ready } from 'statepad';
  import { converse } from './conversation.js';
  import { canRun } from './main.js';

  const failure = (error) => (isStatepadError(error) ? [error.code, error.reason, error.message] : [String(error)]);
  const told = async (call) => {
    try {
      return await call();
    } catch (error) {
      return failure(error);
    }
  };
  const answers = {
    // Nobody has waited for the module yet when it is refused.
    ready: await told(() => new Promise((resolve) => setTimeout(resolve)).then(ready)),
    converse: await told(converse),
    template: await told(() => new Template('x').render({ state: {} })),
    canRun: await told(canRun),
  };
  await fetch(location.pathname, { method: 'POST', body: JSON.stringify(answers) });
`;

/** The pages by their paths: what is sent with each, what runs before the package is loaded, and who bundled it. */
const PAGES = {
  '/plain': {},
  '/vite': { script: '/vite.js' },
  '/allowed': { policy: ALLOWS },
  '/forbidden': { policy: FORBIDS },
  '/none': { first: 'delete globalThis.WebAssembly;' },
};

const BROWSERS = {
  Chromium: async (url) => {
    const browser = await openChromium();
    await (await browser.newPage()).goto(url);
    return () => browser.close();
  },
  Firefox: async (url) => openFirefox(url),
};

describe('browsers', () => {
  const seen = seenBy('browsers');
  let site;
  before(async () => {
    const files = { ...filesOf('A content security policy'), 'conversation.js': conversation, 'page.js': page };
    const folder = await project(files);
    const entry = join(folder, 'page.js');
    const { outputFiles } = await esbuild({
      entryPoints: [entry],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'esm',
    });
    const { output } = await vite({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: { write: false, target: 'es2022', rollupOptions: { input: entry, output: { codeSplitting: false } } },
    });
    site = await serve({ '/esbuild.js': outputFiles[0].text, '/vite.js': output[0].code });
  });
  after(() => site?.stop());

  const RUNS = { converse: expected, template: 'x', canRun: true };

  /** Asserts that every call fails in the same way, with a message that matches. */
  function assertRefused({ canRun, ...calls }, message) {
    assert.equal(canRun, false);
    for (const [code, reason, text] of Object.values(calls)) {
      assert.deepEqual([code, reason], ['CORE_FAILED', 'host']);
      assert.match(text, message);
    }
    assert.equal(Object.keys(calls).length, 3);
  }

  for (const [name, open] of Object.entries(BROWSERS)) {
    it(`runs in ${name}, under a policy that allows WebAssembly, and says what another one lacks`, async () => {
      const told = await site.visit(open, Object.keys(PAGES));
      assert.deepEqual(told['/plain'], RUNS);
      seen.saw(name, works());
      seen.saw('esbuild', works());
      assert.deepEqual(told['/vite'], RUNS);
      seen.saw('Vite', works());
      assert.deepEqual(told['/allowed'], RUNS);
      assertRefused(
        told['/forbidden'],
        /^statepad needs WebAssembly, .* has to allow 'wasm-unsafe-eval' in its script-src/,
      );
      const line = `\`'wasm-unsafe-eval'\`: [A content security policy](#a-content-security-policy)`;
      seen.saw(`${name}, with a content security policy`, worksWith(line));
      assertRefused(told['/none'], /^statepad needs WebAssembly, and this host has none/);
      seen.saw('a host without WebAssembly', fails("[`CORE_FAILED`](errors.md), `reason: 'host'`, at the first call"));
    });
  }

  it('is what docs/hosts.md says', () => seen.check());
});

/** Serves the pages. `visit` opens one after the other in a browser, and answers what each has told. */
async function serve(scripts) {
  let tell;
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const last = PAGES[pathname];
    if (request.method === 'POST') {
      tell(pathname, JSON.parse((await request.toArray()).join('')));
      response.end();
    } else if (pathname in scripts) {
      response.setHeader('content-type', 'text/javascript').end(scripts[pathname]);
    } else if (pathname === '/first.js') {
      const { first = '' } = PAGES[new URL(request.headers.referer).pathname];
      response.setHeader('content-type', 'text/javascript').setHeader('cache-control', 'no-store').end(first);
    } else if (last !== undefined) {
      if (last.policy !== undefined) response.setHeader(HEADER, last.policy);
      response.setHeader('content-type', 'text/html').setHeader('referrer-policy', 'same-origin');
      const { script = '/esbuild.js' } = last;
      response.end(`<!doctype html><script src="/first.js"></script><script type="module" src="${script}"></script>`);
    } else {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  return {
    async visit(open, paths) {
      const told = {};
      for (const path of paths) {
        const answer = new Promise((resolve) => (tell = (from, answers) => from === path && resolve(answers)));
        const close = await open(`${origin}${path}`);
        try {
          told[path] = await answer;
        } finally {
          await close();
        }
      }
      return told;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  };
}
