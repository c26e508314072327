// The installed package through bundlers: one script comes out, and works without a second file beside it.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build as esbuild } from 'esbuild';
import { build as vite, createLogger } from 'vite';
import { openChromium, openPage } from '../support/chromium.mjs';
import { serve } from '../support/serve.mjs';
import { conversation, expected, link, project, runNode } from './project.mjs';

const files = {
  'conversation.js': conversation,
  'print.js': `
    import { converse } from './conversation.js';
    converse().then((answer) => console.log(JSON.stringify(answer)));
  `,
  'page.js': `
    import { Template } from 'statepad';
    import { converse } from './conversation.js';
    try {
      new Template('x');
    } catch ({ code }) {
      globalThis.early = code;
    }
    globalThis.told = converse();
  `,
  'in-worker.js': `
    import { converse } from './conversation.js';
    globalThis.onmessage = async () => globalThis.postMessage(await converse());
  `,
  'with-worker.js': `
    globalThis.told = new Promise((resolve, reject) => {
      const worker = new Worker(new URL('./in-worker.js', import.meta.url), { type: 'module' });
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage('start');
    });
  `,
  'revoked.js': `
    import { SessionService } from 'statepad';
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    export const refused = new SessionService().createSession(proxy).catch(({ code, message }) => [code, message]);
  `,
  'keep.js': `
    import { SessionService } from 'statepad';
    import { sqliteStore } from 'statepad/stores/sqlite';
    export async function keep(path) {
      const service = new SessionService({ store: sqliteStore(path), retry: { attempts: 1 } });
      try {
        return (await service.getOrCreateSession({ appName: 'a', userId: 'u', sessionId: 's' })).id;
      } finally {
        await service.close();
      }
    }
  `,
  'print-kept.js': `
    import { keep } from './keep.js';
    keep('sessions.db').then((id) => console.log(JSON.stringify(id)));
  `,
  'not-kept.js': `
    import { keep } from './keep.js';
    globalThis.told = keep('sessions.db').catch(({ code, message }) => [code, message]);
  `,
  'not-kept.html': '<!doctype html><title>statepad</title><script type="module" src="./not-kept.js"></script>',
  'index.html': '<!doctype html><title>statepad</title><script type="module" src="./page.js"></script>',
  'worker.html': '<!doctype html><title>statepad</title><script type="module" src="./with-worker.js"></script>',
};

describe('bundled', () => {
  let folder;
  let browser;
  before(async () => {
    [folder, browser] = await Promise.all([project(files), openChromium()]);
  });
  after(() => browser?.close());

  /** Opens a page of a folder of built files; answers what it tells, and what there is to complain of. */
  async function visit(built, path) {
    const { origin, stop } = await serve({
      folder: built,
      pages: { '/bundle.html': '<!doctype html><script type="module" src="/bundle.js"></script>' },
    });
    try {
      const { page, complaints } = await openPage(browser, origin);
      await page.goto(`${origin}${path}`);
      const told = await page.evaluate(() => globalThis.told);
      return { told, early: await page.evaluate(() => globalThis.early), complaints };
    } finally {
      await stop();
    }
  }

  const bundle = (name, options) =>
    esbuild({
      entryPoints: [join(folder, name)],
      outfile: join(folder, 'built', name),
      bundle: true,
      logLevel: 'silent',
      ...options,
    });

  for (const format of ['esm', 'cjs']) {
    it(`by esbuild for Node as one ${format} file`, async () => {
      const name = format === 'esm' ? 'print.mjs' : 'print.cjs';
      const { warnings } = await bundle('print.js', {
        platform: 'node',
        format,
        outfile: join(folder, 'built-node', format, name),
      });
      assert.deepEqual(warnings, []);
      assert.deepEqual(readdirSync(join(folder, 'built-node', format)), [name]);
      assert.deepEqual(await runNode(folder, join('built-node', format, name)), expected);
    });
  }

  for (const minified of [false, true]) {
    it(`by esbuild for a browser as one ${minified ? 'minified ' : ''}file`, async () => {
      const built = join(folder, `built-browser-${minified}`);
      const { warnings } = await bundle('page.js', {
        platform: 'browser',
        format: 'esm',
        minify: minified,
        outfile: join(built, 'bundle.js'),
      });
      assert.deepEqual(warnings, []);
      assert.deepEqual(readdirSync(built), ['bundle.js']);
      assert.deepEqual(await visit(built, '/bundle.html'), { told: expected, early: 'NOT_READY', complaints: [] });
    });
  }

  describe('by Vite', () => {
    let built;
    before(async () => {
      built = join(folder, 'built-vite');
      const input = ['index.html', 'worker.html'].map((name) => join(folder, name));
      await vite({
        root: folder,
        configFile: false,
        logLevel: 'error',
        worker: { format: 'es' },
        build: { outDir: built, rollupOptions: { input } },
      });
    });

    it('for a page', async () => {
      assert.deepEqual(await visit(built, '/index.html'), { told: expected, early: 'NOT_READY', complaints: [] });
    });

    it('for a worker', async () => {
      assert.deepEqual(await visit(built, '/worker.html'), { told: expected, early: undefined, complaints: [] });
    });
  });

  const notKept = [
    'STORE_UNSUITABLE',
    'the store cannot be opened: the store refuses: the database "sessions.db": ' +
      'this host has neither node:sqlite nor bun:sqlite: pass an open connection',
  ];

  for (const format of ['esm', 'cjs']) {
    it(`with a store at a path, by esbuild for Node as one ${format} file`, async () => {
      const name = `kept.${format === 'esm' ? 'mjs' : 'cjs'}`;
      const outfile = join(folder, 'built-kept', name);
      const { warnings } = await bundle('print-kept.js', { platform: 'node', format, outfile });
      assert.deepEqual(warnings, []);
      link('better-sqlite3', folder);
      assert.equal(await runNode(folder, join('built-kept', name)), 's');
    });
  }

  it('with a store at a path, by esbuild for a browser, which says that it has no SQLite', async () => {
    const built = join(folder, 'built-not-kept');
    const outfile = join(built, 'bundle.js');
    const { warnings } = await bundle('not-kept.js', { platform: 'browser', format: 'esm', minify: true, outfile });
    assert.deepEqual(warnings, []);
    assert.deepEqual(readdirSync(built), ['bundle.js']);
    const { told, complaints } = await visit(built, '/bundle.html');
    assert.deepEqual([told, complaints], [notKept, []]);
  });

  it('with a store at a path, by Vite, which warns of nothing', async () => {
    const built = join(folder, 'built-vite-not-kept');
    const warned = [];
    const warn = (message) => warned.push(message);
    await vite({
      root: folder,
      configFile: false,
      customLogger: { ...createLogger('warn'), warn, warnOnce: warn },
      build: { outDir: built, rollupOptions: { input: join(folder, 'not-kept.html') } },
    });
    assert.deepEqual(warned, []);
    const { told, complaints } = await visit(built, '/not-kept.html');
    assert.deepEqual([told, complaints], [notKept, []]);
  });

  it('by Vite without losing a check whose answer is not used', async () => {
    const built = join(folder, 'built-revoked');
    await vite({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: { outDir: built, lib: { entry: join(folder, 'revoked.js'), formats: ['es'], fileName: 'revoked' } },
    });
    const { refused } = await import(pathToFileURL(join(built, 'revoked.js')).href);
    assert.deepEqual(await refused, ['INVALID_ARGUMENT', 'request must be an object, not a revoked proxy']);
  });

  /** A program, bundled for a browser. */
  async function bundled(contents) {
    const stdin = { contents, resolveDir: folder };
    const { outputFiles } = await esbuild({ stdin, bundle: true, write: false, platform: 'browser', format: 'esm' });
    return outputFiles[0].text;
  }

  it('leaves out the module where only errors are told apart', async () => {
    const text = await bundled("export { isStatepadError } from 'statepad';");
    assert.match(text, /isStatepadError/);
    assert.doesNotMatch(text, /0061736d|WebAssembly/);
  });

  it('leaves out the module and the service from a store of your own', async () => {
    const text = await bundled("export * from 'statepad/store';");
    assert.match(text, /StoreError, isStoreError|StoreError,\n *isStoreError/);
    assert.doesNotMatch(text, /0061736d|WebAssembly|class SessionService/);
  });

  it('without anything of Node in it, for a browser', async () => {
    const { outputFiles } = await bundle('page.js', { platform: 'browser', format: 'esm', write: false });
    assert.match(outputFiles[0].text, /WebAssembly/);
    assert.doesNotMatch(outputFiles[0].text, /node:|\brequire\(/);
  });
});
